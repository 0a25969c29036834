"""One file as it would be handed in, graded; and an attention to put into one."""

from __future__ import annotations

from pathlib import Path

from vitcheck.checks.assignment.assignment import Assignment
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.result import Result, StageStatus
from vitcheck.submissions.host.process import Zygote

ATTENTION = """
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim=64, heads=4):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
"""


def graded_file(text: str, asked: Assignment, zygote: Zygote, folder: Path) -> Result:
    """The file ``vit.py`` with this text, with few examples."""
    (folder / "vit.py").write_text(text, encoding="utf-8")
    return grade(folder / "vit.py", asked.model_copy(update={"examples": 4}), zygote=zygote, seed=1)


def demand_all_points(result: Result) -> None:
    """As a right program has them."""
    assert [one.id for one in result.mistakes] == []
    assert result.score is not None
    assert result.score.earned == 100


def right_stages(result: Result) -> list[int]:
    """Their numbers."""
    return [int(label[1:]) for label, one in result.stages.items() if one.status is StageStatus.PASSED]
