# Homework 3
import math
import torch
from einops import repeat
from torch import nn


class Embeddings(nn.Module):
    """Patch embedding, class token and position embedding."""

    def __init__(self, patch, in_channels, units, img_dim):
        super().__init__()
        self.patcher = nn.Conv2d(in_channels, units, kernel_size=patch, stride=patch)
        self.class_embedding = nn.Parameter(torch.randn(1, 1, units) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, (img_dim // patch) ** 2 + 1, units))

    def forward(self, images):
        embeddings = self.patcher(images).flatten(2).permute(0, 2, 1)
        # [S04] patch embeddings
        class_token = repeat(self.class_embedding, '1 1 d -> b 1 d', b=len(embeddings))
        # [S05] class token
        x_tokens = torch.cat([class_token, embeddings], 1)
        # [S06] prepend cls token
        x = x_tokens + self.pos_embed
        # [S07] add positional encoding
        return x


class SelfAttention(nn.Module):
    """Multi-head self-attention"""

    def __init__(self, units, num_heads):
        super().__init__()
        self.q_proj = nn.Linear(units, units, bias=False)
        self.k_proj = nn.Linear(units, units, bias=False)
        self.v_proj = nn.Linear(units, units, bias=False)
        self.num_heads = num_heads
        self.head_dim = units // num_heads
        self.proj = nn.Linear(units, units)

    def forward(self, feats):
        B, N, _ = feats.shape
        q = self.q_proj(feats).view(B, N, self.num_heads, self.head_dim).transpose(1, 2)
        # [S09] queries
        k = self.k_proj(feats).view(B, N, self.num_heads, self.head_dim).transpose(1, 2)
        # [S10] keys
        v = self.v_proj(feats).view(B, N, self.num_heads, self.head_dim).transpose(1, 2)
        # [S11] values
        attn = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        # [S12] scaled dot product
        attn_probs = attn.softmax(dim=-1)
        # [S13] softmax
        out = attn_probs @ v
        # [S14] weighted sum of values
        concat = out.transpose(1, 2).reshape(B, N, -1)
        attn_out = self.proj(concat)
        # [S15] attention output
        return attn_out


class MLPBlock(nn.Module):
    """position-wise feed forward network"""

    def __init__(self, ff_dim, units):
        super().__init__()
        self.mlp_block = nn.Sequential(
            nn.Linear(units, ff_dim),
            nn.GELU(),
            nn.Linear(ff_dim, units),
        )

    def forward(self, feats):
        return self.mlp_block(feats)


class ResidualAttentionBlock(nn.Module):
    def __init__(self, units, num_heads, ff_dim):
        super().__init__()
        self.ln_1 = nn.LayerNorm(units, eps=1e-6)
        self.ln_2 = nn.LayerNorm(units, eps=1e-6)
        self.ln_3 = nn.LayerNorm(units, eps=1e-6)
        self.attn = SelfAttention(units, num_heads)
        self.mlp_block = MLPBlock(ff_dim, units)

    def forward(self, feats):
        x0 = feats
        attn_out = self.ln_1(feats)
        x_after_attn = x0 + attn_out
        normed = self.ln_2(x_after_attn)
        # [S16] norm before mlp
        out2 = self.mlp_block(normed)
        y = self.ln_3(normed + out2)
        # [S20] block output
        return y


class ViTEncoder(nn.Module):
    """A stack of encoder blocks."""

    def __init__(self, units, num_heads, ff_dim, depth):
        super().__init__()
        self.blocks = nn.ModuleList([ResidualAttentionBlock(units, num_heads, ff_dim) for _ in range(depth)])

    def forward(self, feats):
        return feats


class ViT(nn.Module):
    """ViT for image classification."""

    def __init__(self, img_dim=64, patch=8, in_channels=3, units=128, depth=4, num_heads=4, ff_dim=512, num_classes=200):
        super().__init__()
        self.embeddings = Embeddings(patch, in_channels, units, img_dim)
        self.encoder = ViTEncoder(units, num_heads, ff_dim, depth)
        self.head = nn.Linear(units, num_classes)

    def forward(self, images):
        x = self.embeddings(images)
        x_last = self.encoder(x)
        cls_rep = x_last[:, 0]
        # [S24] take cls token
        return self.head(cls_rep)


if __name__ == "__main__":
    model = ViT()
    model.eval()
    images = torch.randn(2, 3, 64, 64)
    out = model(images)
    print(model)
