import torch
from torch import nn
import torch.nn.functional as F


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Conv2d(dim, hidden, 1)
        self.w2 = nn.Conv2d(hidden, dim, 1)

    def forward(self, x):  # B T D -> as a picture of height 1
        y = x.permute(0, 2, 1).unsqueeze(2)
        return self.w2(F.gelu(self.w1(y))).squeeze(2).permute(0, 2, 1)


class Encoder(nn.Module):
    """A linked list of blocks: each holds the next."""

    def __init__(self, depth, dim, heads, hidden):
        super().__init__()
        self.norm1 = nn.GroupNorm(1, dim)
        self.norm2 = nn.GroupNorm(1, dim)
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.merge = nn.Linear(dim, dim)
        self.ff = FeedForward(dim, hidden)
        self.next = Encoder(depth - 1, dim, heads, hidden) if depth > 1 else None

    def norm(self, norm, x):
        b, t, d = x.shape
        return norm(x.reshape(b * t, d)).reshape(b, t, d)

    def attend(self, x):
        b, t, d = x.shape
        cut = lambda y: y.view(b, t, self.heads, d // self.heads).transpose(1, 2).reshape(b * self.heads, t, -1)
        q, k, v = cut(self.query(x)), cut(self.key(x)), cut(self.value(x))
        scores = torch.bmm(q, k.permute(0, 2, 1)).mul_((d // self.heads) ** -0.5)
        out = torch.bmm(torch.softmax(scores, dim=-1), v)
        out = out.view(b, self.heads, t, -1).transpose(1, 2).reshape(b, t, d)
        return self.merge(out)

    def forward(self, x):
        x = x + self.attend(self.norm(self.norm1, x))
        x = x + self.ff(self.norm(self.norm2, x))
        return x if self.next is None else self.next(x)


class LinkedViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, in_channels=3, dim=768, depth=12, heads=12, hidden=3072, num_classes=1000):
        super().__init__()
        self.patch_size = patch_size
        self.embed = nn.Linear(in_channels * patch_size ** 2, dim)
        self.cls = nn.Parameter(torch.randn(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, (image_size // patch_size) ** 2 + 1, dim))
        self.encoder = Encoder(depth, dim, heads, hidden)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, num_classes)

    def forward(self, x):
        x = F.unfold(x, kernel_size=(self.patch_size, self.patch_size), stride=(self.patch_size, self.patch_size))
        x = self.embed(x.transpose(-1, -2))
        x = F.pad(x, (0, 0, 1, 0))
        x[:, :1] = x[:, :1] + self.cls
        return self.head(self.norm(self.encoder(x + self.pos))[:, 0])
