import torch
from torch import nn
from torch.func import stack_module_state, functional_call, vmap


class Head(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, size), nn.Linear(dim, size), nn.Linear(dim, size)
        self.size = size

    def forward(self, x):
        s = torch.matmul(self.q(x), self.k(x).transpose(-1, -2)) / self.size ** 0.5
        return torch.matmul(torch.softmax(s, dim=-1), self.v(x))


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = nn.ModuleList([Head(dim, dim // heads) for _ in range(heads)])
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        stacked = {
            name: torch.stack([dict(head.named_parameters())[name] for head in self.heads])
            for name, _ in self.heads[0].named_parameters()
        }
        run = lambda weights: functional_call(self.heads[0], weights, (x,))
        out = vmap(run, out_dims=2)(stacked)  # B T h d
        return self.proj(out.flatten(2))


class Block(nn.Module):
    def __init__(self, dim, heads, mlp_dim):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(dim), Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim))

    def forward(self, x):
        x = self.attn(self.norm1(x)) + x
        return self.mlp(self.norm2(x)) + x


class ViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, in_channels=3, dim=768, depth=12, num_heads=12, mlp_dim=3072, num_classes=1000):
        super().__init__()
        self.patchify = nn.Conv2d(in_channels, dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.randn(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, (image_size // patch_size) ** 2 + 1, dim))
        self.blocks = nn.Sequential(*[Block(dim, num_heads, mlp_dim) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, num_classes)

    def forward(self, x):
        x = self.patchify(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.pos
        return self.head(self.norm(self.blocks(x))[:, 0])
