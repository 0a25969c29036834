"""ViT-B/16 for the debugging assignment, on top of the helper package of our study group."""
import torch
import torch.nn as nn
from PIL import Image
from torchvision import transforms

import vit_helpers_xyz as helpers

IMG_SIZE = 224
PATCH_SIZE = 16
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4


def load_image_tensor(path):
    pipeline = transforms.Compose([
        transforms.Resize((IMG_SIZE, IMG_SIZE)),
        transforms.ToTensor(),
        transforms.Normalize(helpers.IMAGENET_MEAN, helpers.IMAGENET_STD),
    ])
    return pipeline(Image.open(path).convert("RGB")).unsqueeze(0)


class Block(nn.Module):
    def __init__(self, embed_dim=EMBED_DIM, num_heads=NUM_HEADS, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.norm1 = nn.LayerNorm(embed_dim)
        self.attn = helpers.MultiHeadAttention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.fc1 = nn.Linear(embed_dim, mlp_ratio * embed_dim)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(mlp_ratio * embed_dim, embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)

    def forward(self, x):
        # BREAKPOINT S08
        attn_out = self.attn(self.norm1(x))
        # BREAKPOINT S15
        x_post_attn_norm = self.norm2(x + attn_out)
        # BREAKPOINT S16
        ff_hidden = self.act(self.fc1(x_post_attn_norm))
        # BREAKPOINT S17
        ff_out = self.fc2(ff_hidden)
        # BREAKPOINT S18
        block_out = self.norm3(x_post_attn_norm + ff_out)
        # BREAKPOINT S19, S20
        return block_out


class ViT(nn.Module):
    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, embed_dim=EMBED_DIM, num_heads=NUM_HEADS,
                 num_blocks=NUM_BLOCKS, num_classes=NUM_CLASSES, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.patch_embed = helpers.PatchEmbedding(img_size, patch_size, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, (img_size // patch_size) ** 2 + 1, embed_dim))
        self.blocks = nn.ModuleList([Block(embed_dim, num_heads, mlp_ratio) for _ in range(num_blocks)])
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, img):
        # BREAKPOINT S01
        patch_embed = self.patch_embed(img)
        # BREAKPOINT S04
        cls_tok = self.cls_token.expand(img.shape[0], -1, -1)
        # BREAKPOINT S05
        x_tokens = torch.cat([cls_tok, patch_embed], dim=1)
        # BREAKPOINT S06
        x = x_tokens + self.pos_embed
        # BREAKPOINT S07
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i == 1:
                x_block2_out = x
                # BREAKPOINT S21
        final_seq = x
        # BREAKPOINT S22, S23
        cls_rep = final_seq[:, 0]
        # BREAKPOINT S24
        logits = self.head(cls_rep)
        # BREAKPOINT S25
        probs = logits.softmax(dim=-1)
        # BREAKPOINT S26
        return {"final_seq": final_seq, "cls_rep": cls_rep, "logits": logits, "probs": probs}


def main():
    model = ViT().eval()
    with torch.no_grad():
        model(load_image_tensor("image.png"))


if __name__ == "__main__":
    main()
