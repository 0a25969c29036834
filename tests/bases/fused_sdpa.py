import torch
from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    def __init__(self, n_embd: int, n_head: int, dropout: float = 0.0):
        super().__init__()
        assert n_embd % n_head == 0
        self.n_head = n_head
        self.n_embd = n_embd
        self.dropout = dropout
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)


class Block(nn.Module):
    def __init__(self, n_embd: int, n_head: int, n_hidden: int, dropout: float = 0.0):
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd)
        self.attn = SelfAttention(n_embd, n_head, dropout)
        self.ln_2 = nn.LayerNorm(n_embd)
        self.c_fc = nn.Linear(n_embd, n_hidden)
        self.c_proj = nn.Linear(n_hidden, n_embd)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x))))


class ViT(nn.Module):
    def __init__(self, img_size: int = 224, patch_size: int = 16, in_channels: int = 3, n_embd: int = 768,
                 n_layer: int = 12, n_head: int = 12, n_hidden: int = 3072, n_classes: int = 1000):
        super().__init__()
        self.wpe = nn.Parameter(0.02 * torch.randn(1, 1 + (img_size // patch_size) ** 2, n_embd))
        self.cls = nn.Parameter(0.02 * torch.randn(1, 1, n_embd))
        self.patchify = nn.Conv2d(in_channels, n_embd, patch_size, patch_size)
        self.h = nn.ModuleList(Block(n_embd, n_head, n_hidden) for _ in range(n_layer))
        self.ln_f = nn.LayerNorm(n_embd)
        self.head = nn.Linear(n_embd, n_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patchify(x).flatten(2).mT
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1) + self.wpe
        for block in self.h:
            x = block(x)
        return self.head(self.ln_f(x)[:, 0])
