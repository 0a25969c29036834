"""Below a model that is not written yet, what is written of it is seen: parts, and what reads the image."""

from __future__ import annotations

from pathlib import Path

import pytest
from one_file import ATTENTION, graded_file
from test_unfinished import BEHIND_TOKENS, FINISHED, LABELS, MLP, VIT, graded

from vitcheck.checks.record.faults import to_write
from vitcheck.checks.record.result import StageStatus
from vitcheck.reports.words.standing import so_far, standing
from vitcheck.submissions.host.process import Zygote

_BELOW = (
    ATTENTION
    + """

class MLP(nn.Module):
    def __init__(self, dim=64, mlp=128):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(dim, mlp), nn.Linear(mlp, dim)

    def forward(self, x):
        raise NotImplementedError


class ViT(nn.Module):
    def __init__(self, image_size=32, patch_size=8, dim=64, depth=4, heads=4, mlp=128, num_classes=10):
        super().__init__()
        self.blocks = nn.ModuleList([Attention(dim, heads) for _ in range(depth)])

    def forward(self, image):
        patches = ...
        for block in self.blocks:
            patches = block(patches)
        return patches
"""
)


def test_a_right_part_below_what_is_not_written_is_seen_to_be_right(zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_BELOW, VIT, zygote, tmp_path)
    right = [label for label, one in result.stages.items() if one.status is StageStatus.PASSED]
    assert right == ["S01", *LABELS[8:15]]
    assert to_write(result) == [*LABELS[1:8], *LABELS[15:]]
    assert standing(result).tone == "unfinished"
    paid = {one.stage for one in result.checks if one.earned}
    assert set(LABELS[8:15]) <= paid


def test_a_wrong_part_below_it_is_told_by_its_mistake(zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_BELOW.replace("softmax(-1)", "softmax(-2)"), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["softmax-over-queries"]
    assert standing(result).label == "S13"
    assert standing(result).place is not None


_EMBEDDING = """
class PatchEmbedding(nn.Module):
    def __init__(self, patch_size=8, dim=64):
        super().__init__()
        self.proj = nn.Conv2d(3, dim, patch_size, patch_size)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class ViT("""
_PARTS = FINISHED.replace("\nclass ViT(", _EMBEDDING)
_PARTS = _PARTS[: _PARTS.index("        x = self.patches(image)")] + "        raise NotImplementedError\n"


@pytest.mark.parametrize(
    ("edit", "wrong", "to_come"),
    [
        (("", ""), dict[str, str](), set[str]()),
        (
            ("return x + self.mlp(self.norm2(x))", "return self.mlp(self.norm2(x))"),
            {"S19": "residual-mlp-missing"},
            set(),
        ),
        (("self.mlp(self.norm2(x))", "self.mlp(self.norm1(x))"), {"S16": "norm1-reused-for-norm2"}, set()),
        (
            ("(x).flatten(2).transpose(1, 2)", "(x).reshape(len(x), -1, self.proj.out_channels)"),
            {"S04": "conv-reshape-not-transpose"},
            set(),
        ),
        ((MLP, "return x"), {}, {"S17", "S18"}),
    ],
)
def test_a_block_and_an_embedding_are_seen_below_a_model_that_is_not_written(
    edit: tuple[str, str], wrong: dict[str, str], to_come: set[str], zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(_PARTS.replace(*edit), VIT, zygote, tmp_path)
    failed = {label for label, one in result.stages.items() if one.status is StageStatus.FAILED}
    assert failed == set(wrong)
    assert {one.id for one in result.mistakes} == set(wrong.values())
    seen = {*LABELS[:4], *LABELS[7:20]} - to_come
    assert set(LABELS) - set(to_write(result)) == seen


_INIT = _PARTS.index("    def __init__(self, image_size=32")
_LINES = _PARTS.index("        super().__init__()", _INIT)


@pytest.mark.parametrize(
    "text",
    [
        _PARTS[:_LINES] + "        super().__init__()\n        raise NotImplementedError\n",
        _PARTS[:_LINES] + "        super().__init__()\n\n    def forward(self, image):\n        ...\n",
    ],
    ids=["a constructor that says so", "a forward that gives nothing"],
)
def test_of_a_model_that_is_not_written_its_parts_are_seen(text: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert set(LABELS) - set(to_write(result)) == {*LABELS[:4], *LABELS[7:20]}
    assert standing(result).tone == "unfinished"
    assert result.unwritten is not None
    assert result.unwritten.line == text.count("\n")
    assert result.score.earned == so_far(result)


_IN_SEQUENCES = """
import torch
from torch import nn


class Embedding(nn.Module):
    def __init__(self, image=32, patch=8, dim=64):
        super().__init__()
        self.proj = nn.Conv2d(3, dim, patch, patch)
        self.cls = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, 1 + (image // patch) ** 2, dim) * 0.02)

    def forward(self, x):
        x = self.proj(x).flatten(2).transpose(1, 2)
        return torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1) + self.pos


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        ...

    def forward(self, x):
        ...


class Added(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


class Block(nn.Sequential):
    def __init__(self, dim=64, heads=4):
        mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        super().__init__(
            Added(nn.Sequential(nn.LayerNorm(dim), SelfAttention(dim, heads), nn.Dropout(0.1))),
            Added(nn.Sequential(nn.LayerNorm(dim), mlp)),
        )
"""


def test_a_block_around_a_gap_is_seen_where_no_pass_comes_to_it(zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_IN_SEQUENCES, VIT, zygote, tmp_path)
    assert result.mistakes == []
    assert set(LABELS) - set(to_write(result)) == {*LABELS[:8], *LABELS[15:20]}


def test_what_reads_the_image_of_it_is_followed_as_far_as_it_goes(zygote: Zygote, tmp_path: Path) -> None:
    text = FINISHED.replace("class ViT(", "class Embedding(").replace(BEHIND_TOKENS, "        return x\n")
    text += "\n\nclass ViT(nn.Module):\n    def forward(self, image):\n        raise NotImplementedError\n"
    tokens = "[self.cls.expand(len(x), -1, -1), x]"
    wrong = text.replace(tokens, "[x, self.cls.expand(len(x), -1, -1)]")
    assert to_write(graded_file(text, VIT, zygote, tmp_path))[0] == "S21"
    result = graded_file(wrong, VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["cls-appended-last"]
    assert set(LABELS[7:20]) <= set(LABELS) - set(to_write(result))


def test_a_forward_without_a_return_ends_where_it_ends(zygote: Zygote, tmp_path: Path) -> None:
    result = graded(zygote, tmp_path, ("        return self.head(self.pooled(self.norm(x)))\n", ""))
    assert to_write(result)[0] == "S23"
    assert result.mistakes == []


_FUNCTIONS = """
import torch


def split(x, heads):
    return x.reshape(len(x), x.shape[1], heads, -1).transpose(1, 2)


def attention(x, w_q, w_k, w_v, w_o, heads):
    q, k, v = (split(x @ one, heads) for one in (w_q, w_k, w_v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape) @ w_o


def vit(images, parameters, heads):
    return None


if __name__ == "__main__":
    print(attention(torch.randn(2, 5, 16), *(torch.randn(16, 16) for _ in range(4)), heads=4).shape)
"""


def test_of_functions_that_are_not_all_written_those_that_are_are_seen(
    zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(_FUNCTIONS, VIT, zygote, tmp_path)
    assert set(LABELS) - set(to_write(result)) == {"S01", *LABELS[8:15]}
    assert standing(result).tone == "unfinished"


def test_sizes_that_are_assigned_together_are_told_apart(zygote: Zygote, tmp_path: Path) -> None:
    text = _BELOW.replace("dim=64, heads=4):", "dim, heads):") + "\ndim, heads = 64, 4\n"
    result = graded_file(text, VIT, zygote, tmp_path)
    assert set(LABELS[8:15]) <= set(LABELS) - set(to_write(result))


_NOT_GIVEN = """dim=64, mlp=128):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(dim, mlp), nn.Linear(mlp, dim)"""


@pytest.mark.parametrize("layer", ["Linear({}, {})", "Conv1d({}, {}, 1)"])
@pytest.mark.parametrize(("asked", "ratio"), [("", "4"), (", fattore=4", "fattore"), (", zeug", "zeug")])
@pytest.mark.parametrize("is_written", [True, False])
def test_an_mlp_whose_ratio_is_its_own_is_right_below_it(
    is_written: bool, asked: str, ratio: str, layer: str, zygote: Zygote, tmp_path: Path
) -> None:
    """Its name says nothing, or it has none; taken for a width it would take all of the memory."""
    turned = ".mT" if "Conv" in layer else ""
    layers = ", ".join(
        "nn." + layer.format(*widths) for widths in (("dim", f"{ratio} * dim"), (f"{ratio} * dim", "dim"))
    )
    made = f"dim{asked}):\n        super().__init__()\n        self.fc1, self.fc2 = {layers}"
    passed = f"return self.fc2(nn.functional.gelu(self.fc1(x{turned}))){turned}"
    text = _BELOW.replace(_NOT_GIVEN, made)
    text = text.replace("raise NotImplementedError", passed if is_written else "raise NotImplementedError")
    result = graded_file(text, VIT, zygote, tmp_path)
    assert standing(result).tone == "unfinished", standing(result)
    right = [label for label, one in result.stages.items() if one.status is StageStatus.PASSED]
    assert right == ["S01", *LABELS[8:15], *(["S17", "S18"] if is_written else [])]


def test_numbers_that_a_class_keeps_are_no_layers_to_be_used(zygote: Zygote, tmp_path: Path) -> None:
    """The head alone is forgotten."""
    kept = "self.depth, self.side = depth, image_size // patch_size\n        self.patches ="
    result = graded(
        zygote,
        tmp_path,
        ("self.patches =", kept),
        ("self.head(self.pooled(self.norm(x)))", "self.pooled(self.norm(x))"),
    )
    assert to_write(result) == []
    assert [one.id for one in result.mistakes] == ["head-missing"]
