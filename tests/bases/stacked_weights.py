import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call


class Block(nn.Module):
    """A template without state of its own: the weights of every layer are stacked outside."""

    def __init__(self, dim, n_heads, hidden):
        super().__init__()
        self.n_heads = n_heads
        self.ln_a = nn.LayerNorm(dim)
        self.ln_b = nn.LayerNorm(dim)
        self.wqkv = nn.Linear(dim, dim * 3)
        self.wo = nn.Linear(dim, dim)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.wqkv(self.ln_a(x)).view(b, t, 3, self.n_heads, -1).unbind(2)
        a = torch.einsum("bihd,bjhd->bhij", q, k) * (d // self.n_heads) ** -0.5
        a = a.softmax(-1)
        x = x + self.wo(torch.einsum("bhij,bjhd->bihd", a, v).flatten(2))
        return x + self.down(F.gelu(self.up(self.ln_b(x))))


class StackedViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, dim=768, n_layers=12, n_heads=12, hidden=3072, n_classes=1000):
        super().__init__()
        self.embed = nn.Conv2d(in_channels, dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, (img_size // patch_size) ** 2 + 1, dim) * 0.02)
        object.__setattr__(self, "template", Block(dim, n_heads, hidden).to("meta"))
        self.n_layers = n_layers
        self.stacked = nn.ParameterDict()
        for name, p in Block(dim, n_heads, hidden).named_parameters():
            value = torch.stack([_init(p) for _ in range(n_layers)])
            self.stacked[name.replace(".", "/")] = nn.Parameter(value)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_classes)

    def forward(self, x):
        x = self.embed(x).flatten(2).mT
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.pos
        for layer in range(self.n_layers):
            weights = {name.replace("/", "."): p[layer] for name, p in self.stacked.items()}
            x = functional_call(self.template, weights, (x,))
        return self.head(self.norm(x)[:, 0])


def _init(p):
    return torch.randn_like(p) * 0.02 if p.dim() > 1 else torch.ones_like(p)
