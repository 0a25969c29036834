import torch
import torch.nn as nn
from einops import rearrange
import argparse


parser = argparse.ArgumentParser()
parser.add_argument("--img_size", type=int, default=224)
parser.add_argument("--patch_size", type=int, default=16)
parser.add_argument("--in_channels", type=int, default=3)
parser.add_argument("--embed_dim", type=int, default=768)
parser.add_argument("--depth", type=int, default=12)
parser.add_argument("--n_heads", type=int, default=12)
parser.add_argument("--mlp_dim", type=int, default=3072)
parser.add_argument("--num_classes", type=int, default=1000)
config = parser.parse_args()


class Patches(nn.Module):
    def __init__(self, config):
        super(Patches, self).__init__()
        self.proj = nn.Linear(config.in_channels * config.patch_size * config.patch_size, config.embed_dim)
        self.patch_size = config.patch_size

    def forward(self, x):
        flat = rearrange(x, 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1=self.patch_size, p2=self.patch_size)
        return self.proj(flat)


class EmbeddingBlock(nn.Module):
    def __init__(self, config):
        super(EmbeddingBlock, self).__init__()
        self.patch_embed = Patches(config)
        self.pos_embed = nn.Parameter(torch.randn(1, (config.img_size // config.patch_size) ** 2 + 1, config.embed_dim) * 0.02)
        self.class_token = nn.Parameter(torch.randn(1, config.embed_dim) * 0.02)

    def forward(self, x):
        x = self.patch_embed(x)
        x = x + self.pos_embed[:, 1:]
        cls_tokens = torch.cat([self.class_token.unsqueeze(0)] * x.shape[0], dim=0) + self.pos_embed[:, :1]
        x = torch.cat([cls_tokens, x], dim=1)
        return x


class MultiHeadAttention(nn.Module):
    def __init__(self, config):
        super(MultiHeadAttention, self).__init__()
        self.attention = nn.MultiheadAttention(config.embed_dim, config.n_heads)

    def forward(self, x):
        attention_output = x.transpose(0, 1)
        attention_output = self.attention(attention_output, attention_output, attention_output)[0]
        return attention_output.transpose(0, 1)


class FeedForward(nn.Module):
    def __init__(self, config):
        super(FeedForward, self).__init__()
        self.mlp = nn.Sequential(
            nn.Linear(config.embed_dim, config.mlp_dim),
            nn.GELU(),
            nn.Linear(config.mlp_dim, config.embed_dim),
        )

    def forward(self, x):
        return self.mlp(x)


class Block(nn.Module):
    def __init__(self, config):
        super(Block, self).__init__()
        self.layernorm_before = nn.LayerNorm([config.embed_dim])
        self.layernorm_after = nn.LayerNorm([config.embed_dim])
        self.attention = MultiHeadAttention(config)
        self.mlp = FeedForward(config)

    def forward(self, x):
        x = x + self.attention(self.layernorm_before(x))
        x = x + self.mlp(self.layernorm_after(x))
        return x


class ViT(nn.Module):
    def __init__(self, config):
        super(ViT, self).__init__()
        self.embedding_block = EmbeddingBlock(config)
        self.blocks = nn.Sequential(*[Block(config) for _ in range(config.depth)])
        self.norm = nn.LayerNorm([config.embed_dim])
        self.head = nn.Linear(config.embed_dim, config.num_classes)

    def forward(self, x):
        x = self.embedding_block(x)
        x = self.blocks(x)
        x = self.norm(x)
        ...
