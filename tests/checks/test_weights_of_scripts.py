"""Weights that a script makes of random numbers, scaled or filled: they are computed, and no norm's."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import VIT

from vitcheck.submissions.host.process import Zygote

_SCRIPT = """
import torch
from torch.nn.functional import gelu, layer_norm, unfold

rnd = lambda *s: torch.randn(*s) * 0.05
images = torch.rand(6, 3, 32, 32)
ps, width, heads = 8, 64, 4

X = unfold(images, ps, stride=ps).transpose(1, 2) @ rnd(3 * ps * ps, width)
X = torch.cat([rnd(1, 1, width).expand(6, 1, width), X], 1)
X = X + rnd(1, X.shape[1], width)
layers = []
for _ in range(2):
    layers.append(dict(wq=rnd(width, width), wk=rnd(width, width), wv=rnd(width, width), wo=rnd(width, width),
                       w1=rnd(width, 256), b1=torch.zeros(256), w2=rnd(256, width), b2=torch.zeros(width)))
for L in layers:
    h = layer_norm(X, (width,))
    Q, K, V = ((h @ L[one]).unflatten(2, (heads, -1)) for one in ("wq", "wk", "wv"))
    A = (torch.einsum("bqhc,bkhc->bhqk", Q, K) / (width // heads) ** 0.5).softmax(-1)
    X = X + torch.einsum("bhqk,bkhc->bqhc", A, V).flatten(2) @ L["wo"]
    h = layer_norm(X, (width,))
    X = X + gelu(h @ L["w1"] + L["b1"]) @ L["w2"] + L["b2"]
cls = layer_norm(X, (width,))[:, 0]
# logits =
"""
_FILLED = ("rnd = lambda *s: torch.randn(*s) * 0.05", "rnd = lambda *s: fill(torch.empty(*s))")
_FILL = ("ps, width, heads", "fill = torch.nn.init.xavier_uniform_\nps, width, heads")


@pytest.mark.parametrize("edits", [[], [_FILLED, _FILL]], ids=["scaled", "filled"])
def test_every_step_is_seen(edits: list[tuple[str, str]], zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(edited(_SCRIPT, edits), VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [*range(1, 25)])


@pytest.mark.parametrize(
    ("edit", "id"),
    [
        (('("wq", "wk", "wv")', '("wq", "wq", "wv")'), "query-equals-key"),
        (("X + gelu(", "h + gelu("), "residual-mlp-from-normed"),
    ],
)
def test_a_mistake_is_told(edit: tuple[str, str], id: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(edited(_SCRIPT, [edit]), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == [id]
    assert right_stages(result)[-1] == 24


_RESHAPED = "x.reshape(3, -1, ps * ps)"
_TOKEN_BY_TOKEN = """
import torch
import torch.nn.functional as F

side, ps, ch, d, nh = 12, 4, 1, 16, 2
dh = d // nh
x = torch.randn(3, ch, side, side)
p = F.unfold(x, ps, stride=ps).permute(0, 2, 1)
tok = F.linear(p, torch.randn(d, ch * ps * ps) * 0.1, torch.zeros(d))
cls = torch.zeros(1, 1, d, requires_grad=True)
pos = torch.zeros(1, p.shape[1] + 1, d)
tok = torch.cat((cls.repeat(3, 1, 1), tok), 1) + pos
Wq, Wk, Wv = ([torch.randn(d, dh) * 0.2 for _ in range(nh)] for _ in range(3))
Wo = torch.randn(d, d) * 0.2


def slow_attention(t):
    out = torch.zeros_like(t)
    for b in range(t.shape[0]):
        for i in range(t.shape[1]):
            pieces = []
            for h in range(nh):
                scores = (t[b] @ Wk[h]) @ (t[b, i] @ Wq[h]) / dh**0.5
                pieces.append(torch.softmax(scores, dim=0) @ (t[b] @ Wv[h]))
            out[b, i] = torch.cat(pieces) @ Wo
    return out


tok = tok + slow_attention(F.layer_norm(tok, [d]))
W1, b1 = torch.randn(d, 4 * d) * 0.2, torch.zeros(4 * d)
W2, b2 = torch.randn(4 * d, d) * 0.1, torch.zeros(d)
tok = tok + F.gelu(F.layer_norm(tok, [d]) @ W1 + b1) @ W2 + b2
logits = F.layer_norm(tok, [d])[:, 0] @ torch.randn(d, 10)
"""


def test_one_block_whose_tokens_attend_one_after_the_other(zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_TOKEN_BY_TOKEN, VIT, zygote, tmp_path)
    assert (result.mistakes, result.score.earned) == ([], 100)
    assert right_stages(result) == [one for one in range(1, 27) if one != 21]  # there is no second block


@pytest.mark.parametrize(
    ("edit", "id", "line"),
    [
        ((" / dh**0.5", ""), "scale-missing", "scores ="),
        (("F.unfold(x, ps, stride=ps).permute(0, 2, 1)", _RESHAPED), "patch-view-whole-image", "p ="),
    ],
)
def test_its_line_is_told(edit: tuple[str, str], id: str, line: str, zygote: Zygote, tmp_path: Path) -> None:
    text = edited(_TOKEN_BY_TOKEN, [edit])
    (first,) = graded_file(text, VIT, zygote, tmp_path).mistakes
    assert first.id == id
    assert first.location is not None
    assert line in text.splitlines()[first.location.line - 1]
