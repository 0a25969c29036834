"""Write programs: ``python tests/generated/write.py right --count 50 --seed 1 --out DIR``.

For ``right`` may stand part, wrong, unfinished or odd.

Each goes into a folder of its own, named by its seed; ``index.json`` says what is known of it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script: `generated` lies beside the tests

from generated.samples import KINDS, sample  # after the path


def main() -> None:
    """Write them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    index = {}
    for number in range(asked.count):
        one = sample(asked.kind, asked.seed, number)
        write(asked.out / one.name, one.files)
        index[one.name] = one.known
    (asked.out / "index.json").write_text(json.dumps(index, indent=1))


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Write what is handed in."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
