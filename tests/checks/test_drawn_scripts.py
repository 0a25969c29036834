"""Lines of a script that compute from tokens, or queries, that it draws: they are judged as parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import VIT

from vitcheck.submissions.host.process import Zygote

_BLOCK = """
import torch
from torch import nn

x = torch.rand(1, 17, 64)
norm1, norm2 = nn.LayerNorm(64), nn.LayerNorm(64)
attention = nn.MultiheadAttention(64, 4, batch_first=True)
mlp = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
h = norm1(x)
a, _ = attention(h, h, h)
x2 = x + a
y = x2 + mlp(norm2(x2))
print(y.shape)
"""
_HEADS = """
import torch
import torch.nn as nn

x = torch.randn(2, 26, 48)
heads = 3
to_q, to_k, to_v = nn.Linear(48, 48), nn.Linear(48, 48), nn.Linear(48, 48)
q = to_q(x).view(2, 26, heads, 16).transpose(1, 2)
k = to_k(x).view(2, 26, heads, 16).transpose(1, 2)
v = to_v(x).view(2, 26, heads, 16).transpose(1, 2)
scores = q @ k.transpose(2, 3) / 16**0.5
weights = scores.softmax(-1)
out = (weights @ v).transpose(1, 2).reshape(2, 26, 48)
# TODO: output projection
"""
_ONE_HEAD = """
import torch

tokens = torch.randn(2, 26, 48)
w_q = torch.randn(48, 16) / 48**0.5
w_k = torch.randn(48, 16) / 48**0.5
w_v = torch.randn(48, 16) / 48**0.5


def softmax(z):
    e = torch.exp(z - z.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)


q, k, v = tokens @ w_q, tokens @ w_k, tokens @ w_v
scores = torch.bmm(q, k.transpose(1, 2)) / 16**0.5
out = torch.bmm(softmax(scores), v)
assert out.shape == (2, 26, 16)
"""
_OF_LAYERS = """
import torch
from torch import nn

x = torch.randn(2, 26, 48)
layers = [nn.Linear(48, 16) for _ in range(3)]


def attend(z):
    q, k, v = [one(z) for one in layers]
    return torch.softmax(q @ k.mT / q.size(-1) ** 0.5, dim=-1) @ v


out = attend(x)
"""
_PRODUCT = """
import math
import torch

B, H, T, d = 2, 4, 10, 16
q = torch.randn(B, H, T, d)
k = torch.randn(B, H, T, d)
v = torch.randn(B, H, T, d)
scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(d)
out = torch.softmax(scores, dim=-1) @ v
"""


# of one image, which has no axis of its own
_LOOPS = """
import torch
import torch.nn.functional as F

N, D = 10, 16
tokens = torch.randn(N, D)
Wq = torch.randn(D, D)
Wk = torch.randn(D, D)
Wv = torch.randn(D, D)
Q, K, V = tokens @ Wq, tokens @ Wk, tokens @ Wv
S = torch.zeros(N, N)
for i in range(N):
    for j in range(N):
        S[i, j] = (Q[i] * K[j]).sum() / D**0.5
A = torch.exp(S - S.max(dim=1, keepdim=True).values)
A = A / A.sum(dim=1, keepdim=True)
out = torch.stack([sum(A[i, j] * V[j] for j in range(N)) for i in range(N)])
print(torch.allclose(out, F.scaled_dot_product_attention(Q[None], K[None], V[None])[0], atol=1e-5))
"""
_OF_A_LIBRARYS_WEIGHTS = """
import torch
from torch import nn

E, H = 24, 3
mha = nn.MultiheadAttention(E, H, batch_first=True)
x = torch.randn(2, 5, E)
ref, _ = mha(x, x, x)
Wq, Wk, Wv = mha.in_proj_weight.chunk(3)
bq, bk, bv = mha.in_proj_bias.chunk(3)
q, k, v = x @ Wq.T + bq, x @ Wk.T + bk, x @ Wv.T + bv
heads = []
for i in range(H):
    s = slice(i * E // H, (i + 1) * E // H)
    a = torch.softmax(q[..., s] @ k[..., s].transpose(1, 2) / (E // H) ** 0.5, -1)
    heads.append(a @ v[..., s])
o = torch.cat(heads, -1)
# TODO: output projection, then compare with ref
"""
_STACK = """
import torch
from torch import nn
from torch.nn import functional as F

B, N, D, L = 2, 17, 64, 4
x = torch.randn(B, N, D)
ln1, ln2 = (nn.ModuleList([nn.LayerNorm(D) for _ in range(L)]) for _ in range(2))
qkv = nn.ModuleList([nn.Linear(D, 3 * D) for _ in range(L)])
proj = nn.ModuleList([nn.Linear(D, D) for _ in range(L)])
up = nn.ModuleList([nn.Linear(D, 4 * D) for _ in range(L)])
down = nn.ModuleList([nn.Linear(4 * D, D) for _ in range(L)])


def attn(t, i, heads=4):
    q, k, v = [z.view(B, N, heads, D // heads).transpose(1, 2) for z in qkv[i](t).chunk(3, dim=-1)]
    w = ((q @ k.transpose(2, 3)) / (D // heads) ** 0.5).softmax(-1)
    return proj[i]((w @ v).transpose(1, 2).reshape(B, N, D))


for i in range(L):
    x = x + attn(ln1[i](x), i)
    x = x + down[i](F.gelu(up[i](ln2[i](x))))
"""
_HALF_A_BLOCK = """
import torch

SEQ, DIM = 5, 8


def norm(t):
    v = ((t - t.mean(-1, keepdim=True)) ** 2).mean(-1, keepdim=True)
    return (t - t.mean(-1, keepdim=True)) / (v + 1e-6).sqrt()


x = torch.randn(SEQ, DIM)
y = norm(x)
wq, wk, wv, wo = [torch.randn(DIM, DIM) for _ in range(4)]
q, k, v = y @ wq, y @ wk, y @ wv
x = x + torch.softmax(q @ k.T / DIM**0.5, -1) @ v @ wo
w1, w2 = torch.randn(DIM, 4 * DIM), torch.randn(4 * DIM, DIM)
# h = ...
"""
_WEIGHTS = """
import torch

x = torch.randn(9, 16)
W1, b1 = torch.randn(64, 16), torch.zeros(64)
W2, b2 = torch.randn(16, 64), torch.zeros(16)
h = x @ W1.T + b1
y = 0.5 * h * (1 + torch.erf(h / 2**0.5)) @ W2.T + b2
"""
# an image that nothing reads yet, a table that is filled head by head, a layer that is made where it is used
_TOKENS_FIRST = """
import torch
from torch import nn

images, count, width, heads = 2, 10, 30, 5
tokens = torch.randn(images, count, width)
mean = tokens.mean(dim=-1, keepdim=True)
normed = (tokens - mean) / torch.sqrt(tokens.var(dim=-1, keepdim=True, unbiased=False) + 1e-5)
to_q, to_k, to_v = (nn.Linear(width, width) for _ in range(3))
Q, K, V = (one(normed).reshape(images, count, heads, -1).permute(0, 2, 1, 3) for one in (to_q, to_k, to_v))
S = torch.zeros(images, heads, count, count)
for i in range(heads):
    S[:, i] = torch.bmm(Q[:, i], K[:, i].transpose(1, 2)) / (width // heads) ** 0.5
A = torch.exp(S) / torch.exp(S).sum(dim=-1, keepdim=True)
out = torch.cat([A[:, i] @ V[:, i] for i in range(heads)], dim=-1)
out = nn.Linear(width, width)(out)
tokens = tokens + out
image = torch.randn(images, 3, 24, 24)
"""
# of one image, with weights in tuples that are drawn in loops
_TRIED = """
import torch

PATCH, DIM, HEADS = 4, 18, 3


def make(i, o):
    return torch.randn(i, o) / i**0.5, torch.zeros(o)


def linear(x, layer):
    return torch.matmul(x, layer[0]) + layer[1]


def norm(x):
    centred = x - x.mean(dim=1, keepdim=True)
    return centred / (x.var(dim=1, keepdim=True, unbiased=False) + 1e-5).sqrt()


def attend(x, heads, out):
    found = []
    for to_q, to_k, to_v in heads:
        scores = torch.mm(linear(x, to_q), linear(x, to_k).t()) / (DIM // HEADS) ** 0.5
        found.append(torch.mm(scores.softmax(dim=1), linear(x, to_v)))
    return linear(torch.cat(found, dim=1), out)


def block(x, heads, out):
    x = x + attend(norm(x), heads, out)
    # the MLP
    return x


def cut(image):
    c, h, w = image.shape
    rows = [
        image[:, y * PATCH : (y + 1) * PATCH, x * PATCH : (x + 1) * PATCH].reshape(-1)
        for y in range(h // PATCH)
        for x in range(w // PATCH)
    ]
    return torch.stack(rows)


heads = [tuple(make(DIM, DIM // HEADS) for _ in range(3)) for _ in range(HEADS)]
out = make(DIM, DIM)
print(cut(torch.randn(3, 12, 12)).shape)
z = torch.randn(10, DIM)
print(block(z, heads, out).shape)
"""


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (_TOKENS_FIRST, [1, *range(8, 16)]),
        (_TRIED, [1, 2, *range(8, 16)]),
        (_BLOCK, [1, *range(8, 21)]),
        (_HEADS, [1, *range(9, 15)]),
        (_ONE_HEAD, [1, *range(9, 15)]),
        (_OF_LAYERS, [1, *range(9, 15)]),
        (_PRODUCT, [1, 12, 13, 14]),
        (_LOOPS, [1, *range(9, 15)]),
        (_OF_A_LIBRARYS_WEIGHTS, [1, *range(9, 15)]),  # whose own output is another result
        (_STACK, [1, *range(8, 23)]),
        (_HALF_A_BLOCK, [1, *range(8, 16)]),
        (_WEIGHTS, [1, 17, 18]),
    ],
    ids=[
        *("tokens before an image", "functions that are tried"),
        *("a block", "heads", "one head", "layers", "a product", "loops"),
        *("a library's weights", "a stack", "half a block", "weights"),
    ],
)
def test_what_is_written_is_right(text: str, right: list[int], zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert result.status.value == "graded"
    assert (result.mistakes, right_stages(result)) == ([], right)


@pytest.mark.parametrize(
    ("text", "edit", "id"),
    [
        (_TOKENS_FIRST, (" / (width // heads) ** 0.5", ""), "scale-missing"),
        (_TRIED, ("scores.softmax(dim=1)", "scores.softmax(dim=0)"), "softmax-over-queries"),
        (_TRIED, ("(DIM // HEADS) ** 0.5", "DIM**0.5"), "scale-by-embed-dim"),
        (_BLOCK, ("x2 = x + a", "x2 = h + a"), "residual-from-normed-attn"),
        (_HEADS, ("/ 16**0.5", "/ 48**0.5"), "scale-by-embed-dim"),
        (_HEADS, ("scores.softmax(-1)", "scores.softmax(1)"), "softmax-over-heads"),
        (_ONE_HEAD, (" / 16**0.5\nout", "\nout"), "scale-missing"),
        (_PRODUCT, ("math.sqrt(d)", "d"), "scale-by-head-dim"),
        (
            _STACK,
            ("x = x + attn(ln1[i](x), i)", "x = ln1[i](x); x = x + attn(x, i)"),
            "residual-from-normed-attn",
        ),
        (_HALF_A_BLOCK, ("(v + 1e-6).sqrt()", "(v + 1e-6)"), "layernorm-no-sqrt"),
    ],
)
def test_a_mistake_is_told(text: str, edit: tuple[str, str], id: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(edited(text, [edit]), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes][:1] == [id]
    assert all(one.location is not None for one in result.mistakes)


_EXPERIMENTS = """
import torch
from torch import nn


def apart(t, h):
    return t.unflatten(2, (h, -1)).transpose(1, 2)


x = torch.randn(1, 4, 12)
w_q, w_k, w_v = (torch.randn(12, 12) / 4 for _ in range(3))
first = ((x @ w_q) @ (x @ w_k).mT / 12**0.5).softmax(-1) @ (x @ w_v)
print(first.shape)

x = torch.randn(2, 26, 48)
norm, to_q, to_k, to_v, to_out = nn.LayerNorm(48), *(nn.Linear(48, 48) for _ in range(4))
z = norm(x)
q, k, v = apart(to_q(z), 6), apart(to_k(z), 6), apart(to_v(z), 6)
p = (q @ k.mT / 8**0.5).softmax(-1)
x = x + to_out((p @ v).transpose(1, 2).flatten(2))


def mlp(t):
    return torch.zeros_like(t)  # later


x = x + mlp(x)
"""


def test_the_last_of_several_experiments_is_judged(zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_EXPERIMENTS, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [1, *range(8, 16)])
    wrong = graded_file(
        edited(_EXPERIMENTS, [("softmax(-1)\nx =", "softmax(2)\nx =")]), VIT, zygote, tmp_path
    )
    assert [one.id for one in wrong.mistakes] == ["softmax-over-queries"]


_COMPARED_WITH_A_LAYER = """
import torch
from torch import nn
from torch.nn import functional as F

x = torch.randn(2, 12, 32)
theirs = nn.TransformerEncoderLayer(32, 4, 64, 0.0, "gelu", batch_first=True, norm_first=True)
for one in theirs.parameters():
    one.requires_grad_(False)


def mine(x, m):
    h = F.layer_norm(x, (32,), m.norm1.weight, m.norm1.bias)
    h = F.linear(h, m.self_attn.in_proj_weight, m.self_attn.in_proj_bias)
    q, k, v = (one.view(2, 12, 4, 8).transpose(1, 2) for one in h.split(32, -1))
    h = ((q @ k.mT) * 8**-0.5).softmax(-1) @ v
    x = x + m.self_attn.out_proj(h.transpose(1, 2).reshape(2, 12, 32))
    h = F.layer_norm(x, (32,), m.norm2.weight, m.norm2.bias)
    return x + m.linear2(F.gelu(m.linear1(h)))


a = mine(x, theirs)
b = theirs(x)
assert torch.allclose(a, b, atol=1e-5)
"""


def test_what_is_compared_stands_beside_it(zygote: Zygote, tmp_path: Path) -> None:
    """A layer that is right by itself hides no mistake, and need not learn."""
    result = graded_file(_COMPARED_WITH_A_LAYER, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [1, *range(8, 21)])
    text = edited(_COMPARED_WITH_A_LAYER, [("return x + m.linear2", "return h + m.linear2")])
    assert [one.id for one in graded_file(text, VIT, zygote, tmp_path).mistakes] == [
        "residual-mlp-from-normed"
    ]
