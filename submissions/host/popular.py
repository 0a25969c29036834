"""Which packages many of a class import, so that they are imported once for all. Imports no torch.

To know that, submissions have to be read and parsed: in a process of its own, which a clock and limits end.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from ..launching import command, environment
from ..reading.code import imports
from ..reading.source import read_source

_SLOW = (  # to import, and no thread is started then: a process that has several cannot be forked
    *("torchvision", "einops", "matplotlib", "PIL", "pandas", "scipy", "seaborn", "sklearn", "timm"),
    *("tqdm", "transformers"),
)
_SAMPLE = 50  # submissions: enough to know what most do
_WORTH = 0.05  # of them: an import takes as long as grading one, and is made once for each core
_SECONDS = 20.0  # of which ordinary submissions take one; what is known then has to do
_MEMORY_BYTES = 2 << 30  # an archive and what it unpacks to have four times 256 MB


def popular_packages(paths: Sequence[Path]) -> tuple[str, ...]:
    """Those that many of the submissions at ``paths`` import, as far as they are installed and worth it."""
    sample = paths[:: max(1, len(paths) // _SAMPLE)]
    counts = Counter(name for line in _said_of(sample) for name in line.split())
    return tuple(name for name in _SLOW if counts[name] > _WORTH * len(sample) and find_spec(name))


def _said_of(paths: Sequence[Path]) -> list[str]:
    """For each of ``paths`` a line with what it imports; fewer lines where the process came to its end."""
    if not paths:
        return []
    try:
        said = subprocess.run(
            command(__name__, *(str(path.absolute()) for path in paths)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=environment(),
            timeout=_SECONDS,
        ).stdout
    except subprocess.TimeoutExpired as expired:
        said = expired.stdout or b""
    return said.decode("utf-8", "replace").splitlines()


def main(*paths: str) -> None:
    """Print a line for each of ``paths``: which of the slow packages it imports."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    for path in paths:
        print(*sorted(set(_imported(Path(path)))), flush=True)


def _imported(path: Path) -> Iterator[str]:
    """What cannot be read imports nothing: its turn to be told comes when it is graded."""
    with suppress(Exception):
        yield from (name for name in imports(read_source(path).files) if name in _SLOW)


if __name__ == "__main__":
    main(*sys.argv[1:])
