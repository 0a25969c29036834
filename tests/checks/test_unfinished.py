"""Work in progress: what is written is judged, and nothing is said against what is not written yet."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.record.faults import to_write
from vitcheck.checks.record.result import Outcome, Result, StageStatus
from vitcheck.reports.pages.html import render_report
from vitcheck.reports.terminal import verdict
from vitcheck.reports.words.standing import runs, standing
from vitcheck.submissions.host.process import Zygote

VIT = load_assignment("vit")
LABELS = [f"S{number:02}" for number in range(1, 27)]
FINISHED = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, heads, mlp):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj, self.heads = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim), heads
        self.fc1, self.fc2 = nn.Linear(dim, mlp), nn.Linear(mlp, dim)

    def attention(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5
        context = scores.softmax(-1) @ v
        return self.proj(context.transpose(1, 2).reshape(B, T, D))

    def mlp(self, x):
        return self.fc2(nn.functional.gelu(self.fc1(x)))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, image_size=32, patch_size=8, dim=64, depth=4, heads=4, mlp=128, num_classes=10):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim))
        self.blocks = nn.ModuleList([Block(dim, heads, mlp) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, num_classes)

    def pooled(self, x):
        return x[:, 0]

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)
        x = x + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(self.pooled(self.norm(x)))
"""
BEHIND_TOKENS = FINISHED[FINISHED.index("        for block in self.blocks:") :]
MLP = "return self.fc2(nn.functional.gelu(self.fc1(x)))"
_ATTENTION = "return self.proj(context.transpose(1, 2).reshape(B, T, D))"


def graded(zygote: Zygote, folder: Path, *edits: tuple[str, str]) -> Result:
    return graded_file(edited(FINISHED, edits), VIT, zygote, folder)


@pytest.mark.parametrize(
    ("edit", "following"),
    [
        (("x = self.patches(image).flatten(2).transpose(1, 2)", "..."), "S02"),
        (("x = x + self.pos", "x = ..."), "S07"),
        (("x = x + self.pos", "x = x + self.pos\n        return x"), "S21"),  # a block is right by itself
        (("x = x + self.pos", "x = x + self.pos\n        return"), "S21"),
        (("x = x + self.pos", "x = x + self.pos\n        return image"), "S21"),  # what it was given
        (("context = scores.softmax(-1) @ v", "raise NotImplementedError"), "S13"),
        ((_ATTENTION, "pass"), "S15"),
        ((_ATTENTION, "..."), "S15"),
        ((MLP, 'raise NotImplementedError("todo")'), "S17"),
        ((MLP, "return x"), "S17"),  # what a course may hand out, so that the file runs
        (("return x[:, 0]", "pass"), "S24"),
        (("return self.head(self.pooled(self.norm(x)))", "return torch.zeros(len(x), 10)"), "S23"),
        (
            (
                BEHIND_TOKENS,
                "        return x\n",
            ),
            "S21",
        ),
        (("self.head(self.pooled(self.norm(x)))", "x"), "S23"),
        (("return self.head(self.pooled(self.norm(x)))", "x = self.norm(x)\n        ..."), "S24"),
        (
            (
                "return self.head(self.pooled(self.norm(x)))",
                "x = self.norm(x)\n        raise NotImplementedError",
            ),
            "S24",
        ),
    ],
)
def test_what_is_written_is_right_and_the_next_stage_is_told(
    edit: tuple[str, str], following: str, zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(zygote, tmp_path, edit)
    done, left = LABELS[: LABELS.index(following)], LABELS[LABELS.index(following) :]
    assert to_write(result)[0] == following
    assert set(to_write(result)) <= set(left)  # of which a block may be right by itself
    right = {label for label, one in result.stages.items() if one.status is StageStatus.PASSED}
    assert right == set(LABELS) - set(to_write(result)) >= set(done)
    assert (result.mistakes, [one for one in result.checks if one.outcome is Outcome.FAILED]) == ([], [])
    stands = standing(result)
    assert (stands.tone, stands.label) == ("unfinished", following)
    assert runs(to_write(result)) in stands.sentence
    assert verdict(result)
    assert "not written yet" in render_report(result)


def test_what_the_last_block_gives_is_there_though_nothing_reads_it_yet(
    zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(zygote, tmp_path, ("return self.head(self.pooled(self.norm(x)))", "# norm, head"))
    assert to_write(result) == ["S23", "S24", "S25", "S26"]
    assert result.mistakes == []


def test_the_line_is_told_that_is_not_written_yet(zygote: Zygote, tmp_path: Path) -> None:
    result = graded(zygote, tmp_path, ("return x[:, 0]", "raise NotImplementedError"))
    assert result.unwritten is not None
    assert FINISHED.split("\n")[result.unwritten.line - 2].strip() == "def pooled(self, x):"


def test_a_forward_that_hands_back_what_it_is_given_is_the_line(zygote: Zygote, tmp_path: Path) -> None:
    result = graded(zygote, tmp_path, (BEHIND_TOKENS, "        return image\n"))
    assert to_write(result)[0] == "S21"  # the block is right by itself
    assert result.unwritten is not None
    assert result.unwritten.line == FINISHED.count("\n", 0, FINISHED.index(BEHIND_TOKENS)) + 1


def test_a_mistake_in_unfinished_work_is_told_as_in_finished_work(zygote: Zygote, tmp_path: Path) -> None:
    result = graded(
        zygote,
        tmp_path,
        (_ATTENTION, "pass"),
        ("[self.cls.expand(len(x), -1, -1), x]", "[x, self.cls.expand(len(x), -1, -1)]"),
    )
    assert [one.id for one in result.mistakes] == ["cls-appended-last"]
    assert (standing(result).tone, standing(result).label) == ("wrong", "S06")
    assert to_write(result)[0] == "S15"


_FORGOTTEN = (_ATTENTION, _ATTENTION.replace("return ", ""))  # a return that was forgotten is a mistake
_SAME = "class Same(nn.Module):\n    def forward(self, x):\n        return x\n\n\nclass ViT("


@pytest.mark.parametrize(
    "edits",
    [
        (_FORGOTTEN,),
        (_FORGOTTEN, ("class ViT(", _SAME)),  # also beside a layer that changes nothing
        (("context = scores.softmax(-1) @ v", "context = scores.softmax(-1) @ v.nothing"),),
        (("self.head(self.pooled(self.norm(x)))", "self.pooled(self.norm(x))"),),
        (
            (
                "return self.head(self.pooled(self.norm(x)))",
                "self.head(self.pooled(self.norm(x)))\n        return image",
            ),
        ),
    ],
)
def test_finished_work_that_fails_is_wrong(
    edits: tuple[tuple[str, str], ...], zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(zygote, tmp_path, *edits)
    assert to_write(result) == []
    assert standing(result).tone == "wrong"


def test_layers_that_are_not_used_do_not_make_finished_work_unfinished(
    zygote: Zygote, tmp_path: Path
) -> None:
    dropout = "self.heads = heads\n        self.first, self.second = nn.Dropout(0.0), nn.Dropout(0.0)"
    made = "nn.Linear(dim, dim), heads\n"
    result = graded(
        zygote,
        tmp_path,
        (made, f"{made}        {dropout}\n"),
        ("scores.softmax(-1)", "scores.softmax(-2)"),
    )
    assert to_write(result) == []
    assert [one.id for one in result.mistakes] == ["softmax-over-queries"]


def test_a_mistake_before_a_part_that_hands_back_what_it_is_given_is_told(
    zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(zygote, tmp_path, (MLP, "return x"), ("scores.softmax(-1)", "scores.softmax(-2)"))
    assert [one.id for one in result.mistakes] == ["softmax-over-queries"]
    assert to_write(result)[0] == "S17"


def test_a_placeholder_that_never_runs_says_nothing(zygote: Zygote, tmp_path: Path) -> None:
    result = graded(
        zygote, tmp_path, ("    def pooled", "    def maps(self):\n        pass\n\n    def pooled")
    )
    assert result.score.earned == result.score.possible


def test_runs_of_stages_are_told_by_their_ends() -> None:
    assert runs(["S01", "S02", "S03", "S07", "S09", "S10"]) == "S01 to S03, S07, S09 to S10"


def test_what_is_written_and_cannot_be_followed_is_not_called_unwritten(
    zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(
        zygote,
        tmp_path,
        ("x = x + self.pos", "x = x - self.pos.roll(3, -1)"),
        ("return x[:, 0]", "raise NotImplementedError"),
    )
    stands = standing(result)
    assert (stands.tone, stands.label) == ("wrong", "S07")
    assert "stops" not in stands.details  # where it does it is not written yet
    assert to_write(result)[0] == "S21"  # a block is right by itself
    assert stands.place is not None
    assert "self.pos" in stands.place.marked[0].text


def test_a_block_is_judged_as_the_model_makes_it(tmp_path: Path, zygote: Zygote) -> None:
    """It has another order of norms by default than the model gives it."""
    result = graded(
        zygote,
        tmp_path,
        ("def __init__(self, dim, heads, mlp):", "def __init__(self, dim, heads, mlp, norm_first=False):"),
        (
            "        self.norm1, self.norm2",
            "        self.norm_first = norm_first\n        self.norm1, self.norm2",
        ),
        (
            "        x = x + self.attention(self.norm1(x))\n",
            "        if not self.norm_first:\n"
            "            x = self.norm1(x + self.attention(x))\n"
            "            return self.norm2(x + self.mlp(x))\n"
            "        x = x + self.attention(self.norm1(x))\n",
        ),
        ("Block(dim, heads, mlp) for", "Block(dim, heads, mlp, norm_first=True) for"),
        ("x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)", "raise NotImplementedError"),
    )
    assert not result.mistakes
    assert [one.id for one in result.variants if "norm" in one.id] == []


def test_heads_that_still_come_are_not_said_to_be_left_out(tmp_path: Path, zygote: Zygote) -> None:
    one_head = (
        "class Head(nn.Module):\n"
        "    def __init__(self, dim, width):\n"
        "        super().__init__()\n"
        "        self.q, self.k, self.v = (nn.Linear(dim, width) for _ in range(3))\n\n"
        "    def forward(self, x):\n"
        "        scores = self.q(x) @ self.k(x).transpose(1, 2) / self.v(x).shape[-1] ** 0.5\n"
        "        ...\n\n\n"
        "class Block"
    )
    result = graded(
        zygote,
        tmp_path,
        ("class Block", one_head),
        (
            "        self.qkv, self.proj, self.heads = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim), heads\n",
            "        self.proj = nn.Linear(dim, dim)\n"
            "        self.heads = nn.ModuleList([Head(dim, dim // heads) for _ in range(heads)])\n",
        ),
        (FINISHED[FINISHED.index("        B, T, D") : FINISHED.index("        return self.proj")], ""),
        (
            "self.proj(context.transpose(1, 2).reshape(B, T, D))",
            "self.proj(torch.cat([one(x) for one in self.heads], dim=-1))",
        ),
    )
    assert not result.mistakes
