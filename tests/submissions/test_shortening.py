"""Models whose code fixes their depth are run with three blocks, however the blocks are held."""

from __future__ import annotations

import pytest
import torch
from constructors import PARTS
from torch import nn

from vitcheck.submissions.child import inferring
from vitcheck.submissions.child.building.calls.shortening import Shortening
from vitcheck.submissions.child.building.recipe import infer
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.child.subject import Submission
from vitcheck.submissions.questions.pins import Pins

HELD = {  # what is made, and how it is run
    "a list": (
        "self.held = nn.ModuleList([Block(32, 4, 64) for _ in range(12)])",
        "for block in self.held:\n            x = block(x)",
    ),
    "a list of blocks with lists of heads": (
        "self.held = nn.ModuleList([nn.Sequential(Block(32, 4, 64), Narrowed()) for _ in range(12)])",
        "for block in self.held:\n            x = block(x)",
    ),
    "a dictionary": (
        "self.held = nn.ModuleDict({f'block{i}': Block(32, 4, 64) for i in range(12)})",
        "for block in self.held.values():\n            x = block(x)",
    ),
    "numbered attributes": (
        "self.depth = 12\n"
        "        for i in range(12):\n"
        "            self.add_module(f'layer_{i}', Block(32, 4, 64))",
        "for i in range(self.depth):\n            x = getattr(self, f'layer_{i}')(x)",
    ),
    "a list of each layer": (
        "self.depth = self.h = 12\n"
        "        self.norms, self.norms2, self.mixers, self.ups, self.downs = (\n"
        "            nn.ModuleList([kind(*two) for _ in range(12)]) for kind, *two in (\n"
        "                (nn.LayerNorm, 48), (nn.LayerNorm, 48), (Attention, 48, 12),\n"
        "                (nn.Linear, 48, 96), (nn.Linear, 96, 48)))",
        "for i in range(self.depth):\n"
        "            x = x + self.mixers[i](self.norms[i](x))\n"
        "            x = x + self.downs[i](nn.functional.gelu(self.ups[i](self.norms2[i](x))))",
    ),
}
MODEL = """
class Narrowed(nn.Module):
    def __init__(self):
        super().__init__()
        self.each = nn.ModuleList([nn.Linear(32, 8) for _ in range(4)])

    def forward(self, x):
        return torch.cat([one(x) for one in self.each], dim=-1)

class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, WIDTH, kernel_size=4, stride=4)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.pos_embed = nn.Parameter(torch.zeros(1, 17, WIDTH))
        MADE
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1) + self.pos_embed
        RUN
        return self.head(self.norm(x)[:, 0])
"""


def shortened(held: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Shortening | None, nn.Module]:
    """How the model is shortened, and a fresh one."""
    made, run = HELD[held]
    text = PARTS + MODEL.replace("MADE", made).replace("RUN", run)
    text = text.replace("WIDTH", "48" if "48" in made else "32")
    loaded = load({"vit.py": text.encode()})
    assert loaded.error is None
    recipe = infer(loaded, Pins(None, {}))
    monkeypatch.setattr(Submission, "recipe", recipe, raising=False)
    return inferring._shortening(), recipe.build(recipe.sizes_for(Submission.small))


@pytest.mark.parametrize("held", HELD)
def test_three_blocks_of_twelve_run_and_hold_parameters(held: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found, model = shortened(held, monkeypatch)
    assert found is not None
    of_a_block = sum(len(list(one.parameters())) for one in model.modules() if type(one) is nn.LayerNorm)
    assert found.shorten(model, found.depth(2))
    assert model(torch.randn(2, 3, 16, 16)).shape == (2, 10)
    left = sum(len(list(one.parameters())) for one in model.modules() if type(one) is nn.LayerNorm)
    assert (left - 2) * 4 == of_a_block - 2  # the last norm stays
    model(torch.randn(2, 3, 16, 16)).sum().backward()
    assert all(one.grad is not None for one in model.parameters())


def test_heads_are_no_blocks_however_many_blocks_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the twelve blocks holds a list of sixteen."""
    made, run = HELD["a list of blocks with lists of heads"]
    monkeypatch.setitem(HELD, "heads", (made, run))
    monkeypatch.setattr(
        f"{__name__}.MODEL", MODEL.replace("(32, 8) for _ in range(4)", "(32, 2) for _ in range(16)")
    )
    found, model = shortened("heads", monkeypatch)
    assert found is not None
    assert not found.shorten(model, 12)
    assert model(torch.randn(2, 3, 16, 16)).shape == (2, 10)


def test_where_as_many_heads_attend_they_all_do(monkeypatch: pytest.MonkeyPatch) -> None:
    found, model = shortened("a list of each layer", monkeypatch)
    assert found is not None
    found.shorten(model, 3)
    assert {name: vars(model)[name] for name in ("depth", "h")} == {"depth": 3, "h": 12}


def test_what_runs_all_of_its_blocks_whatever_it_holds_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, run = HELD["numbered attributes"]
    monkeypatch.setitem(
        HELD, "literal", (made.replace("self.depth = 12\n        ", ""), run.replace("self.depth", "12"))
    )
    assert shortened("literal", monkeypatch)[0] is None
