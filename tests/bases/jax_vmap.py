import math

import torch
from torch import nn
from torch.func import functional_call, vmap


def layer_norm(p, x):
    mu = x.mean()
    var = ((x - mu) ** 2).mean()
    return (x - mu) * torch.rsqrt(var + 1e-6) * p["scale"] + p["shift"]


def dense(p, x):
    return x @ p["kernel"] + p["bias"]


def attend_one_head(q, k, v):
    """(T, d) each"""
    logits = q @ k.T / math.sqrt(q.shape[-1])
    return torch.softmax(logits, dim=-1) @ v


def attention(p, x, heads):
    """x is (T, D)"""
    t, d = x.shape
    qkv = dense(p["qkv"], x).reshape(t, 3, heads, d // heads)
    q, k, v = qkv[:, 0], qkv[:, 1], qkv[:, 2]
    out = vmap(attend_one_head, in_dims=1, out_dims=1)(q, k, v)
    return dense(p["out"], out.reshape(t, d))


def block(p, x, heads):
    x = x + attention(p["attn"], vmap(lambda row: layer_norm(p["ln1"], row))(x), heads)
    h = vmap(lambda row: layer_norm(p["ln2"], row))(x)
    h = dense(p["fc2"], nn.functional.gelu(dense(p["fc1"], h)))
    return x + h


def patchify(image, size):
    c, h, w = image.shape
    x = image.reshape(c, h // size, size, w // size, size)
    return x.permute(1, 3, 0, 2, 4).reshape((h // size) * (w // size), c * size * size)


def vit(params, image, *, patch, heads, depth):
    x = dense(params["embed"], patchify(image, patch))
    x = torch.concatenate([params["cls"][None], x]) + params["pos"]
    for i in range(depth):
        x = block(params["blocks"][str(i)], x, heads)
    return dense(params["head"], layer_norm(params["ln"], x[0]))


class Params(nn.Module):
    """A pytree of parameters."""

    def __init__(self, **tree):
        super().__init__()
        for name, one in tree.items():
            setattr(self, name, nn.Parameter(one) if isinstance(one, torch.Tensor) else one)

    def __getitem__(self, name):
        return getattr(self, name)


def init_dense(fan_in, fan_out):
    return Params(kernel=torch.randn(fan_in, fan_out) * fan_in ** -0.5, bias=torch.zeros(fan_out))


def init_norm(d):
    return Params(scale=torch.ones(d), shift=torch.zeros(d))


class ViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, channels=3, dim=768, depth=12, heads=12, mlp_dim=3072, num_classes=1000):
        super().__init__()
        n = (image_size // patch_size) ** 2
        self.params = Params(
            embed=init_dense(channels * patch_size**2, dim),
            cls=torch.randn(dim) * 0.02,
            pos=torch.randn(n + 1, dim) * 0.02,
            blocks=nn.ModuleDict({
                str(i): Params(
                    attn=Params(qkv=init_dense(dim, 3 * dim), out=init_dense(dim, dim)),
                    ln1=init_norm(dim), ln2=init_norm(dim),
                    fc1=init_dense(dim, mlp_dim), fc2=init_dense(mlp_dim, dim),
                ) for i in range(depth)
            }),
            ln=init_norm(dim),
            head=init_dense(dim, num_classes),
        )
        self.static = dict(patch=patch_size, heads=heads, depth=depth)

    def forward(self, images):
        return vmap(lambda image: vit(self.params, image, **self.static))(images)
