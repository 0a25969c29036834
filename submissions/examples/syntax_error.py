"""Vision Transformer, step by step."""
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
    from torchvision.transforms import functional as TF

    image = TF.to_tensor(Image.open(path).convert("RGB").resize((IMG_SIZE, IMG_SIZE)))
    return TF.normalize(image, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]).unsqueeze(0)


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim=EMBED_DIM, num_heads=NUM_HEADS, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)
        self.ln1 = nn.LayerNorm(embed_dim)
        self.ln2 = nn.LayerNorm(embed_dim)
        self.fc1 = nn.Linear(embed_dim, mlp_ratio * embed_dim)
        self.fc2 = nn.Linear(mlp_ratio * embed_dim, embed_dim)

    def forward(self, x):
        # BREAKPOINT S08
        normed = self.ln1(x)
        attn_out, attn_probs = self.attn(normed, normed, normed, average_attn_weights=False)
        # BREAKPOINT S13
        # BREAKPOINT S15
        x = x + attn_out
        mlp_in = self.ln2(x)
        # BREAKPOINT S16
        ff_hidden = F.gelu(self.fc1(mlp_in))
        # BREAKPOINT S17
        ff_out = self.fc2(ff_hidden)
        # BREAKPOINT S18
        x = x + ff_out
        # BREAKPOINT S19
        # BREAKPOINT S20
        return x


class ViT(nn.Module):
    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, embed_dim=EMBED_DIM, num_heads=NUM_HEADS,
                 num_blocks=NUM_BLOCKS, num_classes=NUM_CLASSES, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.proj = nn.Conv2d(3, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, (img_size // patch_size) ** 2 + 1, embed_dim)
        self.blocks = nn.ModuleList(
            [TransformerBlock(embed_dim, num_heads, mlp_ratio) for _ in range(num_blocks)]
        )
        self.norm = nn.LayerNorm(embed_dim)
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, img):
        # BREAKPOINT S01
        patch_embed = self.proj(img).flatten(2).transpose(1, 2)
        # BREAKPOINT S04
        cls_tok = self.cls_token.expand(img.shape[0], -1, -1)
        # BREAKPOINT S05
        tokens = torch.cat([cls_tok, patch_embed], dim=1)
        # BREAKPOINT S06
        x = tokens + self.pos_embed
        # BREAKPOINT S07
        for block in self.blocks:
            x = block(x)
        # BREAKPOINT S22
        final_seq = self.norm(x)
        # BREAKPOINT S23
        cls_rep = final_seq[:, 0]
        # BREAKPOINT S24
        logits = self.head(cls_rep)
        # BREAKPOINT S25
        probs = F.softmax(logits, dim=-1)
        # BREAKPOINT S26
        return logits, probs


if __name__ == "__main__":
    ViT().eval()(load_image_tensor("image.jpg"))
