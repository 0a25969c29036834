"""ViT debugging assignment. The loop over the blocks is a while loop, to step through it by hand."""
import math

import torch
import torch.nn as nn

IMG_SIZE = 224
PATCH_SIZE = 16
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4


def load_image_tensor(path):
    from PIL import Image
    from torchvision import transforms

    prepare = transforms.Compose([
        transforms.Resize((IMG_SIZE, IMG_SIZE)),
        transforms.ToTensor(),
        transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ])
    return prepare(Image.open(path).convert("RGB")).unsqueeze(0)


class Block(nn.Module):
    def __init__(self, embed_dim=EMBED_DIM, num_heads=NUM_HEADS, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.norm1 = nn.LayerNorm(embed_dim)
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.out = nn.Linear(embed_dim, embed_dim)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.mlp1 = nn.Linear(embed_dim, mlp_ratio * embed_dim)
        self.gelu = nn.GELU()
        self.mlp2 = nn.Linear(mlp_ratio * embed_dim, embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)

    def forward(self, x):
        # BREAKPOINT S08
        B, T, D = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(B, T, 3, self.num_heads, self.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        # BREAKPOINT S09, S10, S11
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        # BREAKPOINT S12
        probs = scores.softmax(dim=-1)
        # BREAKPOINT S13
        ctx = probs @ v
        # BREAKPOINT S14
        attn_out = self.out(ctx.transpose(1, 2).reshape(B, T, D))
        # BREAKPOINT S15
        x = self.norm2(x + attn_out)
        # BREAKPOINT S16
        hidden = self.gelu(self.mlp1(x))
        # BREAKPOINT S17
        ff_out = self.mlp2(hidden)
        # BREAKPOINT S18
        x = self.norm3(x + ff_out)
        # BREAKPOINT S19
        # BREAKPOINT S20
        return x


class VisionTransformer(nn.Module):
    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, in_channels=3, embed_dim=EMBED_DIM,
                 num_heads=NUM_HEADS, num_blocks=NUM_BLOCKS, num_classes=NUM_CLASSES, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.patch_size = patch_size
        self.embed = nn.Linear(in_channels * patch_size * patch_size, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, (img_size // patch_size) ** 2 + 1, embed_dim))
        self.blocks = nn.ModuleList([Block(embed_dim, num_heads, mlp_ratio) for _ in range(num_blocks)])
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, img):
        # BREAKPOINT S01
        P = self.patch_size
        patches = img.unfold(2, P, P).unfold(3, P, P).permute(0, 2, 3, 1, 4, 5).flatten(1, 2)
        # BREAKPOINT S02
        patches_flat = patches.flatten(2)
        # BREAKPOINT S03
        patch_embed = self.embed(patches_flat)
        # BREAKPOINT S04
        cls_tok = self.cls_token.expand(img.shape[0], -1, -1)
        # BREAKPOINT S05
        x_tokens = torch.cat([cls_tok, patch_embed], dim=1)
        # BREAKPOINT S06
        x = x_tokens + self.pos_embed
        # BREAKPOINT S07
        i = 0
        while i < len(self.blocks):
            x = self.blocks[i](x)
            if i == 1:
                x_block2_out = x
                # BREAKPOINT S21
                i += 1
        final_seq = x
        # BREAKPOINT S22
        # BREAKPOINT S23
        cls_rep = final_seq[:, 0]
        # BREAKPOINT S24
        logits = self.head(cls_rep)
        # BREAKPOINT S25
        probs = logits.softmax(dim=-1)
        # BREAKPOINT S26
        return logits, probs


def main():
    model = VisionTransformer().eval()
    with torch.no_grad():
        return model(load_image_tensor("image.jpg"))


if __name__ == "__main__":
    main()
