import torch
from torch import einsum, nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim)
        self.to_k = nn.Linear(dim, dim)
        self.to_v = nn.Linear(dim, dim)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, (self.heads, -1)) for layer in (self.to_q, self.to_k, self.to_v))
        dots = einsum("bihd,bjhd->bhij", q, k) * self.scale
        attn = dots.softmax(dim=-1)
        out = einsum("bhij,bjhd->bihd", attn, v)
        return self.to_out(out.flatten(2))


class ViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, channels=3, dim=768, depth=12, heads=12, mlp_dim=3072,
                 num_classes=1000):
        super().__init__()
        self.p = patch_size
        self.embed = nn.Linear(channels * patch_size * patch_size, dim)
        self.cls = nn.Parameter(torch.randn(dim))
        self.pos = nn.Parameter(torch.randn((image_size // patch_size) ** 2 + 1, dim))
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.ModuleList([
                nn.LayerNorm(dim),
                Attention(dim, heads),
                nn.LayerNorm(dim),
                nn.Sequential(nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim)),
            ]))
        self.norm = nn.LayerNorm(dim)
        self.to_logits = nn.Parameter(torch.randn(num_classes, dim) * 0.02)
        self.logit_bias = nn.Parameter(torch.zeros(num_classes))

    def forward(self, img):
        b, c, H, W = img.shape
        p = self.p
        patches = img.view(b, c, H // p, p, W // p, p)
        patches = einsum("bchpwq->bhwcpq", patches).reshape(b, (H // p) * (W // p), -1)
        x = self.embed(patches)
        x = torch.cat([self.cls.expand(b, 1, -1), x], dim=1)
        x = x + self.pos
        for ln1, attn, ln2, ff in self.layers:
            x = attn(ln1(x)) + x
            x = ff(ln2(x)) + x
        x = self.norm(x)
        return einsum("bd,kd->bk", x[:, 0], self.to_logits) + self.logit_bias
