"""The tables of docs/measured.md of a run that was kept, and the file with which later runs are compared.

``python tests/benchmarks/generated_rates.py seed-1.jsonl`` prints the rates and what went wrong most often.
``--smallest SECONDS`` adds the smallest program of each cause, found in so many seconds each, and
``--publish tests/generated/published.json`` writes the rates down.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script: `generated` lies beside the benchmarks

from shrink_generated import shrunk  # after the path

from vitcheck.checks.tools.selftest.kept_rows import GradedProgram, kept_rows
from vitcheck.checks.tools.selftest.published import published_of
from vitcheck.checks.tools.selftest.rate_tables import CAUSES, cause_lines, rate_lines
from vitcheck.checks.tools.selftest.rates import causes, rates


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kept", type=Path)
    parser.add_argument("--smallest", type=float, metavar="SECONDS")
    parser.add_argument("--publish", type=Path, metavar="FILE")
    asked = parser.parse_args()
    rows = kept_rows(asked.kept)
    print("\n".join([*rate_lines(rows), *cause_lines(rows)]))
    for text in _smallest(rows, asked.smallest) if asked.smallest else ():
        print(text, flush=True)
    if asked.publish:
        publish(rows, asked.publish)


def publish(rows: Sequence[GradedProgram], file: Path) -> None:
    """Write the rates down, with their seed and the day."""
    seeds = sorted({row.program.name.split("_")[1] for row in rows})
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    made = published_of(rates(rows), version("vitcheck"), today, ", ".join(seeds))
    file.write_text(made.to_json(), "utf-8")


def _smallest(rows: Sequence[GradedProgram], seconds: float) -> Iterator[str]:
    """A program of each of the most frequent causes; of several, the first is shrunk."""
    for number, (cause, names) in enumerate(causes(rows)[:CAUSES], 1):
        found = shrunk(names[0], seconds)
        code = "\n".join(one.decode(errors="replace") for one in found.program.files.values())
        yield f"\n{number}. {cause} (`{names[0]}`)\n\n```python\n{code}```"


if __name__ == "__main__":
    main()
