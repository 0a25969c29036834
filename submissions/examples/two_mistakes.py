# ViT debugging homework. One class for a block, one for the model, everything else inside forward.
import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F

IMG_SIZE = 224
PATCH_SIZE = 16
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4
MEAN = np.array([0.485, 0.456, 0.406], dtype="float32")
STD = np.array([0.229, 0.224, 0.225], dtype="float32")


def load_image_tensor(file_name):
    picture = Image.open(file_name).convert("RGB").resize((IMG_SIZE, IMG_SIZE))
    array = (np.asarray(picture, dtype="float32") / 255 - MEAN) / STD
    return torch.from_numpy(array.transpose(2, 0, 1)[None].copy())


class ViTBlock(nn.Module):
    def __init__(self, embed_dim=EMBED_DIM, num_heads=NUM_HEADS, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(embed_dim) for _ in range(3))
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.w_o = nn.Linear(embed_dim, embed_dim)
        self.mlp_in = nn.Linear(embed_dim, mlp_ratio * embed_dim)
        self.mlp_out = nn.Linear(mlp_ratio * embed_dim, embed_dim)

    def forward(self, x):
        # BREAKPOINT S08
        b, t, d = x.shape
        qkv = self.qkv(self.norm1(x))
        qkv = qkv.view(b, t, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv
        # BREAKPOINT S09
        # BREAKPOINT S10
        # BREAKPOINT S11
        attn_scores = q @ k.transpose(-2, -1) / self.head_dim**0.5
        # BREAKPOINT S12
        attn_probs = F.softmax(attn_scores, dim=-2)
        # BREAKPOINT S13
        attn_ctx = attn_probs @ v
        # BREAKPOINT S14
        attn_out = self.w_o(attn_ctx.transpose(1, 2).reshape(b, t, d))
        # BREAKPOINT S15
        h = self.norm2(x + attn_out)
        # BREAKPOINT S16
        ff_hidden = F.gelu(self.mlp_in(h))
        # BREAKPOINT S17
        ff_out = self.mlp_out(ff_hidden)
        # BREAKPOINT S18
        block_out = self.norm3(x + ff_out)
        # BREAKPOINT S19
        # BREAKPOINT S20
        return block_out


class MyViT(nn.Module):
    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, channels=3, embed_dim=EMBED_DIM,
                 num_heads=NUM_HEADS, num_blocks=NUM_BLOCKS, num_classes=NUM_CLASSES, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.patch_size = patch_size
        self.embed = nn.Linear(channels * patch_size**2, embed_dim)
        self.cls = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos = nn.Parameter(torch.zeros(1, (img_size // patch_size) ** 2 + 1, embed_dim))
        nn.init.trunc_normal_(self.cls, std=0.02)
        nn.init.trunc_normal_(self.pos, std=0.02)
        self.blocks = nn.ModuleList([ViTBlock(embed_dim, num_heads, mlp_ratio) for _ in range(num_blocks)])
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, image):
        # BREAKPOINT S01
        b, c, h, w = image.shape
        p = self.patch_size
        patches = image.view(b, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5)
        patches = patches.reshape(b, -1, c, p, p)
        # BREAKPOINT S02
        flat = patches.reshape(b, -1, c * p * p)
        # BREAKPOINT S03
        tokens = self.embed(flat)
        # BREAKPOINT S04
        cls = self.cls.expand(b, -1, -1)
        # BREAKPOINT S05
        tokens = torch.cat([cls, tokens], dim=1)
        # BREAKPOINT S06
        tokens = tokens + self.pos
        # BREAKPOINT S07
        block_outputs = []
        for block in self.blocks:
            tokens = block(tokens)
            block_outputs.append(tokens)
        if len(block_outputs) > 1:
            second = block_outputs[1]
            # BREAKPOINT S21
        last = block_outputs[-1]
        # BREAKPOINT S22
        final_seq = last
        # BREAKPOINT S23
        cls_rep = final_seq[:, 0]
        # BREAKPOINT S24
        logits = self.head(cls_rep)
        # BREAKPOINT S25
        probs = F.softmax(logits, dim=-1)
        # BREAKPOINT S26
        return {"final_seq": final_seq, "cls_rep": cls_rep, "logits": logits, "probs": probs}


def main():
    model = MyViT().eval()
    with torch.no_grad():
        out = model(load_image_tensor("flower.jpg"))
    return out["probs"]


if __name__ == "__main__":
    main()
