"""Small changes of a program: for each way to slip there is one that undoes it."""

from __future__ import annotations

import ast
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest

from vitcheck.submissions.reading.edits.edit import Kind
from vitcheck.submissions.reading.edits.every_edit import edits

pytestmark = pytest.mark.fast

RIGHT = """
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.scale = (width // heads) ** -0.5

    def forward(self, x):
        q, k = self.norm1(x), self.norm2(x)
        scores = q @ k.transpose(-2, -1) * self.scale
        weights = F.softmax(scores, dim=-1)
        x = x + self.mlp(weights)
        x += weights
        tokens = torch.cat([x, weights], dim=1)
        first = self.norm1(x)
        weights = weights + first + scores[:, 0]
        first = weights
        for number in range(len(tokens)):
            tokens = weights.transpose(1, 2) + scores[:, 1] + tokens.flatten(1)
        tokens = torch.einsum("bqd,bkd->bqk", tokens, x if self.scale else tokens)
        if self.scale > 1:
            x = rearrange(x, "b h w c -> b (h w) c")
        return tokens.transpose(0, 1)
"""
SLIPS: list[tuple[Kind, str, str]] = [  # the kind, what is right, and what is written instead
    ("operator", "x + self.mlp(weights)", "x - self.mlp(weights)"),
    ("operator", "x += weights", "x *= weights"),
    ("variable", "softmax(scores", "softmax(q"),
    ("variable", "self.mlp(weights)", "self.mlp(weight)"),  # which is bound nowhere
    ("layer", "self.norm2(x)", "self.norm1(x)"),
    ("number", "** -0.5", "** 0.5"),
    ("number", "dim=-1", "dim=1"),
    ("number", "transpose(-2, -1)", "transpose(-2, 1)"),
    ("order", "q @ k.transpose(-2, -1)", "(k.transpose(-2, -1)) @ q"),
    ("order", "k.transpose(-2, -1)", "k.transpose(-1, -2)"),
    ("order", "scores[:, 0]", "scores[0, :]"),
    ("extra", "return tokens", "return tokens[:-1]"),
    ("extra", "x += weights", "x += weights\n        x = self.norm1(x)"),
    ("extra", "self.mlp(weights)", "self.mlp(F.relu(weights))"),
    ("extra", "q @ k.transpose(-2, -1) * self.scale", "q @ k.transpose(-2, -1) * self.scale + 1"),
    ("kept", "tokens = torch.cat", "torch.cat"),
    ("kept", "self.norm2 = nn", "nn"),  # which a method reads
    ("kept", "first = self.norm1(x)", "self.norm1(x)"),  # which is bound again below
    ("missing", "self.norm2(x)", "x"),
    ("missing", "return tokens.transpose(0, 1)", "return tokens"),
    ("number", "tokens = weights.transpose(1, 2)", "tokens = weights.transpose(0, 3)"),
    ("number", "dim=1", "dim=2"),
    ("number", "scores[:, 1]", "scores[1]"),
    ("argument", "tokens.flatten(1)", "tokens.flatten()"),
    ("order", '"bqd,bkd->bqk"', '"bqd,bkd->bkq"'),
    ("order", '"b h w c -> b (h w) c"', '"b h w c -> b (w h) c"'),
    ("condition", "x if self.scale else tokens", "tokens if self.scale else x"),
    ("condition", "if self.scale > 1:", "if not self.scale > 1:"),
    (
        "lines",
        "x = x + self.mlp(weights)\n        x += weights",
        "x += weights\n        x = x + self.mlp(weights)",
    ),
]


@pytest.mark.parametrize(("kind", "right", "wrong"), SLIPS)
def test_each_slip_is_undone_by_one_change(kind: Kind, right: str, wrong: str) -> None:
    slipped = RIGHT.replace(right, wrong, 1)
    assert slipped != RIGHT
    found = [one for one in edits("vit.py", slipped) if one.kind == kind]
    assert any(_gives(one.applied(slipped), RIGHT) for one in found)


LIBRARY = """
class Encoder(nn.Module):
    def __init__(self, width, heads, depth, rows):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 16, stride=16)
        self.table = nn.Parameter(torch.zeros(1, rows + 1, width))
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, heads), nn.GELU(), nn.Linear(heads, width))
        self.tail = nn.Sequential(OrderedDict([("map", nn.Linear(width, rows))]))
        self.heads = nn.ModuleList([Head(width) for _ in range(heads)])
        self.norm = nn.LayerNorm(width)
        self.scale = (width // heads) ** -0.5
        self.column = rows % heads
        self.half = math.sqrt(heads / 2) + rows / (heads) ** 0.5

    def forward(self, x):
        B, H, W, C = x.shape
        y = self.attn(x, x, x)[0]
        spread = y.var(dim=-1, unbiased=False)
        mean = y.mean(dim=-1)
        rows = x.reshape(B, H // 2, 2, W // 2, 2, C).permute((0, 1, 3, 2, 4, 5))
        parts = [head(y[:, :, 2 * W:3 * W]) for head in self.heads]
        scores = torch.einsum("bqd,bkd->bqk", y, y)
        for layer in self.heads:
            y = layer(y)
        return y
"""
OF_LIBRARIES: list[tuple[Kind, str, str]] = [
    ("option", ", batch_first=True", ""),
    ("option", "batch_first=True", "batch_first=False"),
    ("option", ", stride=16", ""),
    ("option", ", unbiased=False", ""),
    ("number", "rows + 1", "(rows + 1 - 1)"),
    ("extra", "nn.Linear(heads, width))", "nn.Linear(heads, width), nn.GELU())"),
    ("extra", "nn.Linear(width, rows))", 'nn.Linear(width, rows)), ("act", nn.GELU())'),
    ("repeated", "[Head(width) for _ in range(heads)]", "[Head(width)] * heads"),
    ("number", "LayerNorm(width)", "LayerNorm([rows, width])"),
    ("number", "mean(dim=-1)", "mean(dim=(1, -1))"),
    ("missing", "x, x)[0]", "x, x)"),
    ("order", "B, H, W, C = x", "B, W, H, C = x"),
    ("turned", "B, H // 2, 2, W // 2", "B, W // 2, 2, H // 2"),
    ("order", "(0, 1, 3, 2, 4, 5)", "(0, 3, 1, 2, 4, 5)"),
    ("number", "2 * W:3 * W", "W:2 * W"),
    ("variable", "head(y[", "self.heads[0](y["),
    ("number", '"bqd,bkd->bqk"', '"bqd,bqd->bqk"'),
    ("variable", "(width // heads) **", "heads **"),
    ("operator", "rows % heads", "rows // heads"),
    ("operator", "heads / 2", "heads // 2"),
    ("order", "sqrt(heads / 2)", "sqrt(heads) / 2"),
    ("missing", "rows / (heads) ** 0.5", "rows / heads"),
    ("order", '"bqd,bkd->bqk"', '"bqd,bdk->bqk"'),
    ("loop", "        return y", "            return y"),
]


@pytest.mark.parametrize(("kind", "right", "wrong"), OF_LIBRARIES)
def test_each_slip_in_a_call_of_the_library_is_undone_by_one_change(
    kind: Kind, right: str, wrong: str
) -> None:
    slipped = LIBRARY.replace(right, wrong, 1)
    assert slipped != LIBRARY
    found = [one.applied(slipped) for one in edits("vit.py", slipped) if one.kind == kind]
    meant = ast.dump(ast.parse(LIBRARY))
    assert any(meant == _evaluated(one) for one in found)


def _evaluated(text: str) -> str:
    """What a change leaves, in the words of the right program."""
    words = {
        "(rows + 1 - 1 + 1)": "rows + 1",
        ', ("act", nn.Identity())': "",
        ", nn.Identity())": ")",
        "2 * W:2 * (2 * W) - (W)": "2 * W:3 * W",
    }
    for now, meant in words.items():
        text = text.replace(now, meant)
    with suppress(SyntaxError):
        return ast.dump(ast.parse(text))
    return ""


@pytest.mark.parametrize("end", ["x = x + y", "x = y + x", "return x + y"])
def test_what_a_line_overwrites_is_kept_for_the_sum(end: str) -> None:
    text = f"def forward(norm, attn, x):\n    x = norm(x)\n    y = attn(x)\n    {end}\n    return x\n"
    changed = [one.applied(text) for one in edits("vit.py", text) if one.kind == "overwritten"]
    results = []
    for one in changed:
        names: dict[str, Any] = {}
        exec(one, names)  # of this test's own
        results.append(names["forward"](lambda x: 10 * x, lambda x: 2 * x, 1))
    assert results == [1 + 20]


def test_what_lies_far_behind_a_line_is_no_sum_of_it() -> None:
    """Of code that nobody has written by hand no change grows with what lies between two lines."""
    between = "".join(f"    a{number} = {number}\n" for number in range(300))
    text = f"def forward(norm, x):\n    x = norm(x)\n{between}    return x + a0\n"
    assert not [one for one in edits("vit.py", text) if one.kind == "overwritten"]
    long = f"def forward(norm, x):\n    x = norm(x)\n    y = norm({'1, ' * 900})\n    return x + y\n"
    assert not [one for one in edits("vit.py", long) if one.kind == "overwritten"]


def _gives(changed: str, meant: str) -> bool:
    """Is it that program, but for statements that do nothing?"""
    with suppress(SyntaxError):
        return ast.dump(ast.parse(changed.replace("        pass\n", ""))) == ast.dump(ast.parse(meant))
    return False


def test_a_term_or_a_step_may_have_been_left_out() -> None:
    found = {one.new for one in edits("vit.py", RIGHT) if one.kind == "missing"}
    assert {"tokens[:, 0]", "(tokens + weights)", "(x + self.mlp(weights)).softmax(dim=-1)"} <= found
    assert not [one for one in found if "super" in one]  # what constructors do is no step of a pass


UNUSED = """
class Model(nn.Module):
    def __init__(self, side, width):
        super().__init__()
        cells = side * side
        self.norm = nn.LayerNorm(width)
        self.table = nn.Parameter(torch.zeros(1, 1, width))
        self.layers = nn.ModuleList(Block(width) for _ in range(3))
        self.width = width

    def forward(self, x):
        x = x + self.table
        for layer in self.layers:
            x = x
        kept = self.pool(x)
        pass
        return self.head(x)
"""


def test_what_nothing_uses_is_likely_to_be_missing() -> None:
    telling = {(one.line, one.new): one.telling for one in edits("vit.py", UNUSED) if one.telling}
    assert telling[7, "(cells + 1)"] == telling[17, "self.norm(x)"] == telling[17, "kept"] == 1
    assert telling[14, "layer(x)"] == telling[16, "x = x + kept"] == 2  # where else nothing would be done
    assert not [new for _, new in telling if "super" in new or "layers" in new]


TWICE = """
class Attention(nn.Module):
    def __init__(self, width):
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        mixed = attend(self.query(x), self.{}(x), self.value(x))
        return self.{}(mixed)
"""


@pytest.mark.parametrize(("used", "line", "column", "new"), [
    (("key", "value"), 11, 16, "self.out"), (("value", "out"), 10, 39, "self.key"),
])  # fmt: skip
def test_of_two_uses_of_a_layer_that_is_wrong_which_is_out_of_the_order_they_are_made_in(
    used: tuple[str, str], line: int, column: int, new: str
) -> None:
    found = edits("vit.py", TWICE.format(*used))
    likeliest = [one for one in found if one.kind == "layer" and one.telling == 3]
    assert [(one.line, one.column, one.new) for one in likeliest] == [(line, column, new)]


def test_places_are_those_of_editors() -> None:
    (one,) = [each for each in edits("vit.py", RIGHT) if each.new == "x - self.mlp(weights)"]
    line = RIGHT.splitlines()[one.line - 1]
    assert line[one.column - 1 :][: len(one.old)] == one.old == "x + self.mlp(weights)"


def test_behind_letters_of_several_bytes_columns_count_letters() -> None:
    text = "def f(größe, x):\n    return größe + x\n"
    (one,) = [each for each in edits("vit.py", text) if each.new == "größe * x"]
    assert (one.line, one.column, one.applied(text)) == (2, 12, text.replace("größe + x", "größe * x"))


def test_what_is_no_python_has_none() -> None:
    assert edits("vit.py", "def f(:\n") == []


def test_of_code_that_nobody_wrote_by_hand_no_more_is_read_than_is_bounded() -> None:
    names = [f"x{number}" for number in range(3_000)]
    lines = "".join(f"    {one} = {other} + {one}\n" for one, other in pairwise(names))
    assert len(edits("vit.py", f"def f({names[0]}):\n{lines}")) <= 20_000
    terms = " + ".join(["x"] * 900)
    assert sum(len(one.new) for one in edits("vit.py", f"def f(x):\n    return {terms}\n")) < 10**7


def test_a_line_behind_a_loop_is_moved_into_it() -> None:
    loop = "    for one, other in pairs:\n        x = one(x)\n        x = other(x)\n"
    right = f"def f(pairs, x):\n{loop}    return x\n"
    wrong = right.replace("        x = other", "    x = other")
    assert right in [one.applied(wrong) for one in edits("vit.py", wrong) if one.kind == "outside"]
