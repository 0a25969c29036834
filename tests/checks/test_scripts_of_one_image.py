"""Scripts whose image has no axis for several, or none for channels where it is expected, and their sizes."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import VIT

from vitcheck.submissions.host.process import Zygote

_ATTENDS = """
import torch

torch.manual_seed(1)
foto = torch.rand(3, 40, 40)
S = 8
cut = foto.unfold(1, S, S).unfold(2, S, S).permute(1, 2, 0, 3, 4).reshape(25, 192)
x = cut @ (torch.randn(192, 36) * 0.05) + torch.zeros(36)
x = torch.cat([torch.randn(1, 36), x]) + torch.randn(26, 36)
n = torch.layer_norm(x, (36,))
q, k, v = (n @ (torch.randn(36, 36) / 6) for _ in range(3))
q, k, v = (one.view(26, 3, 12).transpose(0, 1) for one in (q, k, v))
weights = torch.bmm(q, k.transpose(1, 2)).div(12**0.5).softmax(dim=-1)
mixed = torch.bmm(weights, v)
"""
_CHANNELS_LAST = """
import torch

foto = torch.rand(30, 30, 3)
cut = foto.reshape(6, 5, 6, 5, 3).permute(0, 2, 1, 3, 4).flatten(2).flatten(0, 1)
x = torch.nn.Linear(75, 28)(cut)
"""
_SIZES_OF_ITS_OWN = """
import torch

P = 4
D = 60
imgs = torch.rand(1, 3, 32, 32)
cut = imgs.reshape(1, 3, 8, P, 8, P).permute(0, 2, 4, 1, 3, 5).reshape(1, 64, 3 * P * P)
x = cut @ torch.randn(48, 60) + torch.randn(60)
x = torch.cat([torch.randn(1, 1, 60), x], dim=1) + torch.randn(1, 65, 60)
"""
_CUT_INTO_HEADS = """
import torch
from torch.nn import functional as F


def embed(images, w):
    x = F.conv2d(images, w["kernel"], w["bias"], stride=5).flatten(2).mT
    x = torch.cat([w["first"].expand(len(x), -1, -1), x], dim=1)
    return x + w["places"]


def attend(x, w, heads):
    b, n, d = x.shape
    q, k, v = (F.linear(x, w[key]).view(b, n, heads, d // heads).transpose(1, 2) for key in ("q", "k", "v"))
    raise NotImplementedError("scores")


def draw(d=36):
    w = {"kernel": torch.randn(d, 3, 5, 5), "bias": torch.zeros(d), "first": torch.randn(1, 1, d)}
    w |= {key: torch.randn(d, d) / 6 for key in ("q", "k", "v")}
    return w | {"places": torch.randn(1, 37, d)}


w = draw()
try:
    attend(embed(torch.rand(2, 3, 30, 30), w), w, 9)
except NotImplementedError as why:
    print(why)
"""
_FROM_ITS_END = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=24, classes=7):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.blocks = nn.ModuleList()
        self.out = nn.Linear(width, classes)

    def cut(self, images):
        raise NotImplementedError

    def scores(self, tokens):
        return self.out(self.norm(tokens).mean(dim=1))

    def forward(self, images):
        x = self.cut(images)
        for block in self.blocks:
            x = block(x)
        return self.scores(x)


if __name__ == "__main__":
    print(Net().scores(torch.randn(5, 24, 24)).softmax(-1).sum(-1))
"""


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param(_ATTENDS, [*range(1, 15)], id="to the context of each head"),
        pytest.param(_CHANNELS_LAST, [*range(1, 5)], id="channels last"),
        pytest.param(_SIZES_OF_ITS_OWN, [*range(1, 9)], id="a constant that has the value it is tried with"),
        pytest.param(_CUT_INTO_HEADS, [*range(1, 12)], id="heads before anything attends"),
        pytest.param(_FROM_ITS_END, [1, 23, 24, 25, 26], id="as many tokens as features are no image"),
    ],
)
def test_what_is_there_is_right(text: str, right: list[int], zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], right)


def test_a_mistake_beside_one_image_is_told(zygote: Zygote, tmp_path: Path) -> None:
    wrong = edited(_ATTENDS, [("softmax(dim=-1)", "softmax(dim=1)")])
    (first,) = graded_file(wrong, VIT, zygote, tmp_path).mistakes
    assert first.id == "softmax-over-queries"
