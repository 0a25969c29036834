"""What functions read of their dictionaries, and what the names in such texts stand for."""

from __future__ import annotations

import pytest

from vitcheck.submissions.child.loading.definitions import Definitions
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.child.loading.text_keys import are_among, read_by, values_for, written_by

_CODE = """
def init(depth=2):
    made = {"cls": 0.0, "head/w": 0.0}
    for number in range(depth):
        made[f"block{number}.query"] = 1.0
        made.update({"block{}.key".format(number): 2.0, f"block{number}" + ".value": 3.0})
    return made


def scores(params, prefix, x):
    return x * params[prefix + "query"] * params[prefix + "key"]


def block(params, i, x):
    prefix = f"block{i}."
    for name in "ab":
        params[name]
    return scores(params, prefix, x) + params[prefix + "value"]


def deep(params, i, x):
    return deep(params, i, block(params, i, x))
"""


@pytest.fixture(scope="module")
def definitions() -> Definitions:
    return Definitions(load({"vit.py": _CODE.encode()}))


def test_texts_are_known_but_for_arguments_and_also_where_they_are_handed_on(
    definitions: Definitions,
) -> None:
    every = {name: read_by(definitions.all[name], definitions) for name in ("scores", "block", "deep")}
    assert every["scores"] == {("params", "{prefix}query"), ("params", "{prefix}key")}
    assert every["block"] == {("params", f"block{{i}}.{one}") for one in ("query", "key", "value")}
    assert every["deep"] == every["block"]


def test_what_is_written_is_known_however_it_is_put_together(definitions: Definitions) -> None:
    written = written_by(definitions.all["init"])
    assert {"cls", "head/w", "block{}.query", "block{}.key", "block{}.value"} <= written
    assert are_among({"block{i}.query", "cls", "{prefix}value"}, written)
    assert not are_among({"block{i}.bias"}, written)


@pytest.mark.parametrize(
    ("read", "values"),
    [
        ({"block{i}.query", "block{i}.out"}, {"i": "1"}),  # the first that has both
        ({"{prefix}query", "{prefix}out"}, {"prefix": "block1."}),
        ({"cls"}, {}),
        ({"block{i}.bias"}, None),
        (set(), {}),
        ({"{i}{i}"}, {"i": "ab"}),  # the same text each time
    ],
)
def test_names_stand_for_what_makes_each_text_a_key(read: set[str], values: dict[str, str] | None) -> None:
    keys = ["cls", "block0.query", "block1.query", "block1.out", 3, "abab"]
    assert values_for(read, keys) == values


def test_functions_that_call_each_other_often_are_looked_at_once() -> None:
    code = "def first(w, x):\n    w['a']\n" + "    second(w, x)\n" * 60
    code += "\n\ndef second(p, x):\n    p['b']\n" + "    first(p, x)\n" * 60
    called = Definitions(load({"vit.py": code.encode()}))
    assert read_by(called.all["first"], called) == {("w", "a"), ("w", "b")}
