import math
import torch
import torch.nn as nn

# a C programmer's ViT: preallocate, loop, index


class Vit(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, embed_dim=768, num_layers=12, num_heads=12, mlp_dim=3072, num_classes=1000):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.P, self.C, self.D = patch_size, in_channels, embed_dim
        self.L, self.H, self.M, self.K = num_layers, num_heads, mlp_dim, num_classes
        self.G = img_size // patch_size
        self.N = self.G * self.G
        self.w_patch = nn.Parameter(torch.randn(embed_dim, in_channels * patch_size * patch_size) * 0.02)
        self.b_patch = nn.Parameter(torch.zeros(embed_dim))
        self.cls = nn.Parameter(torch.zeros(embed_dim))
        self.pos = nn.Parameter(torch.randn(self.N + 1, embed_dim) * 0.02)
        for i in range(num_layers):
            self.register_parameter(f"g1_{i}", nn.Parameter(torch.ones(embed_dim)))
            self.register_parameter(f"c1_{i}", nn.Parameter(torch.zeros(embed_dim)))
            self.register_parameter(f"g2_{i}", nn.Parameter(torch.ones(embed_dim)))
            self.register_parameter(f"c2_{i}", nn.Parameter(torch.zeros(embed_dim)))
            for name in ("q", "k", "v", "o"):
                self.register_parameter(f"w{name}_{i}", nn.Parameter(torch.randn(embed_dim, embed_dim) * 0.02))
                self.register_parameter(f"b{name}_{i}", nn.Parameter(torch.zeros(embed_dim)))
            self.register_parameter(f"wu_{i}", nn.Parameter(torch.randn(mlp_dim, embed_dim) * 0.02))
            self.register_parameter(f"bu_{i}", nn.Parameter(torch.zeros(mlp_dim)))
            self.register_parameter(f"wd_{i}", nn.Parameter(torch.randn(embed_dim, mlp_dim) * 0.02))
            self.register_parameter(f"bd_{i}", nn.Parameter(torch.zeros(embed_dim)))
        self.gf = nn.Parameter(torch.ones(embed_dim))
        self.cf = nn.Parameter(torch.zeros(embed_dim))
        self.wh = nn.Parameter(torch.randn(num_classes, embed_dim) * 0.02)
        self.bh = nn.Parameter(torch.zeros(num_classes))

    def ln(self, x, g, c):
        m = torch.sum(x, dim=-1, keepdim=True) / self.D
        d = x - m
        s = torch.sum(d * d, dim=-1, keepdim=True) / self.D
        return d / torch.sqrt(s + 1e-5) * g + c

    def forward(self, img):
        B = img.shape[0]
        x = img.new_empty(B, self.N + 1, self.D)
        x[:, 0, :] = self.cls
        n = 1
        for r in range(self.G):
            for c in range(self.G):
                window = img[:, :, r * self.P:(r + 1) * self.P, c * self.P:(c + 1) * self.P]
                x[:, n, :] = window.reshape(B, -1).matmul(self.w_patch.t()) + self.b_patch
                n += 1
        x += self.pos
        d = self.D // self.H
        for i in range(self.L):
            W = lambda name: getattr(self, f"{name}_{i}")
            h = self.ln(x, W("g1"), W("c1"))
            q = h.matmul(W("wq").t()) + W("bq")
            k = h.matmul(W("wk").t()) + W("bk")
            v = h.matmul(W("wv").t()) + W("bv")
            ctx = img.new_empty(B, self.N + 1, self.D)
            for a in range(self.H):
                lo, hi = a * d, (a + 1) * d
                s = torch.bmm(q[:, :, lo:hi], k[:, :, lo:hi].transpose(1, 2)) / math.sqrt(d)
                e = torch.exp(s - torch.max(s, dim=2, keepdim=True).values)
                p = e / torch.sum(e, dim=2, keepdim=True)
                ctx[:, :, lo:hi] = torch.bmm(p, v[:, :, lo:hi])
            x = x + (ctx.matmul(W("wo").t()) + W("bo"))
            h = self.ln(x, W("g2"), W("c2"))
            u = h.matmul(W("wu").t()) + W("bu")
            u = 0.5 * u * (1.0 + torch.erf(u / 1.4142135623730951))
            x = x + (u.matmul(W("wd").t()) + W("bd"))
        z = self.ln(x[:, 0, :], self.gf, self.cf)
        return z.matmul(self.wh.t()) + self.bh
