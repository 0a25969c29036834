import torch
import torch.nn.functional as F
from torch import nn


class ImageToTokens(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, emb_size=768):
        super().__init__()
        self.patch_size = patch_size
        self.linear = nn.Linear(patch_size * patch_size * in_channels, emb_size)
        self.cls_token = nn.Parameter(torch.randn(1, 1, emb_size))
        self.positions = nn.Parameter(torch.randn((img_size // patch_size) ** 2 + 1, emb_size))

    def forward(self, x):
        columns = F.unfold(x, kernel_size=self.patch_size, stride=self.patch_size)
        x = self.linear(columns.transpose(1, 2))
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1)
        return x + self.positions


class ResidualAdd(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, **kwargs):
        res = x
        x = self.fn(x, **kwargs)
        return x + res


class MultiHeadAttention(nn.Module):
    def __init__(self, emb_size, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.keys = nn.Linear(emb_size, emb_size)
        self.queries = nn.Linear(emb_size, emb_size)
        self.values = nn.Linear(emb_size, emb_size)
        self.projection = nn.Linear(emb_size, emb_size)

    def forward(self, x):
        b, n, e = x.shape
        keys = self.keys(x).reshape(b, n, self.num_heads, -1).permute(0, 2, 3, 1)  # kept transposed: b h d n
        queries = self.queries(x).reshape(b, n, self.num_heads, -1).permute(0, 2, 1, 3)
        values = self.values(x).reshape(b, n, self.num_heads, -1).permute(0, 2, 1, 3)
        energy = queries @ keys
        att = F.softmax(energy * (e // self.num_heads) ** (-1 / 2), dim=-1)
        out = torch.einsum("bhal,bhlv->bhav", att, values)
        return self.projection(out.permute(0, 2, 1, 3).reshape(b, n, e))


class TransformerEncoderBlock(nn.Sequential):
    def __init__(self, emb_size, num_heads, forward_size):
        super().__init__(
            ResidualAdd(nn.Sequential(nn.LayerNorm(emb_size), MultiHeadAttention(emb_size, num_heads))),
            ResidualAdd(nn.Sequential(
                nn.LayerNorm(emb_size), nn.Linear(emb_size, forward_size), nn.GELU(), nn.Linear(forward_size, emb_size)
            )),
        )


class ClassificationHead(nn.Module):
    def __init__(self, emb_size, n_classes):
        super().__init__()
        self.norm = nn.LayerNorm(emb_size)
        self.linear = nn.Linear(emb_size, n_classes)

    def forward(self, x):
        return self.linear(self.norm(x)[:, 0])


class ViT(nn.Sequential):
    def __init__(self, in_channels=3, patch_size=16, emb_size=768, img_size=224, depth=12, n_classes=1000,
                 num_heads=12, forward_size=3072):
        super().__init__(
            ImageToTokens(img_size, patch_size, in_channels, emb_size),
            *[TransformerEncoderBlock(emb_size, num_heads, forward_size) for _ in range(depth)],
            ClassificationHead(emb_size, n_classes),
        )
