import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_k = dim // n_heads
        self.w_q = nn.Linear(dim, dim)
        self.w_k = nn.Linear(dim, dim)
        self.w_v = nn.Linear(dim, dim)
        self.fc = nn.Linear(dim, dim)

    def fold(self, x):
        B, T, D = x.shape
        x = x.reshape(B, T, self.n_heads, self.d_k).transpose(1, 2)
        return x.reshape(B * self.n_heads, T, self.d_k)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.fold(self.w_q(x)), self.fold(self.w_k(x)), self.fold(self.w_v(x))
        energy = torch.bmm(q, k.permute(0, 2, 1)) / (self.d_k ** 0.5)
        attention = energy.softmax(-1)
        out = torch.bmm(attention, v)
        out = out.reshape(B, self.n_heads, T, self.d_k).transpose(1, 2).reshape(B, T, D)
        return self.fc(out)


class Encoder(nn.Module):
    def __init__(self, dim, n_heads, d_ff):
        super().__init__()
        self.layer_norm1 = nn.LayerNorm(dim)
        self.layer_norm2 = nn.LayerNorm(dim)
        self.mha = MHA(dim, n_heads)
        self.fc1 = nn.Linear(dim, d_ff)
        self.fc2 = nn.Linear(d_ff, dim)
        self.activation = nn.GELU()

    def forward(self, src):
        _src = self.mha(self.layer_norm1(src))
        src = src + _src
        _src = self.fc2(self.activation(self.fc1(self.layer_norm2(src))))
        src = src + _src
        return src


class ViT(nn.Module):
    def __init__(self, chw=(3, 224, 224), patch_size=16, dim=768, n_heads=12, n_blocks=12, d_ff=3072, out_dim=1000):
        super().__init__()
        c, h, w = chw
        self.patch_conv = nn.Conv2d(c, dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.zeros(1, (h // patch_size) * (w // patch_size) + 1, dim))
        self.blocks = nn.ModuleList([Encoder(dim, n_heads, d_ff) for _ in range(n_blocks)])
        self.norm = nn.LayerNorm(dim)
        self.mlp_head = nn.Linear(dim, out_dim)

    def forward(self, x):
        x = torch.flatten(self.patch_conv(x), start_dim=2).permute(0, 2, 1)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1)
        x = x + self.pos
        for block in self.blocks:
            x = block(x)
        return self.mlp_head(self.norm(x[:, 0]))
