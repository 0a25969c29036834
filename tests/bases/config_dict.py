import torch
import torch.nn as nn

config = {
    "img_size": 224,
    "patch_size": 16,
    "in_channels": 3,
    "embedding_dim": 768,
    "num_heads": 12,
    "mlp_dim": 3072,
    "num_layers": 12,
    "num_classes": 1000,
}


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.h = cfg["num_heads"]
        self.qkv = nn.Linear(cfg["embedding_dim"], 3 * cfg["embedding_dim"])
        self.out = nn.Linear(cfg["embedding_dim"], cfg["embedding_dim"])

    def forward(self, x):
        b, t, e = x.shape
        q, k, v = torch.tensor_split(self.qkv(x), 3, dim=-1)
        q, k, v = [m.reshape(b, t, self.h, e // self.h).swapaxes(1, 2) for m in (q, k, v)]
        att = torch.matmul(q, k.swapaxes(-1, -2)) / torch.sqrt(torch.tensor(e // self.h, dtype=x.dtype))
        att = nn.Softmax(dim=-1)(att)
        return self.out((att @ v).swapaxes(1, 2).reshape(b, t, e))


class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.attention = Attention(cfg)
        self.fc_in = nn.Linear(cfg["embedding_dim"], cfg["mlp_dim"])
        self.fc_out = nn.Linear(cfg["mlp_dim"], cfg["embedding_dim"])
        self.norm_a = nn.LayerNorm(cfg["embedding_dim"])
        self.norm_b = nn.LayerNorm(cfg["embedding_dim"])

    def forward(self, x):
        x = torch.add(x, self.attention(self.norm_a(x)))
        y = self.fc_out(nn.functional.gelu(self.fc_in(self.norm_b(x))))
        return torch.add(x, y)


class ViT(nn.Module):
    def __init__(self, cfg=config):
        super().__init__()
        patches = (cfg["img_size"] // cfg["patch_size"]) ** 2
        self.conv = nn.Conv2d(cfg["in_channels"], cfg["embedding_dim"], cfg["patch_size"], cfg["patch_size"])
        self.cls = nn.Parameter(torch.zeros(1, 1, cfg["embedding_dim"]))
        self.pos = nn.Parameter(torch.zeros(1, patches + 1, cfg["embedding_dim"]))
        self.layers = nn.ModuleList(Layer(cfg) for _ in range(cfg["num_layers"]))
        self.norm = nn.LayerNorm(cfg["embedding_dim"])
        self.fc = nn.Linear(cfg["embedding_dim"], cfg["num_classes"])

    def forward(self, x):
        x = self.conv(x)
        x = x.reshape(x.shape[0], x.shape[1], -1).permute(0, 2, 1)
        x = torch.hstack([self.cls.expand(len(x), -1, -1), x])
        x = torch.add(x, self.pos)
        for layer in self.layers:
            x = layer(x)
        return self.fc(self.norm(x)[:, 0])
