"""
ViT
An image is worth 16x16 words
"""
import math
import torch
import torch.nn as nn
import torch.optim as optim
import torchvision
import torchvision.transforms as transforms


def main():
    class TokenEmbedding(nn.Module):
        def __init__(self):
            super().__init__()
            self.proj = nn.Conv2d(3, 128, 8, 8)
            self.cls_token = nn.Parameter(torch.zeros(1, 1, 128))
            self.position_embeddings = nn.Parameter(torch.randn(1, (64 // 8) ** 2 + 1, 128))
            self.emb_dropout = nn.Dropout(0.2)

        def forward(self, img):
            # [B, N, D]
            emb = self.proj(img).flatten(2).transpose(1, 2)

            # one cls token per image
            cls_tokens = self.cls_token.expand(emb.shape[0], -1, -1)
            # [B, N+1, D]
            x = torch.cat((cls_tokens, emb), dim=1)
            # add positional encoding
            x_with_pos = x + self.position_embeddings

            x_with_pos = self.emb_dropout(x_with_pos)
            return x_with_pos

    class MHA(nn.Module):
        def __init__(self):
            super().__init__()
            self.q_proj = nn.Linear(128, 128)
            self.k_proj = nn.Linear(128, 128)
            self.v_proj = nn.Linear(128, 128)
            self.num_heads = 4
            self.head_dim = 128 // 4
            self.out_proj = nn.Linear(128, 128)

        def forward(self, tokens):
            B, N, C = tokens.shape
            # Q per head
            q = self.q_proj(tokens).view(B, N, self.num_heads, self.head_dim).transpose(1, 2)
            # K per head
            k = self.k_proj(tokens).view(B, N, self.num_heads, self.head_dim).transpose(1, 2)
            # V per head
            v = self.v_proj(tokens).view(B, N, self.num_heads, self.head_dim).transpose(1, 2)

            attn = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)
            attn_probs = attn.softmax(dim=-1)
            out = attn_probs @ v

            concat = out.transpose(1, 2).reshape(B, N, -1)
            x_attn = self.out_proj(concat)

            return x_attn

    class MLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(128, 512)
            self.fc2 = nn.Linear(512, 128)
            self.act = nn.GELU()

        def forward(self, tokens):
            # expand
            hidden = self.act(self.fc1(tokens))
            mlp_out = self.fc2(hidden)
            return mlp_out

    class EncoderLayer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer_norm1 = nn.LayerNorm(128)
            self.post_layer_norm1 = nn.LayerNorm(128)
            self.attn = MHA()
            self.layer_norm2 = nn.LayerNorm(128)
            self.post_layer_norm2 = nn.LayerNorm(128)
            self.ffn = MLP()

        def forward(self, tokens):
            x_attn = self.attn(self.layer_norm1(tokens))
            tokens = tokens + self.post_layer_norm1(x_attn)
            mlp_out = self.ffn(self.layer_norm2(tokens))
            tokens = tokens + self.post_layer_norm2(mlp_out)

            return tokens

    class Backbone(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([EncoderLayer() for _ in range(4)])
            self.features = []
            for block in self.blocks:
                block.register_forward_hook(self.keep_output)

        def keep_output(self, module, inputs, output):
            self.features.append(output.detach())

        def forward(self, tokens):
            self.features.clear()
            for block in self.blocks:
                tokens = block(tokens)
            return tokens

    class VisionTransformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding_block = TokenEmbedding()
            self.encoder = Backbone()
            self.norm = nn.LayerNorm(128)
            self.head = nn.Linear(128, 200)

        def forward(self, img):
            x_with_pos = self.embedding_block(img)
            features = self.encoder(x_with_pos)
            features = self.norm(features)
            # representation of the image
            cls_rep = features[:, 0]
            # classification head
            return self.head(cls_rep)

    def train(epochs=10, batch_size=64, lr=3e-4):
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        transform = transforms.Compose([transforms.Resize((64, 64)), transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])
        trainset = torchvision.datasets.ImageFolder("data/train", transform=transform)
        loader = torch.utils.data.DataLoader(trainset, batch_size=batch_size, shuffle=True)
        model = VisionTransformer().to(device)
        criterion = nn.CrossEntropyLoss()
        optimizer = optim.AdamW(model.parameters(), lr=lr)
        for epoch in range(epochs):
            running = 0.0
            for inputs, labels in loader:
                optimizer.zero_grad()
                outputs = model(inputs.to(device))
                loss = criterion(outputs, labels.to(device))
                loss.backward()
                optimizer.step()
                running += loss.item()
            print(f"epoch {epoch + 1}: {running / len(loader):.4f}")

    if __name__ == "__main__":
        train()



if __name__ == "__main__":
    main()
