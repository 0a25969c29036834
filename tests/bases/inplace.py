import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-1, -2)
        att.div_((D // self.heads) ** 0.5)
        att = att.softmax(-1)
        x = (att @ v).transpose(1, 2).reshape(B, T, D)
        return self.out(x)


class Layer(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.ln1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.ln2 = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, dim)

    def forward(self, x):
        y = self.attn(self.ln1(x))
        y += x
        z = self.fc2(torch.nn.functional.gelu(self.fc1(self.ln2(y))))
        z += y
        return z


class ViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, channels=3, dim=768, depth=12, heads=12, hidden=3072, classes=1000):
        super().__init__()
        self.conv = nn.Conv2d(channels, dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.zeros(1, (img_size // patch_size) ** 2 + 1, dim))
        self.layers = nn.ModuleList([Layer(dim, heads, hidden) for _ in range(depth)])
        self.ln = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.conv(x).flatten(2).transpose(1, 2)
        tokens = x.new_empty(x.shape[0], x.shape[1] + 1, x.shape[2])
        tokens[:, :1] = self.cls
        tokens[:, 1:] = x
        tokens += self.pos
        for layer in self.layers:
            tokens = layer(tokens)
        return self.fc(self.ln(tokens)[:, 0])
