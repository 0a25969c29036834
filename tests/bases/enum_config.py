from enum import Enum, auto
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F


class Pool(Enum):
    CLS = auto()
    MEAN = auto()


class Activation(str, Enum):
    GELU = "gelu"
    RELU = "relu"

    def __call__(self, x):
        return getattr(F, self.value)(x)


class HParams(NamedTuple):
    width: int
    heads: int
    hidden: int
    activation: Activation = Activation.GELU


class Attention(nn.Module):
    def __init__(self, hp: HParams):
        super().__init__()
        self.hp = hp
        self.mha = nn.MultiheadAttention(hp.width, hp.heads, batch_first=True)

    def forward(self, *, tokens):
        return self.mha(query=tokens, key=tokens, value=tokens, need_weights=False)[0]


class Mlp(nn.Module):
    def __init__(self, hp: HParams):
        super().__init__()
        self.hp = hp
        self.inner, self.outer = nn.Linear(hp.width, hp.hidden), nn.Linear(hp.hidden, hp.width)

    def forward(self, *, tokens):
        return self.outer(self.hp.activation(self.inner(tokens)))


class Layer(nn.Module):
    def __init__(self, hp: HParams):
        super().__init__()
        self.sublayers = nn.ModuleDict({"attention": Attention(hp), "mlp": Mlp(hp)})
        self.norms = nn.ModuleDict({name: nn.LayerNorm(hp.width) for name in self.sublayers})

    def forward(self, *, tokens):
        for name, layer in self.sublayers.items():
            tokens = tokens + layer(tokens=self.norms[name](tokens))
        return tokens


class VisionTransformer(nn.Module):
    def __init__(self, *, image_size: int, patch_size: int, in_channels: int = 3, width: int, depth: int, heads: int,
                 hidden: int, num_classes: int, pool: Pool = Pool.CLS, activation: Activation = Activation.GELU):
        super().__init__()
        hp = HParams(width=width, heads=heads, hidden=hidden, activation=activation)
        self.pool = pool
        self.stem = nn.Conv2d(in_channels=in_channels, out_channels=width, kernel_size=patch_size, stride=patch_size)
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
        self.pos = nn.Parameter(torch.zeros(1, 1 + (image_size // patch_size) ** 2, width))
        self.layers = nn.ModuleList([Layer(hp) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, num_classes)

    def forward(self, image):
        patches = self.stem(image).flatten(start_dim=2).swapaxes(1, 2)
        tokens = torch.cat(tensors=[self.cls.expand(patches.shape[0], -1, -1), patches], dim=1) + self.pos
        for layer in self.layers:
            tokens = layer(tokens=tokens)
        match self.pool:
            case Pool.CLS:
                pooled = tokens[:, 0]
            case Pool.MEAN:
                pooled = tokens.mean(dim=1)
        return self.head(self.norm(pooled))
