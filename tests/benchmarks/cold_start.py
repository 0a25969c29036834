"""``vitcheck check`` from a cold start, beside a Python that only imports what the submission imports."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from common import CORRECT_MODELS, show

_PAIRS = 5
_CHECK = """\
import sys
from vitcheck.__main__ import main
from vitcheck.submissions.host.conversation import Child
close = Child.close
def closed(child):
    close(child)
    print(child.usage.cpu_seconds, file=sys.stderr)
Child.close = closed
main()
"""  # the command; what the child used is in no one's books, since the zygote leaves it to the system to reap


@dataclass(frozen=True)
class Cost:
    """Wall-clock seconds, and processor seconds of all processes."""

    wall: float
    cpu: float


def cost_of(program: str, *arguments: str) -> Cost:
    """Run ``program``, which ends with 0 and may print further processor seconds to standard error."""
    before, began = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True
    )
    wall, after = time.perf_counter() - began, getrusage(RUSAGE_CHILDREN)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, own + float(run.stderr or 0))


def imports_of(path: Path) -> str:
    """The import statements of a file, as a program."""
    statements = ast.parse(path.read_text("utf-8")).body
    return "\n".join(ast.unparse(one) for one in statements if isinstance(one, (ast.Import, ast.ImportFrom)))


def row(path: Path) -> tuple[object, ...]:
    """Pairs in turn, so that what else the machine does falls on both."""
    program = imports_of(path)
    pairs = [(cost_of(program), cost_of(_CHECK, "check", str(path))) for _ in range(1 + _PAIRS)][1:]
    return (
        path.name,
        median(bare.wall for bare, _ in pairs),
        median(check.wall for _, check in pairs),
        median(check.wall / bare.wall for bare, check in pairs),
        median(bare.cpu for bare, _ in pairs),
        median(check.cpu for _, check in pairs),
        median(check.cpu / bare.cpu for bare, check in pairs),
    )


def main() -> None:
    """Print the table, in seconds, of the examples that are a single file."""
    head = ("submission", "imports", "check", "ratio", "imports, CPU", "check, CPU", "ratio, CPU")
    show(head, [row(path) for path in CORRECT_MODELS if path.suffix == ".py"])


if __name__ == "__main__":
    main()
