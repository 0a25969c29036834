from collections import OrderedDict

import torch
from torch import nn


class QuickGELU(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class ResidualAttentionBlock(nn.Module):
    def __init__(self, d_model, n_head, d_mlp):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, n_head)
        self.ln_1 = nn.LayerNorm(d_model)
        self.mlp = nn.Sequential(OrderedDict([
            ("c_fc", nn.Linear(d_model, d_mlp)),
            ("gelu", QuickGELU()),
            ("c_proj", nn.Linear(d_mlp, d_model)),
        ]))
        self.ln_2 = nn.LayerNorm(d_model)

    def forward(self, x):
        y = self.ln_1(x)
        y, weights = self.attn(y, y, y, average_attn_weights=False)
        x = x + y
        x = x + self.mlp(self.ln_2(x))
        return x, weights


class VisualTransformer(nn.Module):
    def __init__(self, input_resolution=224, patch_size=16, in_channels=3, width=768, layers=12, heads=12,
                 mlp_width=3072, output_dim=512):
        super().__init__()
        self.grid = input_resolution // patch_size
        self.conv1 = nn.Conv2d(in_channels, width, kernel_size=patch_size, stride=patch_size, bias=False)
        scale = width ** -0.5
        self.class_embedding = nn.Parameter(scale * torch.randn(width))
        self.positional_embedding = nn.Parameter(scale * torch.randn(self.grid ** 2 + 1, width))
        self.ln_pre = nn.LayerNorm(width)
        self.transformer = nn.ModuleList([ResidualAttentionBlock(width, heads, mlp_width) for _ in range(layers)])
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(scale * torch.randn(width, output_dim))

    def forward(self, x, return_tokens=False, return_attention=False):
        x = self.conv1(x)
        x = x.reshape(x.shape[0], x.shape[1], -1).permute(0, 2, 1)
        cls = self.class_embedding + torch.zeros(x.shape[0], 1, x.shape[2], dtype=x.dtype, device=x.device)
        x = torch.cat([cls, x], dim=1)
        x = x + self.positional_embedding
        x = self.ln_pre(x)
        x = x.permute(1, 0, 2)  # NLD -> LND
        maps = []
        for block in self.transformer:
            x, weights = block(x)
            maps.append(weights[:, :, 0, 1:].unflatten(-1, (self.grid, self.grid)))
        x = x.permute(1, 0, 2)  # LND -> NLD
        feature = self.ln_post(x[:, 0, :]) @ self.proj
        output = (feature,)
        if return_tokens:
            output += (x[:, 1:],)
        if return_attention:
            output += (torch.stack(maps),)
        return output
