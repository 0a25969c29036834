"""Scripts that end in the middle of a ViT, or that check themselves: what is there is judged, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import VIT

from vitcheck.submissions.host.process import Zygote

_THREE = """
import torch
from torch import nn

img = torch.randn(2, 3, 224, 224)
to_patches = nn.Conv2d(3, 768, kernel_size=16, stride=16)
x = to_patches(img).flatten(2).mT
token = nn.Parameter(torch.zeros(1, 1, 768))
x = torch.cat([token.expand(len(x), -1, -1), x], dim=1)
x = x + nn.Parameter(torch.zeros(1, 197, 768))
normed = nn.LayerNorm(768)(x)
packed = nn.Linear(768, 3 * 768)(normed).reshape(2, 197, 3, 12, 64)
q, k, v = packed.permute(2, 0, 3, 1, 4)
print(q.shape, k.shape, v.shape)
"""
_BY_HAND = """
import torch

x = torch.rand(7, 1, 24, 24)
side, d, heads = 6, 10, 2
rows = []
for top in range(0, 24, side):
    for left in range(0, 24, side):
        rows.append(x[:, :, top:top + side, left:left + side].flatten(1))
z = torch.stack(rows, 1) @ (torch.randn(36, d) / 6) + torch.zeros(d)
first = torch.randn(d)
z = torch.cat([first.view(1, 1, d).expand(7, 1, d), z], 1) + torch.randn(17, d) * 0.02


def standardised(t, gain, shift):
    mean = t.mean(-1, keepdim=True)
    return gain * (t - mean) / (((t - mean) ** 2).mean(-1, keepdim=True) + 1e-5).sqrt() + shift


n = standardised(z, torch.ones(d), torch.zeros(d))
to_q, to_k, to_v = (torch.randn(d, d) for _ in range(3))
bq, bk, bv = torch.zeros(3, d)
q = n @ to_q + bq
k = n @ to_k + bk
v = n @ to_v + bv
q, k, v = (one.unflatten(2, (heads, d // heads)).transpose(1, 2) for one in (q, k, v))
"""
_ONE_BLOCK = """
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

pixels = np.random.rand(5, 24, 24, 3).astype("float32")
img = torch.from_numpy(pixels).permute(0, 3, 1, 2)
d, heads = 24, 3
z = nn.Conv2d(3, d, 8, 8)(img).flatten(2).transpose(1, 2)
z = torch.cat([nn.Parameter(torch.zeros(1, 1, d)).expand(5, 1, d), z], 1)
z = z + nn.Parameter(torch.zeros(1, 10, d))
norm1, norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
qkv, out, up, down = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
q, k, v = qkv(norm1(z)).reshape(5, 10, 3, heads, d // heads).permute(2, 0, 3, 1, 4)
a = (q @ k.transpose(2, 3) / np.sqrt(d // heads)).softmax(-1) @ v
z = z + out(a.transpose(1, 2).reshape(5, 10, d))
z = z + down(F.gelu(up(norm2(z))))
# TODO: the other blocks, then norm and head
"""
_COMPARED = """
import torch
from torch import nn

x = torch.randn(3, 6, 20)
to_q, to_k, to_v, to_out = (nn.Linear(20, 20) for _ in range(4))
q, k, v = (f(x).view(3, 6, 4, 5).transpose(1, 2) for f in (to_q, to_k, to_v))
mine = to_out(((q @ k.mT) / 5**0.5).softmax(-1).matmul(v).transpose(1, 2).flatten(2))

theirs = nn.MultiheadAttention(20, 4, batch_first=True)
with torch.no_grad():
    theirs.in_proj_weight.copy_(torch.cat([to_q.weight, to_k.weight, to_v.weight]))
    theirs.in_proj_bias.copy_(torch.cat([to_q.bias, to_k.bias, to_v.bias]))
    theirs.out_proj.weight.copy_(to_out.weight)
    theirs.out_proj.bias.copy_(to_out.bias)
    same, _ = theirs(x, x, x)
assert torch.allclose(mine, same, atol=1e-5)
"""
_STACK = """
import torch
import torch.nn.functional as F


def weights(d, hidden):
    shapes = {"qkv": (3 * d, d), "out": (d, d), "up": (hidden, d), "down": (d, hidden)}
    found = {key: torch.randn(*shape) * 0.02 for key, shape in shapes.items()}
    found |= {key + "_b": torch.zeros(shape[0]) for key, shape in shapes.items()}
    return found | {"g1": torch.ones(d), "b1": torch.zeros(d), "g2": torch.ones(d), "b2": torch.zeros(d)}


def layer(x, w, heads):
    b, n, d = x.shape
    h = F.layer_norm(x, (d,), w["g1"], w["b1"])
    q, k, v = F.linear(h, w["qkv"], w["qkv_b"]).view(b, n, 3, heads, -1).permute(2, 0, 3, 1, 4)
    h = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d)
    x = x + F.linear(h, w["out"], w["out_b"])
    h = F.gelu(F.linear(F.layer_norm(x, (d,), w["g2"], w["b2"]), w["up"], w["up_b"]))
    return x + F.linear(h, w["down"], w["down_b"])


x = torch.randn(2, 17, 32)
layers = [weights(32, 128) for _ in range(3)]
for w in layers:
    x = layer(x, w, heads=4)
# def embed(images, w): ...
"""


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param(_THREE, [*range(1, 12)], id="views that nothing reads, at the sizes of ViT-B/16"),
        pytest.param(_BY_HAND, [*range(1, 12)], id="grey images, cut into patches by a loop"),
        pytest.param(_ONE_BLOCK, [*range(1, 21)], id="pixels in float32, and one block"),
        pytest.param(_COMPARED, [1, *range(9, 16)], id="attention that is compared with torch's"),
        pytest.param(_STACK, [1, *range(8, 23)], id="weights that a function draws"),
    ],
)
def test_what_is_there_is_right(text: str, right: list[int], zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], right)


@pytest.mark.parametrize(
    ("text", "edit", "id", "line"),
    [
        pytest.param(_BY_HAND, ("n @ to_k", "n @ to_q"), "query-equals-key", "k = ", id="before scores"),
        pytest.param(_COMPARED, (") / 5**0.5", ")"), "scale-missing", "mine = ", id="compared"),
        pytest.param(
            *(_STACK, (".transpose(1, 2).reshape", ".reshape"), "heads-merged-without-transpose"),
            "attention(q",
            id="stack",
        ),
    ],
)
def test_a_mistake_is_told_on_its_line(
    text: str, edit: tuple[str, str], id: str, line: str, zygote: Zygote, tmp_path: Path
) -> None:
    (first,) = graded_file(edited(text, [edit]), VIT, zygote, tmp_path).mistakes
    assert (first.id, first.location is not None) == (id, True)
    assert first.location is not None
    assert line in edited(text, [edit]).splitlines()[first.location.line - 1]
