import numpy as np
import torch
import torch.nn as nn
from PIL import Image

# ---- configuration: ViT-B/16 ----
IMG_SIZE = 224
PATCH_SIZE = 16
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4
NUM_CHANNELS = 3


# ---- data ----
def load_image_tensor(image_path):
    img = Image.open(image_path).convert("RGB")
    img = img.resize((IMG_SIZE, IMG_SIZE))
    img = np.array(img).astype(np.float32) / 255.0
    img = (img - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    img = torch.tensor(img, dtype=torch.float32)
    return img.permute(2, 0, 1).unsqueeze(0)


# ---- model ----
class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.dim_head = dim // heads
        self.to_qkv = nn.Linear(dim, dim * 3)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = [t.reshape(b, n, self.heads, self.dim_head).transpose(1, 2) for t in qkv]
        # BREAKPOINT S09
        # BREAKPOINT S10
        # BREAKPOINT S11
        dots = torch.matmul(q, k.transpose(-1, -2)) * self.dim_head ** -0.5
        # BREAKPOINT S12
        attn = dots.softmax(dim=-1)
        # BREAKPOINT S13
        ctx = torch.matmul(attn, v)
        # BREAKPOINT S14
        out = self.to_out(ctx.transpose(1, 2).reshape(b, n, d))
        # BREAKPOINT S15
        return out


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.lin1 = nn.Linear(dim, hidden)
        self.gelu = nn.GELU()
        self.lin2 = nn.Linear(hidden, dim)

    def forward(self, x):
        h = self.gelu(self.lin1(x))
        # BREAKPOINT S17
        out = self.lin2(h)
        # BREAKPOINT S18
        return out


class Block(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = SelfAttention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = FeedForward(dim, hidden)
        self.norm3 = nn.LayerNorm(dim)

    def forward(self, x):
        residual = x
        # BREAKPOINT S08
        x = self.norm2(residual + self.attn(self.norm1(x)))
        # BREAKPOINT S16
        x = self.norm3(x + self.ff(x))
        # BREAKPOINT S19
        # BREAKPOINT S20
        return x


class ViT(nn.Module):
    def __init__(self, image_size=IMG_SIZE, patch_size=PATCH_SIZE, channels=NUM_CHANNELS, dim=EMBED_DIM,
                 depth=NUM_BLOCKS, heads=NUM_HEADS, mlp_ratio=MLP_RATIO, num_classes=NUM_CLASSES):
        super().__init__()
        self.p = patch_size
        num_patches = (image_size // patch_size) ** 2
        self.patch_to_embedding = nn.Linear(channels * patch_size ** 2, dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches + 1, dim))
        self.blocks = nn.ModuleList([Block(dim, heads, dim * mlp_ratio) for _ in range(depth)])
        self.fc = nn.Linear(dim, num_classes)

    def forward(self, img):
        # BREAKPOINT S01
        b, c, h, w = img.shape
        patches = img.reshape(b, c, h // self.p, self.p, w // self.p, self.p)
        patches = patches.permute(0, 2, 4, 1, 3, 5).flatten(1, 2)
        # BREAKPOINT S02
        flat = patches.flatten(2)
        # BREAKPOINT S03
        x = self.patch_to_embedding(flat)
        # BREAKPOINT S04
        cls_token = self.cls_token.expand(b, -1, -1)
        # BREAKPOINT S05
        x = torch.cat([x, cls_token], dim=1)
        # BREAKPOINT S06
        x = x + self.pos_embedding
        # BREAKPOINT S07
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i == 1:
                x2 = x
                # BREAKPOINT S21
        x_last = x
        # BREAKPOINT S22
        final_seq = x_last
        # BREAKPOINT S23
        cls_out = final_seq[:, 0]
        # BREAKPOINT S24
        logits = self.fc(cls_out)
        # BREAKPOINT S25
        probs = logits.softmax(dim=-1)
        # BREAKPOINT S26
        return logits, probs


def main():
    net = ViT()
    net.eval()
    with torch.no_grad():
        logits, probs = net(load_image_tensor("test.png"))


if __name__ == "__main__":
    main()
