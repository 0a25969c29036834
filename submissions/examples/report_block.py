"""Debugging a Vision Transformer (ViT-B/16), stage by stage.

Open this file in the debugger, put a breakpoint on every line marked BREAKPOINT and look at the local
variables there. The block is the one of the debugging report: a norm after each of the two residual sums.
"""

import math

import numpy as np
import torch
import torch.nn as nn
from PIL import Image

IMG_SIZE = 224
PATCH_SIZE = 16
IN_CHANNELS = 3
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4

IMAGENET_MEAN = [0.485, 0.456, 0.406]
IMAGENET_STD = [0.229, 0.224, 0.225]


def load_image_tensor(path, size=IMG_SIZE):
    """Image file -> (1, 3, size, size), normalised."""
    image = Image.open(path).convert("RGB").resize((size, size), Image.BILINEAR)
    pixels = torch.from_numpy(np.array(image, dtype=np.float32) / 255.0)  # (H, W, 3)
    pixels = (pixels - torch.tensor(IMAGENET_MEAN)) / torch.tensor(IMAGENET_STD)
    return pixels.permute(2, 0, 1).unsqueeze(0)


class Block(nn.Module):
    def __init__(self, embed_dim=EMBED_DIM, num_heads=NUM_HEADS, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.norm1 = nn.LayerNorm(embed_dim)
        self.qkv = nn.Linear(embed_dim, embed_dim * 3)
        self.attn_proj = nn.Linear(embed_dim, embed_dim)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.ff1 = nn.Linear(embed_dim, int(embed_dim * mlp_ratio))
        self.gelu = nn.GELU()
        self.ff2 = nn.Linear(int(embed_dim * mlp_ratio), embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)

    def split(self, t):
        batch, tokens, _ = t.shape
        return t.view(batch, tokens, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, block_in):
        batch, tokens, dim = block_in.shape
        # BREAKPOINT S08 block_in is what enters the block
        q, k, v = self.qkv(self.norm1(block_in)).chunk(3, dim=-1)
        q = self.split(q)  # BREAKPOINT S09 q
        k = self.split(k)  # BREAKPOINT S10 k
        v = self.split(v)  # BREAKPOINT S11 v
        attn_scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # BREAKPOINT S12
        attn_probs = torch.softmax(attn_scores, dim=-1)  # BREAKPOINT S13
        attn_ctx = attn_probs @ v  # BREAKPOINT S14
        attn_concat = attn_ctx.transpose(1, 2).reshape(batch, tokens, dim)
        attn_out = self.attn_proj(attn_concat)  # BREAKPOINT S15
        x_post_attn = self.norm2(block_in + attn_out)  # BREAKPOINT S16
        ff_hidden = self.gelu(self.ff1(x_post_attn))  # BREAKPOINT S17
        ff_out = self.ff2(ff_hidden)  # BREAKPOINT S18
        x_post_mlp = self.norm3(x_post_attn + ff_out)  # BREAKPOINT S19
        block_out = x_post_mlp  # BREAKPOINT S20
        return block_out


class VisionTransformer(nn.Module):
    def __init__(
        self,
        img_size=IMG_SIZE,
        patch_size=PATCH_SIZE,
        in_channels=IN_CHANNELS,
        embed_dim=EMBED_DIM,
        num_heads=NUM_HEADS,
        num_blocks=NUM_BLOCKS,
        num_classes=NUM_CLASSES,
        mlp_ratio=MLP_RATIO,
    ):
        super().__init__()
        self.patch_size = patch_size
        num_patches = (img_size // patch_size) ** 2
        self.patch_proj = nn.Linear(in_channels * patch_size * patch_size, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))
        self.blocks = nn.ModuleList(Block(embed_dim, num_heads, mlp_ratio) for _ in range(num_blocks))
        self.head = nn.Linear(embed_dim, num_classes)
        nn.init.trunc_normal_(self.cls_token, std=0.02)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)

    def forward(self, img):
        batch, channels, height, width = img.shape  # BREAKPOINT S01 img
        p = self.patch_size
        windows = img.unfold(2, p, p).unfold(3, p, p)  # (B, C, rows, columns, p, p)
        patches = windows.permute(0, 2, 3, 1, 4, 5).flatten(1, 2)  # BREAKPOINT S02
        patches_flat = patches.flatten(2)  # BREAKPOINT S03
        patch_embed = self.patch_proj(patches_flat)  # BREAKPOINT S04
        cls_tok = self.cls_token.expand(batch, -1, -1)  # BREAKPOINT S05
        x_tokens = torch.cat((cls_tok, patch_embed), dim=1)  # BREAKPOINT S06
        x_pos = x_tokens + self.pos_embed  # BREAKPOINT S07

        x = x_pos
        for number, block in enumerate(self.blocks, start=1):
            x = block(x)
            if number == 2:
                x_block2_out = x  # BREAKPOINT S21
        x_last = x  # BREAKPOINT S22
        final_seq = x_last  # BREAKPOINT S23
        cls_rep = final_seq[:, 0]  # BREAKPOINT S24
        logits = self.head(cls_rep)  # BREAKPOINT S25
        probs = torch.softmax(logits, dim=-1)  # BREAKPOINT S26
        return {
            "S02_patches": patches,
            "S03_patches_flat": patches_flat,
            "S04_patch_embed": patch_embed,
            "final_seq": final_seq,
            "cls_rep": cls_rep,
            "logits": logits,
            "probs": probs,
        }


def main():
    torch.manual_seed(0)
    model = VisionTransformer().eval()
    with torch.no_grad():
        stages = model(load_image_tensor("sample.jpg"))
    return stages["probs"].argmax(dim=-1)


if __name__ == "__main__":
    main()
