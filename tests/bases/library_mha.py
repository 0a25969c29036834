import torch
from torch import nn


class EncoderLayer(nn.Module):
    def __init__(self, d_model=768, n_heads=12, d_ff=3072, dropout=0.1):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, batch_first=True)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.GELU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model), nn.Dropout(dropout)
        )

    def forward(self, x):
        normed = self.norm_1(x)
        attended, _ = self.attention(normed, normed, normed)
        x = attended + x
        return self.feed_forward(self.norm_2(x)) + x


class VisionTransformer(nn.Module):
    def __init__(self, img_size=224, patch_size=16, n_channels=3, d_model=768, n_heads=12, d_ff=3072, n_layers=12,
                 n_classes=1000, dropout=0.1):
        super().__init__()
        self.patcher = nn.Sequential(nn.Conv2d(n_channels, d_model, patch_size, patch_size), nn.Flatten(2))
        self.cls_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = nn.Parameter(torch.zeros(1, (img_size // patch_size) ** 2 + 1, d_model))
        self.dropout = nn.Dropout(dropout)
        self.encoder = nn.Sequential(*[EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers)])
        self.mlp_head = nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, n_classes))

    def forward(self, img):
        x = self.patcher(img).permute(0, 2, 1)
        x = torch.cat([self.cls_token.expand(x.size(0), -1, -1), x], dim=1)
        x = self.dropout(x + self.positions)
        x = self.encoder(x)
        return self.mlp_head(x[:, 0])
