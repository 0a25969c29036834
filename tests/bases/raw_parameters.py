import torch
import torch.nn as nn
import torch.nn.functional as F


def weight(*shape):
    return nn.Parameter(torch.randn(*shape) * 0.02)


class Layer(nn.Module):
    """No nn.Linear anywhere: every weight is a matrix used as x @ W."""

    def __init__(self, width, n_heads, hidden):
        super().__init__()
        head_width = width // n_heads
        self.wq = weight(n_heads, width, head_width)
        self.wk = weight(n_heads, width, head_width)
        self.wv = weight(n_heads, width, head_width)
        self.bq = weight(n_heads, 1, head_width)
        self.bk = weight(n_heads, 1, head_width)
        self.bv = weight(n_heads, 1, head_width)
        self.wo = weight(width, width)
        self.bo = weight(width)
        self.w1 = weight(width, hidden)
        self.b1 = weight(hidden)
        self.w2 = weight(hidden, width)
        self.b2 = weight(width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)

    def forward(self, x):
        y = self.norm1(x).unsqueeze(1)
        q = y @ self.wq + self.bq
        k = y @ self.wk + self.bk
        v = y @ self.wv + self.bv
        a = F.softmax(q @ k.transpose(2, 3) / k.shape[-1] ** 0.5, dim=-1)
        z = (a @ v).permute(0, 2, 1, 3).flatten(2)
        x = x + (z @ self.wo + self.bo)
        y = self.norm2(x)
        return x + (F.gelu(y @ self.w1 + self.b1) @ self.w2 + self.b2)


class ViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, width=768, n_layers=12, n_heads=12, hidden=3072,
                 n_classes=1000):
        super().__init__()
        self.patch_size = patch_size
        self.w_patch = weight(in_channels * patch_size * patch_size, width)
        self.b_patch = weight(width)
        self.cls = weight(1, 1, width)
        self.pos = weight(1, (img_size // patch_size) ** 2 + 1, width)
        self.layers = nn.ModuleList([Layer(width, n_heads, hidden) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(width)
        self.w_head = weight(width, n_classes)
        self.b_head = weight(n_classes)

    def forward(self, x):
        p = self.patch_size
        x = x.unfold(2, p, p).unfold(3, p, p)
        x = x.permute(0, 2, 3, 1, 4, 5).flatten(1, 2).flatten(2)
        x = x @ self.w_patch + self.b_patch
        x = torch.cat([self.cls.repeat(x.shape[0], 1, 1), x], dim=1) + self.pos
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)[:, 0] @ self.w_head + self.b_head
