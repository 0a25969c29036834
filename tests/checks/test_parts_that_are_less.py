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


_HALF = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, c, h):
        super().__init__()
        self.h, self.ln1 = h, nn.LayerNorm(c)
        self.qkv, self.o = nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.ln2 = nn.LayerNorm(c)

    def forward(self, x):
        b, t, c = x.shape
        parts = self.qkv(self.ln1(x)).split(c, dim=2)
        q, k, v = (one.view(b, t, self.h, c // self.h).transpose(1, 2) for one in parts)
        w = (q @ k.transpose(-2, -1) * (c // self.h) ** -0.5).softmax(-1)
        x = x + self.o((w @ v).transpose(1, 2).reshape(b, t, c))

        # second half: mlp
        return x
"""
_OTHER_HALF = """
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.norm2, self.fc1, self.fc2 = nn.LayerNorm(dim), nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        # attention comes next week
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))
"""
_NO_ATTENTION_YET = """
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm2, self.fc1, self.fc2 = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        # TODO attention part
        return x + self.fc2(nn.functional.gelu(self.fc1(self.norm2(x))))


class ViT(nn.Module):
    def __init__(self, size=32, P=8, classes=10, d=64, depth=4):
        super().__init__()
        self.P, self.proj = P, nn.Linear(3 * P * P, d)
        self.pos = nn.Parameter(0.02 * torch.randn((size // P) ** 2, d))
        self.layers = nn.ModuleList(Layer(d) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, classes)

    def forward(self, x):
        (B, C, H, W), P = x.shape, self.P
        x = x.view(B, C, H // P, P, W // P, P).permute(0, 2, 4, 3, 5, 1).reshape(B, -1, P * P * C)
        x = self.proj(x) + self.pos
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x).mean(dim=1))
"""
_NOTED = """
import torch
from torch import nn


class VisionTransformer(nn.Module):
    def __init__(self, p=6, D=80, H=5, L=4):
        super().__init__()
        self.embed = nn.Conv2d(3, D, p, p)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                D, H, 3 * D, 0.0, "gelu", batch_first=True, norm_first=True, layer_norm_eps=1e-6
            )
            for _ in range(L)
        )

    def forward(self, img):
        x = self.embed(img).flatten(2).transpose(1, 2)
        # + positions
        for layer in self.layers:
            x = layer(x)
        # return readout
"""


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (_HALF, [1, *range(8, 16)]),
        (_OTHER_HALF, [1, 16, 17, 18]),
        (_NO_ATTENTION_YET, [1, 2, 3, 4, 6, 7, 8, *range(16, 27)]),
        (_NOTED, [1, 2, 3, 4, 6, *range(8, 23)]),
    ],
    ids=["the MLP", "attention", "attention of all blocks", "what a comment names"],
)
def test_what_is_to_come_is_not_left_out(text: str, right: list[int], zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], right)


def test_what_no_comment_names_is_left_out(zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_NOTED.replace("        # + positions\n", ""), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["pos-missing"]


def test_a_comment_beside_a_layer_that_nothing_uses_is_no_note(zygote: Zygote, tmp_path: Path) -> None:
    edits = [
        ("        # + positions\n", ""),
        (
            "        self.layers =",
            "        # positions\n        self.head = nn.Linear(D, 10)\n        self.layers =",
        ),
        ("# return readout", "return self.head(x.mean(1))"),
    ]
    result = graded_file(edited(_NOTED, edits), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["pos-missing"]
