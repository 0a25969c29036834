"""How fast ``vitcheck grade`` is on a mixed class, and what a correct submission costs once it is warm."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from class_run import ClassRun
from common import show
from mixed_class import HOSTILE, RIGHT, WRONG, Member, mixed_class, write

from vitcheck.checks.tools.selftest.cases import verdict_of

_KINDS = (RIGHT, WRONG, HOSTILE)


def graded(members: Mapping[str, Member], folder: Path) -> ClassRun:
    """Grade them with the full suite on all cores."""
    write(members, folder / "submissions")
    run = ClassRun(folder / "submissions", folder / "grades")
    run.finish()
    return run


def verdicts(members: Mapping[str, Member], run: ClassRun) -> dict[str, tuple[int, int]]:
    """How many of each kind have a result, and the verdict that is due; prints those that have not."""
    results = run.results()
    there, due = Counter[str](), Counter[str]()
    for name, one in members.items():
        result = results.get(name)
        there[one.kind] += result is not None
        right = result is not None and one.as_expected(result)
        due[one.kind] += right
        if not right:
            print(f"{name}, {one.kind}: {verdict_of(result) if result else 'no result'}", flush=True)
    return {kind: (there[kind], due[kind]) for kind in _KINDS}


def warm_cost(run: ClassRun) -> float:
    """Processor seconds of all processes for each result after every worker's first."""
    warm = next(look for look in run.looks if look.results >= (os.cpu_count() or 1))
    end = next(look for look in run.looks if look.results == run.looks[-1].results)
    return (end.cpu - warm.cpu) / (end.results - warm.results)


def main() -> None:
    """Print the verdicts of the mixed class, its throughput, and that of its right ones alone."""
    parser = ArgumentParser()
    parser.add_argument("--submissions", type=int, default=60, help="the size of the class")
    members = mixed_class(parser.parse_args().submissions)
    right = {name: one for name, one in members.items() if one.kind == RIGHT}
    rows = []
    for title, part in (("mixed", members), ("right alone", right)):
        with TemporaryDirectory() as folder:
            run = graded(part, Path(folder))
            counted = verdicts(part, run)
            if part is members:
                kinds = Counter(one.kind for one in members.values())
                show(
                    ("kind", "submissions", "results", "as it should be"),
                    [(kind, kinds[kind], *counted[kind]) for kind in _KINDS],
                )
            rate = 60 * len(part) / run.seconds
            rows.append((title, len(part), run.seconds, rate, run.first_result, warm_cost(run)))
    head = ("class", "submissions", "seconds", "a minute", "first result, s", "CPU s each, once warm")
    show(head, rows)


if __name__ == "__main__":
    main()
