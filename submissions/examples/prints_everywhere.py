"""Vision Transformer with a trace of every shape."""
import math

import torch
from torch import nn
from PIL import Image
import torchvision.transforms as transforms

IMG_SIZE = 224
PATCH_SIZE = 16
IN_CHANS = 3
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4


def load_image_tensor(path):
    print("loading", path)
    transform = transforms.Compose(
        [
            transforms.Resize((IMG_SIZE, IMG_SIZE)),
            transforms.ToTensor(),
            transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
        ]
    )
    return transform(Image.open(path).convert("RGB")).unsqueeze(0)


class TransformerBlock(nn.Module):
    def __init__(self, dim=EMBED_DIM, num_heads=NUM_HEADS, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, dim * 3, bias=True)
        self.proj = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, int(dim * mlp_ratio))
        self.act = nn.GELU()
        self.fc2 = nn.Linear(int(dim * mlp_ratio), dim)
        self.norm3 = nn.LayerNorm(dim)

    def forward(self, x):
        B, T, D = x.shape
        # BREAKPOINT S08
        print("block input", x.shape)
        qkv = self.qkv(self.norm1(x)).reshape(B, T, 3, self.num_heads, self.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        # BREAKPOINT S09
        # BREAKPOINT S10
        # BREAKPOINT S11
        # BREAKPOINT S12
        print("q", q.shape, "k", k.shape, "v", v.shape)
        attn_scores = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        print("scores", attn_scores.shape)
        attn_probs = attn_scores.softmax(dim=-1)
        # BREAKPOINT S13
        print("rows sum to", attn_probs.sum(dim=-1).mean())
        attn_ctx = attn_probs @ v
        # BREAKPOINT S14
        attn_out = self.proj(attn_ctx.transpose(1, 2).reshape(B, T, D))
        # BREAKPOINT S15
        print("attention output", attn_out.shape)
        x_post_attn_norm = self.norm2(x + attn_out)
        # BREAKPOINT S16
        # BREAKPOINT S18
        ff_hidden = self.act(self.fc1(x_post_attn_norm))
        # BREAKPOINT S17
        print("hidden", ff_hidden.shape)
        ff_out = self.fc2(ff_hidden)
        block_out = self.norm3(x_post_attn_norm + ff_out)
        # BREAKPOINT S19
        # BREAKPOINT S20
        print("block output", block_out.shape, block_out.mean().item(), block_out.std().item())
        return block_out


class ViT(nn.Module):
    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, in_chans=IN_CHANS, embed_dim=EMBED_DIM,
                 num_heads=NUM_HEADS, num_blocks=NUM_BLOCKS, num_classes=NUM_CLASSES, mlp_ratio=MLP_RATIO):
        super().__init__()
        print("building a ViT with", num_blocks, "blocks")
        self.patch_size = patch_size
        self.proj = nn.Linear(in_chans * patch_size * patch_size, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, (img_size // patch_size) ** 2 + 1, embed_dim))
        self.blocks = nn.ModuleList([TransformerBlock(embed_dim, num_heads, mlp_ratio) for _ in range(num_blocks)])
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, img):
        # BREAKPOINT S01
        print("S01", img.shape)
        B, C, H, W = img.shape
        P = self.patch_size
        patches = img.unfold(2, P, P).unfold(3, P, P).permute(0, 2, 3, 1, 4, 5).reshape(B, -1, C, P, P)
        # BREAKPOINT S02
        print("S02", patches.shape)
        patches_flat = patches.flatten(2)
        # BREAKPOINT S03
        print("S03", patches_flat.shape)
        patch_embed = self.proj(patches_flat)
        # BREAKPOINT S04
        print("S04", patch_embed.shape)
        cls_tok = self.cls_token.expand(B, -1, -1)
        # BREAKPOINT S05
        x_tokens = torch.cat([cls_tok, patch_embed], dim=1)
        # BREAKPOINT S06
        print("S06", x_tokens.shape)
        x = x_tokens + self.pos_embed
        # BREAKPOINT S07
        for i, block in enumerate(self.blocks):
            print("------ block", i + 1)
            x = block(x)
        x_last = x
        # BREAKPOINT S22
        final_seq = x_last
        # BREAKPOINT S23
        cls_rep = final_seq[:, 0]
        # BREAKPOINT S24
        logits = self.head(cls_rep)
        # BREAKPOINT S25
        probs = torch.softmax(logits, dim=-1)
        # BREAKPOINT S26
        print("predicted class", probs.argmax(dim=-1), "with", probs.max())
        return {"logits": logits, "probs": probs}


if __name__ == "__main__":
    model = ViT().eval()
    out = model(load_image_tensor("image.jpg"))
    print(out["probs"].sum())
