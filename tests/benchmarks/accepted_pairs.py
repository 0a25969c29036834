"""What an accepted form costs: each form alone, and each pair of them.

``python tests/benchmarks/accepted_pairs.py [report|pre-norm] [--alone]`` lists and counts what loses points.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from accepted_forms import ASSIGNMENTS, accepting, forms_for, pairs_for, written

from vitcheck.checks.classes.tasks import Task
from vitcheck.submissions.host.process import Zygote


def main(kind: str, alone: bool) -> None:
    """Print a line for each that loses points."""
    programs = [(), *((one,) for one in forms_for(kind)), *([] if alone else pairs_for(kind))]
    lost = 0
    with Zygote() as zygote:
        for forms in programs:
            result = Task(written(kind, *forms), "vit", accepting(kind, *forms), 0).grade(zygote)
            missing = result.score.possible - result.score.earned
            if missing > 0.001 or result.mistakes:
                lost += 1
                failed = [
                    one.id for one in result.checks if one.outcome not in ("passed", "skipped") and one.points
                ]
                names = " + ".join(one.name for one in forms) or "right"
                told = [one.id for one in result.mistakes]
                print(f"{names}: -{missing:.1f} {told} {failed[:6]}", flush=True)
    print(f"{kind}: {lost} of {len(programs)} lose points")


if __name__ == "__main__":
    for one in [sys.argv[1]] if sys.argv[1:2] and not sys.argv[1].startswith("-") else ASSIGNMENTS:
        main(one, "--alone" in sys.argv)
