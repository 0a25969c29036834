"""Vision Transformer, pre-norm, for the debugging exercise."""
import torch
from torch import nn

IMG_SIZE = 224
PATCH_SIZE = 16
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4


def load_image_tensor(path):
    from torchvision.io import decode_image
    from torchvision.transforms import v2

    preprocess = v2.Compose([
        v2.Resize((IMG_SIZE, IMG_SIZE), antialias=True),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ])
    return preprocess(decode_image(path, mode="RGB")).unsqueeze(0)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.to_q = nn.Linear(d_model, d_model)
        self.to_k = nn.Linear(d_model, d_model)
        self.to_v = nn.Linear(d_model, d_model)
        self.to_out = nn.Linear(d_model, d_model)

    def forward(self, x):
        B, T, D = x.shape
        q = self.to_q(x).reshape(B, T, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        k = self.to_k(x).reshape(B, T, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        v = self.to_v(x).reshape(B, T, self.num_heads, self.d_head).permute(0, 2, 1, 3)
        # BREAKPOINT S09, S10, S11
        scores = (q @ k.mT) / self.d_head**0.5
        # BREAKPOINT S12
        probs = scores.softmax(dim=-1)
        # BREAKPOINT S13
        context = probs @ v
        # BREAKPOINT S14
        merged = context.reshape(B, T, D)
        output = self.to_out(merged)
        # BREAKPOINT S15
        return output


class MLP(nn.Module):
    def __init__(self, d_model, mlp_ratio):
        super().__init__()
        self.up = nn.Linear(d_model, mlp_ratio * d_model)
        self.act = nn.GELU()
        self.down = nn.Linear(mlp_ratio * d_model, d_model)

    def forward(self, x):
        hidden = self.act(self.up(x))
        # BREAKPOINT S17
        output = self.down(hidden)
        # BREAKPOINT S18
        return output


class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, mlp_ratio):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model, eps=1e-6)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_2 = nn.LayerNorm(d_model, eps=1e-6)
        self.mlp = MLP(d_model, mlp_ratio)

    def forward(self, x):
        # BREAKPOINT S08
        x = x + self.attention(self.norm_1(x))
        normed = self.norm_2(x)
        # BREAKPOINT S16
        out = x + self.mlp(normed)
        # BREAKPOINT S19, S20
        return out


class ViT(nn.Module):
    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, in_channels=3, d_model=EMBED_DIM,
                 num_heads=NUM_HEADS, num_layers=NUM_BLOCKS, mlp_ratio=MLP_RATIO, num_classes=NUM_CLASSES):
        super().__init__()
        num_patches = (img_size // patch_size) ** 2
        self.to_patches = nn.Conv2d(in_channels, d_model, kernel_size=patch_size, stride=patch_size)
        self.class_token = nn.Parameter(torch.randn(1, 1, d_model))
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches + 1, d_model) * 0.02)
        self.layers = nn.ModuleList([EncoderLayer(d_model, num_heads, mlp_ratio) for _ in range(num_layers)])
        self.final_norm = nn.LayerNorm(d_model, eps=1e-6)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, x):
        # BREAKPOINT S01
        x = self.to_patches(x).flatten(start_dim=2).transpose(1, 2)
        # BREAKPOINT S04
        class_token = self.class_token.expand(x.shape[0], -1, -1)
        # BREAKPOINT S05
        x = torch.cat([class_token, x], dim=1)
        # BREAKPOINT S06
        x = x + self.pos_embedding
        # BREAKPOINT S07
        for number, layer in enumerate(self.layers, 1):
            x = layer(x)
            if number == 2:
                after_two = x
                # BREAKPOINT S21
        encoded = x
        # BREAKPOINT S22
        encoded = self.final_norm(encoded)
        # BREAKPOINT S23
        cls = encoded[:, 0]
        # BREAKPOINT S24
        logits = self.head(cls)
        # BREAKPOINT S25
        probabilities = logits.softmax(dim=1)
        # BREAKPOINT S26
        return logits, probabilities


if __name__ == "__main__":
    vit = ViT().eval()
    with torch.no_grad():
        vit(load_image_tensor("photo.jpg"))
