"""Code that takes one image at a time, with no axis for a batch: it is judged one image after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import VIT

from vitcheck.submissions.host.process import Zygote

_FUNCTION = """
import torch


def attention(x, wq, wk, wv, wo, h):
    n, d = x.shape  # one image for now
    q, k, v = ((x @ w).reshape(n, h, d // h) for w in (wq, wk, wv))
    s = torch.einsum("ihc,jhc->ijh", q, k) / (d // h) ** 0.5
    return torch.einsum("ijh,jhc->ihc", s.softmax(1), v).reshape(n, d) @ wo


def mlp(x, w1, b1, w2, b2):
    pass
"""
_BLOCK = """
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.dh = h, d // h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        n, d = x.shape
        q, k, v = (f(x).view(n, self.h, self.dh).permute(1, 0, 2) for f in (self.q, self.k, self.v))
        a = (q @ k.mT / self.dh**0.5).softmax(-1) @ v
        return self.o(a.permute(1, 0, 2).reshape(n, d))


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.n1, self.n2, self.att = nn.LayerNorm(d), nn.LayerNorm(d), Attention(d, h)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        x = x + self.att(self.n1(x))
        return x + self.mlp(self.n2(x))
"""
_MODEL = f"""{_BLOCK}

class ViT(nn.Module):
    def __init__(self, size=32, patch=4, dim=64, depth=4, heads=4, classes=10):
        super().__init__()
        self.patch = patch
        self.embed = nn.Linear(3 * patch * patch, dim)
        self.cls = nn.Parameter(torch.randn(1, dim))
        self.pos = nn.Parameter(torch.randn((size // patch) ** 2 + 1, dim))
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, img):
        p = self.patch
        c, h, w = img.shape
        x = img.reshape(c, h // p, p, w // p, p).permute(1, 3, 0, 2, 4).reshape(-1, c * p * p)
        x = torch.cat([self.cls, self.embed(x)]) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[0])
"""
_COLUMNS = """
import math
import torch

D, M, H, L, P, S, K = 48, 96, 3, 3, 8, 32, 10
G = S // P


def make_weights():
    W = {"E": torch.randn(D, 3 * P * P) / 14, "e": torch.zeros(D, 1), "c": torch.randn(D, 1) / 50}
    W |= {"p": torch.randn(D, G * G + 1) / 50, "H": torch.randn(K, D) / 7, "h": torch.zeros(K, 1)}
    for l in range(L):
        W |= {f"{name}{l}": torch.randn(D, D) / 7 for name in "QKVO"}
        W |= {f"A{l}": torch.randn(M, D) / 7, f"B{l}": torch.randn(D, M) / 10}
        W |= {f"a{l}": torch.zeros(M, 1), f"b{l}": torch.zeros(D, 1)}
        W |= {f"g{one}{l}": torch.ones(D, 1) for one in "12"}
        W |= {f"o{one}{l}": torch.zeros(D, 1) for one in "12"}
    return W | {"gF": torch.ones(D, 1), "oF": torch.zeros(D, 1)}


def norm(X, g, o):
    return g * (X - X.mean(0)) / torch.sqrt(X.var(0, unbiased=False) + 1e-6) + o


def attention(X, W, l):
    Q, K, V = (W[f"{name}{l}"] @ X for name in "QKV")
    d = D // H
    heads = []
    for one in range(H):
        at = slice(one * d, (one + 1) * d)
        heads.append(V[at] @ torch.softmax(Q[at].T @ K[at] / math.sqrt(d), 1).T)
    return W[f"O{l}"] @ torch.cat(heads)


def vit(I, W):
    cut = [I[:, r : r + P, c : c + P].reshape(-1, 1) for r in range(0, S, P) for c in range(0, S, P)]
    X = torch.cat([W["c"], W["E"] @ torch.cat(cut, 1) + W["e"]], 1) + W["p"]
    for l in range(L):
        X = X + attention(norm(X, W[f"g1{l}"], W[f"o1{l}"]), W, l)
        Z = W[f"A{l}"] @ norm(X, W[f"g2{l}"], W[f"o2{l}"]) + W[f"a{l}"]
        X = X + W[f"B{l}"] @ torch.nn.functional.gelu(Z) + W[f"b{l}"]
    return (W["H"] @ norm(X, W["gF"], W["oF"])[:, :1] + W["h"]).squeeze(1)
"""


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (_FUNCTION, [1, *range(9, 16)]),
        (_BLOCK, [1, *range(8, 21)]),
        (_MODEL, [*range(1, 27)]),
        (_COLUMNS, [*range(1, 27)]),
    ],
    ids=["a function", "a block", "a model", "columns"],
)
def test_it_is_right(text: str, right: list[int], zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], right)


@pytest.mark.parametrize(
    ("text", "edit", "id"),
    [
        (_FUNCTION, ("softmax(1)", "softmax(0)"), "softmax-over-queries"),
        (_BLOCK, ("return x + self.mlp", "return self.mlp"), "residual-mlp-missing"),
        (_BLOCK, ("a.permute(1, 0, 2).reshape", "a.reshape"), "heads-merged-without-transpose"),
        (_MODEL, (" / self.dh**0.5", ""), "scale-missing"),
        (_COLUMNS, ("K[at] / math.sqrt(d), 1)", "K[at] / math.sqrt(d), 0)"), "softmax-over-queries"),
    ],
)
def test_a_mistake_is_told(text: str, edit: tuple[str, str], id: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(edited(text, [edit]), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == [id]
