"""The library's layers, sizes as constants, and the report's block."""

import torch
from torch import nn

EMBED_DIM = 64
NUM_HEADS = 4
MLP_RATIO = 4
PATCH_SIZE = 4
IMG_SIZE = 32
NUM_PATCHES = (IMG_SIZE // PATCH_SIZE) ** 2


class ImageToPatches(nn.Module):
    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, in_channels=3, embed_dim=EMBED_DIM):
        super().__init__()
        self.unfold = nn.Unfold(kernel_size=patch_size, stride=patch_size)
        self.linear = nn.Linear(in_channels * patch_size**2, embed_dim)

    def forward(self, img):
        return self.linear(self.unfold(img).transpose(1, 2))


class AddCLS(nn.Module):
    def __init__(self, dim=EMBED_DIM):
        super().__init__()
        self.cls = nn.Parameter(torch.randn(dim))

    def forward(self, x):
        token = self.cls.view(1, 1, -1).repeat(x.size(0), 1, 1)
        return torch.cat((token, x), dim=1)


class LearnedPositions(nn.Module):
    def __init__(self, num_tokens=NUM_PATCHES + 1, dim=EMBED_DIM):
        super().__init__()
        self.table = nn.Embedding(num_tokens, dim)

    def forward(self, x):
        return x + self.table(torch.arange(x.size(1)))


class Norm(nn.Module):
    def __init__(self, dim=EMBED_DIM, affine=True):
        super().__init__()
        self.norm = nn.LayerNorm(dim, elementwise_affine=affine)

    def forward(self, x):
        return self.norm(x)


class SelfAttention(nn.Module):
    def __init__(self, dim=EMBED_DIM, heads=NUM_HEADS):
        super().__init__()
        self.mha = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x):
        out, _ = self.mha(x, x, x)
        return out


class FeedForward(nn.Sequential):
    def __init__(self, dim=EMBED_DIM, ratio=MLP_RATIO, dropout=0.1):
        super().__init__(
            nn.Linear(dim, dim * ratio),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(dim * ratio, dim),
            nn.Dropout(dropout),
        )


class TransformerLayer(nn.Module):
    def __init__(self, dim=EMBED_DIM, heads=NUM_HEADS, ratio=MLP_RATIO):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = SelfAttention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = FeedForward(dim, ratio)
        self.norm3 = nn.LayerNorm(dim)

    def forward(self, x):
        x = self.norm2(x + self.attn(self.norm1(x)))
        return self.norm3(x + self.ff(x))
