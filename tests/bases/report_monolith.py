import torch
import torch.nn as nn
import torch.nn.functional as F


class VisionTransformer(nn.Module):
    """Everything in one class: the encoder blocks are dictionaries of layers."""

    def __init__(self, img_size=224, patch_size=16, in_channels=3, embed_dim=768, num_heads=12,
                 num_blocks=12, mlp_dim=3072, num_classes=1000):
        super().__init__()
        self.patch_size = patch_size
        self.num_heads = num_heads
        self.embed_dim = embed_dim
        side = img_size // patch_size
        self.patch_proj = nn.Linear(in_channels * patch_size ** 2, embed_dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, side * side + 1, embed_dim) * 0.02)
        self.layers = nn.ModuleList()
        for _ in range(num_blocks):
            self.layers.append(nn.ModuleDict({
                "ln_before": nn.LayerNorm(embed_dim),
                "to_qkv": nn.Linear(embed_dim, embed_dim * 3),
                "to_out": nn.Linear(embed_dim, embed_dim),
                "ln_attn": nn.LayerNorm(embed_dim),
                "up": nn.Linear(embed_dim, mlp_dim),
                "down": nn.Linear(mlp_dim, embed_dim),
                "ln_mlp": nn.LayerNorm(embed_dim),
            }))
        self.classifier = nn.Linear(embed_dim, num_classes)

    def forward(self, x):
        b, c, hh, ww = x.shape
        p = self.patch_size
        x = x.reshape(b, c, hh // p, p, ww // p, p)
        x = x.permute(0, 2, 4, 1, 3, 5).flatten(1, 2)
        x = x.flatten(2)
        x = self.patch_proj(x)
        x = torch.cat([self.cls_token.expand(b, 1, self.embed_dim), x], 1)
        x = x + self.pos_embed
        n = x.shape[1]
        for layer in self.layers:
            skip = x
            x = layer["ln_before"](x)
            q, k, v = layer["to_qkv"](x).chunk(3, dim=-1)
            q = q.view(b, n, self.num_heads, -1).transpose(1, 2)
            k = k.view(b, n, self.num_heads, -1).transpose(1, 2)
            v = v.view(b, n, self.num_heads, -1).transpose(1, 2)
            x = torch.matmul(q, k.transpose(2, 3)) / (self.embed_dim // self.num_heads) ** 0.5
            x = F.softmax(x, dim=3)
            x = torch.matmul(x, v)
            x = x.transpose(1, 2).contiguous().view(b, n, self.embed_dim)
            x = layer["to_out"](x) + skip
            x = layer["ln_attn"](x)
            skip = x
            x = F.gelu(layer["up"](x))
            x = layer["down"](x) + skip
            x = layer["ln_mlp"](x)
        x = x[:, 0, :]
        x = self.classifier(x)
        return {"logits": x, "probs": torch.softmax(x, dim=1)}
