"""Files in the middle of being written, in the ways in which students leave them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from corpus import edited
from one_file import demand_all_points, graded_file, right_stages
from test_unfinished import BEHIND_TOKENS, FINISHED, MLP

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.record.faults import to_write
from vitcheck.checks.record.result import Outcome, Result
from vitcheck.submissions.host.process import Zygote

ANY = load_assignment(DEFAULT)
Edits = Sequence[tuple[str, str]]

_MODEL = FINISHED[FINISHED.index("class ViT(") :]
_PARTS = FINISHED.replace(_MODEL, "")
_PATCHES_ALONE: Edits = ((BEHIND_TOKENS, "        return x\n"),)
_HALF_A_BLOCK = "return x + self.mlp(self.norm2(x))"
_ATTENTION_OF = """

class TeteAttention(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, size), nn.Linear(dim, size), nn.Linear(dim, size)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / self.q.out_features ** 0.5
        return scores.softmax(-1) @ self.v(x)


class Plusieurs(nn.Module):
    def __init__(self, dim, nb):
        super().__init__()
        self.tetes = nn.ModuleList([TeteAttention(dim, dim // nb) for _ in range(nb)])
        self.sortie = nn.Linear(dim, dim)

    def forward(self, x):
        return self.sortie(torch.cat([one(x) for one in self.tetes], dim=-1))
"""
_NO_HEAD = "self.norm = nn.LayerNorm(dim)\n        self.head = None"
_TO_COME = "class ViT(nn.Module):\n    def __init__(self, dim=64, heads=4):\n        super().__init__()\n"


def graded(text: str, zygote: Zygote, folder: Path) -> Result:
    return graded_file(text, ANY, zygote, folder)


@pytest.mark.parametrize(
    ("text", "right", "following"),
    [
        pytest.param(
            edited(FINISHED, [("self.fc1, self.fc2 =", "self.more = None\n        self.fc1, self.fc2 =")])
            .replace(f"        {_HALF_A_BLOCK}\n", "        return x\n")
            .replace(BEHIND_TOKENS, BEHIND_TOKENS.replace("self.head(self.pooled(self.norm(x)))", "x")),
            15,
            "S16",
            id="half a block, with nothing for what is to come",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    ("nn.ModuleList([Block(dim, heads, mlp) for _ in range(depth)])", "nn.ModuleList()"),
                    ("Block(nn.Module):", "Unused(nn.Module):"),
                    (
                        "def forward(self, x):\n        x = x + self.att",
                        "def later(self, x):\n        x = x + self.att",
                    ),
                ],
            ),
            12,
            "S09",
            id="no blocks in the list yet",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    ("self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, num_classes)", _NO_HEAD),
                    ("self.head(self.pooled(self.norm(x)))", "self.pooled(self.norm(x))"),
                ],
            ),
            24,
            "S25",
            id="a head that is nothing",
        ),
        pytest.param(
            FINISHED.replace(
                ", self.head = nn.LayerNorm(dim), nn.Linear(dim, num_classes)", " = nn.LayerNorm(dim)"
            ),
            22,
            "S23",
            id="a head that is not there",
        ),
        pytest.param(_PARTS + _TO_COME, 14, "S02", id="a model without forward"),
        pytest.param(
            _PARTS + _TO_COME + '        raise NotImplementedError("later")\n',
            14,
            "S02",
            id="a begun constructor",
        ),
        pytest.param(_PARTS, 14, "S02", id="parts alone"),
        pytest.param(edited(FINISHED, _PATCHES_ALONE), 20, "S21", id="tokens returned"),
        pytest.param(
            "import torch\nfrom torch import nn\n" + _ATTENTION_OF + "\n\n" + _TO_COME,
            8,
            "S02",
            id="heads as classes of their own",
        ),
    ],
)
def test_what_is_there_is_right_and_nothing_is_said_of_the_rest(
    text: str, right: int, following: str, zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(text, zygote, tmp_path)
    assert (result.mistakes, [one for one in result.checks if one.outcome is Outcome.FAILED]) == ([], [])
    assert to_write(result)[0] == following
    assert len(right_stages(result)) == right


_TOKENS = BEHIND_TOKENS.replace("self.head(self.pooled(self.norm(x)))", "x")
_ONES = "nn.Linear(mlp, dim)\n        nn.init.ones_(self.fc1.weight)"
_DROPPED = MLP.replace("return ", "return nn.functional.dropout(") + ")"
_STOPPED = BEHIND_TOKENS.replace("return self.head(self.pooled(self.norm(x)))", "raise NotImplementedError")
_SCRIPT = """
import torch
from torch import nn

images = torch.randn(2, 3, 32, 32)
x = nn.Conv2d(3, 64, 8, 8)(images).flatten(2).transpose(1, 2)
x = torch.cat([nn.Parameter(torch.zeros(1, 1, 64)).expand(2, -1, -1), x], 1)
x = x + nn.Parameter(torch.randn(1, 17, 64))
y = nn.LayerNorm(64)(x)
q = nn.Linear(64, 64)(y).reshape(2, 17, 4, 16).transpose(1, 2)
k = nn.Linear(64, 64)(y).reshape(2, 17, 4, 16).transpose(1, 2)
v = nn.Linear(64, 64)(y).reshape(2, 17, 4, 16).transpose(1, 2)
scores = q @ k.transpose(-2, -1)
weights = scores.softmax(-1)
print(weights.shape)
"""


@pytest.mark.parametrize(
    ("text", "id", "stage"),
    [
        (_PARTS.replace(_HALF_A_BLOCK, "return self.mlp(self.norm2(x))"), "residual-mlp-missing", "S19"),
        (
            edited(FINISHED, [(BEHIND_TOKENS, _TOKENS), ("context.transpose(1, 2)", "context")]),
            "heads-merged-without-transpose",
            "S15",
        ),
        (
            edited(FINISHED, [(BEHIND_TOKENS, _STOPPED), ("self.cls.expand", "self.cls.detach().expand")]),
            "cls-detached",
            "S05",
        ),
        (
            edited(FINISHED, [(BEHIND_TOKENS, _STOPPED), (MLP, _DROPPED)]),
            "functional-dropout-always-on",
            "model",
        ),
        (
            edited(
                FINISHED,
                [(BEHIND_TOKENS, _STOPPED), ("nn.Linear(mlp, dim)", _ONES)],
            ),
            "init-constant-or-zero",
            "model",
        ),
        (_SCRIPT, "scale-missing", "S12"),
    ],
)
def test_a_mistake_in_what_is_there_is_told(
    text: str, id: str, stage: str, zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(text, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == [id]
    assert result.mistakes[0].stage == stage
    assert to_write(result)


def test_what_is_only_looked_at_or_kept_is_no_cut(zygote: Zygote, tmp_path: Path) -> None:
    kept = (
        "scores.softmax(-1)\n        self.maps = context.detach()\n        assert context.isfinite().all()\n"
        "        context = context @ v\n        print(v.mean().item())"
    )
    edits = [
        ("context = scores.softmax(-1) @ v", f"context = {kept}"),
        (MLP, "raise NotImplementedError"),
    ]  # fmt: skip
    result = graded(edited(FINISHED, edits), zygote, tmp_path)
    assert (result.mistakes, [one for one in result.checks if one.outcome is Outcome.FAILED]) == ([], [])
    assert to_write(result)[0] == "S17"


@pytest.mark.parametrize(
    "edit",
    [
        (
            "context = scores.softmax(-1) @ v",
            "context = torch.empty_like(v)\n        raise NotImplementedError",
        ),
        (MLP, "h = torch.vmap(self.fc1)(x)\n        raise NotImplementedError"),
    ],
)
def test_what_holds_no_numbers_yet_is_not_compared(
    edit: tuple[str, str], zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(edited(FINISHED, [edit]), zygote, tmp_path)
    assert (result.mistakes, [one for one in result.checks if one.outcome is Outcome.FAILED]) == ([], [])
    assert to_write(result)


def test_forward_by_another_name_is_a_mistake(zygote: Zygote, tmp_path: Path) -> None:
    text = FINISHED.replace("def forward(self, image)", "def foward(self, image)")
    result = graded(text, zygote, tmp_path)
    assert to_write(result) == []
    assert "forward" in next(one.message for one in result.checks if one.outcome is Outcome.FAILED)


def test_a_layer_by_another_name_is_a_mistake(zygote: Zygote, tmp_path: Path) -> None:
    result = graded(FINISHED.replace("self.head(", "self.haed("), zygote, tmp_path)
    assert to_write(result) == []
    assert any("haed" in one.message for one in result.checks)


def test_room_for_fewer_tokens_than_nobody_asks_for_is_no_mistake(zygote: Zygote, tmp_path: Path) -> None:
    table = "self.pos = nn.Parameter(torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim))"
    edits = [
        (table, "self.pos = nn.Parameter(torch.zeros(1, 150, dim))"),
        ("x = x + self.pos", "x = x + self.pos[:, : x.shape[1]]"),
    ]
    demand_all_points(graded(edited(FINISHED, edits), zygote, tmp_path))


def test_positions_of_rows_and_columns_and_one_of_the_token(zygote: Zygote, tmp_path: Path) -> None:
    side = "image_size // patch_size"
    edits = [
        (
            f"self.pos = nn.Parameter(torch.zeros(1, ({side}) ** 2 + 1, dim))",
            f"self.own = nn.Parameter(torch.zeros(dim))\n"
            f"        self.row = nn.Parameter(torch.zeros({side}, 1, dim))\n"
            f"        self.column = nn.Parameter(torch.zeros(1, {side}, dim))",
        ),
        (
            "self.patches(image).flatten(2).transpose(1, 2)",
            "(self.patches(image).permute(0, 2, 3, 1) + self.row + self.column).flatten(1, 2)",
        ),
        ("self.cls.expand", "(self.cls + self.own).expand"),
        ("        x = x + self.pos\n", ""),
    ]
    demand_all_points(graded(edited(FINISHED, edits), zygote, tmp_path))
