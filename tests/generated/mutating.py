"""Wrong programs: a right one with a slip in it, and what is known of the mistake."""

from __future__ import annotations

import ast
import contextlib
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .drawing import Below
from .marking import Span, marked_nodes, place_of
from .slips import SLIPS, Around, Replacement

_AROUND = (
    "train",
    "show",
    "count_parameters",
    "build_model",
    "load_pretrained",
)  # functions that are no part of the model


@dataclass(frozen=True)
class Candidate:
    """A slip that is possible: the node's number in the tree, and which of the slip's replacements."""

    slip: str
    node: int
    number: int


@dataclass(frozen=True)
class Mutated:
    """A program's source with a slip in it."""

    source: str
    candidate: Candidate
    start: tuple[int, int]  # line, from 1, and column, from 0, in the right program and in the wrong one
    end: tuple[int, int]  # in the right one
    old: str
    new: str


def candidates(source: str) -> dict[str, list[Candidate]]:
    """All slips that are possible in a source, by name."""
    found: dict[str, list[Candidate]] = {}
    tree = ast.parse(source)
    around = _surroundings(tree)
    for index, node in enumerate(ast.walk(tree)):
        if node in around:
            for name, slip in SLIPS.items():
                for number, _ in enumerate(slip(node, around[node])):
                    found.setdefault(name, []).append(Candidate(name, index, number))
    return found


def _surroundings(tree: ast.Module) -> dict[ast.AST, Around]:
    """The nodes in which people slip: of the functions and methods of the model."""
    found: dict[ast.AST, Around] = {}
    for top in tree.body:
        if isinstance(top, ast.FunctionDef) and top.name not in _AROUND:
            _add(found, top, ())
        if isinstance(top, ast.ClassDef):
            stored = [
                one.attr
                for one in ast.walk(top)
                if isinstance(one, ast.Attribute)
                and isinstance(one.ctx, ast.Store)
                and getattr(one.value, "id", "") == "self"
            ]
            for method in top.body:
                if isinstance(method, ast.FunctionDef):
                    _add(found, method, tuple(dict.fromkeys(stored)))
    return found


def _add(found: dict[ast.AST, Around], function: ast.FunctionDef, attributes: tuple[str, ...]) -> None:
    names = {
        one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    names |= {one.arg for one in function.args.args}
    plain = Around(frozenset(names), attributes)
    for parent in ast.walk(function):
        if parent is function.args:
            continue
        for _, value in ast.iter_fields(parent):
            children = value if isinstance(value, list) else [value]
            for child, following in zip(children, [*children[1:], None]):
                if isinstance(child, (ast.expr, ast.stmt)):
                    after = following if isinstance(following, ast.stmt) else None
                    found[child] = replace(plain, following=after, parent=parent)
    for inside in (function.args, function.returns):
        for one in ast.walk(inside) if inside is not None else ():
            found.pop(one, None)
    for one in ast.walk(function):
        if isinstance(one, ast.Expr) and (isinstance(one.value, ast.Constant) or _printing(one.value)):
            for inner in ast.walk(one):
                found.pop(inner, None)  # docstrings, prints, marks


def _printing(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in (
        "print",
        "breakpoint",
        "__init__",
    )


def mutated(source: str, candidate: Candidate) -> Mutated | None:
    """The source with the slip in it; None where it leaves the text as it is."""
    tree = ast.parse(source)
    lines = source.splitlines()
    node = list(ast.walk(tree))[candidate.node]
    assert isinstance(node, (ast.expr, ast.stmt))
    around = _surroundings(tree)[node]
    new = _replacement(tree, node, candidate)
    start, end = place_of(node, lines)
    if isinstance(new, list) and len(new) > 1 and new[0] is around.following:
        end = place_of(new[0], lines)[1]
    old = _between(lines, start, end)
    first = lines[start[0] - 1]
    indent = first[: len(first) - len(first.lstrip())]
    for text in _texts(new, tree, source, indent):
        changed = _spliced(lines, start, end, text)
        if changed != source and _means(changed, source, candidate):
            return Mutated(changed, candidate, start, end, old, text)
    return None


def _replacement(tree: ast.Module, node: ast.AST, candidate: Candidate) -> Replacement:
    around = _surroundings(tree)[node]
    return list(SLIPS[candidate.slip](node, around))[candidate.number]


def _texts(new: Replacement, tree: ast.Module, source: str, indent: str) -> Iterator[str]:
    """How the replacement may be written; brackets where they are needed."""
    own = set(ast.walk(tree))
    parts = new if isinstance(new, list) else [new]
    said = [_segment(one, source) if one in own else _unparsed(one, source) for one in parts]
    text = f"\n{indent}".join(said) or "pass"
    yield text
    if not isinstance(new, list):
        yield f"({text})"


def _segment(node: ast.AST, source: str) -> str:
    text = ast.get_source_segment(source, node)
    assert text is not None
    return text


def _unparsed(node: ast.AST, source: str) -> str:
    """As Python writes it, in the quotes that the writer prefers."""
    text = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node)))
    double = source.count('"') > source.count("'") and '"' not in text
    return text.replace("'", '"') if double else text


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    middle = lines[start[0] : end[0] - 1]
    return "\n".join([lines[start[0] - 1][start[1] :], *middle, lines[end[0] - 1][: end[1]]])


def _spliced(lines: list[str], start: tuple[int, int], end: tuple[int, int], text: str) -> str:
    before, after = lines[start[0] - 1][: start[1]], lines[end[0] - 1][end[1] :]
    return "\n".join([*lines[: start[0] - 1], before + text + after, *lines[end[0] :]]) + "\n"


def _means(changed: str, source: str, candidate: Candidate) -> bool:
    """Is the text what the slip makes of the tree?"""
    with contextlib.suppress(SyntaxError):
        meant = ast.unparse(changed_tree(source, (), (candidate,))[0])
        return ast.unparse(ast.parse(changed)) == ast.unparse(ast.parse(meant))
    return False


def changed_tree(
    source: str, where: tuple[Span, ...], slips: tuple[Candidate, ...]
) -> tuple[ast.Module, Mapping[ast.expr, list[str]]]:
    """The tree with the slips in it, and its marks: what stands for a marked node has its marks."""
    tree = ast.parse(source)
    marks: dict[ast.expr, list[str]] = {}
    for span, marked in marked_nodes(tree, source, where):
        marks.setdefault(marked, []).append(span.label)
    nodes = list(ast.walk(tree))
    for node, new in [(nodes[one.node], _replacement(tree, nodes[one.node], one)) for one in slips]:
        if isinstance(new, list):
            _put_statements(tree, node, new)
        else:
            if isinstance(node, ast.expr) and node in marks:
                marks[new] = [*marks.get(new, []), *marks.pop(node)]  # the inner first
            _put(tree, node, new)
    return ast.fix_missing_locations(tree), marks


def _put(tree: ast.Module, node: ast.AST, new: ast.expr) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, name, new)
                return
            if isinstance(value, list) and any(one is node for one in value):
                value[:] = [new if one is node else one for one in value]
                return


def _put_statements(tree: ast.Module, node: ast.AST, new: list[Any]) -> None:
    for parent in ast.walk(tree):
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and any(one is node for one in value):
                index = next(place for place, one in enumerate(value) if one is node)
                taken = 2 if len(new) > 1 and index + 1 < len(value) and new[0] is value[index + 1] else 1
                value[index : index + taken] = new or [ast.Pass()]
                return


def drawn(found: Mapping[str, list[Candidate]], below: Below) -> Candidate:
    """One slip: first how, then where."""
    names = sorted(found)
    among = found[names[below(len(names))]]
    return among[below(len(among))]


def both(first: Mutated, second: Mutated, source: str) -> str | None:
    """The source with two slips in it; None where they touch each other."""
    early, late = sorted((first, second), key=lambda one: one.start)
    if late.start[0] <= early.end[0]:
        return None
    text = _spliced(source.splitlines(), late.start, late.end, late.new)
    text = _spliced(text.splitlines(), early.start, early.end, early.new)
    with contextlib.suppress(SyntaxError):
        ast.parse(text)
        return text
    return None
