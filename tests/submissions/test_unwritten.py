"""Lines that stand for code that is still to be written."""

from __future__ import annotations

import pytest

from vitcheck.submissions.reading.unwritten import unwritten


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
