import torch
from torch import nn


class MSA(nn.Module):
    def __init__(self, emb, heads):
        super().__init__()
        self.heads = heads
        self.fused = nn.Linear(emb, emb * 3)
        self.merge = nn.Linear(emb, emb)

    def forward(self, x):
        q, k, v = self.fused(x).view(x.size(0), x.size(1), 3, self.heads, -1).unbind(2)
        q, k, v = q.permute(0, 2, 1, 3), k.permute(0, 2, 3, 1), v.permute(0, 2, 1, 3)  # keys are kept transposed
        scores = q @ k / q.size(3) ** 0.5
        return self.merge((scores.softmax(3) @ v).permute(0, 2, 1, 3).flatten(2))


class Encoder(nn.Module):
    def __init__(self, emb, heads, hidden):
        super().__init__()
        self.first = nn.Sequential(nn.LayerNorm(emb), MSA(emb, heads))
        self.second = nn.Sequential(nn.LayerNorm(emb), nn.Linear(emb, hidden), nn.GELU(), nn.Linear(hidden, emb))

    def forward(self, x):
        x = x + self.first(x)
        return x + self.second(x)


class Network(nn.Module):
    def __init__(self, image, patch, in_c, emb, depth, heads, hidden, classes):
        super().__init__()
        self.cut = nn.Conv2d(in_c, emb, patch, patch)
        self.cls = nn.Parameter(torch.randn(1, 1, emb))
        self.pos = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, emb))
        self.encoders = nn.Sequential(*[Encoder(emb, heads, hidden) for _ in range(depth)])
        self.classify = nn.Sequential(nn.LayerNorm(emb), nn.Linear(emb, classes))

    def forward(self, x):
        x = self.cut(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.size(0), 1, -1), x], 1) + self.pos
        return self.classify(self.encoders(x)[:, 0])


class VisionTransformer(nn.Module):
    """The network is written for several devices and run on whatever there is."""

    def __init__(self, image_size=224, patch_size=16, in_channels=3, emb_size=768, depth=12, num_heads=12,
                 mlp_hidden=3072, num_classes=1000):
        super().__init__()
        self.model = nn.DataParallel(
            Network(image_size, patch_size, in_channels, emb_size, depth, num_heads, mlp_hidden, num_classes)
        )

    def forward(self, images):
        logits = self.model(images)
        return {"logits": logits, "probs": torch.softmax(logits, dim=-1)}
