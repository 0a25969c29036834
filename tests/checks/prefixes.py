"""Programs that are written up to some line, with a known mistake or right: what is said of them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from math import isclose

import torch
from corpus import BASES
from cutting import ENDINGS, cut_behind
from mutants import MUTANTS, source

from vitcheck.checks.assignment.assignment import Assignment, load_assignment
from vitcheck.checks.classes.tasks import Setting, Task
from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.grading.grading import Grading
from vitcheck.checks.locating.reached import LEFT_OUT
from vitcheck.checks.record.faults import to_write
from vitcheck.checks.record.result import Outcome, Result, StageStatus, Status
from vitcheck.checks.tools.course.planting import plantable, reference_as_submission
from vitcheck.checks.vit.vit_family import VIT
from vitcheck.reference.stages import STAGES
from vitcheck.submissions.errors import Frame, SubmissionError
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.reading.packing import HandIn
from vitcheck.submissions.sandbox.isolation import Isolation

torch.set_num_threads(1)  # as grading does
ASSIGNMENTS = {
    "report": "vit-debugging",
    "pre-norm": "vit-prenorm",
    "post-norm": "vit-postnorm",
    "clip": "clip-vit",
}
_KEYS = {one.label: one.key for one in STAGES}
_OF_RIGHT = 4  # lines behind which a right program is cut
_LATER = 2  # stages behind the one with the mistake that are written as well, at most
# what may still come behind the line, or is what may come next, until something is computed with it
_MAY_COME = (
    *(*LEFT_OUT, "depth-off-by-one", "block-result-discarded"),
    *("extra-norm-before-encoder", "head-on-all-tokens", "softmax-in-logits"),
)
_UNTIL_READ = {  # that are the same up to a line
    "class-token-last": ("cls-appended-last",),  # the head
    "parallel-block": ("mlp-reads-block-input",),  # the second sum
}
_ONLY_FINISHED = ("unused-parameter",)  # what is not used yet may be used by what is still to come
_SAME = 1e-9  # of a sum's size: an eps of 1e-5 for 1e-6 makes a difference of a millionth
# How it can end. "told as finished": nothing is said to be still to come; "right blamed": a stage is that is
# right; "unwritten blamed": one that is not written.
FATES = (
    *("right", "told", "told as finished", "not told apart", "another name", "no name", "not told"),
    *("right blamed", "unwritten blamed", "not graded"),
)
WANTED = ("right", "told")


@dataclass(frozen=True)
class Whole:
    """A finished program: with the mistake ``id`` at the stage ``key``, or a right one."""

    name: str
    architecture: str
    handed: HandIn = field(repr=False)
    id: str = ""
    key: str = ""
    accepted: tuple[str, ...] = ()  # other ids that give the same numbers
    right: str = field(default="", repr=False)  # the text without the mistake, of a single file

    @property
    def assignment(self) -> Assignment:
        asked = load_assignment(ASSIGNMENTS[self.architecture])
        rules = asked.rules.model_copy(update={"breakpoints": False, "prints": False})
        return asked.model_copy(update={"examples": 3, "rules": rules})

    @property
    def mended(self) -> Whole:
        """The same program without its mistake."""
        right = reference_as_submission(self.architecture)
        if self.right:
            right = replace(self.handed, files={name: self.right.encode() for name in self.handed.files})
        return Whole(f"{self.name} mended", self.architecture, right)

    def graded(self, handed: HandIn, zygote: Zygote) -> Result:
        """What is handed in of it, by its assignment."""
        return Task(handed, "prefix", self.assignment, 0, setting=Setting(Isolation.NONE)).grade(zygote)

    def is_told(self, result: Result) -> bool:
        """Is its mistake named in that?"""
        named = {one for found in result.mistakes for one in (found.id, *found.also)}
        return bool((named | {one.id for one in result.variants}) & {self.id, *self.accepted})

    @property
    def at(self) -> int:
        """The number of its stage; 0 where it is of none."""
        every = [one.key for one in VIT.stages]
        return every.index(self.key) if self.key in every else 0

    @property
    def may_come(self) -> bool:
        """Is it something that may still come, as far as the stage with the mistake tells?"""
        return self.id.endswith(_MAY_COME)


@dataclass(frozen=True)
class Prefix:
    """A program as far as it is written: up to the stage ``last``, by its key."""

    whole: Whole
    last: str
    ending: str
    handed: HandIn = field(repr=False)

    @property
    def name(self) -> str:
        return f"{self.whole.name} | {VIT.stage(self.last).label} | {self.ending}"

    def graded(self, zygote: Zygote) -> Result:
        return self.whole.graded(self.handed, zygote)


def wrong_programs() -> Iterator[Whole]:
    """One with each mistake for each kind of block, in some style: that of the reference, or a student's."""
    found: dict[tuple[str, str], list[Whole]] = {}
    for architecture in ("pre-norm", "report"):
        for id, known in plantable(architecture).items():
            handed = reference_as_submission(architecture, id)
            accepted = _UNTIL_READ.get(id, ())
            one = Whole(f"{architecture} reference {id}", architecture, handed, id, known.stage, accepted)
            found.setdefault((id, architecture), []).append(one)
    for mutant in (one for one in MUTANTS if one.stage and not one.crashes):
        family, handed = BASES[mutant.base].family, _file(mutant.base, source(mutant))
        right = BASES[mutant.base].source()
        accepted = (*mutant.accepted, *_UNTIL_READ.get(mutant.id, ()))
        one = Whole(mutant.name, family, handed, mutant.id, _KEYS[mutant.stage], accepted, right)
        found.setdefault((mutant.id, family), []).append(one)
    return (min(every, key=lambda one: _number(one.name)) for every in found.values())


def right_programs() -> Iterator[Whole]:
    """The reference in each kind of block, and the corpus."""
    for architecture in ASSIGNMENTS:
        yield Whole(f"{architecture} reference", architecture, reference_as_submission(architecture))
    for base in BASES.values():
        yield Whole(base.name, base.family, _file(base.name, base.source()))


def _number(name: str) -> int:
    """That seems to be drawn, and is always the same."""
    return zlib.crc32(name.encode())


def _file(name: str, text: str) -> HandIn:
    return HandIn(f"{name}.py", False, {f"{name}.py": text.encode()})


@dataclass(frozen=True)
class _Finished:
    """What was seen of a finished program in one pass."""

    found: Mapping[str, tuple[int, str]]  # by the id of a finding, the record that shows it, and its stage
    made: Sequence[tuple[int, str]]  # the record of each stage, in order, and its key
    lines: Sequence[Sequence[Frame]]  # of each record
    sums: Sequence[tuple[int, float]]  # of each: how many numbers it holds, and the sum of their squares

    def first_unlike(self, right: _Finished | None) -> int:
        """The first record that is none of the right program's, whatever the order of its numbers."""
        rows = [] if right is None else right.sums
        unlike = (
            number
            for number, (count, total) in enumerate(self.sums)
            if not any(count == other and isclose(total, one, rel_tol=_SAME) for other, one in rows)
        )
        return next(unlike, 0)


def prefixes(whole: Whole, zygote: Zygote) -> tuple[frozenset[str], list[Prefix]]:
    """What is found in the finished program, and the prefixes of it.

    One with a mistake is cut right behind the stage with it, and once one stage or two later.
    """
    finished = None if whole.id in _ONLY_FINISHED else _finished(whole, zygote)
    if finished is None:
        return frozenset(), []
    shown = frozenset(finished.found)
    if not whole.id:
        cuts = _cuts(whole, finished, 0)
        return shown, sorted(cuts, key=lambda one: _number(one.name))[:_OF_RIGHT]
    own = (finished.found[id] for id in (whole.id, *whole.accepted) if id in finished.found)
    first = next((number for number, key in finished.made if key == whole.key), 0)
    record, key = next(own, (first, whole.key))
    record = max(record, finished.first_unlike(_finished(whole.mended, zygote)))
    if not whole.at and not whole.right:  # it may concern all that the reference's constructor makes
        record = max(record, next((one for one, key in finished.made if key == "last_block_output"), 0))
    if whole.may_come:  # until another stage is made
        record = next((one for one, _ in finished.made if one > record), len(finished.lines))
    earlier = min(whole, replace(whole, key=key), key=lambda one: one.at)
    behind = _cuts(earlier, finished, record)[: 1 + _LATER]
    return shown, [*behind[:1], *behind[1:][-1 - _number(whole.name) % 2 :][:1]]


def _cuts(whole: Whole, finished: _Finished, behind: int) -> list[Prefix]:
    """Those in which this record is still made, one a line that completes a stage, the shortest first."""
    cuts: dict[int, Prefix] = {}
    endings = ENDINGS[: -1 if whole.handed.is_folder else None]  # the reference's methods return no x
    for record, key in finished.made:
        turn = _number(f"{whole.name} {key}") % len(endings)
        for ending in (*endings[turn:], *endings[:turn]):
            files = cut_behind(whole.handed.files, finished.lines[record], ending)
            if files is None or not _has_mistake(whole, files):
                continue
            end = _first_gone(whole, files, finished.lines)
            made = [one for number, one in finished.made if number < end]
            if behind < end < len(finished.lines) and made:
                shorter = HandIn(whole.handed.name, whole.handed.is_folder, files)
                last = max(made, key=lambda one: replace(whole, key=one).at)
                cuts.setdefault(end, Prefix(whole, last, ending, shorter))
            break
    return [cuts[end] for end in sorted(cuts)]


def _first_gone(whole: Whole, files: Mapping[str, bytes], lines: Sequence[Sequence[Frame]]) -> int:
    """The number of the first record that is made on a line which is no longer there."""
    gone = {Frame(name, line + 1) for name in files for line in _gone(whole.handed.files[name], files[name])}
    return next((number for number, frames in enumerate(lines) if gone.intersection(frames)), len(lines))


def _gone(text: bytes, shorter: bytes) -> set[int]:
    lines, fewer = text.decode().split("\n"), shorter.decode().split("\n")
    rows = SequenceMatcher(None, lines, fewer, autojunk=False).get_opcodes()
    return {line for kind, first, end, *_ in rows if kind != "equal" for line in range(first, end)}


def _has_mistake(whole: Whole, files: Mapping[str, bytes]) -> bool:
    """Are all lines with the mistake still there?"""
    if not whole.right:
        return True
    name, *_ = files
    text = whole.handed.files[name]
    rows = SequenceMatcher(None, whole.right.split("\n"), text.decode().split("\n"), autojunk=False)
    made = (row for row in rows.get_opcodes() if row[0] != "equal")
    wrong = {line for *_, first, end in made for line in (*range(first, end), first)}
    return not wrong & _gone(text, files[name])


def _finished(whole: Whole, zygote: Zygote) -> _Finished | None:
    """None where it cannot be built."""
    with whole.handed.unpacked() as path:
        asked = whole.assignment.model_copy(update={"examples": 1})
        try:
            with Grading(path, asked, zygote).examined() as examination:
                return None if examination.unbuilt else _seen(examination)
        except SubmissionError:
            return None


def _seen(examination: Examination) -> _Finished:
    walk, records = examination.walk, examination.first.trace.records
    steps = [(step.found.record, step) for step in walk.steps if step.found is not None]
    found = {one.id: (record, one.stage) for record, step in reversed(steps) for one in step.findings}
    last = VIT.stages[-1].key  # behind which nothing comes
    made = sorted((record, step.key) for record, step in steps if record and step.key != last)
    sums = [(one.cells.numel(), float(one.cells.double().square().sum())) for one in records]
    return _Finished(found, made, [one.frames for one in records], sums)


def fate(prefix: Prefix, result: Result) -> str:
    """Which of ``FATES`` it met."""
    order = [one.label for one in VIT.stages]
    wrong = [order.index(label) for label, one in result.stages.items() if one.status is StageStatus.FAILED]
    failed = any(one.outcome is Outcome.FAILED for one in result.checks)
    if result.status is not Status.GRADED:
        return "not graded"
    if any(at > order.index(VIT.stage(prefix.last).label) for at in wrong):
        return "unwritten blamed"
    if not prefix.whole.id:
        apart = "right" if to_write(result) else "not told apart"
        return "right blamed" if wrong or failed or result.mistakes else apart
    lacking = {order.index(VIT.stage(key).label) for key in VIT.mistake(prefix.whole.id).without}
    # its own stage, or where it is told in the finished program; what is not there with it is not right
    if any(at < prefix.whole.at and at not in lacking for at in wrong):
        return "right blamed"
    if prefix.whole.is_told(result):
        return "told" if to_write(result) else "told as finished"
    if result.mistakes:
        return "another name"
    return "no name" if wrong or failed else "not told"
