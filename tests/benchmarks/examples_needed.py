"""What more examples tell, and what they cost: generated programs graded with fewer and more of them.

``python tests/benchmarks/examples_needed.py --seed 7 --right 20 --wrong 60``. A verdict is the same where the
same stages are wrong by the same names, and the same points are lost.
"""

from __future__ import annotations

import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from common import TESTS, show

from vitcheck.checks.grading.grader import grader
from vitcheck.checks.tools.selftest.corpus_counts import handed_in
from vitcheck.checks.tools.selftest.generated import Generated, load_maker
from vitcheck.checks.tools.selftest.kept_rows import GradedProgram, asked
from vitcheck.checks.tools.selftest.program_verdict import verdict_on
from vitcheck.checks.tools.selftest.saying import detected
from vitcheck.submissions.host.process import Zygote

COUNTS = (2, 3, 5, 10, 20)


def arguments() -> Namespace:
    """Which programs, and how many."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--right", type=int, default=20)
    parser.add_argument("--wrong", type=int, default=60)
    return parser.parse_args()


def programs(options: Namespace) -> list[Generated]:
    """The right ones first."""
    maker = load_maker(TESTS)
    kinds = (("right", options.right), ("wrong", options.wrong))
    return [maker(kind, options.seed, number) for kind, count in kinds for number in range(count)]


def graded(every: Sequence[Generated], count: int) -> tuple[list[GradedProgram], float]:
    """Each with so many examples, and the processor seconds of judge and children together."""
    before = _seconds()
    with Zygote(("torchvision", "einops")) as zygote:
        rows = [_graded(one, count, zygote) for one in every]
    return rows, _seconds() - before


def _graded(program: Generated, count: int, zygote: Zygote) -> GradedProgram:
    assignment = asked(program).model_copy(update={"examples": count})
    with tempfile.TemporaryDirectory() as scratch:
        path = handed_in(program.files, Path(scratch))
        return GradedProgram(program, verdict_on(grader()(path, assignment, zygote=zygote, seed=1)))


def _seconds() -> float:
    return sum(one.ru_utime + one.ru_stime for one in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


def main() -> None:
    """Print a row for each number of examples."""
    every = programs(arguments())
    found = {count: graded(every, count) for count in COUNTS}
    usual = [_said(one) for one in found[COUNTS[-1]][0]]
    rows = []
    for count, (graded_, seconds) in found.items():
        right = [one for one in graded_ if one.program.kind == "right"]
        wrong = [one for one in graded_ if one.program.kind == "wrong"]
        same = sum(_said(one) == other for one, other in zip(graded_, usual, strict=True))
        lost = sum(one.told.lost > 0 for one in right)
        rows.append(
            (count, len(right), lost, len(wrong), sum(map(detected, wrong)), same, seconds / len(every))
        )
    head = (
        "examples",
        "right",
        "lost points",
        "wrong",
        "detected",
        "same verdict as with the most",
        "seconds each",
    )
    show(head, rows)


def _said(one: GradedProgram) -> tuple[object, ...]:
    return one.told.stages, one.told.named, one.told.lost


if __name__ == "__main__":
    main()
