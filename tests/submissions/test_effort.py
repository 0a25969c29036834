"""How long a model is looked for is no question of the clock: a busy machine must find the same one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import pytest
from understood import given

from vitcheck.reference.components import COMPONENTS
from vitcheck.submissions.child.building import recipe
from vitcheck.submissions.child.building.components.component_recipes import candidates, is_there
from vitcheck.submissions.child.building.effort import Effort
from vitcheck.submissions.child.building.trial_sizes import BASES
from vitcheck.submissions.child.loading import execution
from vitcheck.submissions.questions.pins import Pins

Asked = Callable[[execution.Loaded, str], object]

# what its arguments mean is found by trying
_ODD = """
from torch import nn
import torch

class ViT(nn.Module):
    def __init__(self, size, patch, dim, hidden, n, num_classes):
        super().__init__()
        assert dim == 5 * hidden
        self.p, self.norm = patch, nn.LayerNorm(hidden)
        self.proj, self.head = nn.Linear(3 * patch * patch, hidden), nn.Linear(hidden, num_classes)
        self.block = nn.TransformerEncoderLayer(hidden, n, dim, batch_first=True)

    def forward(self, x):
        B, C, H, W = x.shape
        x = x.reshape(B, C, H // self.p, self.p, W // self.p, self.p).permute(0, 2, 4, 1, 3, 5)
        x = x.reshape(B, -1, C * self.p ** 2)
        return self.head(self.norm(self.block(self.proj(x))).mean(1))
"""


def test_the_same_model_is_found_where_every_try_takes_a_million_times_as_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {"vit.py": _ODD.encode()}
    quickly = recipe.infer(execution.load(files), Pins())
    began, real = time.process_time(), time.monotonic()
    monkeypatch.setattr(time, "process_time", lambda: began + 1e6 * (time.monotonic() - real))
    slowly = recipe.infer(execution.load(files), Pins())
    assert (given(slowly), slowly.notes()) == (given(quickly), quickly.notes())


def test_a_large_model_is_tried_less_often_than_a_small_one() -> None:
    def tries(parameters: int, numbers: int) -> int:
        effort, count = Effort(100), 0
        while not effort.is_spent:
            effort.spend(parameters, numbers)
            count += 1
        return count

    assert tries(0, 0) == 100
    assert tries(86_000_000, 0) == 1
    assert tries(5_000_000, 1_000_000) in range(5, 20)
    assert tries(0, 100_000_000) == 1


def test_what_a_pass_computes_counts_and_not_what_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a model that returns one row for all images no way is right, and each may be slow."""
    lost = _ODD.replace("x = x.reshape(B, -1, C * self.p ** 2)", "x = x.reshape(B, -1, C * self.p ** 2)[:1]")
    slow = lost.replace("return self", "torch.zeros(16, 1 << 20).softmax(-1)\n        return self")
    tried, spend = list[int](), Effort.spend

    def counted(one: Effort, parameters: int, numbers: int) -> None:
        tried.append(numbers)
        spend(one, parameters, numbers)

    monkeypatch.setattr(Effort, "spend", counted)
    recipe.infer(execution.load({"vit.py": slow.encode()}), Pins())
    assert sum(tried) < 4 << 25  # a softmax of 2²⁴ numbers is two operations; there are many ways to try


# of twice as wide an image it would take 64 times as long
_PRINCIPAL_COMPONENTS = """
import torch

seen = []

def principal(pixels):
    seen.append(pixels.numel())
    rows = pixels.flatten(1)
    return torch.linalg.eigh(rows.mT @ rows).eigenvectors[:, :3]
"""


@pytest.mark.parametrize("asked", [is_there, lambda loaded, key: candidates(loaded, key, None)])
def test_a_function_that_is_no_part_is_tried_at_the_smallest_sizes_alone(asked: Asked) -> None:
    loaded = execution.load({"parts.py": _PRINCIPAL_COMPONENTS.encode()})
    assert not any(asked(loaded, key) for key in COMPONENTS)
    seen = loaded.modules["parts.py"].seen
    assert 0 < max(seen) <= max(math.prod(row.input_shape(BASES[0])) for row in COMPONENTS.values())


# a side of a patch that is taken for the width of an MLP makes a thousand million numbers
_WEIGHTS = """
import torch

made = []

def draw(*sizes):
    weights = torch.randn(*sizes)
    made.append(weights.numel())
    return weights

def weights(dim=64, p=4, depth=3, classes=10):
    maps = [{"w1": draw(dim, 4 * dim), "w2": draw(4 * dim, dim)} for _ in range(depth)]
    return {"proj": draw(3 * p * p, dim), "maps": maps, "head": draw(dim, classes)}

def mlp(x, w):
    raise NotImplementedError(w["w1"], w["w2"])
"""


def test_a_function_that_makes_no_layer_is_soon_left_alone() -> None:
    loaded = execution.load({"parts.py": _WEIGHTS.encode()})
    assert not any(is_there(loaded, key) for key in COMPONENTS)
    assert 0 < sum(loaded.modules["parts.py"].made) < 100_000_000
