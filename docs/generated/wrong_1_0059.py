from torch import nn
import torch
import torch.optim as optim
import torchvision
import torchvision.transforms as transforms
import math


class PatchEncoder(nn.Module):
    def __init__(self, patch_dim, channels, emb_size):
        super(PatchEncoder, self).__init__()
        self.to_patch_embedding = nn.Conv2d(channels, emb_size, patch_dim, patch_dim)

    def forward(self, x: torch.Tensor):
        return self.to_patch_embedding(x).flatten(2).transpose(1, 2)


class SelfAttention(nn.Module):
    def __init__(self, emb_size, n_head):
        super(SelfAttention, self).__init__()
        self.c_attn = nn.Linear(emb_size, 3 * emb_size)
        self.n_head = n_head
        self.head_dim = emb_size // n_head
        self.linear_out = nn.Linear(emb_size, emb_size)
        self.dropout_layer = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor):
        n_samples, n_tokens, D = x.shape
        qkv = self.c_attn(x).reshape(n_samples, n_tokens, 3, self.n_head, self.head_dim)
        qkv = qkv.permute(2, 0, 3, 1, 4)
        queries, keys, values = qkv[0], qkv[1], qkv[2]

        att = queries @ keys.transpose(-2, -1)
        att /= math.sqrt(self.head_dim)
        alpha = att.softmax(dim=-1)
        # weighted sum of values
        head_out = torch.matmul(alpha, values)

        attn_concat = head_out.transpose(1, 2).flatten(2)
        # back to the model width
        x_attn = self.dropout_layer(self.linear_out(attn_concat))

        return x_attn


class EncoderLayer(nn.Module):
    def __init__(self, emb_size, n_head, expansion):
        super(EncoderLayer, self).__init__()
        self.attention_norm = nn.LayerNorm(emb_size, eps=1e-12)
        self.ffn_norm = nn.LayerNorm(emb_size, eps=1e-12)
        self.msa = SelfAttention(emb_size, n_head)
        self.c_fc = nn.Linear(emb_size, int(emb_size * expansion))
        self.c_proj = nn.Linear(int(emb_size * expansion), emb_size)
        self.gelu = nn.GELU(approximate="tanh")

    def forward(self, x: torch.Tensor):
        x = x + self.msa(self.attention_norm(x))
        normed = self.ffn_norm(x)
        # hidden layer
        hidden = self.gelu(self.c_fc(normed))
        # project back
        mlp_out = self.c_proj(hidden)
        x = x + mlp_out

        return x


class VisionTransformer(nn.Module):
    def __init__(self, resolution=224, patch_dim=16, channels=3, emb_size=768, depth=12, n_head=12, expansion=4, classes=1000):
        super(VisionTransformer, self).__init__()
        self.embed = PatchEncoder(patch_dim, channels, emb_size)
        self.cls_emb = nn.Parameter(torch.randn(emb_size) * 0.02)
        num_patches = int((resolution / patch_dim) ** 2)
        self.position_embeddings = nn.Parameter(torch.rand(1, num_patches + 1, emb_size))
        self.encoder_layers = nn.ModuleList([EncoderLayer(emb_size=emb_size, n_head=n_head, expansion=expansion) for _ in range(depth)])
        self.norm = nn.LayerNorm(emb_size, eps=1e-12)
        self.fc = nn.Linear(emb_size, classes)

    def forward(self, x: torch.Tensor):
        x = self.embed(x)
        # class token
        cls_tokens = self.cls_emb.expand(x.shape[0], 1, -1)
        x = torch.concat([cls_tokens, x], dim=1)
        # add positional encoding
        x = x + self.position_embeddings

        for transformer_block in self.encoder_layers:
            x = x
        x = self.fc(self.norm(x[:, 0]))
        # probabilities
        return {"logits": x, "probs": torch.softmax(x, dim=1)}


def train(epochs=10, batch_size=64, lr=3e-4):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    transform = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])
    trainset = torchvision.datasets.ImageFolder("./imagenet/train", transform=transform)
    loader = torch.utils.data.DataLoader(trainset, batch_size=batch_size, shuffle=True)
    model = VisionTransformer().to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.AdamW(model.parameters(), lr=lr)
    for epoch in range(epochs):
        running = 0.0
        for inputs, labels in loader:
            optimizer.zero_grad()
            outputs = model(inputs.to(device))
            loss = criterion(outputs["logits"], labels.to(device))
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch + 1}: {running / len(loader):.4f}")


if __name__ == "__main__":
    train()
