"""Functions of which no model is made yet: what of them can be seen by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.record.faults import to_write
from vitcheck.checks.record.result import Outcome, Result
from vitcheck.submissions.host.process import Zygote

_DICTIONARIES = """
import torch
from torch.nn import functional as F

cfg = dict(image=32, patch=4, dim=96, heads=4, depth=2, classes=10)


def dense(rows, columns):
    return {"w": (0.02 * torch.randn(rows, columns)).requires_grad_(), "b": torch.zeros(columns)}


def init(cfg):
    dim, count = cfg["dim"], (cfg["image"] // cfg["patch"]) ** 2
    return {
        "patch": dense(3 * cfg["patch"] ** 2, dim),
        "cls": torch.zeros(1, 1, dim),
        "pos": 0.02 * torch.randn(1, count + 1, dim),
        "layers": [{name: dense(dim, dim) for name in "qkv"} | {"o": dense(dim, dim)} for _ in range(2)],
    }


def apply(p, x):
    return x @ p["w"] + p["b"]


def embed(p, image, cfg):
    P = cfg["patch"]
    B, C, H, W = image.shape
    x = image.reshape(B, C, H // P, P, W // P, P).permute(0, 2, 4, 1, 3, 5)
    x = apply(p["patch"], x.reshape(B, (H // P) * (W // P), C * P * P))
    return torch.cat([p["cls"].expand(B, -1, -1), x], dim=1) + p["pos"]


def attention(p, x, heads):
    B, N, D = x.shape
    q, k, v = (apply(p[one], x).reshape(B, N, heads, D // heads).transpose(1, 2) for one in "qkv")
    scores = q @ k.transpose(-1, -2) / (D // heads) ** 0.5
    return apply(p["o"], (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, N, D))


def block(p, x, heads):
    raise NotImplementedError


def vit(p, image, cfg):
    x = embed(p, image, cfg)
    for layer in p["layers"]:
        x = block(layer, x, cfg["heads"])
    raise NotImplementedError
"""
_TRIED_ON_TOKENS = """
import torch
from torch import nn
from torch.nn import functional as F

D, HEADS, TOKENS = 96, 3, 65


def make_layer():
    return nn.ModuleDict({
        "norm1": nn.LayerNorm(D), "qkv": nn.Linear(D, 3 * D), "out": nn.Linear(D, D),
        "norm2": nn.LayerNorm(D), "up": nn.Linear(D, 4 * D), "down": nn.Linear(4 * D, D),
    })


def attend(layer, x):
    b, n, d = x.shape
    q, k, v = layer["qkv"](x).view(b, n, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
    weights = (q @ k.mT / (d // HEADS) ** 0.5).softmax(dim=-1)
    return layer["out"]((weights @ v).transpose(1, 2).flatten(2))


def mlp(layer, x):
    return layer["down"](F.gelu(layer["up"](x)))


def run_layer(layer, x):
    x = x + attend(layer, layer["norm1"](x))
    return x + mlp(layer, layer["norm2"](x))


def embed(image):
    pass


x = torch.randn(2, TOKENS, D)
for layer in [make_layer() for _ in range(2)]:
    x = run_layer(layer, x)
print(x.shape)
"""
_ALONE = """
def attention(x, wq, wk, wv, wo, heads):
    B, N, D = x.shape
    q, k, v = ((x @ w).reshape(B, N, heads, D // heads).transpose(1, 2) for w in (wq, wk, wv))
    weights = (q @ k.transpose(-1, -2) / (D // heads) ** 0.5).softmax(-1)
    return (weights @ v).transpose(1, 2).reshape(B, N, D) @ wo
"""
_FLAT = """
import torch
import torch.nn.functional as F


def init(rng, C=3, H=32, P=8, D=64, L=4, heads=4):
    def normal(*sizes):
        return torch.randn(*sizes, generator=rng) * 0.02

    w = {"embed.w": normal(C * P * P, D), "cls": normal(1, 1, D), "pos": normal(1, (H // P) ** 2 + 1, D)}
    for i in range(L):
        w[f"l{i}.g"], w[f"l{i}.b"] = torch.ones(D), torch.zeros(D)
        w |= {f"l{i}.w{one}": normal(D, D) for one in "qkvo"}
    return w


def split(x, heads):
    B, N, D = x.shape
    return x.reshape(B, N, heads, D // heads).permute(0, 2, 1, 3)


def attention(w, pre, x, heads):
    q, k, v = (split(x @ w[pre + one], heads) for one in ("wq", "wk", "wv"))
    y = F.softmax(q @ k.transpose(2, 3) / q.shape[-1] ** 0.5, -1) @ v
    return y.permute(0, 2, 1, 3).reshape(x.shape) @ w[pre + "wo"]


def embed(w, img, P):
    B, C, H, W = img.shape
    x = img.reshape(B, C, H // P, P, W // P, P).permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * P * P)
    return torch.cat([w["cls"].expand(B, -1, -1), x @ w["embed.w"]], 1) + w["pos"]


def block(w, i, x, heads):
    x = x + attention(w, f"l{i}.", F.layer_norm(x, x.shape[-1:], w[f"l{i}.g"], w[f"l{i}.b"]), heads)
    # second half
    raise NotImplementedError


def forward(w, img, P=8, L=4, heads=4):
    x = embed(w, img, P)
"""
_FLAT_WITH_TOKENS = (
    _FLAT
    + """    for i in range(L):
        x = x + attention(w, f"l{i}.", F.layer_norm(x, x.shape[-1:], w[f"l{i}.g"], w[f"l{i}.b"]), heads)
        # the MLP
    return x
"""
)
_UNFILLED = """
import torch
import torch.nn.functional as F


def dikkat(x, par, kafa):
    d, sonuc = x.shape[-1] // kafa, []
    for i in range(kafa):
        s = slice(i * d, (i + 1) * d)
        q, k, v = x @ par["Wq"][:, s], x @ par["Wk"][:, s], x @ par["Wv"][:, s]
        sonuc.append((torch.bmm(q, k.permute(0, 2, 1)) / d**0.5).softmax(2) @ v)
    return torch.cat(sonuc, -1) @ par["Wo"]


def ileri_besleme(x, par):
    return F.gelu(x @ par["W1"] + par["c1"]) @ par["W2"] + par["c2"]


def vit(resim, par):
    ...
"""


def _graded(text: str, zygote: Zygote, folder: Path) -> Result:
    return graded_file(text, load_assignment(DEFAULT), zygote, folder)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param(_DICTIONARIES, [*range(1, 16)], id="parameters in dictionaries inside of others"),
        pytest.param(_TRIED_ON_TOKENS, [1, *range(8, 21)], id="a script that has tokens and no image"),
        pytest.param(_ALONE, [1, *range(9, 16)], id="one function"),
        pytest.param(_ALONE.replace("heads", "hoofden"), [1, *range(9, 16)], id="a name that says nothing"),
        pytest.param(_FLAT, [*range(1, 8), *range(9, 16)], id="keys that are put together"),
        pytest.param(_FLAT_WITH_TOKENS, [*range(1, 17)], id="and what ends with tokens"),
        pytest.param(_UNFILLED, [1, *range(9, 16), 17, 18], id="a dictionary that nobody fills"),
    ],
)
def test_what_is_right_so_far_is_seen(text: str, right: list[int], zygote: Zygote, tmp_path: Path) -> None:
    result = _graded(text, zygote, tmp_path)
    assert [one.message for one in result.checks if one.outcome is Outcome.FAILED] == []
    assert right_stages(result) == right
    assert len(to_write(result)) == 26 - len(right)


@pytest.mark.parametrize(
    ("text", "edit", "id"),
    [
        pytest.param(_DICTIONARIES, (" / (D // heads) ** 0.5", ""), "scale-missing", id="dictionaries"),
        pytest.param(
            _TRIED_ON_TOKENS,
            ('x + attend(layer, layer["norm1"](x))', '(x := layer["norm1"](x)) + attend(layer, x)'),
            "residual-from-normed-attn",
            id="tried on tokens",
        ),
        pytest.param(_ALONE, ("softmax(-1)", "softmax(-2)"), "softmax-over-queries", id="one function"),
        pytest.param(
            _FLAT, ("q.shape[-1] ** 0.5", "x.shape[-1] ** 0.5"), "scale-by-embed-dim", id="keys put together"
        ),
        pytest.param(_UNFILLED, ("softmax(2)", "softmax(1)"), "softmax-over-queries", id="unfilled"),
    ],
)
def test_a_mistake_is_told_by_its_name(
    text: str, edit: tuple[str, str], id: str, zygote: Zygote, tmp_path: Path
) -> None:
    result = _graded(edited(text, [edit]), zygote, tmp_path)
    assert [one.id for one in result.mistakes] == [id]
    assert to_write(result)


_PATCHES = """
from torch import nn


class PatchEmbed(nn.Module):
    def __init__(self, image_size, patch_size, channels, dim):
        super().__init__()
        self.patch_size, self.count = patch_size, (image_size // patch_size) ** 2
        self.linear = nn.Linear(patch_size * patch_size * channels, dim)

    def forward(self, image):
        B, C, H, W = image.shape
        P = self.patch_size
        patches = image.reshape(B, C, H // P, P, W // P, P).permute(0, 2, 3, 4, 5, 1)
        return self.linear(patches.reshape(B, self.count, P * P * C))


class ViT(nn.Module):
    def __init__(self):
        raise NotImplementedError
"""


def test_patches_in_an_order_of_their_own_are_wrong_without_a_model(zygote: Zygote, tmp_path: Path) -> None:
    result = _graded(_PATCHES, zygote, tmp_path)
    failed = [one for one in result.checks if one.outcome is Outcome.FAILED]
    assert {one.stage for one in failed} == {"S02"}
    assert not any("attention" in (one.message or "") for one in failed)
    right = edited(_PATCHES, [("permute(0, 2, 3, 4, 5, 1)", "permute(0, 2, 4, 3, 5, 1)")])
    assert right_stages(_graded(right, zygote, tmp_path)) == [1, 2, 3, 4]
