"""ViT with PyTorch's fused attention.

``F.scaled_dot_product_attention`` keeps scores and probabilities to itself, so S12 and S13 have no variable
here and no breakpoint; S02 and S03 are inside the convolution.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

IMG_SIZE = 224
PATCH_SIZE = 16
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4


@dataclass
class ViTConfig:
    img_size: int = IMG_SIZE
    patch_size: int = PATCH_SIZE
    in_channels: int = 3
    embed_dim: int = EMBED_DIM
    num_heads: int = NUM_HEADS
    num_blocks: int = NUM_BLOCKS
    num_classes: int = NUM_CLASSES
    mlp_ratio: int = MLP_RATIO
    dropout: float = 0.0

    @property
    def num_patches(self) -> int:
        return (self.img_size // self.patch_size) ** 2


class ViTOutput(NamedTuple):
    logits: Tensor
    probabilities: Tensor


class SelfAttention(nn.Module):
    def __init__(self, cfg: ViTConfig):
        super().__init__()
        self.n_head = cfg.num_heads
        self.c_attn = nn.Linear(cfg.embed_dim, 3 * cfg.embed_dim)
        self.c_proj = nn.Linear(cfg.embed_dim, cfg.embed_dim)
        self.dropout = nn.Dropout(cfg.dropout)

    def forward(self, x: Tensor) -> Tensor:
        B, T, D = x.size()
        query, key, value = self.c_attn(x).split(D, dim=2)
        query = query.view(B, T, self.n_head, D // self.n_head).transpose(1, 2)  # BREAKPOINT S09
        key = key.view(B, T, self.n_head, D // self.n_head).transpose(1, 2)      # BREAKPOINT S10
        value = value.view(B, T, self.n_head, D // self.n_head).transpose(1, 2)  # BREAKPOINT S11
        context = F.scaled_dot_product_attention(query, key, value)              # BREAKPOINT S14
        merged = context.transpose(1, 2).contiguous().view(B, T, D)
        attn_out = self.dropout(self.c_proj(merged))                             # BREAKPOINT S15
        return attn_out


class FeedForward(nn.Module):
    def __init__(self, cfg: ViTConfig):
        super().__init__()
        self.c_fc = nn.Linear(cfg.embed_dim, cfg.mlp_ratio * cfg.embed_dim)
        self.c_proj = nn.Linear(cfg.mlp_ratio * cfg.embed_dim, cfg.embed_dim)
        self.dropout = nn.Dropout(cfg.dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.gelu(self.c_fc(x))                    # BREAKPOINT S17
        ff_out = self.dropout(self.c_proj(hidden))       # BREAKPOINT S18
        return ff_out


class Layer(nn.Module):
    def __init__(self, cfg: ViTConfig):
        super().__init__()
        self.ln_1 = nn.LayerNorm(cfg.embed_dim, eps=1e-6)
        self.attn = SelfAttention(cfg)
        self.ln_2 = nn.LayerNorm(cfg.embed_dim, eps=1e-6)
        self.mlp = FeedForward(cfg)

    def forward(self, x: Tensor) -> Tensor:
        block_in = x                                     # BREAKPOINT S08
        attended = block_in + self.attn(self.ln_1(block_in))
        normed = self.ln_2(attended)                     # BREAKPOINT S16
        after_mlp = attended + self.mlp(normed)          # BREAKPOINT S19
        block_out = after_mlp                            # BREAKPOINT S20
        return block_out


class ViT(nn.Module):
    def __init__(self, cfg: ViTConfig = ViTConfig()):
        super().__init__()
        self.cfg = cfg
        self.patchify = nn.Conv2d(cfg.in_channels, cfg.embed_dim, cfg.patch_size, stride=cfg.patch_size)
        self.class_token = nn.Parameter(torch.zeros(1, 1, cfg.embed_dim))
        self.positions = nn.Parameter(torch.empty(1, cfg.num_patches + 1, cfg.embed_dim).normal_(std=0.02))
        self.layers = nn.ModuleList([Layer(cfg) for _ in range(cfg.num_blocks)])
        self.ln_f = nn.LayerNorm(cfg.embed_dim, eps=1e-6)
        self.classifier = nn.Linear(cfg.embed_dim, cfg.num_classes)

    def forward(self, pixel_values: Tensor) -> ViTOutput:
        B = pixel_values.size(0)                                         # BREAKPOINT S01 pixel_values
        embedded = self.patchify(pixel_values).flatten(2).mT             # BREAKPOINT S04
        class_token = self.class_token.expand(B, 1, -1)                  # BREAKPOINT S05
        tokens = torch.cat([class_token, embedded], dim=1)               # BREAKPOINT S06
        hidden_states = tokens + self.positions                          # BREAKPOINT S07
        outputs = []
        for layer in self.layers:
            hidden_states = layer(hidden_states)
            outputs.append(hidden_states)
        block_2 = outputs[min(1, len(outputs) - 1)]                      # BREAKPOINT S21
        last_hidden_state = outputs[-1]                                  # BREAKPOINT S22
        sequence = self.ln_f(last_hidden_state)                          # BREAKPOINT S23
        pooled = sequence[:, 0, :]                                       # BREAKPOINT S24
        logits = self.classifier(pooled)                                 # BREAKPOINT S25
        probabilities = F.softmax(logits, dim=-1)                        # BREAKPOINT S26
        return ViTOutput(logits, probabilities)


def load_image_tensor(path: str) -> Tensor:
    from torchvision.io import ImageReadMode, read_image
    from torchvision.transforms.v2 import functional as TF

    image = TF.resize(read_image(path, ImageReadMode.RGB), [IMG_SIZE, IMG_SIZE], antialias=True)
    image = TF.normalize(image / 255, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    return image[None]


def main() -> None:
    model = ViT(ViTConfig()).eval()
    with torch.inference_mode():
        model(load_image_tensor("dog.png"))


if __name__ == "__main__":
    main()
