import torch
from torch import nn
from torch.nn.functional import gelu, layer_norm, linear, softmax


class ViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_chans=3, width=768, layers=12, heads=12, mlp_width=3072, classes=1000):
        super().__init__()
        self.p, self.heads, self.layers = patch_size, heads, layers
        D, M = width, mlp_width
        new = lambda *s: nn.Parameter(torch.randn(*s) * 0.02)
        self.W = nn.ParameterList([new(D, in_chans * patch_size ** 2), new(D)])
        self.tokens = nn.ParameterList([new(D), new((img_size // patch_size) ** 2 + 1, D)])
        self.attn_w = nn.ParameterList([new(3 * D, D) for _ in range(layers)])
        self.attn_b = nn.ParameterList([new(3 * D) for _ in range(layers)])
        self.out_w = nn.ParameterList([new(D, D) for _ in range(layers)])
        self.out_b = nn.ParameterList([new(D) for _ in range(layers)])
        self.up_w = nn.ParameterList([new(M, D) for _ in range(layers)])
        self.up_b = nn.ParameterList([new(M) for _ in range(layers)])
        self.down_w = nn.ParameterList([new(D, M) for _ in range(layers)])
        self.down_b = nn.ParameterList([new(D) for _ in range(layers)])
        self.gains = nn.ParameterList([nn.Parameter(torch.ones(D)) for _ in range(2 * layers + 1)])
        self.shifts = nn.ParameterList([nn.Parameter(torch.zeros(D)) for _ in range(2 * layers + 1)])
        self.head = nn.ParameterList([new(classes, D), new(classes)])

    def norm(self, x, i):
        return layer_norm(x, x.shape[-1:], self.gains[i], self.shifts[i])

    def forward(self, x):
        B, C, H, W = x.shape
        p = self.p
        # pixel_unshuffle: (B, C*p*p, H/p, W/p), channel major then row then column
        x = nn.functional.pixel_unshuffle(x, p).flatten(2).transpose(1, 2)
        x = linear(x, *self.W)
        x = torch.cat([self.tokens[0].expand(B, 1, -1), x], dim=1) + self.tokens[1]
        for i, (aw, ab, ow, ob, uw, ub, dw, db) in enumerate(zip(
                self.attn_w, self.attn_b, self.out_w, self.out_b, self.up_w, self.up_b, self.down_w, self.down_b)):
            q, k, v = linear(self.norm(x, 2 * i), aw, ab).chunk(3, -1)
            T, D = q.shape[1:]
            fold = lambda t: t.reshape(B, T, self.heads, -1).transpose(1, 2).reshape(B * self.heads, T, -1)
            q, k, v = fold(q), fold(k), fold(v)
            s = torch.baddbmm(q.new_zeros(1, 1, 1), q, k.transpose(1, 2), beta=0, alpha=q.shape[-1] ** -0.5)
            o = torch.bmm(softmax(s, 2), v).reshape(B, self.heads, T, -1).transpose(1, 2).reshape(B, T, D)
            x = x + linear(o, ow, ob)
            x = x + linear(gelu(linear(self.norm(x, 2 * i + 1), uw, ub)), dw, db)
        return linear(self.norm(x[:, 0], -1), *self.head)
