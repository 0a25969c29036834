"""What a debugger would show where a mark stands: before the marked statement, and after it."""

from __future__ import annotations

import torch
from corpus import load_source
from torch import Tensor

from vitcheck.submissions.child.tracing.mark_watcher import Watcher
from vitcheck.submissions.questions.recording import Reference

CODE = """
def helper(x):
    inner = x + 1
    return inner

def run(x):
    a = x * 2
    b = a * 2
    if b is None:
        c = b
    d = helper(b)
    return d
"""


class Names:
    """Stands for a trace: refers to each tensor by its first number."""

    def __call__(self, tensor: Tensor) -> Reference | None:
        number = int(tensor.flatten()[0])
        return Reference("record", number, 0, (), ()) if number >= 0 else None


Seen = dict[int, set[tuple[str, int]]]


def look(*lines: int, code: str = CODE, start: int = 1, file: str = "code.py") -> Seen:
    """What is seen at each mark: names and first numbers."""
    run = load_source(code, "code").run
    watcher = Watcher([(file, line) for line in lines], Names())
    with watcher:
        run(torch.full((2,), float(start)))
    found: Seen = {}
    for mark, name, reference in watcher.sights:
        found.setdefault(mark, set()).add((name, reference.number))
    return found


def test_a_statement_is_looked_at_before_and_after_it_ran() -> None:
    assert look(8)[0] == {("x", 1), ("a", 2), ("b", 4)}


def test_the_last_statement_of_a_function_is_looked_at_too() -> None:
    assert look(4)[0] == {("x", 4), ("inner", 5)}


def test_two_marks_on_one_line_see_the_same() -> None:
    found = look(8, 8)
    assert found[0] == found[1]


def test_what_never_runs_is_never_seen() -> None:
    assert 0 not in look(10)
    assert 0 not in look(8, file="other.py")


def test_each_pass_of_a_loop_is_looked_at() -> None:
    code = "def run(x):\n    for _ in range(3):\n        x = x * 2\n    return x\n"
    assert look(3, code=code)[0] == {("x", 1), ("x", 2), ("x", 4), ("x", 8)}


def test_variables_seen_elsewhere_are_kept_without_a_mark() -> None:
    assert look(3)[-1] >= {("a", 2), ("b", 4)}


def test_tensors_of_no_known_origin_are_left_out() -> None:
    assert look(8, start=-1) == {}


def test_nothing_is_watched_without_marks_or_afterwards() -> None:
    assert look() == {}
    load_source(CODE, "code").run(torch.ones(1))  # no watcher is left that would see this
    watcher = Watcher([("code.py", 8)], Names())
    with watcher:
        pass
    load_source(CODE, "code").run(torch.ones(1))
    assert watcher.sights == []
