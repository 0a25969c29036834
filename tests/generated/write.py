"""Write right programs into a folder: ``python tests/generated/write.py --count 50 --seed 1 --out DIR``.

Each goes into a file or folder of its own, named by its seed; ``index.json`` says which idioms it consists of.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script: `generated` lies beside the tests

from generated.composing import right_program  # noqa: E402  # after the path
from generated.drawing import by_seed  # noqa: E402  # as above
from generated.proving import proven  # noqa: E402  # as above


def main() -> None:
    """Write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    index = {}
    for number in range(asked.count):
        program = right_program(by_seed(f"{asked.seed}-{number}"))
        if not proven(program):
            raise SystemExit(f"{asked.seed}-{number} is not right: the generator is wrong")
        name = f"right_{asked.seed}_{number:04}"
        write(asked.out / name, program.files())
        index[name] = {"part": program.facts.part, "model": program.model, "sizes": program.sizes, "idioms": program.idioms}
    (asked.out / "index.json").write_text(json.dumps(index, indent=1))


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Write what is handed in."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
