"""What typical submissions get under each way to pay for a model.

Run it to write docs/points.md anew: PYTHONPATH=tests python tests/checks/points_table.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vitcheck.checks.assignment.assignment import Assignment, parse_assignment
from vitcheck.checks.classes.tasks import Setting, Task
from vitcheck.checks.points.scoring import scored
from vitcheck.checks.record.result import Result
from vitcheck.checks.tools.course.typical import typical_submissions
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.sandbox.isolation import Isolation

DOCUMENT = Path(__file__).parents[2] / "docs" / "points.md"
_ASSIGNMENT = """name = "points"
title = "A pre-norm Vision Transformer"
architectures = ["pre-norm"]
examples = 3
[sizes]
preset = "B/16"
[rules]
breakpoints = false
prints = false
parameters = true
"""
SCHEMES = {
    "severity": """[points.mistakes]
minor = 3
major = 12
critical = 50
at_most = 70
""",
    "each": """[points.mistakes]
each = 5
at_most = 60
""",
    "parts": """[points.parts]
patches = 20
tokens = 10
attention = 40
mlp = 10
blocks = 5
head = 10
model = 5
""",
    "stages": """[points.stages]
S04 = 20
S07 = 10
S12 = 15
S13 = 15
S15 = 15
S19 = 15
S24 = 10
""",
    "groups": """[points]
shapes = 15
equations = 55
invariants = 10
properties = 15
parameters = 5
""",
}
_HEAD = """# Points

Written by `tests/checks/points_table.py`.

An assignment pays for a model in one of five ways. All are worked out from how the checks ended. So
`vitcheck grade` with other points, titles or visibility grades nothing anew: it takes what the gradebook
has, puts the new points on it, and keeps the old ones in the history.

**By mistakes, as severe as they are.** The assignments that ship do this. A right model has all points.
Each mistake takes some, once, however many checks it fails and at however many stages. A *minor* one shows
in special cases alone. A *critical* one leaves a model that cannot learn, or whose answer has nothing to do
with the image. All others are *major*, and so is a wrong stage without a name. What may follow from another
mistake takes nothing. Stages that were not reached, or are not written yet, take their share of the whole.
`vitcheck explain ID` says how severe a mistake is.

```toml
{severity}```

**By mistakes, each the same.**

```toml
{each}```

**By parts of the model.** The stages of a part share its points, and a stage is right or wrong as a whole.
`model` is for what holds of the model as a whole, `style` for marks and prints.

```toml
{parts}```

**By stages.** Those that are not listed are worth nothing.

```toml
{stages}```

**By groups of checks.** The checks of a group share its points evenly; `[points.checks]` gives single ones
a share of their own.

```toml
{groups}```

Beside the first four, `[points]` may pay for groups that they do not cover, such as `breakpoints = 8`; what
is paid for there takes nothing as a mistake. `vitcheck validate` prints the table below for your own
assignment.

## What typical submissions get

Made of the reference, and graded under a pre-norm assignment that asks for nothing but the model.

"""


def assignment(scheme: str) -> Assignment:
    return parse_assignment(_ASSIGNMENT + SCHEMES[scheme], "points.toml")


def graded(zygote: Zygote, titles: frozenset[str] | None = None) -> Mapping[str, Result]:
    """Each of these, or all, graded once."""
    asked = assignment("severity")
    return {
        title: Task(handed, "typical", asked, 0, setting=Setting(Isolation.NONE)).grade(zygote)
        for title, handed in typical_submissions("pre-norm").items()
        if titles is None or title in titles
    }


def row(title: str, result: Result) -> str:
    """A line of the table."""
    earned = [f"{scored(result, assignment(one)).score.earned:g}" for one in SCHEMES]
    return f"| {title} | {' | '.join(earned)} |"


def document(zygote: Zygote) -> str:
    """The text of docs/points.md."""
    names = {"severity": "by severity", "each": "each the same"}
    heads = " | ".join(names.get(one, f"by {one}") for one in SCHEMES)
    rows = [row(title, result) for title, result in graded(zygote).items()]
    table = [f"| submission | {heads} |", f"|---|{'---:|' * len(SCHEMES)}", *rows]
    return _HEAD.format(**SCHEMES) + "\n".join(table) + "\n"


if __name__ == "__main__":
    with Setting(Isolation.NONE).zygote() as forked:
        DOCUMENT.write_text(document(forked))
