"""What the benchmarks share. Importing it lets them import what the tests share."""

from __future__ import annotations

import os
import platform
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import torch

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "checks")]

from test_examples import CORRECT, EXAMPLES, FOLDER, SHORT  # noqa: E402  # found by the line above

from vitcheck.checks.assignment.assignment import load_assignment  # noqa: E402  # as above
from vitcheck.checks.grading.grading import grade  # noqa: E402  # as above
from vitcheck.checks.record.result import Result, Status  # noqa: E402  # as above
from vitcheck.submissions.host.process import Zygote  # noqa: E402  # as above

torch.set_num_threads(1)  # as grading does
ASSIGNMENT = load_assignment("vit-debugging")
CORRECT_EXAMPLES = [FOLDER / name for name, verdict in EXAMPLES.items() if verdict is CORRECT]
CORRECT_MODELS = [path for path in CORRECT_EXAMPLES if "script" not in path.name]

_zygote = Zygote()  # of each worker: the first child that it is asked for starts it
_Task = tuple[str, int]  # the name of an example, and a seed


def arguments(seeds: int) -> Namespace:
    """``seeds`` and ``jobs`` as the command line gives them."""
    parser = ArgumentParser()
    parser.add_argument("--seeds", type=int, default=seeds, help="gradings of each example")
    parser.add_argument("--jobs", type=int, default=2, help="gradings at a time")
    return parser.parse_args()


def grade_all(names: Iterable[str], options: Namespace) -> Iterator[tuple[str, int, Result | str]]:
    """Grade each example under each seed, in order; text where the grader itself failed."""
    tasks = [(name, seed) for name in names for seed in range(options.seeds)]
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for (name, seed), result in zip(tasks, pool.map(_grade, tasks), strict=True):
            yield name, seed, result


def _grade(task: _Task) -> Result | str:
    name, seed = task
    assignment = ASSIGNMENT
    if EXAMPLES[name].status is Status.TIMED_OUT:  # do not wait long for what never ends
        assignment = assignment.model_copy(update={"limits": SHORT})
    try:
        return grade(FOLDER / name, assignment, zygote=_zygote, seed=seed)
    except Exception as error:  # one of many gradings: it is counted, and the others go on
        return f"the grader failed: {type(error).__name__}: {error}"


def show(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print the machine, and a Markdown table; numbers that are no whole ones with two decimals."""
    print(f"\n{os.cpu_count()} cores, Python {platform.python_version()}, torch {version('torch')}\n")
    for row in (head, ["---"] + ["---:"] * (len(head) - 1), *rows):
        print("|", " | ".join(f"{one:.2f}" if isinstance(one, float) else str(one) for one in row), "|")
