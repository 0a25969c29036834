"""The smallest right program that loses points for the same cause as a generated one.

``python tests/benchmarks/shrink_generated.py right_1_0003`` prints it; `vitcheck selftest --generated` gives
the name.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script: `generated` lies beside the benchmarks

from generated.composing import right_model  # after the path
from generated.drawing import by_seed
from generated.program import Program
from generated.shrinking import recorded, replayed, smallest
from selftest_cases import asked_sizes

from vitcheck.checks.selftest.generated import Generated
from vitcheck.checks.selftest.rates import graded


def main() -> None:
    """Print it, and the cause."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name")
    _, seed, number = parser.parse_args().name.split("_")
    draws: list[int] = []
    cause = _cause(right_model(recorded(by_seed(f"right-{seed}-{int(number)}-0"), draws)))

    def fails(simpler: Sequence[int]) -> bool:
        return _cause(right_model(replayed(simpler))) == cause

    program = right_model(replayed(smallest(draws, fails)))
    for name, content in program.files().items():
        print(f"# {name}: {cause}\n\n{content.decode()}")


def _cause(program: Program) -> str:
    with tempfile.TemporaryDirectory() as folder:
        made = Generated("shrunk", "right", program.files(), asked_sizes(program))
        return graded(made, Path(folder, "submission")).told.cause


if __name__ == "__main__":
    main()
