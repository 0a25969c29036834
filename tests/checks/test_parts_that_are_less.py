"""What is written is not taken for more than it is: half a block, a norm, an embedding before no blocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import VIT

from vitcheck.submissions.host.process import Zygote

_BLOC = """
import torch
from torch import nn


class Bloc(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.norme1, self.norme2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.perceptron = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        # x = x + self.attention(self.norme1(x))   <- à faire
        x = x + self.perceptron(self.norme2(x))
        return x


class TransformeurVisuel(nn.Module):
    def __init__(self, image=28, cote=7, canaux=1, dim=64, profondeur=4):
        super().__init__()
        self.morceaux = nn.Conv2d(canaux, dim, cote, cote)
        self.jeton = nn.Parameter(torch.zeros(1, 1, dim))
        self.positions = nn.Parameter(torch.randn(1, (image // cote) ** 2 + 1, dim) * 0.02)
        self.blocs = nn.ModuleList([Bloc(dim) for _ in range(profondeur)])

    def forward(self, images):
        x = self.morceaux(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.jeton.expand(len(x), -1, -1), x], dim=1) + self.positions
        # suite : blocs, norme, tete
"""
_NORM = """
import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.gamma, self.beta, self.eps = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim)), eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, unbiased=False)
        return self.gamma * (x - mean) / (var + self.eps).sqrt() + self.beta


class Block(nn.Module):
    def forward(self, x):
        raise NotImplementedError
"""
_NO_BLOCKS = """
import torch
from torch import nn


class VisionTransformer(nn.Module):
    def __init__(self, classes=10, dim=128, side=32, patch=4):
        super().__init__()
        self.conv = nn.Conv2d(3, dim, patch, patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.zeros(1, (side // patch) ** 2 + 1, dim))
        nn.init.trunc_normal_(self.pos, std=0.02)
        self.blocks = nn.Sequential()  # TODO fill with encoder blocks
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, classes)

    def forward(self, x):
        x = self.conv(x).flatten(2).transpose(1, 2)
        x = torch.cat([x, self.cls.expand(len(x), -1, -1)], 1) + self.pos
        return self.head(self.norm(self.blocks(x))[:, 0])
"""


def test_half_a_block_is_no_stack(zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_BLOC, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [*range(1, 9), *range(16, 21)])


def test_a_right_norm_is_not_said_to_be_one_of_a_block(zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_NORM, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [1])


@pytest.mark.parametrize(
    ("edit", "id"),
    [
        (("var = x.var(-1", "var = x.var(1"), "layernorm-over-tokens"),
        (("(var + self.eps).sqrt()", "(var + self.eps)"), "layernorm-no-sqrt"),
    ],
)
def test_a_wrong_norm_is_told(edit: tuple[str, str], id: str, zygote: Zygote, tmp_path: Path) -> None:
    wrong = edited(_NORM, [edit, ("x.mean(-1", "x.mean(1")] if "tokens" in id else [edit])
    result = graded_file(wrong, VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == [id]


def test_a_class_token_at_the_end_is_told_before_there_are_blocks(zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_NO_BLOCKS, VIT, zygote, tmp_path)
    assert [(one.id, one.stage) for one in result.mistakes] == [("cls-appended-last", "S06")]
