"""A class with a method for each step, whose forward is not written yet, as courses hand it out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from one_file import graded_file

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.record.faults import to_write
from vitcheck.submissions.host.process import Zygote

VIT = load_assignment("vit").model_copy(update={"examples": 2})
STEPS = """
import torch
from torch import nn


class Weights(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln_a, self.ln_b = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)


class ViT(nn.Module):
    def __init__(self, image=28, patch=7, channels=1, d=32, h=4, depth=3, classes=10):
        super().__init__()
        self.patch, self.h = patch, h
        self.embed = nn.Linear(channels * patch * patch, d)
        self.token = nn.Parameter(torch.randn(1, 1, d))
        self.positions = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, d))
        self.blocks = nn.ModuleList(Weights(d) for _ in range(depth))
        self.last, self.head = nn.LayerNorm(d), nn.Linear(d, classes)

    def patches(self, img):
        b, c, h, w = img.shape
        p = self.patch
        x = img.reshape(b, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5)
        return x.reshape(b, -1, c * p * p)

    def tokens(self, patches):
        x = self.embed(patches)
        return torch.cat([self.token.expand(len(x), -1, -1), x], 1)

    def placed(self, x):
        return x + self.positions

    def attention_part(self, x, w):
        b, t, d = x.shape
        q, k, v = w.qkv(w.ln_a(x)).reshape(b, t, 3, self.h, -1).permute(2, 0, 3, 1, 4)
        a = (q @ k.mT / (d // self.h) ** 0.5).softmax(-1)
        return x + w.out((a @ v).transpose(1, 2).reshape(b, t, d))

    def mlp_part(self, x, w):
        return None

    def logits(self, img):
        return None

    def forward(self, img):
        return None
"""


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with Zygote() as started:
        yield started


@pytest.mark.parametrize(
    ("old", "new", "following", "wrong"),
    [
        ("", "", "S16", set()),
        ("    def mlp_part(self, x, w):\n        return None\n", "", "S16", set()),
        ("return x + self.positions", "return None", "S07", set()),
        (
            "[self.token.expand(len(x), -1, -1), x], 1",
            "[x, self.token.expand(len(x), -1, -1)], 1",
            "S16",
            {"S06"},
        ),
        ("(a @ v)", "(a.mT @ v)", "S16", {"S14"}),
    ],
    ids=["right", "no method for the rest", "a step in between", "token last", "values by columns"],
)
def test_what_the_methods_compute_is_looked_at(
    old: str, new: str, following: str, wrong: set[str], zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(STEPS.replace(old, new, 1) if old else STEPS, VIT, zygote, tmp_path)
    assert to_write(result)[0] == following
    assert {label for label, one in result.stages.items() if one.status.value == "failed"} == wrong
