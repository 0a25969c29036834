"""Processor time of correct submissions, of this vitcheck and of another one that is installed elsewhere.

``python tests/benchmarks/against.py OTHER``, where OTHER is the python of the other's virtual environment.
Both grade the same files by turns, so that whatever else the machine does slows both alike.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from statistics import median

BASES = Path(__file__).parents[1] / "bases"
_NAMES = ("report", "prenorm", "einsum_style", "fused_sdpa", "separate_qkv", "report_monolith")
_ROUNDS = 8
_SEEDS = (5, 6)
_WORKER = """
import gc; gc.disable()
import sys
from pathlib import Path
from time import process_time
from unittest.mock import patch
import torch
from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.grading.grading import grade
from vitcheck.submissions.host.collecting import collected_afterwards
from vitcheck.submissions.host.conversation import Child
from vitcheck.submissions.host.process import Zygote
torch.set_num_threads(1); gc.freeze(); gc.enable()  # as a worker of a class run
assignment, children, close = load_assignment("vit-debugging"), [], Child.close
def closing(child):
    close(child)
    children.append(child.usage.cpu_seconds)
with Zygote() as zygote, patch.object(Child, "close", closing):
    for line in sys.stdin:
        path, seed = line.rsplit(maxsplit=1)
        children.clear(); began = process_time()
        with collected_afterwards():
            grade(Path(path), assignment, zygote=zygote, seed=int(seed))
        print(process_time() - began, sum(children), flush=True)
"""


class Worker:
    """A vitcheck in its own process, which grades what it is told."""

    def __init__(self, python: str) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([python, "-c", _WORKER], stdin=pipe, stdout=pipe, text=True, cwd="/")
        for name in _NAMES[:2]:  # the first ones import what the others need
            self.seconds(name, 1)

    def seconds(self, name: str, seed: int) -> float:
        """Of the processor, for the judge and the submission's process together."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(BASES / f"{name}.py", seed, file=self._process.stdin, flush=True)
        return sum(map(float, self._process.stdout.readline().split()))


def main() -> None:
    """Print a line for each file, and for all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", metavar="OTHER")
    other, this = Worker(parser.parse_args().other), Worker(sys.executable)
    others: dict[str, list[float]] = {name: [] for name in _NAMES}
    own: dict[str, list[float]] = {name: [] for name in _NAMES}
    for number in range(_ROUNDS):
        for name in _NAMES:
            others[name].append(other.seconds(name, _SEEDS[number % 2]))
            own[name].append(this.seconds(name, _SEEDS[number % 2]))
    print("| submission | other | this | ratio |\n| --- | ---: | ---: | ---: |")
    pairs = {name: (median(others[name]), median(own[name])) for name in _NAMES}
    for name, (before, now) in {**pairs, "all": tuple(map(sum, zip(*pairs.values())))}.items():
        print(f"| {name} | {before:.2f} | {now:.2f} | {now / before:.2f} |")


if __name__ == "__main__":
    main()
