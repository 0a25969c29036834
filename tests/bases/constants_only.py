import torch
import torch.nn as nn

IMG_SIZE = 224
PATCH_SIZE = 16
CHANNELS = 3
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
MLP_RATIO = 4
NUM_CLASSES = 1000


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(EMBED_DIM)
        self.qkv = nn.Linear(EMBED_DIM, 3 * EMBED_DIM)
        self.proj = nn.Linear(EMBED_DIM, EMBED_DIM)
        self.norm2 = nn.LayerNorm(EMBED_DIM)
        self.mlp = nn.Sequential(
            nn.Linear(EMBED_DIM, int(EMBED_DIM * MLP_RATIO)), nn.GELU(), nn.Linear(int(EMBED_DIM * MLP_RATIO), EMBED_DIM)
        )
        self.norm3 = nn.LayerNorm(EMBED_DIM)

    def forward(self, x):
        B, T, _ = x.shape
        qkv = self.qkv(self.norm1(x)).view(B, T, 3, NUM_HEADS, EMBED_DIM // NUM_HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (EMBED_DIM // NUM_HEADS) ** 0.5
        probs = torch.softmax(scores, -1)
        ctx = (probs @ v).transpose(1, 2).reshape(B, T, EMBED_DIM)
        x = self.norm2(x + self.proj(ctx))
        x = self.norm3(x + self.mlp(x))
        return x


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Linear(CHANNELS * PATCH_SIZE * PATCH_SIZE, EMBED_DIM)
        self.cls_token = nn.Parameter(torch.empty(1, 1, EMBED_DIM).normal_(std=0.02))
        self.pos_embed = nn.Parameter(torch.empty(1, (IMG_SIZE // PATCH_SIZE) ** 2 + 1, EMBED_DIM).normal_(std=0.02))
        self.encoder = nn.Sequential(*(Block() for _ in range(NUM_BLOCKS)))
        self.head = nn.Linear(EMBED_DIM, NUM_CLASSES)

    def forward(self, x):
        B = x.shape[0]
        G = IMG_SIZE // PATCH_SIZE
        x = x.reshape(B, CHANNELS, G, PATCH_SIZE, G, PATCH_SIZE)
        x = x.permute(0, 2, 4, 1, 3, 5).reshape(B, G * G, CHANNELS * PATCH_SIZE * PATCH_SIZE)
        x = self.patch_embed(x)
        x = torch.cat([self.cls_token.expand(B, -1, -1), x], dim=1)
        x = self.encoder(x + self.pos_embed)
        return self.head(x[:, 0])
