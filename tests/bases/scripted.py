import warnings

import torch
from torch import Tensor, nn


class Mlp(nn.Module):
    def __init__(self, dim: int, hidden: int):
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, dim)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(torch.nn.functional.gelu(self.fc1(x)))


class Attend(nn.Module):
    def __init__(self, dim: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.to_q = nn.Linear(dim, dim)
        self.to_k = nn.Linear(dim, dim)
        self.to_v = nn.Linear(dim, dim)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        d = D // self.num_heads
        q = self.to_q(x).view(B, T, self.num_heads, d).transpose(1, 2)
        k = self.to_k(x).view(B, T, self.num_heads, d).transpose(1, 2)
        v = self.to_v(x).view(B, T, self.num_heads, d).transpose(1, 2)
        attention = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * d ** -0.5, dim=-1)
        return self.to_out(torch.matmul(attention, v).transpose(1, 2).reshape(B, T, D))


def scripted(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions of PyTorch say that scripting will go
        return torch.jit.script(module)


class Residual(nn.Module):
    def __init__(self, dim, branch):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.branch = scripted(branch)

    def forward(self, x):
        return x + self.branch(self.norm(x))


class ViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, in_channels=3, embed_dim=768, depth=12, num_heads=12,
                 mlp_dim=3072, num_classes=1000):
        super().__init__()
        self.patch_embedding = nn.Conv2d(in_channels, embed_dim, patch_size, stride=patch_size)
        self.class_token = nn.Parameter(torch.randn(1, 1, embed_dim) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, (image_size // patch_size) ** 2 + 1, embed_dim) * 0.02)
        halves = []
        for _ in range(depth):
            halves += [Residual(embed_dim, Attend(embed_dim, num_heads)), Residual(embed_dim, Mlp(embed_dim, mlp_dim))]
        self.encoder = nn.Sequential(*halves)
        self.final_norm = nn.LayerNorm(embed_dim)
        self.fc = nn.Linear(embed_dim, num_classes)

    def forward(self, image):
        x = self.patch_embedding(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], dim=1)
        x = self.encoder(x + self.positions)
        return self.fc(self.final_norm(x)[:, 0])
