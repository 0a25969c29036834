"""A change makes sense where what comes in is of the kind that stands there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vitcheck.checks.repairing.held_names import HeldNames
from vitcheck.submissions.questions.changes import HeldAt
from vitcheck.submissions.reading.edits.edit import Edit
from vitcheck.submissions.reading.edits.every_edit import edits

pytestmark = pytest.mark.fast

TEXT = """
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.out = nn.Linear(width, width)
        self.heads = 4

    def forward(self, x, image):
        B = len(x)
        y = self.norm1(x)
        z = self.out(y)
        return z

    def unused(self, x, y):
        return x
"""
HELD = {
    "self": "layer Block",
    "x": "tensor 2 5 8",
    "image": "tensor 2 3 4 4",
    "B": "number",
    "self.norm1": "layer LayerNorm",
    "self.norm2": "layer LayerNorm",
    "self.out": "layer Linear",
    "self.heads": "number",
}


def price(old: str, new: str, line: int) -> float | None:
    """Of the change of that text on a line."""
    told = [HeldAt("vit.py", 12, HELD), HeldAt("vit.py", 13, {**HELD, "y": "tensor 2 5 8"})]
    return HeldNames(told, {"vit.py": TEXT}).price(found(old, new, line))


def found(old: str, new: str, line: int) -> Edit:
    return next(one for one in edits("vit.py", TEXT) if (one.old, one.new, one.line) == (old, new, line))


def test_a_tensor_may_stand_for_a_tensor_and_rather_of_the_same_shape() -> None:
    assert price("y", "x", 13) == 0
    other = price("y", "image", 13)
    assert other is not None
    assert other > 0
    assert price("y", "B", 13) is None


def test_a_layer_may_stand_for_a_layer_and_rather_of_the_same_class() -> None:
    assert price("self.norm1", "self.norm2", 12) == 0
    other = price("self.norm1", "self.out", 12)
    assert other is not None
    assert other > 0
    assert price("self.norm1", "self.heads", 12) is None


def test_what_is_added_is_a_tensor_that_goes_with_the_other() -> None:
    assert price("y", "(y + x)", 13) == 0
    assert price("y", "(y + image)", 13) is None
    assert price("y", "(y + B)", 13) is None


def test_only_a_layer_or_a_function_is_called() -> None:
    assert price("y", "self.norm2(y)", 13) == 0


def test_what_is_bound_only_later_is_not_there_yet() -> None:
    """In a loop, the text alone does not say so."""
    edit = replace(found("y", "x", 13), name="z", new="z")
    assert (
        HeldNames([HeldAt("vit.py", 13, {**HELD, "y": "tensor 2 5 8"})], {"vit.py": TEXT}).price(edit) is None
    )


def test_of_lines_that_have_not_run_nothing_is_unlikely() -> None:
    assert price("x", "y", 17) == 0
