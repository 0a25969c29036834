"""The same ten simple checks on the same submissions, by vitcheck and by graders that courses use."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory, gettempdir

from common import show
from corpus import BASES
from graders.grader import NAMES, Grader
from graders.notebooks import NbGrader, Otter
from graders.ours import Vitcheck, VitcheckWithSuite
from graders.plain import Check50, Gradescope, Pytest
from mutants import MUTANTS, REFACTORINGS, source
from watching import Watched

_GRADERS: tuple[type[Grader], ...] = (
    Pytest,
    Gradescope,
    Otter,
    NbGrader,
    Check50,
    Vitcheck,
    VitcheckWithSuite,
)
BASE = "prenorm"  # its parts have the names that the checks of the others rely on
_RIGHT = 13  # rewrites in each 20
_WRONG = (
    *("projection-bias-missing", "softmax-over-queries", "dropout-built-in-forward"),
    *("layernorm-over-batch", "head-on-all-tokens", "path-detached"),
)
_HEAD = ("grader", "at once", "seconds", "a minute", "CPU s each", "verdicts as the first's")

Verdicts = dict[str, set[str]]  # the checks that each submission passed


@dataclass(frozen=True)
class Run:
    """One grader's run over the class."""

    seconds: float
    cpu: float
    verdicts: Verdicts


def submissions(count: int) -> dict[str, str]:
    """A correct ViT, rewrites of it, and mistakes of which each fails another of the checks; no two alike."""
    rewrites = [source(one) for one in REFACTORINGS if one.base == BASE][:_RIGHT]
    planted = {one.id: one for one in MUTANTS if one.base == BASE}
    texts = [BASES[BASE].source(), *rewrites, *(source(planted[id]) for id in _WRONG)]
    return {
        f"s{number:03}": f"{text}\n# {number}\n" for number, text in enumerate(islice(cycle(texts), count))
    }


def graded(grader: Grader, texts: Mapping[str, str], at_once: int, folder: Path) -> Run:
    """Grade all of them, ``at_once`` at a time: where a grader runs one after the other, in so many parts."""
    names = list(texts)
    count = 1 if grader.shares_work else at_once
    parts = {folder / f"part-{number}": names[number::count] for number in range(count)}
    for place, part in parts.items():
        place.mkdir()
        grader.lay_out(place, {name: texts[name] for name in part})
    began = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(in_turn, grader, *part, at_once) for part in parts.items()]
        cpu = sum(one.result() for one in waiting)
    seconds = time.perf_counter() - began
    return Run(seconds, cpu, dict(verdicts(grader, parts)))


def in_turn(grader: Grader, place: Path, names: Sequence[str], jobs: int) -> float:
    """Processor seconds of the commands for one part; what they say is kept beside it."""
    said, seconds = place.with_suffix(".log"), 0.0
    for one in grader.commands(place, names, jobs):
        command = Watched(one.arguments, said, one.folder, grader.surroundings())
        command.finish()  # what it ends with says whether all checks passed: the verdicts are read
        seconds += command.cpu
    return seconds


def verdicts(grader: Grader, parts: Mapping[Path, Sequence[str]]) -> Iterator[tuple[str, set[str]]]:
    """What each submission passed. Raises RuntimeError, with what the grader said, where there is none."""
    for place, names in parts.items():
        for name in names:
            try:
                yield name, grader.passed(place, name)
            except OSError as error:
                raise RuntimeError(f"{error}\n{place.with_suffix('.log').read_text()}") from error


def rows(grader: Grader, texts: Mapping[str, str], expected: Verdicts) -> Iterator[tuple[object, ...]]:
    """One row for a submission at a time, and one for two; ``expected`` is filled by the first grader."""
    title = f"{grader.name} {grader.installed_version()}"
    for at_once in (1, 2):
        with TemporaryDirectory() as folder:
            run = graded(grader, texts, at_once, Path(folder))
        expected.update({} if expected else run.verdicts)
        rate, cost = 60 * len(texts) / run.seconds, run.cpu / len(texts)
        yield title, at_once, run.seconds, rate, cost, agreement(run.verdicts, expected)


def agreement(found: Verdicts, expected: Verdicts) -> str:
    """How many checks are told as they should be; prints the others."""
    otherwise = {name: found[name] ^ passed for name, passed in expected.items() if found[name] != passed}
    for name, checks in otherwise.items():
        print(f"{name}: {', '.join(sorted(checks))} told otherwise", flush=True)
    total = len(expected) * len(NAMES)
    return f"{total - sum(map(len, otherwise.values()))} of {total}"


def options() -> Namespace:
    """Which graders, and where they are installed."""
    parser = ArgumentParser()
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--environments", type=Path, default=Path(gettempdir(), "graders"), help="kept")
    parser.add_argument("--share-torch", action="store_true", help="install no torch beside this one")
    parser.add_argument("--only", nargs="*", default=[one.name for one in _GRADERS], metavar="NAME")
    return parser.parse_args()


def installed_graders(asked: Namespace) -> Iterator[Grader]:
    """Those that are asked for, as far as they can be installed; says so, and why, of the others."""
    for grader in (one(asked.environments.resolve()) for one in _GRADERS if one.name in asked.only):
        try:
            grader.install(share_torch=asked.share_torch)
        except CalledProcessError as error:
            print(f"{grader.name} could not be installed: {error.stderr}")
        else:
            yield grader


def main() -> None:
    """Print the table, grader by grader."""
    asked = options()
    table: list[tuple[object, ...]] = []
    expected: Verdicts = {}
    texts = submissions(asked.submissions)
    for grader in installed_graders(asked):
        for row in rows(grader, texts, expected):
            print(*row, flush=True)
            table.append(row)
    show(_HEAD, table)


if __name__ == "__main__":
    main()
