"""The lines that say how many blocks there are: where they follow one another, and where they are built."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import TypeAlias

from ...submissions.errors import Frame, SubmissionError
from ...submissions.host.trace import Trace
from ...submissions.reading.code import parsed, parsed_file
from ...submissions.reading.code_scopes import called, held
from ..locating.search.parameter_search import LinearMap
from ..locating.steps import Step
from .examination import Examination
from .verdicts import NotAsked

_REGISTERING = ("setattr", "add_module", "register_module", "append", "extend")
_LAST = "last_block_output"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_Block: TypeAlias = ast.For | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def counted_at(examination: Examination, step: Step) -> Frame | None:
    """The line to blame for a stage that is no more than what a block gives.

    Where too few or too many were built, that is where they are built; where several lines of a loop call
    blocks, it is the last of them.
    """
    if _are_to_blame(examination, step):
        return _listed_at(examination, step)
    again = _called_again(examination, step) if step.key == _LAST else None
    if again is not None:
        return again
    chained = chained_at(examination, step)
    if step.key == _LAST and examination.is_amiss(step):
        return _miscounted_at(examination, step, chained)
    return (chained[0] if step.key == _LAST else chained[-1]) if chained else None


def _miscounted_at(examination: Examination, step: Step, chained: Sequence[Frame]) -> Frame | None:
    """Where too few blocks are built, or too many; else the loop that calls them, or has them in its body."""
    if chained:
        wrongly_built = _number_built(examination) not in (None, examination.walk.sizes.depth)
        built = built_at(examination, step) if wrongly_built else ()
        return next(iter(built), chained[0])
    made = examination.walk.trace.records[step.found.record].frames if step.found else ()
    loops = ((_loop_at(examination, one), one) for one in made)
    return next((loop for loop, one in loops if loop != one), None)


def _listed_at(examination: Examination, step: Step) -> Frame | None:
    """Where blocks are made: rather where a list or a loop is."""
    built = list(built_at(examination, step))
    several = (one for one in built if _makes_several(examination, one))
    return next(several, next(iter(built), None))


def _are_to_blame(examination: Examination, step: Step) -> bool:
    """Is a mistake at this stage one of how blocks are made, and not of how they run?"""
    ids = {one.id for one in examination.findings() if one.stage == step.key}
    return any(examination.family.mistake(one).role == "blocks" for one in ids)


def _makes_several(examination: Examination, frame: Frame) -> bool:
    """Is there a list or a loop on that line, in every place or turn of which a block stands?"""
    tree = parsed_file(examination.source.files, frame.file)
    here = _nodes_on(tree, frame.line) if tree else ()
    return any(isinstance(one, (ast.List, ast.ListComp, ast.GeneratorExp, ast.For)) for one in here)


def chained_at(examination: Examination, step: Step) -> Sequence[Frame]:
    """Where blocks are put one behind the other: the head of a loop, and the call in it; or nothing.

    Where blocks are halves that all add what they give in one line, that is called in the loop.
    """
    calls = [(_loop_at(examination, call), call) for call in _calls(examination, step)]
    return next((pair for pair in calls if pair[0] != pair[1]), next(iter(calls), ()))


def built_at(examination: Examination, step: Step) -> Iterator[Frame]:
    """Where what is put one behind the other is built, as far as its class tells, the likeliest first."""
    trees = dict(parsed(examination.source.files))
    for call in _calls(examination, step):
        loop = _loop_at(examination, call)
        for scope in around(trees.get(call.file), ast.ClassDef, call):
            names = {name for line in (loop.line, call.line) for name in _read_on(scope, line)}
            yield from (call._replace(line=line) for line in _building_lines(scope, names, loop.line))


def _calls(examination: Examination, step: Step) -> Sequence[Frame]:
    """The lines that every block is called from, the innermost first; none for what a block does not give."""
    return _shared(_of_each_block(examination, step))[::-1]


def _called_again(examination: Examination, step: Step) -> Frame | None:
    """The last of the lines of one loop that call some of the blocks each; None where one calls all."""
    blocks = _of_each_block(examination, step)
    depth = len(_shared(blocks))
    if any(len(one) == depth for one in blocks):
        return None
    lines = {one[depth] for one in blocks}
    loops = {_loop_at(examination, one) for one in lines}
    return max(lines) if len(loops) == 1 and not loops & lines else None


def _of_each_block(examination: Examination, step: Step) -> Sequence[Sequence[Frame]]:
    """The lines that all of a block is called from, the outermost first; none where no block gives it."""
    walk = examination.walk
    if step.block or step.found is None:
        return ()
    placed = [(one.key, one.block, one.found.record) for one in walk.steps if one.block and one.found]
    made = [(block, record) for key, block, record in placed if key != "block_input"]
    if step.found.record not in {record for _, record in made}:
        return ()
    begun = next((record for key, _, record in placed if key == "block_input"), -1)
    numbers = dict.fromkeys(block for block, _ in made)
    ends = [max(record for block, record in made if block == number) for number in numbers]
    bounds = pairwise(_whole(walk.trace, one) for one in (begun, *ends))
    runs = (walk.trace.records[after + 1 : end + 1] for after, end in bounds)
    # a script may make its layers in between
    lines = ([one.frames[::-1] for one in run if one.image] for run in runs)
    return [_called_from(examination, one) for one in lines]


def _called_from(examination: Examination, calls: Sequence[Sequence[Frame]]) -> Sequence[Frame]:
    """The lines that all begin with, and the loop in which the next ones stand, where it is one."""
    shared = _shared(calls)
    lines = {one[len(shared)] if len(one) > len(shared) else one[-1] for one in calls if one}
    loops = {_loop_at(examination, one) for one in lines}
    return [*shared, *loops] if len(loops) == 1 and not loops & lines else shared


def _whole(trace: Trace, number: int) -> int:
    """The last record of the operation that made this one."""
    later = trace.records[number + 1 :] if number >= 0 else ()
    further = takewhile(lambda one: one.is_made_with(trace.records[number]), later)
    return max((one.number for one in further), default=number)


def _shared(calls: Sequence[Sequence[Frame]]) -> Sequence[Frame]:
    """The lines that all begin with: in a block there are several."""
    same = takewhile(lambda frames: len(set(frames)) == 1, zip(*calls))
    return [frame for frame, *_ in same]


def _loop_at(examination: Examination, frame: Frame) -> Frame:
    """The head of the loop that the line stands in, which says how many times it runs; else the line."""
    tree = parsed_file(examination.source.files, frame.file)
    return frame._replace(line=max((one.lineno for one in around(tree, ast.For, frame)), default=frame.line))


def around(
    tree: ast.AST | None, kinds: type[_Block] | tuple[type[_Block], ...], frame: Frame
) -> list[_Block]:
    """What of these kinds a line stands in, the outermost first."""
    inside = (one for one in _blocks_of(tree) if isinstance(one, kinds)) if tree else ()
    return [one for one in inside if one.lineno <= frame.line <= (one.end_lineno or one.lineno)]


@lru_cache(maxsize=64)
def _blocks_of(tree: ast.AST) -> Sequence[_Block]:
    """All of a file; kept, since it is asked for every operation of a pass."""
    return [one for one in ast.walk(tree) if isinstance(one, (ast.For, ast.ClassDef, *FUNCTIONS))]


def _building_lines(scope: ast.AST, names: set[str], running: int) -> Iterator[int]:
    """Of loops in which what ``self`` holds by these names is made, then of other lines that make it."""
    alone = []
    for one in ast.walk(scope):
        if isinstance(one, ast.Assign) and any(held(target) in names for target in one.targets):
            loops = [each for each in ast.walk(one.value) if isinstance(each, ast.comprehension)]
            yield from (each.iter.lineno for each in loops)
            alone += [] if loops else [one.value.lineno]
        elif isinstance(one, ast.For) and one.lineno != running and _registers(one):
            yield one.iter.lineno
    yield from alone


def _registers(loop: ast.For) -> bool:
    return any(called(one) in _REGISTERING for one in ast.walk(loop))


def _read_on(scope: ast.AST, line: int) -> Iterator[str]:
    return (name for one in _nodes_on(scope, line) if (name := held(one)))


def _nodes_on(tree: ast.AST, line: int) -> Iterator[ast.AST]:
    """What begins on a line."""
    return (one for one in ast.walk(tree) if getattr(one, "lineno", None) == line)


def _number_built(examination: Examination) -> int | None:
    """How many parameters are named like one of the first block but for a number; None where none is."""
    walk = examination.walk
    map_ = walk.roles.get("block1.fc1")
    kind, number, _ = walk.parameters.leaf(map_.weight) if isinstance(map_, LinearMap) else ("", 0, 0)
    name = walk.trace.leaves[number].name if kind == "leaf" else ""
    names = _parameters(examination)
    return max((_alike(names, name, one) for one in re.finditer(r"\d+", name)), default=0) or None


def _parameters(examination: Examination) -> Collection[str]:
    """The names of all; none where the model's process has ended, or of a script."""
    with suppress(SubmissionError, NotAsked):
        return examination.backward().gradients
    return ()


def _alike(names: Collection[str], name: str, digits: re.Match[str]) -> int:
    before, after = name[: digits.start()], name[digits.end() :]
    pattern = re.compile(rf"{re.escape(before)}\d+{re.escape(after)}")
    return sum(pattern.fullmatch(one) is not None for one in names)
