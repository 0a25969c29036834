"""By which check each mistake of the catalogue is told, or why it cannot be.

Run it to write docs/mistakes.md anew: PYTHONPATH=tests python tests/checks/coverage_table.py
"""

from __future__ import annotations

from pathlib import Path

from mutants import MUTANTS
from test_locate import NAMED

from vitcheck.checks.architecture.catalogue import Mistake, mistakes
from vitcheck.reference.stages import STAGES

DOCUMENT = Path(__file__).parents[2] / "docs" / "mistakes.md"

# Where only a property tells it: its name. Shown by test_crosscutting.py and test_own_preprocessing.py.
PROPERTY = {one.id: one.property for one in mistakes().values() if one.property}
_HEAD = """# By which check each mistake is told

Written by `tests/checks/coverage_table.py`, and held true by `tests/checks/test_coverage.py`.
`vitcheck explain ID` tells what a mistake is.

- **stage equation**: the student's own tensor is what the wrong equation gives, at that stage
- **property**: a property of the whole model fails, or notes a variant
- **exercise**: a function on a trained ViT gives what the wrong equation gives
- **crash**: the forward pass raises an exception, which is told with its line

Programs that make the mistakes stand in `tests/mutants`.
"""


def told(known: Mistake) -> list[str]:
    """By what a mistake is told; empty where it is not."""
    by_stage = known.equation or any(one.id == known.id for one in NAMED)
    found = ["stage equation"] if by_stage else []
    if known.stage == "exercise":
        found.append("exercise")
    if known.property:
        found.append(f"property `{known.property}`")
    if any(one.id == known.id and one.crashes for one in MUTANTS):
        found.append("crash")
    return [*found, *filter(None, [known.told_by])]


def document() -> str:
    """The text of docs/mistakes.md."""
    labels = {one.key: one.label for one in STAGES}
    reached = [one for one in mistakes().values() if not one.out_of_reach]
    rows = [
        f"| {one.id} | {labels.get(one.stage, one.stage)} | {one.kind} | {'; '.join(told(one))} |"
        for one in reached
    ]
    missing = [f"| {one.id} | {one.out_of_reach} |" for one in mistakes().values() if one.out_of_reach]
    return "\n".join(
        [
            _HEAD,
            f"## Told ({len(rows)})\n",
            "| id | stage | kind | told by |\n|---|---|---|---|",
            *rows,
            f"\n## Out of reach ({len(missing)})\n",
            "| id | why |\n|---|---|",
            *missing,
            "",
        ]
    )


if __name__ == "__main__":
    DOCUMENT.write_text(document(), "utf-8")
