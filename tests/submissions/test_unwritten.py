"""Lines that stand for code that is still to be written."""

from __future__ import annotations

import pytest

from vitcheck.submissions.reading.passing_on import gaps_passed_on
from vitcheck.submissions.reading.unwritten import early_ends, unwritten


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("def f(x):\n    pass\n", [(2, "f")]),
        ('def f(x):\n    """Says what it does."""\n    ...\n', [(3, "")]),
        ("def f(x):\n    ...\n    return x\n", [(2, "")]),
        ("def f(x):\n    x = x + 1\n    raise NotImplementedError\n", [(3, "f")]),
        ("def f(x):\n    raise NotImplementedError('todo')\n", [(2, "f")]),
        ("def f(x):\n    return ...\n", [(2, "f")]),
        ("def f(x):\n    patches = ...\n    return patches\n", [(2, "patches")]),
        ("def f(x):\n    for y in x:\n        pass\n    return x[..., 0]\n", []),
        ("def f(x):\n    if x:\n        raise NotImplementedError\n    return x\n", []),
        ("def f(x:\n", []),
    ],
)
def test_places_that_are_not_written_yet(text: str, places: list[tuple[int, str]]) -> None:
    assert [(one.frame.line, one.name) for one in unwritten({"vit.py": text.encode()})] == places


_CLASS = """
class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def attend(self, x):
"""


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("        pass\n", 8),
        ("        for one in x:\n            q = self.qkv(one)\n            ...\n", 10),
        (
            "        qkv = self.qkv(x)\n        return x\n",
            9,
        ),  # nothing reads what it made
        ("        return self.qkv(x)\n", 0),
        ("        out = self.proj(self.qkv(x))\n        return x\n", 0),  # all is used: a mistake
        ("        return x\n", 8),
        ("        x = x\n        return x\n", 0),  # something stands there: what it does not do is a mistake
    ],
)
def test_lines_where_a_method_may_end_early(body: str, line: int) -> None:
    found = early_ends({"vit.py": (_CLASS + body).encode()})
    assert [one.line for one in found] == ([line] if line else [])


def test_a_function_outside_of_classes_may_end_early() -> None:
    found = early_ends({"vit.py": b"def attend(x):\n    q = x @ W\n    ...\n"})
    assert [one.line for one in found] == [3]


@pytest.mark.parametrize(
    ("other", "lines"),
    [
        ("class Mlp(Layer):\n    def call(self, x):\n        return x\n", []),
        ("class Mlp(Layer):\n    def run(self, x):\n        return x\n", [3]),  # nobody else writes it
        ("class Mlp(nn.Module):\n    def call(self, x):\n        return x\n", [3]),
    ],
)
def test_what_is_left_to_another_class_is_not_to_be_written(other: str, lines: list[int]) -> None:
    base = "class Layer(nn.Module):\n    def call(self, x):\n        raise NotImplementedError\n"
    assert [one.frame.line for one in unwritten({"vit.py": (base + other).encode()})] == lines


@pytest.mark.parametrize(
    "interface",
    [
        "class Mixer(Protocol):\n    def __call__(self, x): ...\n",
        "class Mixer(Protocol[T]):\n    def mix(self, x):\n        ...\n",
        "class Mixer(ABC):\n    @abc.abstractmethod\n    def mix(self, x):\n        pass\n",
    ],
)
def test_nor_is_what_an_interface_asks_for(interface: str) -> None:
    assert unwritten({"vit.py": interface.encode()}) == []


@pytest.mark.parametrize("end", ["return", "return None", "raise NotImplementedError", "..."])
def test_a_gap_inside_of_a_block_gives_back_what_it_is_given(end: str) -> None:
    text = "def mlp(x):\n    with torch.no_grad():\n        {}\n"
    assert gaps_passed_on({"vit.py": text.format(end).encode()})["vit.py"].decode() == text.format("return x")
