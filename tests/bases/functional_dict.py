import torch
import torch.nn.functional as F
from torch import nn


def layer_norm(params, name, x):
    return F.layer_norm(x, x.shape[-1:], params[name + "_g"], params[name + "_b"], 1e-6)


def linear(params, name, x):
    return F.linear(x, params[name + "_w"], params[name + "_b"])


def attention(params, name, x, heads):
    b, t, d = x.shape
    q, k, v = (linear(params, f"{name}_{part}", x).view(b, t, heads, d // heads).transpose(1, 2) for part in "qkv")
    scores = torch.baddbmm(
        torch.zeros(1, 1, 1, dtype=x.dtype, device=x.device),
        q.flatten(0, 1),
        k.flatten(0, 1).transpose(1, 2),
        beta=0,
        alpha=(d // heads) ** -0.5,
    )
    context = torch.bmm(F.softmax(scores, dim=-1), v.flatten(0, 1)).view(b, heads, t, d // heads)
    return linear(params, name + "_o", context.transpose(1, 2).flatten(2))


def mlp(params, name, x):
    return linear(params, name + "_2", F.gelu(linear(params, name + "_1", x)))


def vit(params, image, patch, heads, depth):
    x = F.conv2d(image, params["patch_w"], params["patch_b"], stride=patch).flatten(2).mT
    x = torch.cat([params["cls"].expand(len(x), -1, -1), x], dim=1) + params["pos"]
    for i in range(depth):
        x = x + attention(params, f"attn{i}", layer_norm(params, f"ln_a{i}", x), heads)
        x = x + mlp(params, f"mlp{i}", layer_norm(params, f"ln_m{i}", x))
    x = layer_norm(params, "ln", x)
    return linear(params, "head", x[:, 0])


class ViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, dim=768, depth=12, heads=12, mlp_dim=3072,
                 num_classes=1000):
        super().__init__()
        self.patch_size, self.heads, self.depth = patch_size, heads, depth
        self.params = nn.ParameterDict()
        self.params["patch_w"] = nn.Parameter(torch.randn(dim, in_channels, patch_size, patch_size) * 0.02)
        self.params["patch_b"] = nn.Parameter(torch.zeros(dim))
        self.params["cls"] = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.params["pos"] = nn.Parameter(torch.randn(1, (img_size // patch_size) ** 2 + 1, dim) * 0.02)
        for i in range(depth):
            self.add_norm(f"ln_a{i}", dim)
            for part in "qkvo":
                self.add_linear(f"attn{i}_{part}", dim, dim)
            self.add_norm(f"ln_m{i}", dim)
            self.add_linear(f"mlp{i}_1", dim, mlp_dim)
            self.add_linear(f"mlp{i}_2", mlp_dim, dim)
        self.add_norm("ln", dim)
        self.add_linear("head", dim, num_classes)

    def add_norm(self, name, dim):
        self.params[name + "_g"] = nn.Parameter(torch.ones(dim))
        self.params[name + "_b"] = nn.Parameter(torch.zeros(dim))

    def add_linear(self, name, fan_in, fan_out):
        self.params[name + "_w"] = nn.Parameter(torch.randn(fan_out, fan_in) * 0.02)
        self.params[name + "_b"] = nn.Parameter(torch.zeros(fan_out))

    def forward(self, image):
        return vit(self.params, image, self.patch_size, self.heads, self.depth)
