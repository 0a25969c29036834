import torch
from torch import nn
from torch.nn import functional as F


class Embeddings(nn.Module):
    """F.unfold for the patches; class token and positions are rows of nn.Embedding tables."""

    def __init__(self, image_size, patch_size, num_channels, dim):
        super().__init__()
        self.patch_size = patch_size
        tokens = (image_size // patch_size) ** 2 + 1
        self.patch_projection = nn.Linear(num_channels * patch_size ** 2, dim)
        self.cls_embedding = nn.Embedding(1, dim)
        self.position_embedding = nn.Embedding(tokens, dim)
        self.register_buffer("position_ids", torch.arange(tokens).unsqueeze(0))

    def forward(self, image):
        patches = F.unfold(image, self.patch_size, stride=self.patch_size).permute(0, 2, 1)
        x = self.patch_projection(patches)
        cls = self.cls_embedding(torch.zeros(len(image), 1, dtype=torch.long, device=image.device))
        return torch.cat([cls, x], dim=1) + self.position_embedding(self.position_ids)


class MultiHead(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.proj_q, self.proj_k, self.proj_v, self.proj_o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x):
        split = lambda t: t.unflatten(2, (self.n_heads, -1))  # (B, S, H, W), heads are never moved
        q, k, v = split(self.proj_q(x)), split(self.proj_k(x)), split(self.proj_v(x))
        scores = torch.einsum("bqhw,bkhw->bhqk", q, k) / q.size(-1) ** 0.5
        h = torch.einsum("bhqk,bkhw->bqhw", F.softmax(scores, dim=-1), v)
        return self.proj_o(h.flatten(2))


class Block(nn.Module):
    def __init__(self, dim, n_heads, ff_dim):
        super().__init__()
        self.attn = MultiHead(dim, n_heads)
        self.norm1 = nn.LayerNorm(dim)
        self.pwff = nn.ModuleList([nn.Linear(dim, ff_dim), nn.Linear(ff_dim, dim)])
        self.norm2 = nn.LayerNorm(dim)

    def forward(self, x):
        x = self.attn(self.norm1(x)) + x
        fc1, fc2 = self.pwff
        return fc2(F.gelu(fc1(self.norm2(x)))) + x


class VisionTransformer(nn.Module):
    def __init__(self, image_size=224, patch_size=16, num_channels=3, dim=768, num_layers=12, n_heads=12, ff_dim=3072,
                 num_classes=1000):
        super().__init__()
        self.embeddings = Embeddings(image_size, patch_size, num_channels, dim)
        self.blocks = nn.ModuleList([Block(dim, n_heads, ff_dim) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(dim)
        self.classifier = nn.Linear(dim, num_classes)

    def forward(self, image):
        x = self.embeddings(image)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.classifier(x.select(1, 0))
