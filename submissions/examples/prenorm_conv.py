# Lab 2 - walking through a vanilla ViT (the pre-norm one of "An Image is Worth 16x16 Words")
# The patch projection is a convolution, so there are no tensors for S02 and S03 to stop at.
import torch
from torch import nn
from PIL import Image
from torchvision import transforms

IMG_SIZE, PATCH_SIZE, IN_CHANNELS = 224, 16, 3
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4.0
LN_EPS = 1e-6


def load_image_tensor(image_path: str) -> torch.Tensor:
    tf = transforms.Compose([
        transforms.Resize((IMG_SIZE, IMG_SIZE)),
        transforms.ToTensor(),
        transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ])
    return tf(Image.open(image_path).convert("RGB")).unsqueeze(0)


class PatchEmbed(nn.Module):
    def __init__(self, patch_size, in_channels, embed_dim):
        super().__init__()
        self.proj = nn.Conv2d(in_channels, embed_dim, kernel_size=patch_size, stride=patch_size)

    def forward(self, image):
        feature_map = self.proj(image)                       # B, D, H/P, W/P
        embeddings = feature_map.flatten(2).transpose(1, 2)  # B, N, D
        # BREAKPOINT S04: patch embeddings
        return embeddings


class Attention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (embed_dim // num_heads) ** -0.5
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        B, T, D = x.shape
        qkv = self.qkv(x).reshape(B, T, 3, self.num_heads, D // self.num_heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        # BREAKPOINT S09, S10, S11: q, k, v
        scores = q @ k.transpose(-1, -2) * self.scale
        # BREAKPOINT S12: before the softmax
        probabilities = scores.softmax(dim=-1)
        # BREAKPOINT S13: after the softmax
        context = probabilities @ v
        # BREAKPOINT S14: context of every head
        out = self.proj(context.transpose(1, 2).flatten(2))
        # BREAKPOINT S15: attention output
        return out


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__()
        hidden_dim = int(embed_dim * mlp_ratio)
        self.norm1 = nn.LayerNorm(embed_dim, eps=LN_EPS)
        self.attn = Attention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim, eps=LN_EPS)
        self.fc1 = nn.Linear(embed_dim, hidden_dim)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden_dim, embed_dim)

    def forward(self, x):
        tokens_in = x
        # BREAKPOINT S08: block input
        x = x + self.attn(self.norm1(x))
        mlp_in = self.norm2(x)
        # BREAKPOINT S16: the normalised sum
        hidden = self.act(self.fc1(mlp_in))
        # BREAKPOINT S17: feed-forward hidden
        mlp_out = self.fc2(hidden)
        # BREAKPOINT S18: feed-forward output
        x = x + mlp_out
        # BREAKPOINT S19: after the second residual
        # BREAKPOINT S20: block output
        return x


class ViT(nn.Module):
    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, in_channels=IN_CHANNELS, num_classes=NUM_CLASSES,
                 embed_dim=EMBED_DIM, depth=NUM_BLOCKS, num_heads=NUM_HEADS, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.patch_embed = PatchEmbed(patch_size, in_channels, embed_dim)
        num_patches = (img_size // patch_size) ** 2
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, 1 + num_patches, embed_dim) * 0.02)
        self.blocks = nn.ModuleList([TransformerBlock(embed_dim, num_heads, mlp_ratio) for _ in range(depth)])
        self.norm = nn.LayerNorm(embed_dim, eps=LN_EPS)
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, image):
        batch_size = image.shape[0]
        # BREAKPOINT S01: raw input
        embeddings = self.patch_embed(image)
        cls = self.cls_token.expand(batch_size, -1, -1)
        # BREAKPOINT S05: class token
        x = torch.cat([cls, embeddings], dim=1)
        # BREAKPOINT S06: tokens with the class token in front
        x = x + self.pos_embed
        # BREAKPOINT S07: tokens with positions
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i == 1:
                second_out = x
                # BREAKPOINT S21: block 2
        last_out = x
        # BREAKPOINT S22: last block
        sequence = self.norm(last_out)
        # BREAKPOINT S23: final sequence
        class_feature = sequence[:, 0]
        # BREAKPOINT S24: class token alone
        logits = self.head(class_feature)
        # BREAKPOINT S25: logits
        probs = logits.softmax(dim=-1)
        # BREAKPOINT S26: probabilities
        return logits, probs


def main():
    vit = ViT()
    vit.eval()
    with torch.no_grad():
        logits, probs = vit(load_image_tensor("cat.jpg"))
    return probs.topk(5)


if __name__ == "__main__":
    main()
