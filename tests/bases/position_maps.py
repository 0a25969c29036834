import torch
from torch import nn
import torch.nn.functional as F


class Gate(nn.Module):
    pass


class Block(nn.Module):
    def __init__(self, c, nh, hidden):
        super().__init__()
        self.nh = nh
        self.ln = nn.LayerNorm(c)
        self.kv = nn.Linear(c, 2 * c)
        self.q = nn.Linear(c, c)
        self.back = nn.Linear(c, c)
        self.ffn = nn.Sequential(nn.LayerNorm(c), nn.Linear(c, hidden), nn.GELU(approximate="none"), nn.Linear(hidden, c))

    def forward(self, x):
        skip = x
        x = self.ln(x)
        q = self.q(x)
        k, v = self.kv(x).chunk(2, dim=-1)
        q, k, v = map(lambda t: t.unflatten(2, (self.nh, -1)).transpose(1, 2), (q, k, v))
        q = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = skip + self.back(q)
        return x + self.ffn(x)


class GridViT(nn.Module):
    """Positions of the patches are a map that is added to the feature map; the class token has its own."""

    def __init__(self, image_size=224, patch_size=16, in_chans=3, c=768, depth=12, nh=12, hidden=3072, num_classes=1000):
        super().__init__()
        g = image_size // patch_size
        self.stem = nn.Conv2d(in_chans, c, patch_size, patch_size)
        self.pos_map = nn.Parameter(torch.randn(1, c, g, g) * 0.02)
        self.cls = nn.Parameter(torch.randn(1, 1, c) * 0.02)
        self.cls_pos = nn.Parameter(torch.randn(1, 1, c) * 0.02)
        self.blocks = nn.ModuleList([Block(c, nh, hidden) for _ in range(depth)])
        self.norm, self.fc = nn.LayerNorm(c), nn.Linear(c, num_classes)

    def forward(self, x):
        grid = self.stem(x) + self.pos_map
        first = (self.cls + self.cls_pos).expand(x.size(0), -1, -1)
        x = torch.cat([first, grid.flatten(2).mT], dim=1)
        for block in self.blocks:
            x = block(x)
        return self.fc(self.norm(x[:, 0]))
