"""Unfinished work: parts that are no model, methods without a forward, and what further passes show of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_still_to_come import HEADS
from test_unfinished import BEHIND_TOKENS, FINISHED

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.record.faults import to_write
from vitcheck.checks.record.result import Outcome, Result
from vitcheck.submissions.host.process import Zygote

_MLP = """
from torch import nn


class MLP(nn.Module):
    def __init__(self, dim, hidden=None, share=0.1):
        super().__init__()
        self.first, self.second = nn.Linear(dim, hidden or 4 * dim), nn.Linear(hidden or 4 * dim, dim)
        self.activation, self.drop = nn.GELU(), nn.Dropout(share)

    def forward(self, x):
        return self.drop(self.second(self.drop(self.activation(self.first(x)))))


class Attention(nn.Module):
    ...
"""
_ATTENTION = """
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.key, self.query = nn.Linear(width, size), nn.Linear(width, size)
        self.value = nn.Linear(width, size)

    def forward(self, x):
        k, q, v = self.key(x), self.query(x), self.value(x)
        weights = (q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5).softmax(-1)
        return weights @ v


class Heads(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.heads = nn.ModuleList([Head(width, width // count) for _ in range(count)])
        self.out = nn.Linear(width, width)

    def forward(self, x):
        return self.out(torch.cat([one(x) for one in self.heads], dim=-1))
"""
_SCRIPT = """
import torch
from torch import nn

images = torch.randn(3, 1, 28, 28)
embed = nn.Conv2d(1, 64, 7, 7)
token, positions = nn.Parameter(torch.zeros(1, 1, 64)), nn.Parameter(torch.randn(1, 17, 64))

x = embed(images).flatten(2).transpose(1, 2)
x = torch.cat([token.expand(3, -1, -1), x], dim=1) + positions
norm, qkv, out = nn.LayerNorm(64), nn.Linear(64, 192), nn.Linear(64, 64)
q, k, v = qkv(norm(x)).reshape(3, 17, 3, 8, 8).permute(2, 0, 3, 1, 4)
weights = (q @ k.transpose(-2, -1) / 8 ** 0.5).softmax(-1)
x = x + out((weights @ v).transpose(1, 2).reshape(3, 17, 64))
x = x + feed_forward(nn.LayerNorm(64)(x))
print(x.shape)
"""
_BLOCKS = "[Block(dim, heads, mlp) for _ in range(depth)]"
_CUT_BY_HAND = """
import torch
from torch import nn


def cut(images, rows):
    count, channels, height, width = images.shape
    side = height // rows
    found = torch.zeros(count, rows ** 2, channels * side ** 2)
    for number, image in enumerate(images):
        for i in range(rows):
            for j in range(rows):
                patch = image[:, i * side:(i + 1) * side, j * side:(j + 1) * side]
                found[number, i * rows + j] = patch.flatten()
    return found


class ViT(nn.Module):
    def __init__(self, rows=7):
        super().__init__()
        assert False, "not written"


print(cut(torch.rand(3, 1, 28, 28), 7).shape)
"""
_UNFOLDED = """
import torch
from torch import nn
from torch.nn import functional as F

images = torch.randn(2, 3, 32, 32)
weight, token = nn.Parameter(torch.randn(64, 48)), nn.Parameter(torch.zeros(1, 1, 64))
x = F.linear(F.unfold(images, kernel_size=4, stride=4).transpose(1, 2), weight)
x = torch.cat([token.expand(2, -1, -1), x], dim=1)
print(x.shape)
"""
_OF_A_FUNCTION = """
from torch import nn


class Model(nn.Module):
    def __init__(self, dim=32, classes=4):
        super().__init__()
        self.backbone = make_backbone(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, images):
        return self.head(self.backbone(images)[:, 0])
"""
_NO_BLOCKS = edited(
    FINISHED,
    [
        (f"        self.blocks = nn.ModuleList({_BLOCKS})\n", ""),
        ("        for block in self.blocks:\n            x = block(x)\n", ""),
    ],
)
_TO_TOKENS = edited(
    FINISHED,
    [
        ("def forward(self, image):", "def tokens(self, image):"),
        ("return self.head(self.pooled(self.norm(x)))", "return self.norm(x)"),
        (", nn.Linear(dim, num_classes)", ", None"),
    ],
)
_NOT_MIXED = (
    "x = (weights @ v).transpose(1, 2).reshape(B, T, D)\n        # TODO mix the heads\n        return x"
)
_PLACEHOLDER = """class Block(nn.Module):
    def __init__(self, *sizes):
        super().__init__()

    def forward(self, x):
        return x


class Old(nn.Module):"""
_LOOP = "        for block in self.blocks:\n            raise NotImplementedError\n"


def graded(text: str, zygote: Zygote, folder: Path) -> Result:
    return graded_file(text, load_assignment(DEFAULT), zygote, folder)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param(_MLP, [1, 17, 18], id="an MLP alone"),
        pytest.param(_ATTENTION, [1, *range(9, 16)], id="attention alone"),
        pytest.param(_SCRIPT, [*range(1, 17)], id="a function that a script calls"),
        pytest.param(
            "import torch\nfrom torch import nn\n\n\n" + FINISHED[FINISHED.index("class ViT(") :],
            [*range(1, 9), *range(22, 27)],
            id="a class of a name that torch has inside of it",
        ),
        pytest.param(_TO_TOKENS, [*range(1, 24)], id="methods and no forward"),
        pytest.param(
            edited(
                FINISHED, [("            x = block(x)\n", "            pass\n        return None\n")]
            ).replace("        return self.head(self.pooled(self.norm(x)))\n", ""),
            [*range(1, 21)],
            id="a loop over nothing",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    (
                        "return self.head(self.pooled(self.norm(x)))",
                        "logits = self.head(self.pooled(self.norm(x)))\n        return image",
                    )
                ],
            ),
            [*range(1, 26)],
            id="the image is returned",
        ),
        pytest.param(_CUT_BY_HAND, [1, 2], id="patches one by one in a script"),
        pytest.param(_UNFOLDED, [*range(1, 7)], id="a script without attention"),
        pytest.param(_OF_A_FUNCTION, [1], id="a function that the constructor calls"),
        pytest.param(_NO_BLOCKS, [*range(1, 21), *range(23, 27)], id="all but the blocks"),
        pytest.param(
            edited(_NO_BLOCKS, [("        x = x + self.pos\n", "")]),
            [*range(1, 7), *range(8, 21), *range(23, 27)],
            id="nor positions",
        ),
        pytest.param(
            edited(HEADS, [("return self.out((weights @ v).transpose(1, 2).reshape(B, T, D))", _NOT_MIXED)]),
            [1, *range(9, 15)],
            id="attention up to its last layer",
        ),
    ],
)
def test_what_is_right_so_far_is_seen(text: str, right: list[int], zygote: Zygote, tmp_path: Path) -> None:
    result = graded(text, zygote, tmp_path)
    assert [one.message for one in result.checks if one.outcome is Outcome.FAILED] == []
    assert right_stages(result) == right
    assert len(to_write(result)) == 26 - len(right)


@pytest.mark.parametrize(
    ("text", "id"),
    [
        pytest.param(
            edited(FINISHED, [(_BLOCKS, "[Block(dim, heads, mlp)] * depth"), (BEHIND_TOKENS, _LOOP)]),
            "blocks-share-one-instance",
            id="one block many times",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    (
                        "self.fc1, self.fc2 = nn.Linear(dim, mlp), nn.Linear(mlp, dim)",
                        "self.fc1, self.fc2 = nn.Linear(dim, mlp), nn.Linear(mlp, dim)\n"
                        "        nn.init.constant_(self.fc1.weight, 0.02)",
                    ),
                    (BEHIND_TOKENS, _LOOP),
                ],
            ),
            "init-constant-or-zero",
            id="weights that nothing has read yet",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    ("x = x + self.attention(self.norm1(x))", "x += self.attention(self.norm1(x))"),
                    (
                        "return x + self.mlp(self.norm2(x))",
                        "y = self.norm2(x)\n        raise NotImplementedError",
                    ),
                ],
            ),
            "residual-in-place",
            id="written over",
        ),
        pytest.param(
            edited(
                HEADS, [("weights = scores.softmax(dim=-1)", "weights = scores.softmax(dim=-1).detach()")]
            ),
            "path-detached",
            id="detached in a part",
        ),
        pytest.param(
            edited(
                _TO_TOKENS,
                [
                    (
                        "scores = q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5",
                        "scores = q @ k.transpose(-2, -1)",
                    )
                ],
            ),
            "scale-missing",
            id="in methods without a forward",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    (
                        "class Block(nn.Module):",
                        _PLACEHOLDER,
                    ),
                    ("x[:, 0]", "x[:, 1]"),
                ],
            ),
            "readout-last-token",
            id="behind blocks that are to come",
        ),
    ],
)
def test_a_mistake_is_told_by_its_name(text: str, id: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded(text, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == [id]
    assert to_write(result)
