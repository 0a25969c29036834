"""The texts that functions read dictionaries by, and those that they write into them; fields of objects, too.

What is not known of a text stands in it in braces, as the argument that gives it: ``"block{i}.query"``.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from torch import Tensor

from .definitions import Definition, Definitions

_HOLE = re.compile(r"\{([^\W\d]\w*|)\}")
_Read = set[tuple[str, str]]  # names of arguments, and the texts by which each is read


def read_by(run: Definition, definitions: Definitions) -> _Read:
    """What is read of each argument of a function, also where it hands the argument on to another."""
    return _read_by(run, definitions, {})


def _read_by(run: Definition, definitions: Definitions, done: dict[str, _Read]) -> _Read:
    """Each function is looked at once; one that calls itself reads no more by that."""
    if run.name in done:
        return done[run.name]
    done[run.name] = set()
    own = _parameters(run)
    known = _texts_named(run.node, {name: f"{{{name}}}" for name in own})
    found: _Read = set()
    for node in ast.walk(run.node):
        match node:
            case ast.Subscript(value=ast.Name(id=held), slice=key):
                found.add((held, text(key, known)))
            case ast.Attribute(value=ast.Name(id=held), attr=name) if not hasattr(Tensor, name):
                found.add((held, name))
            case ast.Call(func=ast.Name(id=name)) if name in definitions.all:
                to = definitions.all[name]
                found |= _handed_on(node, to, known, _read_by(to, definitions, done))
    done[run.name] = {(held, key) for held, key in found if held in own and _HOLE.sub("", key)}
    return done[run.name]


def _handed_on(call: ast.Call, to: Definition, known: Mapping[str, str], read: _Read) -> _Read:
    """What a call ``read``s of its arguments, as what the caller calls them."""
    named = {one.arg: one.value for one in call.keywords if one.arg}
    given = {**dict(zip(_parameters(to), call.args)), **named}
    texts = {name: text(value, known) for name, value in given.items()}
    held = {name: value.id for name, value in given.items() if isinstance(value, ast.Name)}
    return {(held[name], filled(key, texts)) for name, key in read if name in held}


def written_by(make: Definition) -> set[str]:
    """The keys of dictionaries that a function writes out, or fills one by one; the fields of its objects."""
    known = _texts_named(make.node, {})
    found: list[ast.expr | None] = []
    named: set[str] = set()
    for node in ast.walk(make.node):
        match node:
            case ast.Dict(keys=keys):
                found += keys
            case ast.DictComp(key=key) | ast.Subscript(slice=key, ctx=ast.Store()):
                found.append(key)
            case ast.Call(func=function, keywords=keywords):
                named |= {one.arg for one in keywords if one.arg} | _fields(function, make)
    return named | {text(one, known) for one in found if one is not None}


def _fields(function: ast.expr, make: Definition) -> set[str]:
    """Of a named tuple or a data class that is made by calling this."""
    names = getattr(make.value, "__globals__", {})
    made = names.get(function.id) if isinstance(function, ast.Name) else None
    return {*getattr(made, "_fields", ()), *getattr(made, "__dataclass_fields__", ())}


def text(node: ast.expr, known: Mapping[str, str]) -> str:
    """What is written, with what the names stand for that are ``known``."""
    match node:
        case ast.Constant(value=value):
            return str(value) if isinstance(value, (str, int)) else "{}"
        case ast.Name(id=name):
            return known.get(name, "{}")
        case ast.JoinedStr(values=parts):
            return "".join(text(one, known) for one in parts)
        case ast.FormattedValue(value=value) | ast.Call(func=ast.Name(id="str"), args=[value]):
            return text(value, known)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return text(left, known) + text(right, known)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(form)), attr="format"), args=args):
            given = iter([text(one, known) for one in args])
            return re.sub(r"\{\d*\}", lambda _: next(given, "{}"), form)
    return "{}"


def _texts_named(node: ast.AST, arguments: Mapping[str, str]) -> dict[str, str]:
    """The names that stand for a text in it, ``arguments`` among them: ``prefix = f"block{i}."``."""
    known = {**arguments}
    for one in ast.walk(node):
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in arguments:
                if _HOLE.sub("", read := text(value, known)):
                    known[name] = read
    return known


def filled(key: str, given: Mapping[str, str]) -> str:
    """The text with those of the names in it that are ``given``; another name is none of the caller's."""
    return _HOLE.sub(lambda hole: given.get(hole[1], "{}"), key)


def names_in_keys(keys: Iterable[str]) -> set[str]:
    """What has to be known to read them."""
    return {name for key in keys for name in _HOLE.findall(key) if name}


def are_among(read: Iterable[str], written: Iterable[str]) -> bool:
    """May each be one of those that are written?"""
    made = [_letters(one) for one in written]
    return all(any(_may_be_same(_letters(key), one) for one in made) for key in read)


def _letters(key: str) -> list[str]:
    """One by one, with "" for what is not known."""
    pieces = _HOLE.split(key)
    known, letters = pieces[::2], list(pieces[0])
    for piece in known[1:]:
        letters += ["", *piece]
    return letters


def _may_be_same(first: Sequence[str], second: Sequence[str]) -> bool:
    """Is there a text that both may be? Row by row: may the rest of one be the rest of the other?"""
    last = [not any(second[at:]) for at in range(len(second) + 1)]
    for letter in reversed(first):
        row = [letter == "" and last[-1]]
        for at in range(len(second) - 1, -1, -1):
            is_open = "" in (letter, second[at])
            row.insert(0, row[0] or last[at] if is_open else letter == second[at] and last[at + 1])
        last = row
    return last[0]


def values_for(read: Iterable[str], keys: Iterable[object]) -> dict[str, str] | None:
    """What the names in texts stand for, if each text is one of the ``keys`` then; the first that does."""
    texts = [one for one in keys if isinstance(one, str)]
    asked = sorted(read, key=lambda one: -len(names_in_keys([one])))
    ways = (one.groupdict() for one in _matches(asked[0], texts)) if asked else iter([dict[str, str]()])
    return next((one for one in ways if all(any(_matches(_with(key, one), texts)) for key in asked)), None)


def _with(key: str, values: Mapping[str, str]) -> str:
    return _HOLE.sub(lambda hole: values.get(hole[1], hole[0]), key)


def _matches(key: str, texts: Iterable[str]) -> Iterator[re.Match[str]]:
    return (found for one in texts if (found := re.fullmatch(_pattern(key), one)))


def _pattern(key: str) -> str:
    """The same name is the same text each time."""
    pieces, seen = _HOLE.split(key), set[str]()
    pattern = re.escape(pieces[0])
    for name, after in zip(pieces[1::2], pieces[2::2]):
        again = f"(?P={name})" if name in seen else f"(?P<{name}>.*)"
        pattern += (again if name else ".*") + re.escape(after)
        seen.add(name)
    return pattern


def _parameters(function: Definition) -> list[str]:
    if function.is_class or function.value is None:
        return []
    return [*inspect.signature(function.value).parameters]  # type: ignore[arg-type]  # a function
