from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Output(NamedTuple):
    logits: Tensor
    attentions: Tensor


class Attention(nn.Module):
    """The library's function with separate matrices, sequence first; weights are returned for every head."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.c_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        x = x.transpose(0, 1)
        out, weights = F.multi_head_attention_forward(
            query=x, key=x, value=x, embed_dim_to_check=x.shape[-1], num_heads=self.num_heads,
            q_proj_weight=self.q_proj.weight, k_proj_weight=self.k_proj.weight, v_proj_weight=self.v_proj.weight,
            in_proj_weight=None, in_proj_bias=torch.cat([self.q_proj.bias, self.k_proj.bias, self.v_proj.bias]),
            bias_k=None, bias_v=None, add_zero_attn=False, dropout_p=0.0,
            out_proj_weight=self.c_proj.weight, out_proj_bias=self.c_proj.bias, use_separate_proj_weight=True,
            training=self.training, need_weights=True, average_attn_weights=False,
        )
        return out.transpose(0, 1), weights


class EncoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.layer_norm_1 = nn.LayerNorm(embed_dim)
        self.attn = Attention(embed_dim, num_heads)
        self.layer_norm_2 = nn.LayerNorm(embed_dim)
        self.linear = nn.Sequential(
            nn.Linear(embed_dim, hidden_dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(hidden_dim, embed_dim)
        )

    def forward(self, x):
        out, weights = self.attn(self.layer_norm_1(x))
        x = x + out
        x = x + self.linear(self.layer_norm_2(x))
        return x, weights


class VisionTransformer(nn.Module):
    def __init__(self, embed_dim=768, hidden_dim=3072, num_channels=3, num_heads=12, num_layers=12, num_classes=1000,
                 patch_size=16, image_size=224):
        super().__init__()
        self.patch_size = patch_size
        self.input_layer = nn.Linear(num_channels * patch_size ** 2, embed_dim)
        self.transformer = nn.ModuleList([EncoderBlock(embed_dim, num_heads, hidden_dim) for _ in range(num_layers)])
        self.mlp_head = nn.Sequential(nn.LayerNorm(embed_dim), nn.Linear(embed_dim, num_classes))
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.pos_embedding = nn.Parameter(torch.randn(1, 1 + (image_size // patch_size) ** 2, embed_dim))

    def forward(self, x):
        B, C, H, W = x.shape
        p = self.patch_size
        x = x.view(B, C, H // p, p, W // p, p).permute(0, 2, 4, 1, 3, 5).flatten(1, 2).flatten(2, 4)
        x = self.input_layer(x)
        x = torch.cat([self.cls_token.repeat(B, 1, 1), x], dim=1) + self.pos_embedding[:, : x.shape[1] + 1]
        maps = []
        for layer in self.transformer:
            x, weights = layer(x)
            maps.append(weights)
        return Output(self.mlp_head(x[:, 0]), torch.stack(maps, dim=1))
