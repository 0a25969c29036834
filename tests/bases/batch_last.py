import torch
from torch import nn


class Dense(nn.Module):
    """Works on columns: y = W x + b, features first and the batch last, as in MATLAB or Julia."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.W = nn.Parameter(torch.randn(n_out, n_in) / n_in ** 0.5)
        self.b = nn.Parameter(torch.zeros(n_out, 1, 1))

    def forward(self, x):  # (n_in, T, B)
        return torch.tensordot(self.W, x, dims=1) + self.b


class LayerNorm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(n, 1, 1))
        self.bias = nn.Parameter(torch.zeros(n, 1, 1))

    def forward(self, x):
        var, mean = torch.var_mean(x, dim=0, keepdim=True, unbiased=False)
        return (x - mean) / (var + 1e-5).sqrt() * self.scale + self.bias


class Block(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = LayerNorm(dim), LayerNorm(dim)
        self.wq, self.wk, self.wv, self.wo = (Dense(dim, dim) for _ in range(4))
        self.up, self.down = Dense(dim, hidden), Dense(hidden, dim)

    def attention(self, x):
        D, T, B = x.shape
        d = D // self.heads
        q, k, v = (w(x).reshape(self.heads, d, T, B) for w in (self.wq, self.wk, self.wv))
        scores = torch.einsum("hdqb,hdkb->hqkb", q, k) / d ** 0.5
        weights = torch.softmax(scores, dim=2)
        return self.wo(torch.einsum("hqkb,hdkb->hdqb", weights, v).reshape(D, T, B))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.down(nn.functional.gelu(self.up(self.ln2(x))))


class ViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, channels=3, dim=768, depth=12, heads=12, mlp_dim=3072, num_classes=1000):
        super().__init__()
        self.patch = patch_size
        self.embed = Dense(channels * patch_size * patch_size, dim)
        self.cls = nn.Parameter(torch.randn(dim, 1, 1))
        self.pos = nn.Parameter(torch.randn(dim, (image_size // patch_size) ** 2 + 1, 1))
        self.blocks = nn.Sequential(*(Block(dim, heads, mlp_dim) for _ in range(depth)))
        self.norm = LayerNorm(dim)
        self.head = nn.Linear(dim, num_classes)

    def forward(self, x):
        B, C, H, W = x.shape
        p = self.patch
        x = x.view(B, C, H // p, p, W // p, p).permute(1, 3, 5, 2, 4, 0).reshape(C * p * p, -1, B)
        x = self.embed(x)
        x = torch.cat([self.cls.expand(-1, 1, B), x], dim=1) + self.pos
        x = self.norm(self.blocks(x))
        return self.head(x[:, 0].t())
