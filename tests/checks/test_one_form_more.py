"""Mistakes in programs whose other parts have usual forms, too: a token made by a sum, a width of scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import BASES, edited
from one_file import ATTENTION, demand_all_points, graded_file

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.grading.grading import grade
from vitcheck.submissions.host.process import Zygote

_READ = "self.ln_post(x[:, 0, :])"
_ADDED = "x = x + self.positional_embedding"
# two arguments may mean the channels: what gives as many classes as there are is meant
_LETTERS = """
import torch as t
from torch import nn as n


class V(n.Module):
    def __init__(s, d=64, h=4, l=4, p=7, c=10, i=28, a=1):
        super().__init__()
        s.e = n.Conv2d(a, d, p, p)
        s.k, s.o = [n.Parameter(t.randn(1, z, d) * 0.02) for z in (1, 1 + (i // p) ** 2)]
        b = n.TransformerEncoderLayer(d, h, 4 * d, 0, "gelu", batch_first=True, norm_first=True)
        s.b = n.TransformerEncoder(b, l, enable_nested_tensor=False)
        s.f = n.Sequential(n.LayerNorm(d), n.Linear(d, c))

    def forward(s, x):
        x = t.cat((s.k.expand(len(x), 1, -1), s.e(x).flatten(2).mT), 1) + s.o
        return s.f(s.b(x)[:, 0])
"""
# nothing but the maps of positions is shaped by the first argument, and they are none of a block
_MAPS = """
import torch
from torch import nn


class Seti(nn.Module):
    def __init__(self, kartinka=48, kusok=6, razmer=108, sloev=6, golov=9, klassov=43):
        super().__init__()
        ryad = kartinka // kusok
        self.kuski = nn.Conv2d(3, razmer, kusok, kusok)
        self.token = nn.Parameter(torch.zeros(1, 1, razmer))
        self.stroki = nn.Parameter(torch.randn(1, ryad, 1, razmer) * 0.02)
        self.stolbtsy = nn.Parameter(torch.randn(1, 1, ryad, razmer) * 0.02)
        sloy = nn.TransformerEncoderLayer(
            razmer, golov, 3 * razmer, 0, "gelu", batch_first=True, norm_first=True
        )
        self.sloi = nn.TransformerEncoder(sloy, sloev, enable_nested_tensor=False)
        self.norma, self.golova = nn.LayerNorm(razmer), nn.Linear(2 * razmer, klassov)

    def forward(self, x):
        x = self.kuski(x).permute(0, 2, 3, 1)
        x = (x + self.stroki + self.stolbtsy).flatten(1, 2)
        x = self.norma(self.sloi(torch.cat([self.token.expand(len(x), -1, -1), x], dim=1)))
        return self.golova(torch.cat([x[:, 0], x[:, 1:].mean(1)], dim=-1))
"""


@pytest.mark.parametrize(
    ("edit", "id", "stage"),
    [
        ((_ADDED, "x = x"), "pos-missing", "S07"),
        ((_ADDED, _ADDED + "[..., :1, :]"), "pos-single-vector", "S07"),
        ((_READ, "self.ln_post(x)"), "head-on-all-tokens", "S25"),
        ((_READ, "self.ln_post(x[0])"), "readout-batch-index", "S24"),
    ],
)
def test_the_mistake_is_named(
    edit: tuple[str, str], id: str, stage: str, zygote: Zygote, tmp_path: Path
) -> None:
    text = edited(BASES["clip_style"].source(), [edit])
    result = graded_file(text, load_assignment("clip-vit"), zygote, tmp_path)
    assert [(one.id, one.stage) for one in result.mistakes] == [(id, stage)]


def test_of_two_arguments_that_may_mean_the_same_one_means_classes(zygote: Zygote, tmp_path: Path) -> None:
    file = tmp_path / "vit.py"
    file.write_text(_LETTERS, encoding="utf-8")
    for seed in (0, 5):  # the sizes of one hide what the other's show
        demand_all_points(grade(file, load_assignment(DEFAULT), zygote=zygote, seed=seed))


def test_maps_of_rows_and_columns_are_those_of_an_image(zygote: Zygote, tmp_path: Path) -> None:
    demand_all_points(graded_file(_MAPS, load_assignment(DEFAULT), zygote, tmp_path))


def test_attention_between_heads_is_shown_where_they_meet(zygote: Zygote, tmp_path: Path) -> None:
    edits = [(".permute(2, 0, 3, 1, 4)", ".unbind(2)"), (".transpose(1, 2).reshape", ".reshape")]
    text = edited(ATTENTION, edits)
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["attention-over-heads-axis"]
    place = result.stages["S12"].location
    assert place is not None
    assert text.split("\n")[place.line - 1].strip().startswith("scores =")
