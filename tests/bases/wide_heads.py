import torch
from torch import nn
from torch.nn import functional as F


class FeedForward(nn.Module):
    def __init__(self, dim, mlp_dim):
        super().__init__()
        self.layer_norm = nn.LayerNorm(dim)
        self.inner = nn.Linear(dim, mlp_dim)
        self.outer = nn.Linear(mlp_dim, dim)

    def forward(self, x):
        return self.outer(F.gelu(self.inner(self.layer_norm(x))))


class WideAttention(nn.Module):
    """The width of a head is its own setting: heads together are wider than the tokens."""

    def __init__(self, dim, heads, dim_head):
        super().__init__()
        self.heads, self.dim_head = heads, dim_head
        self.layer_norm = nn.LayerNorm(dim)
        self.q = nn.Linear(dim, heads * dim_head)
        self.kv = nn.Linear(dim, 2 * heads * dim_head)
        self.out = nn.Linear(heads * dim_head, dim)

    def heads_first(self, t):
        return t.view(t.shape[0], t.shape[1], self.heads, self.dim_head).transpose(1, 2)

    def forward(self, x):
        x = self.layer_norm(x)
        k, v = self.kv(x).chunk(2, dim=-1)
        q, k, v = self.heads_first(self.q(x)), self.heads_first(k), self.heads_first(v)
        sim = torch.einsum("b h i d, b h j d -> b h i j", q, k) * self.dim_head ** -0.5
        out = torch.einsum("b h i j, b h j d -> b i h d", sim.softmax(-1), v)
        return self.out(out.flatten(2))


class ViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, num_classes=1000, dim=768, depth=12, heads=12, mlp_dim=3072,
                 channels=3, dim_head=64):
        super().__init__()
        self.patch_size = patch_size
        self.to_embedding = nn.Linear(channels * patch_size ** 2, dim)
        self.cls_token = nn.Parameter(torch.randn(dim))
        self.pos_embedding = nn.Parameter(torch.randn((image_size // patch_size) ** 2 + 1, dim))
        self.layers = nn.ModuleList(
            nn.ModuleDict({"attend": WideAttention(dim, heads, dim_head), "feed": FeedForward(dim, mlp_dim)})
            for _ in range(depth)
        )
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, num_classes))

    def forward(self, img):
        p = self.patch_size
        windows = img.unfold(2, p, p).unfold(3, p, p)
        patches = windows.permute(0, 2, 3, 4, 5, 1).flatten(3).flatten(1, 2)  # channels last
        x = self.to_embedding(patches)
        x = torch.cat((self.cls_token.expand(x.shape[0], 1, -1), x), dim=1)
        x = x + self.pos_embedding
        for layer in self.layers:
            x = layer["attend"](x) + x
            x = layer["feed"](x) + x
        return self.head(x[:, 0])
