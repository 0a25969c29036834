import torch
import torch.nn as nn
import torch.nn.functional as F
from dataclasses import dataclass
import math


class ViTConfig:
    img_size = 32
    patch_size = 4
    in_channels = 3
    embed_dim = 192
    n_blocks = 6
    n_heads = 8
    nb_of_classes = 10


def init_block(dim, hidden):
    def w(*shape):
        return nn.Parameter(torch.randn(*shape) * 0.02)

    def zeros(n):
        return nn.Parameter(torch.zeros(n))

    return {
        "ln1_w": nn.Parameter(torch.ones(dim)),
        "ln1_b": zeros(dim),
        "w_qkv": w(dim, 3 * dim),
        "b_qkv": zeros(3 * dim),
        "w_o": w(dim, dim),
        "b_o": zeros(dim),
        "ln2_w": nn.Parameter(torch.ones(dim)),
        "ln2_b": zeros(dim),
        "w1": w(dim, hidden),
        "b1": zeros(hidden),
        "w2": w(hidden, dim),
        "b2": zeros(dim),
    }


def attention_forward(x, p, n_heads):
    b, t, d = x.shape
    qkv = x @ p["w_qkv"] + p["b_qkv"]
    q, k, v = [one.reshape(b, t, n_heads, d // n_heads).transpose(1, 2) for one in qkv.chunk(3, dim=-1)]
    #S09 queries
    #S10 keys
    #S11 values

    scores = q @ k.transpose(-2, -1) / math.sqrt(d // n_heads)
    #S12 scaled dot product
    weights = scores.softmax(dim=-1)
    #S13 softmax
    context = weights @ v
    #S14 weighted sum of values

    return context.transpose(1, 2).reshape(b, t, d) @ p["w_o"] + p["b_o"]


def mlp_forward(x, p):
    hidden = F.gelu(x @ p["w1"] + p["b1"])
    #S17 hidden layer
    return hidden @ p["w2"] + p["b2"]


def block_forward(x, p, n_heads):
    normed = F.layer_norm(x, x.shape[-1:], p["ln1_w"], p["ln1_b"])
    x = x + attention_forward(normed, p, n_heads)
    normed = F.layer_norm(x, x.shape[-1:], p["ln2_w"], p["ln2_b"])
    #S16 norm before mlp
    return x + mlp_forward(normed, p)


@dataclass
class Output:
    logits: torch.Tensor
    probs: torch.Tensor


class PatchEncoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.proj = nn.Conv2d(config.in_channels, config.embed_dim, config.patch_size, config.patch_size)

    def forward(self, x):
        return self.proj(x).flatten(2).mT


class ViT(nn.Module):
    def __init__(self, config=ViTConfig()):
        super().__init__()
        self.patch_embed = PatchEncoder(config)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, config.embed_dim))
        self.pos_embed = nn.Parameter(torch.randn(1, (config.img_size // config.patch_size) ** 2 + 1, config.embed_dim))
        self.params = nn.ModuleList([nn.ParameterDict(init_block(config.embed_dim, 4 * config.embed_dim)) for _ in range(1, config.n_blocks)])
        self.n_heads = config.n_heads
        self.cls_head = nn.Sequential(
            nn.LayerNorm(config.embed_dim),
            nn.Linear(config.embed_dim, config.nb_of_classes)
        )

    def forward(self, x):
        patch_emb = self.patch_embed(x)
        cls_tokens = self.cls_token.expand(patch_emb.shape[0], -1, -1)
        #S05 class token
        x_tokens = torch.cat((cls_tokens, patch_emb), dim=1)
        #S06 prepend cls token
        tokens_pos = x_tokens + self.pos_embed
        #S07 add positional encoding

        for p in self.params:
            tokens_pos = block_forward(tokens_pos, p, self.n_heads)
        pooled = tokens_pos.mean(1)
        x_out = self.cls_head(pooled)
        #S25 classification head
        return Output(logits=x_out, probs=x_out.softmax(-1))
