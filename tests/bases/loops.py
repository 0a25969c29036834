import math

import torch
from torch import nn


def matrix(rows, columns):
    return nn.Parameter(torch.randn(rows, columns) / math.sqrt(rows))


class Heads(nn.Module):
    """Every head has matrices of its own; images are treated one by one, as in the formulas."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        d = d_model // num_heads
        self.Wq = nn.ParameterList([matrix(d_model, d) for _ in range(num_heads)])
        self.Wk = nn.ParameterList([matrix(d_model, d) for _ in range(num_heads)])
        self.Wv = nn.ParameterList([matrix(d_model, d) for _ in range(num_heads)])
        self.Wo = matrix(d_model, d_model)

    def forward(self, batch):
        results = []
        for X in batch:
            heads = []
            for Wq, Wk, Wv in zip(self.Wq, self.Wk, self.Wv):
                Q, K, V = X @ Wq, X @ Wk, X @ Wv
                A = torch.softmax(Q @ K.T / math.sqrt(K.shape[1]), dim=1)
                heads.append(A @ V)
            results.append(torch.cat(heads, dim=1) @ self.Wo)
        return torch.stack(results)


class Encoder(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.ln1 = nn.LayerNorm(d_model)
        self.msa = Heads(d_model, num_heads)
        self.ln2 = nn.LayerNorm(d_model)
        self.W1, self.b1 = matrix(d_model, d_ff), nn.Parameter(torch.zeros(d_ff))
        self.W2, self.b2 = matrix(d_ff, d_model), nn.Parameter(torch.zeros(d_model))

    def forward(self, z):
        z = self.msa(self.ln1(z)) + z
        return nn.functional.gelu(self.ln2(z) @ self.W1 + self.b1) @ self.W2 + self.b2 + z


class ViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, channels=3, d_model=768, num_layers=12, num_heads=12, d_ff=3072,
                 n_classes=1000):
        super().__init__()
        self.p = patch_size
        n = (image_size // patch_size) ** 2
        self.E = nn.Linear(channels * patch_size * patch_size, d_model)
        self.x_class = nn.Parameter(torch.randn(1, d_model))
        self.E_pos = nn.Parameter(torch.randn(n + 1, d_model))
        self.layers = nn.ModuleList([Encoder(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.ln = nn.LayerNorm(d_model)
        self.mlp_head = nn.Linear(d_model, n_classes)

    def patches(self, image):
        c, h, w = image.shape
        p = self.p
        return torch.stack([
            image[:, i:i + p, j:j + p].reshape(-1) for i in range(0, h, p) for j in range(0, w, p)
        ])

    def forward(self, images):
        sequences = []
        for image in images:
            z = self.E(self.patches(image))
            sequences.append(torch.vstack([self.x_class, z]) + self.E_pos)
        z = torch.stack(sequences)
        for layer in self.layers:
            z = layer(z)
        return self.mlp_head(self.ln(z[:, 0]))
