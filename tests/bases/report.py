"""ViT-B/16 written out step by step, one breakpoint per stage."""
import math

import torch
from torch import nn

IMG_SIZE = 224
PATCH_SIZE = 16
IN_CHANNELS = 3
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4


class PatchEmbedding(nn.Module):
    def __init__(self, in_channels=IN_CHANNELS, patch_size=PATCH_SIZE, embed_dim=EMBED_DIM):
        super().__init__()
        self.patch_size = patch_size
        self.proj = nn.Linear(in_channels * patch_size * patch_size, embed_dim)

    def forward(self, img):
        B, C, H, W = img.shape
        P = self.patch_size
        gh, gw = H // P, W // P
        windows = img.unfold(2, P, P).unfold(3, P, P)  # (B, C, gh, gw, P, P)
        patches4d = windows.permute(0, 2, 3, 1, 4, 5).reshape(B, gh * gw, C, P, P)
        # BREAKPOINT S02 - patches
        patches_flat = patches4d.reshape(B, gh * gw, C * P * P)
        # BREAKPOINT S03 - flattened patches
        patch_embed = self.proj(patches_flat)
        # BREAKPOINT S04 - patch embeddings
        return patches4d, patches_flat, patch_embed


class EncoderBlock(nn.Module):
    def __init__(self, dim=EMBED_DIM, num_heads=NUM_HEADS, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.dim = dim
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, int(dim * mlp_ratio))
        self.act = nn.GELU()
        self.fc2 = nn.Linear(int(dim * mlp_ratio), dim)
        self.norm3 = nn.LayerNorm(dim)

    def forward(self, x):
        B, T, D = x.shape
        x_in = x
        # BREAKPOINT S08 - block input
        x_norm = self.norm1(x_in)
        qkv = self.qkv(x_norm).reshape(B, T, 3, self.num_heads, self.head_dim)
        qkv = qkv.permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        # BREAKPOINT S09 - Q
        # BREAKPOINT S10 - K
        # BREAKPOINT S11 - V
        attn_scores = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        # BREAKPOINT S12 - scores before softmax
        attn_probs = attn_scores.softmax(dim=-1)
        # BREAKPOINT S13 - scores after softmax
        attn_ctx = attn_probs @ v
        # BREAKPOINT S14 - context of each head
        attn_concat = attn_ctx.transpose(1, 2).reshape(B, T, D)
        attn_out = self.proj(attn_concat)
        # BREAKPOINT S15 - attention output
        x_after_attn = x_in + attn_out
        x_post_attn_norm = self.norm2(x_after_attn)
        # BREAKPOINT S16 - residual and norm after attention
        ff_in = x_post_attn_norm
        ff_hidden = self.act(self.fc1(ff_in))
        # BREAKPOINT S17 - feed-forward hidden layer
        ff_out = self.fc2(ff_hidden)
        # BREAKPOINT S18 - feed-forward output
        x_after_mlp = ff_in + ff_out
        x_post_mlp_norm = self.norm3(x_after_mlp)
        # BREAKPOINT S19 - residual and norm after the MLP
        block_out = x_post_mlp_norm
        # BREAKPOINT S20 - block output
        return block_out


class ViT(nn.Module):
    def __init__(
        self,
        img_size=IMG_SIZE,
        patch_size=PATCH_SIZE,
        in_channels=IN_CHANNELS,
        num_classes=NUM_CLASSES,
        embed_dim=EMBED_DIM,
        num_blocks=NUM_BLOCKS,
        num_heads=NUM_HEADS,
        mlp_ratio=MLP_RATIO,
    ):
        super().__init__()
        height, width = img_size if isinstance(img_size, tuple) else (img_size, img_size)
        num_patches = (height // patch_size) * (width // patch_size)
        self.patch_embed = PatchEmbedding(in_channels, patch_size, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))
        self.blocks = nn.ModuleList([EncoderBlock(embed_dim, num_heads, mlp_ratio) for _ in range(num_blocks)])
        self.head = nn.Linear(embed_dim, num_classes)
        nn.init.trunc_normal_(self.cls_token, std=0.02)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)

    def forward(self, img):
        B = img.size(0)
        # BREAKPOINT S01 - input image
        patches4d, patches_flat, x_embed = self.patch_embed(img)
        cls_tok = self.cls_token.expand(B, -1, -1)
        # BREAKPOINT S05 - class token before concatenation
        x_tokens = torch.cat([cls_tok, x_embed], dim=1)
        # BREAKPOINT S06 - tokens with the class token
        x_pos = x_tokens + self.pos_embed
        # BREAKPOINT S07 - tokens with positions
        x = x_pos
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i == 1:
                x_block2_out = x
                # BREAKPOINT S21 - output of block 2
        x_last = x
        # BREAKPOINT S22 - output of the last block
        final_seq = x_last
        # BREAKPOINT S23 - final sequence
        cls_rep = final_seq[:, 0]
        # BREAKPOINT S24 - class representation
        logits = self.head(cls_rep)
        # BREAKPOINT S25 - logits
        probs = logits.softmax(dim=-1)
        # BREAKPOINT S26 - class probabilities
        return {
            "S02_patches4d": patches4d,
            "S03_patches_flat": patches_flat,
            "S04_patch_embed": x_embed,
            "final_seq": final_seq,
            "cls_rep": cls_rep,
            "logits": logits,
            "probs": probs,
        }
