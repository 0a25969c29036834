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
_TO_TOKENS = edited(
    FINISHED,
    [
        ("def forward(self, image):", "def tokens(self, image):"),
        ("return self.head(self.pooled(self.norm(x)))", "return self.norm(x)"),
        (", nn.Linear(dim, num_classes)", ", None"),
    ],
)
_LOOP = "        for block in self.blocks:\n            raise NotImplementedError\n"
_BLOCKS = "[Block(dim, heads, mlp) for _ in range(depth)]"


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
            [*range(1, 9)],
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
    ],
)
def test_a_mistake_is_told_by_its_name(text: str, id: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded(text, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == [id]
    assert to_write(result)
