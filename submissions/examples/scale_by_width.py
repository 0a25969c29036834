"""Assignment: debug a Vision Transformer. All sizes are the ones of ViT-B/16."""
import torch
import torch.nn as nn
import torchvision.transforms as T
from PIL import Image

IMG_SIZE = 224
PATCH_SIZE = 16
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4


def load_image_tensor(path):
    transform = T.Compose([
        T.Resize((IMG_SIZE, IMG_SIZE)),
        T.ToTensor(),
        T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ])
    return transform(Image.open(path).convert("RGB"))[None]


class PatchEmbedding(nn.Module):
    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, embed_dim=EMBED_DIM):
        super().__init__()
        self.patch_size = patch_size
        self.num_patches = (img_size // patch_size) ** 2
        self.linear = nn.Linear(3 * patch_size * patch_size, embed_dim)

    def forward(self, img):
        B, C, H, W = img.shape  # BREAKPOINT S01
        P = self.patch_size
        img_patches = img.unfold(2, P, P).unfold(3, P, P).permute(0, 2, 3, 1, 4, 5)
        img_patches = img_patches.reshape(B, self.num_patches, C, P, P)  # BREAKPOINT S02
        img_flat = img_patches.reshape(B, self.num_patches, C * P * P)  # BREAKPOINT S03
        emb = self.linear(img_flat)  # BREAKPOINT S04
        return emb


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim=EMBED_DIM, num_heads=NUM_HEADS):
        super().__init__()
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        B, T, D = x.shape
        Q = self.q_proj(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)  # BREAKPOINT S09
        K = self.k_proj(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)  # BREAKPOINT S10
        V = self.v_proj(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)  # BREAKPOINT S11
        # scaled dot product, so that the softmax does not saturate
        scores = torch.matmul(Q, K.transpose(-2, -1)) / self.embed_dim ** 0.5  # BREAKPOINT S12
        weights = torch.softmax(scores, dim=-1)  # BREAKPOINT S13
        context = torch.matmul(weights, V)  # BREAKPOINT S14
        output = self.out_proj(context.transpose(1, 2).reshape(B, T, D))  # BREAKPOINT S15
        return output


class EncoderBlock(nn.Module):
    def __init__(self, embed_dim=EMBED_DIM, num_heads=NUM_HEADS, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.norm1 = nn.LayerNorm(embed_dim)
        self.mha = MultiHeadAttention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.linear1 = nn.Linear(embed_dim, mlp_ratio * embed_dim)
        self.gelu = nn.GELU()
        self.linear2 = nn.Linear(mlp_ratio * embed_dim, embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)

    def forward(self, x):
        inp = x  # BREAKPOINT S08
        x = self.norm2(inp + self.mha(self.norm1(inp)))  # BREAKPOINT S16
        hidden = self.gelu(self.linear1(x))  # BREAKPOINT S17
        ff = self.linear2(hidden)  # BREAKPOINT S18
        x = self.norm3(x + ff)  # BREAKPOINT S19
        out = x  # BREAKPOINT S20
        return out


class ViT(nn.Module):
    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, embed_dim=EMBED_DIM, num_heads=NUM_HEADS,
                 num_blocks=NUM_BLOCKS, num_classes=NUM_CLASSES, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.patch_embedding = PatchEmbedding(img_size, patch_size, embed_dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim) * 0.02)
        self.pos_embedding = nn.Parameter(
            torch.randn(1, self.patch_embedding.num_patches + 1, embed_dim) * 0.02
        )
        self.blocks = nn.ModuleList([EncoderBlock(embed_dim, num_heads, mlp_ratio) for _ in range(num_blocks)])
        self.classifier = nn.Linear(embed_dim, num_classes)

    def forward(self, img):
        emb = self.patch_embedding(img)
        cls = self.cls_token.expand(img.shape[0], -1, -1)  # BREAKPOINT S05
        x = torch.cat([cls, emb], dim=1)  # BREAKPOINT S06
        x = x + self.pos_embedding  # BREAKPOINT S07
        for i in range(len(self.blocks)):
            x = self.blocks[i](x)
            if i == 1:
                x_second = x  # BREAKPOINT S21
        x_last = x  # BREAKPOINT S22
        final_seq = x_last  # BREAKPOINT S23
        cls_out = final_seq[:, 0]  # BREAKPOINT S24
        logits = self.classifier(cls_out)  # BREAKPOINT S25
        probs = torch.softmax(logits, dim=-1)  # BREAKPOINT S26
        return logits, probs


def main():
    model = ViT()
    model.eval()
    with torch.no_grad():
        model(load_image_tensor("image.jpg"))


if __name__ == "__main__":
    main()
