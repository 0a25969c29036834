"""Step-by-step ViT. In the debugger I only need the right shapes of Q, K and V to follow the attention."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

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

    steps = [
        transforms.Resize((IMG_SIZE, IMG_SIZE)),
        transforms.ToTensor(),
        transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ]
    return transforms.Compose(steps)(Image.open(path).convert("RGB")).unsqueeze(0)


class Attention(nn.Module):
    def __init__(self, embed_dim=EMBED_DIM, num_heads=NUM_HEADS):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        batch, tokens, dim = x.shape
        q = torch.randn(batch, self.num_heads, tokens, self.head_dim)
        # BREAKPOINT S09
        k = torch.randn(batch, self.num_heads, tokens, self.head_dim)
        # BREAKPOINT S10
        v = torch.randn(batch, self.num_heads, tokens, self.head_dim)
        # BREAKPOINT S11
        attn_scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        # BREAKPOINT S12
        attn_probs = F.softmax(attn_scores, dim=-1)
        # BREAKPOINT S13
        attn_ctx = attn_probs @ v
        # BREAKPOINT S14
        attn_out = self.proj(attn_ctx.transpose(1, 2).reshape(batch, tokens, dim))
        # BREAKPOINT S15
        return attn_out


class Block(nn.Module):
    def __init__(self, embed_dim=EMBED_DIM, num_heads=NUM_HEADS, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.norm1 = nn.LayerNorm(embed_dim)
        self.attention = Attention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.fc1 = nn.Linear(embed_dim, int(mlp_ratio * embed_dim))
        self.fc2 = nn.Linear(int(mlp_ratio * embed_dim), embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)

    def forward(self, x):
        # BREAKPOINT S08
        x = x + self.attention(self.norm1(x))
        x = self.norm2(x)
        # BREAKPOINT S16
        ff_hidden = F.gelu(self.fc1(x))
        # BREAKPOINT S17
        ff_out = self.fc2(ff_hidden)
        # BREAKPOINT S18
        x = self.norm3(x + ff_out)
        # BREAKPOINT S19
        # BREAKPOINT S20
        return x


class VisionTransformer(nn.Module):
    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, embed_dim=EMBED_DIM, num_heads=NUM_HEADS,
                 num_blocks=NUM_BLOCKS, num_classes=NUM_CLASSES, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.patch_size = patch_size
        self.to_embedding = nn.Linear(3 * patch_size * patch_size, embed_dim)
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
        x = self.to_embedding(patches_flat)
        # BREAKPOINT S04
        cls_token = self.cls_token.expand(img.shape[0], -1, -1)
        # BREAKPOINT S05
        x = torch.cat([cls_token, x], dim=1)
        # BREAKPOINT S06
        x = x + self.pos_embed
        # BREAKPOINT S07
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i == 1:
                block2_out = x
                # BREAKPOINT S21
        last_out = x
        # BREAKPOINT S22
        final_seq = last_out
        # BREAKPOINT S23
        cls_rep = final_seq[:, 0]
        # BREAKPOINT S24
        logits = self.head(cls_rep)
        # BREAKPOINT S25
        probs = F.softmax(logits, dim=-1)
        # BREAKPOINT S26
        return logits, probs


def main():
    model = VisionTransformer().eval()
    logits, probs = model(load_image_tensor("bird.jpg"))


if __name__ == "__main__":
    main()
