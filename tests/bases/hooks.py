import torch
from torch import nn
import torch.nn.functional as F


class Identity(nn.Identity):
    pass


def norm_first(module, inputs):
    """forward_pre_hook: the norm is applied before whatever the module does"""
    return (module.pre_norm(inputs[0]),)


class Residual(nn.Module):
    def __init__(self, inner, dim):
        super().__init__()
        self.inner = inner
        self.inner.pre_norm = nn.LayerNorm(dim)
        self.inner.register_forward_pre_hook(norm_first)
        self.register_forward_hook(self.add_input)

    @staticmethod
    def add_input(module, inputs, output):
        return inputs[0] + output

    def forward(self, x):
        return self.inner(x)


class Attn(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.W = nn.Linear(d_model, 3 * d_model)
        self.O = nn.Linear(d_model, d_model)

    def forward(self, x):
        q, k, v = torch.tensor_split(self.W(x), 3, dim=2)
        q, k, v = [torch.stack(t.tensor_split(self.h, dim=2)) for t in (q, k, v)]  # h B T d
        s = torch.softmax(q @ k.mT * q.size(-1) ** -0.5, -1) @ v
        return self.O(torch.cat(list(s), dim=-1))


class Mlp(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.a, self.b = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.a.register_forward_hook(lambda m, i, o: F.gelu(o))

    def forward(self, x):
        return self.b(self.a(x))


class HookedViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, d_model=768, n_layers=12, n_heads=12, d_ff=3072, n_classes=1000):
        super().__init__()
        self.stem = nn.Conv2d(in_channels, d_model, patch_size, patch_size)
        self.stem.register_forward_hook(lambda m, i, o: o.flatten(2).transpose(1, 2))
        self.cls_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = nn.Parameter(torch.randn(1, 1 + (img_size // patch_size) ** 2, d_model))
        layers = []
        for _ in range(n_layers):
            layers += [Residual(Attn(d_model, n_heads), d_model), Residual(Mlp(d_model, d_ff), d_model)]
        self.encoder = nn.Sequential(*layers)
        self.encoder.register_forward_pre_hook(self._tokens)
        self.readout = nn.Linear(d_model, n_classes)
        self.norm = nn.LayerNorm(d_model)
        self.readout.register_forward_pre_hook(lambda m, i: (self.norm(i[0])[:, 0],))

    def _tokens(self, module, inputs):
        (x,) = inputs
        return (torch.cat([self.cls_token.repeat(x.size(0), 1, 1), x], 1) + self.positions,)

    def forward(self, x):
        return self.readout(self.encoder(self.stem(x)))
