"""Vision Transformer from scratch."""
import numpy as np
import torch
import torch.nn as nn
from einops import rearrange


I = 224
P = 16
CIN = 3
D = 768
L = 12
H = 12
R = 4
K = 10
PR = 0.0


def get_positional_embeddings(sequence_length, d):
    result = torch.ones(sequence_length, d)
    for i in range(sequence_length):
        for j in range(d):
            result[i][j] = np.sin(i / (10000 ** (j / d))) if j % 2 == 0 else np.cos(i / (10000 ** ((j - 1) / d)))
    return result


class PatchEmbed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Linear(CIN * P ** 2, D)
        self.P = P

    def forward(self, X):
        FL = rearrange(X, 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1=self.P, p2=self.P)
        return self.conv1(FL)


class ViTEmbeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.patchify = PatchEmbed()
        self.class_embedding = nn.Parameter(torch.randn(1, 1, D) * 0.02)
        n_patches = (I // P) ** 2
        self.positional_embedding = nn.Parameter(get_positional_embeddings(n_patches + 1, D), requires_grad=False)

    def forward(self, X):
        Em = self.patchify(X)
        CT = self.class_embedding.expand(Em.size(0), -1, -1)
        XT = torch.concat([CT, Em], dim=1)
        Z0 = XT + self.positional_embedding.repeat(XT.shape[0], 1, 1)
        return Z0


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(D, H, batch_first=True)

    def forward(self, Z):
        Y, _ = self.mha(Z, Z, Z)
        return Y


class MLPBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.ff = nn.Sequential(
            nn.Linear(D, int(D * R)),
            nn.GELU(),
            nn.Dropout(PR),
            nn.Linear(int(D * R), D),
            nn.Dropout(PR)
        )

    def forward(self, Z):
        return self.ff(Z)


class EncoderBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(D)
        self.ln_2 = nn.LayerNorm(D)
        self.mha = Attention()
        self.ff = MLPBlock()

    def forward(self, Z):
        Z = self.ln_1(Z + self.mha(Z))
        Z = self.ln_2(Z + self.ff(Z))
        return Z


class TransformerEncoderClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding_block = ViTEmbeddings()
        self.ln_pre = nn.LayerNorm(D)
        self.transformer_blocks = nn.Sequential(*[EncoderBlock() for _ in range(L)])
        self.ln_post = nn.LayerNorm(D)
        self.out = nn.Linear(D, K)

    def forward(self, X):
        Z0 = self.embedding_block(X)
        ZL = self.ln_pre(Z0)
        ZL = self.transformer_blocks(ZL)
        ZL = self.ln_post(ZL)
        CR = ZL[:, 0]
        return self.out(CR)
