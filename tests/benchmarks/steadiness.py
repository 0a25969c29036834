"""How often a correct submission is told that something is wrong, over many seeds: the aim is never."""

from __future__ import annotations

from collections import Counter

from common import CORRECT_EXAMPLES, arguments, grade_all, show
from test_examples import failed_stages

from vitcheck.checks.record.result import Result, Status


def complaint(result: Result | str) -> str | None:
    """What the result says against the submission."""
    if isinstance(result, str):
        return result
    if result.status is not Status.GRADED:
        return f"{result.status.value}: {result.reason}"
    if named := [one.id for one in result.mistakes]:
        return f"named {', '.join(named)}"
    if failed := failed_stages(result):
        return f"failed {', '.join(label for label, _ in failed)}"
    if result.score.earned < result.score.possible:
        lost = [f"{one.id}: {one.message}" for one in result.checks if one.earned < one.points]
        return f"{result.score.earned} points: {'; '.join(lost)}"
    return None


def main() -> None:
    """Print each complaint, then the counts."""
    options = arguments(seeds=100)
    graded, wrong = Counter[str](), Counter[str]()
    for name, seed, result in grade_all([path.name for path in CORRECT_EXAMPLES], options):
        graded[name] += 1
        if text := complaint(result):
            wrong[name] += 1
            print(f"{name}, seed {seed}: {text}", flush=True)
    rows = [(name, count, wrong[name]) for name, count in graded.items()]
    show(("submission", "gradings", "wrong"), [*rows, ("all", graded.total(), wrong.total())])


if __name__ == "__main__":
    main()
