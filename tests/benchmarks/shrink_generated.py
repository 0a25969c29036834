"""The smallest generated program that fails as another one does.

``python tests/benchmarks/shrink_generated.py right_1_0003`` prints it, with what is said of it;
``vitcheck selftest --generated`` gives the name. Each try is graded, so the search ends after ``--seconds``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script: `generated` lies beside the benchmarks

from generated.samples import drawn_by, draws_of
from generated.shrinking import replayed, smallest
from selftest_cases import generated_of, seed_of

from vitcheck.checks.tools.selftest.generated import Generated
from vitcheck.checks.tools.selftest.kept_rows import graded
from vitcheck.checks.tools.selftest.saying import failure
from vitcheck.submissions.host.process import Zygote


@dataclass(frozen=True)
class Shrunk:
    """The smallest program found, and in what words it fails; "" where the program does not."""

    program: Generated
    cause: str


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name")
    parser.add_argument("--seconds", type=float, default=120.0)
    asked = parser.parse_args()
    found = shrunk(asked.name, asked.seconds)
    if not found.cause:
        sys.exit(f"nothing is wrong with what is said of {asked.name}")
    for name, content in found.program.files.items():
        print(f"# {name}: {found.cause}\n\n{content.decode()}")


def shrunk(name: str, seconds: float) -> Shrunk:
    """Of a name as vitcheck gives it. Begins no other try after so many seconds."""
    kind, seed, number = name.split("_")
    draws, end = draws_of(kind, seed_of(kind, seed, int(number)), int(number)), time.monotonic() + seconds
    with Zygote(("torchvision", "einops")) as zygote:
        cause = failure(graded(_program(kind, draws, name), zygote))

        def fails(simpler: Sequence[int]) -> bool:
            if time.monotonic() > end:
                return False
            try:
                return failure(graded(_program(kind, simpler, name), zygote)) == cause
            except (AssertionError, LookupError):  # no slip that shows, or a program that is not right
                return False

        simplest = smallest(draws, fails) if cause else draws
    return Shrunk(_program(kind, simplest, name), cause)


def _program(kind: str, draws: Sequence[int], name: str) -> Generated:
    made = drawn_by(kind, replayed(draws), name)
    if made is None:
        raise LookupError(f"these draws give no {kind} program")
    return generated_of(made, kind)


if __name__ == "__main__":
    main()
