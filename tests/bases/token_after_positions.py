import torch
from torch import nn


class PreNorm(nn.Module):
    def __init__(self, width, function):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.function = function

    def forward(self, x):
        return self.function(self.norm(x))


class Attention(nn.Module):
    def __init__(self, width, head_count):
        super().__init__()
        self.head_count = head_count
        self.to_qkv = nn.Linear(width, width * 3)
        self.project = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.to_qkv(x).reshape(*x.shape[:2], 3, self.head_count, -1).permute(2, 0, 3, 1, 4).unbind(0)
        weight = (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)
        return self.project((weight.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Patches(nn.Module):
    """Adds positions to the patches; the class token gets its own before it is put in front."""

    def __init__(self, resolution, patch_size, in_chans, width):
        super().__init__()
        self.convolution = nn.Conv2d(in_chans, width, patch_size, patch_size)
        self.patch_positions = nn.Parameter(torch.randn(1, (resolution // patch_size) ** 2, width))
        self.class_position = nn.Parameter(torch.randn(1, 1, width))
        self.class_token = nn.Parameter(torch.randn(1, 1, width))

    def forward(self, image):
        patches = self.convolution(image).flatten(2).transpose(1, 2)
        patches = patches + self.patch_positions
        token = self.class_token + self.class_position
        return torch.cat((token.expand(image.shape[0], -1, -1), patches), dim=1)


class VisionTransformer(nn.Module):
    def __init__(self, resolution=224, patch_size=16, in_chans=3, embed_dim=768, encoder_layers=12, head_count=12,
                 mlp_units=3072, class_count=1000):
        super().__init__()
        self.patches = Patches(resolution, patch_size, in_chans, embed_dim)
        self.attention, self.mlp = nn.ModuleList(), nn.ModuleList()
        for _ in range(encoder_layers):
            self.attention.append(PreNorm(embed_dim, Attention(embed_dim, head_count)))
            self.mlp.append(PreNorm(embed_dim, nn.Sequential(
                nn.Linear(embed_dim, mlp_units), nn.GELU(), nn.Linear(mlp_units, embed_dim))))
        self.final = PreNorm(embed_dim, nn.Identity())
        self.readout = nn.Linear(embed_dim, class_count)

    def forward(self, image):
        x = self.patches(image)
        for attention, mlp in zip(self.attention, self.mlp):
            x = x + attention(x)
            x = x + mlp(x)
        return self.readout(self.final(x)[:, 0])
