"""Classes and functions that are called and nobody has written: what stands around them is judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import FINISHED, VIT

from vitcheck.checks.record.faults import to_write
from vitcheck.submissions.host.process import Zygote

_FUNCTIONS = """
import torch
import torch.nn.functional as F


def vit_params(d=64, p=4, depth=3, classes=10, img=32):
    def draw(*sizes):
        return torch.randn(*sizes) * 0.02

    def block():
        norms = dict(g1=torch.ones(d), b1=torch.zeros(d), g2=torch.ones(d), b2=torch.zeros(d))
        maps = dict(wq=draw(d, d), wk=draw(d, d), wv=draw(d, d), wo=draw(d, d))
        return norms | maps | dict(w1=draw(d, 4 * d), w2=draw(4 * d, d))

    return {
        "proj": draw(3 * p * p, d), "cls": draw(1, 1, d), "pos": draw(1, (img // p) ** 2 + 1, d),
        "blocks": [block() for _ in range(depth)],
        "g": torch.ones(d), "b": torch.zeros(d), "head": draw(d, classes),
    }


def block(x, p):
    h = F.layer_norm(x, x.shape[-1:], p["g1"], p["b1"])
    x = x + multi_head_attention(h, p["wq"], p["wk"], p["wv"], p["wo"])
    h = F.layer_norm(x, x.shape[-1:], p["g2"], p["b2"])
    return x + F.gelu(h @ p["w1"]) @ p["w2"]


def vit(img, p, patch=4):
    B, C, H, W = img.shape
    x = img.reshape(B, C, H // patch, patch, W // patch, patch).permute(0, 2, 4, 1, 3, 5)
    x = x.reshape(B, -1, C * patch * patch) @ p["proj"]
    x = torch.cat([p["cls"].expand(B, -1, -1), x], dim=1) + p["pos"]
    for one in p["blocks"]:
        x = block(x, one)
    return F.layer_norm(x, x.shape[-1:], p["g"], p["b"])[:, 0] @ p["head"]
"""
_FACTORY = """
import torch
from torch import nn
from einops.layers.torch import Rearrange


class Residual(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.inside = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.inside(x)


class Embedding(nn.Module):
    def __init__(self, count, dim):
        super().__init__()
        self.token, self.places = nn.Parameter(torch.zeros(dim)), nn.Parameter(torch.zeros(count + 1, dim))

    def forward(self, x):
        return torch.cat((self.token.expand(len(x), 1, -1), x), dim=1) + self.places


class First(nn.Module):
    def forward(self, x):
        return x[:, 0]


def block(dim, heads):
    mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
    attention = Residual(nn.LayerNorm(dim), SelfAttention(dim, heads))
    return nn.Sequential(attention, Residual(nn.LayerNorm(dim), mlp))


def vit(image=32, patch=4, dim=128, depth=6, heads=4, classes=10):
    return nn.Sequential(
        Rearrange("b c (h p) (w q) -> b (h w) (c p q)", p=patch, q=patch),
        nn.Linear(3 * patch * patch, dim),
        Embedding((image // patch) ** 2, dim),
        *[block(dim, heads) for _ in range(depth)],
        First(),
        nn.LayerNorm(dim),
        nn.Linear(dim, classes),
    )
"""
# what attends and the MLP come from outside, as layers or as functions that make them
_GIVEN = """
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, aufmerksamkeit, mlp, p=0.0):
        super().__init__()
        self.n1, self.n2, self.drop = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.Dropout(p)
        self.attend, self.mlp = aufmerksamkeit, mlp

    def forward(self, x):
        x = x + self.drop(self.attend(self.n1(x)))
        return x + self.drop(self.mlp(self.n2(x)))
"""
_MAKERS = f"""{_GIVEN}

class Encoder(nn.Module):
    def __init__(self, dim, tiefe, baue_aufmerksamkeit, baue_mlp):
        super().__init__()
        made = [Block(dim, baue_aufmerksamkeit(dim), baue_mlp(dim)) for _ in range(tiefe)]
        self.bloecke = nn.ModuleList(made)

    def forward(self, x):
        for block in self.bloecke:
            x = block(x)
        # TODO
"""
_WITH_A_WORD_LESS = FINISHED.replace("Block", "EncoderBlock")
_BLOCKS = "nn.ModuleList([Block(dim, heads, mlp) for _ in range(depth)])"
_LOOP = "        for block in self.blocks:\n            x = block(x)\n"
_OF_A_BLOCK = [(_BLOCKS, _BLOCKS.replace("Block", "EncoderLayer"))]
_OF_A_LIBRARY = [(_BLOCKS, "TransformerEncoder(dim, depth, heads)"), (_LOOP, "        x = self.blocks(x)\n")]
_OF_ALL = [(_BLOCKS, "ViTEncoder(dim, depth, heads)"), (_LOOP, "        x = self.blocks(x)\n")]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param(edited(FINISHED, _OF_A_BLOCK), [*range(1, 21), *range(22, 27)], id="a block"),
        pytest.param(edited(FINISHED, _OF_ALL), [*range(1, 21), *range(22, 27)], id="all blocks"),
        pytest.param(
            edited(FINISHED, _OF_A_LIBRARY),
            [*range(1, 21), *range(22, 27)],
            id="of a name that a library has",
        ),
        pytest.param(_FUNCTIONS, [*range(1, 9), *range(16, 27)], id="a function, among functions"),
        pytest.param(_FACTORY, [*range(1, 9), *range(16, 27)], id="a class that a function makes"),
        pytest.param(
            edited(_WITH_A_WORD_LESS, [("[EncoderBlock(dim", "[Block(dim")]),
            [*range(1, 21), *range(22, 27)],
            id="of a name that has a word less than another",
        ),
    ],
)
def test_all_around_what_nobody_has_written_is_right(
    text: str, right: list[int], zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert result.mistakes == []
    assert right_stages(result) == right


@pytest.mark.parametrize("text", [_GIVEN, _MAKERS], ids=["layers", "functions that make them"])
def test_layers_that_come_from_outside_are_to_come(text: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [1])
    assert to_write(result)[0] == "S02"


@pytest.mark.parametrize(
    ("text", "edit", "id"),
    [
        pytest.param(
            edited(FINISHED, _OF_ALL),
            ("return x[:, 0]", "return x[:, -1]"),
            "readout-last-token",
            id="behind all blocks",
        ),
        pytest.param(
            _FUNCTIONS,
            ('x + F.gelu(h @ p["w1"]) @ p["w2"]', 'F.gelu(h @ p["w1"]) @ p["w2"]'),
            "residual-mlp-missing",
            id="in the block that lacks its attention",
        ),
    ],
)
def test_a_mistake_around_it_is_told(
    text: str, edit: tuple[str, str], id: str, zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(edited(text, [edit]), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == [id]
