"""Which lines stand for code that is still to be written."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, TypeGuard

from ..errors import Frame
from .code import texts
from .code_scopes import attributes, called, last_name, makes_object
from .method_calls import reached
from .python_text import DEFINITIONS, nodes
from .stand_ins import is_layer, is_stand_in, stand_ins, variables_to_come
from .to_do import or_below, to_do

_ENDS = (ast.Return, ast.Pass, ast.Expr, ast.Assign, ast.AnnAssign)
_STAND_FOR_MORE = ("zeros", "ones", "zeros_like", "ones_like", "empty", "empty_like")
_SAYS_SO = b"__import__('torch').nn.Module()"  # it has no forward, and says so when it is called
_UNUSED = 2  # layers or parameters that a class makes and never uses: one is rather forgotten


class Unwritten(NamedTuple):
    """A place that is not written yet, and the name of the function or the variable."""

    frame: Frame
    name: str


def unwritten(files: Mapping[str, bytes]) -> list[Unwritten]:
    """Return such places, file by file.

    They are functions that end in ``pass`` or in NotImplementedError, three dots as a line or a variable, and
    variables that are None where they are called or computed with.
    """
    every = [(file, node) for file, text in texts(files) for node in nodes(text)]
    left = {*_left_to_others([node for _, node in every if isinstance(node, ast.ClassDef)])}
    found = {
        Unwritten(Frame(file, line), name)
        for file, node in every
        if node not in left
        for line, name in _places(node)
    }
    return sorted(found)


def _left_to_others(classes: Collection[ast.ClassDef]) -> Iterator[ast.AST]:
    """What stands in methods that are another class's to write: those of an interface, or overridden."""
    written = {(base, method.name) for one in classes for base in _bases(one) for method in _methods(one)}
    for one in classes:
        is_interface = "Protocol" in _bases(one)
        for method in _methods(one):
            is_abstract = any(last_name(each) == "abstractmethod" for each in method.decorator_list)
            if is_interface or is_abstract or (one.name, method.name) in written:
                yield from ast.walk(method)


def _bases(one: ast.ClassDef) -> set[str]:
    """Also ``Protocol`` of ``Protocol[T]``."""
    return {last_name(base.value if isinstance(base, ast.Subscript) else base) for base in one.bases}


def early_ends(files: Mapping[str, bytes], of: str | None = None) -> list[Frame]:
    """The lines on which a method or a function may end before it is finished, and the pass goes on.

    Those ``of`` a class or a function are in it, and in what it uses.

    It ends in ``pass``, returns nothing or zeros, or three dots stand in it; or a comment at its end says
    that more is to be done; or it returns what it was given and uses nothing of its object; or it is the
    ``forward`` of a class that makes two layers or parameters, or more, that no method uses. One is enough
    where it returns what it was given, and not what it made last, and where it stands for a layer. What
    stands for a layer that is used ends the pass where that is.
    """
    known = None if of is None else _used(files, of)
    return [
        Frame(file, line)
        for file, text in texts(files)
        for lines in [to_do(text)]
        for below in [or_below(lines, text)]
        for one in nodes(text)
        for name, line in _early(one, lines, below)
        if known is None or known & {name, getattr(one, "name", "")}
    ]


def _used(files: Mapping[str, bytes], name: str) -> set[str]:
    """The names of a class or a function, and of those that it uses, directly or not."""
    defined = [one for _, text in texts(files) for one in nodes(text) if isinstance(one, DEFINITIONS)]
    names = {one.name: {each.id for each in ast.walk(one) if isinstance(each, ast.Name)} for one in defined}
    return {name} | reached(names, [name])


def ended_there(files: Mapping[str, bytes], ends: Collection[Frame]) -> dict[str, bytes]:
    """The files, with methods that say on these lines that they are not written yet; no line moves.

    What they return there is computed all the same.
    """
    changed = {**files}
    for file, text in texts(files):
        lines = text.encode().split(b"\n")
        for one in nodes(text):
            if isinstance(one, _ENDS) and Frame(file, one.lineno) in ends:
                if is_stand_in(one):
                    _stand_in(lines, one)
                else:
                    _say_so(lines, one)
                changed[file] = b"\n".join(lines)
    return changed


def _say_so(lines: list[bytes], last: ast.stmt) -> None:
    value = last.value if isinstance(last, ast.Return) else None
    assert last.end_lineno is not None
    first, end = lines[last.lineno - 1][: last.col_offset], lines[last.end_lineno - 1][last.end_col_offset :]
    if value is None:
        lines[last.lineno - 1] = first + b"raise NotImplementedError" + end
        return
    whole = lines[last.end_lineno - 1][: last.end_col_offset]
    lines[last.end_lineno - 1] = whole + b"); raise NotImplementedError" + end
    begun = lines[last.lineno - 1][last.col_offset :].removeprefix(b"return")
    lines[last.lineno - 1] = first + b"returned = (" + begun.lstrip()


def _stand_in(lines: list[bytes], made: ast.Assign) -> None:
    """Puts what says so when it is called in its place; no line moves."""
    value = made.value
    assert value.end_lineno is not None
    layer = _SAYS_SO if is_layer(value) else b"__import__('torch').nn.Sequential(%s)" % _SAYS_SO
    end = lines[value.end_lineno - 1][value.end_col_offset :]
    lines[value.lineno - 1] = lines[value.lineno - 1][: value.col_offset] + layer + end
    lines[value.lineno : value.end_lineno] = [b""] * (value.end_lineno - value.lineno)


def _methods(one: ast.ClassDef) -> list[ast.FunctionDef]:
    methods = (method for method in one.body if isinstance(method, ast.FunctionDef))
    return [method for method in methods if method.name != "__init__"]


def _early(node: ast.AST, to_do: Collection[int], below: Collection[int]) -> Iterator[tuple[str, int]]:
    """What may end early, by name and the line of its end.

    They are the methods of a class, its stand-ins that are used, and functions outside of classes. A comment
    on what is ``to_do`` may stand above a stand-in.
    """
    if isinstance(node, ast.ClassDef):
        methods = (one for one in _methods(node) if _is_early(node, one) or _is_left_open(one, to_do))
        yield from ((one.name, last_of(one).lineno) for one in methods)
        used = _used_by(node)
        yield from (("__init__", one.lineno) for name, one in stand_ins(node, below).items() if name in used)
    elif isinstance(node, ast.Module):
        functions = (one for one in node.body if isinstance(one, ast.FunctionDef))
        yield from ((one.name, last_of(one).lineno) for one in functions if _is_cut(one))


def throws_away(files: Mapping[str, bytes]) -> bool:
    """Does a method call something, use nothing of that, and return what it was given?"""
    methods = (one for _, text in texts(files) for one in nodes(text) if isinstance(one, ast.FunctionDef))
    for method in methods:
        *before, last = _written(method)
        given = last.value if isinstance(last, ast.Return) else None
        is_thrown_away = bool(before) and isinstance(before[-1], ast.Expr)
        if is_thrown_away and isinstance(given, ast.Name) and given.id in _given(method, before):
            return True
    return False


def _is_left_open(function: ast.FunctionDef, to_do: Collection[int]) -> bool:
    """Does a comment on what it returns say that there is more to do, or right before, if that calls nothing?

    What a comment asked for that was handed out may have been written below it.
    """
    last = function.body[-1]
    if not isinstance(last, ast.Return):
        return False
    before = max((one.end_lineno or 0 for one in function.body[:-1]), default=function.lineno)
    first = last.lineno if any(isinstance(one, ast.Call) for one in ast.walk(last)) else before + 1
    return any(first <= line <= (last.end_lineno or 0) for line in to_do)


def _is_cut(function: ast.FunctionDef) -> bool:
    last = last_of(function)
    return isinstance(last, ast.Pass) or stands_for_more(last) or gives_nothing(function)


def gives_nothing(function: ast.FunctionDef) -> bool:
    """Does it return nothing, whatever happens, or numbers that stand for others?"""
    last = _written(function)[-1]
    value = _as_made(function, last.value) if isinstance(last, ast.Return) else last
    if isinstance(value, ast.Call) and isinstance(last, ast.Return):
        return called(value) in _STAND_FOR_MORE
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _as_made(function: ast.FunctionDef, value: ast.expr | None) -> ast.expr | None:
    """What a variable is set to that is returned and nothing else; any other value itself."""
    if not isinstance(value, ast.Name):
        return value
    used = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == value.id]
    sets = [one.value for one in function.body if isinstance(one, ast.Assign) and one.targets == used[:1]]
    return sets[0] if len(used) == 2 and sets else value


def _is_early(one: ast.ClassDef, method: ast.FunctionDef) -> bool:
    last = last_of(method)
    if not isinstance(last, ast.Return) or gives_nothing(method):
        return _is_cut(method)
    written = _written(method)
    if len(written) < len(method.body):  # what stands behind the return is for later
        return True
    given = isinstance(last.value, ast.Name) and last.value.id in _given(method, written)
    if given and not _of_self(written, ast.Load):
        return True
    used, to_come = _used_by(one), stand_ins(one).keys()
    for_nothing = given and _makes_for_nothing(written)
    least = 1 if for_nothing or to_come - used else _UNUSED
    return (for_nothing or method.name == "forward") and len((_made(one) | to_come) - used) >= least


def _used_by(one: ast.ClassDef) -> set[str]:
    """The attributes that its methods read."""
    return {name for each in _methods(one) for name in _of_self(_written(each), ast.Load)}


def _given(method: ast.FunctionDef, written: list[ast.stmt]) -> set[str]:
    """The names that hold what it was given, up to its end: to bind one anew is to write something."""
    bound = {each.id for one in written for each in ast.walk(one) if _is_stored(each)}
    return {each.arg for each in method.args.args} - bound


def _makes_for_nothing(written: list[ast.stmt]) -> bool:
    """Is what is assigned right before the end read by nothing?"""
    if len(written) < 2 or not isinstance(written[-2], ast.Assign):
        return False
    made = {each.id for each in ast.walk(written[-2]) if _is_stored(each)}
    read = {each.id for each in ast.walk(written[-1]) if isinstance(each, ast.Name)}
    return bool(made) and not made & read


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def last_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    """The statement that it ends with, inside of loops and conditions, too."""
    last = _written(function)[-1]
    while isinstance(last, (ast.For, ast.While, ast.With, ast.If)):
        last = last.body[-1]
    return last


def _written(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """Its statements up to the first return or three dots: what stands behind those never runs."""
    ends = (at for at, one in enumerate(function.body) if isinstance(one, ast.Return) or stands_for_more(one))
    return function.body[: next(ends, len(function.body)) + 1]


def stands_for_more(statement: ast.stmt) -> bool:
    """Are these three dots, or a variable that is set to them?"""
    return isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)) and _is_dots(statement.value)


def _made(one: ast.ClassDef) -> set[str]:
    """The attributes that its methods set to objects of some class, such as layers and parameters."""
    methods = (each for each in one.body if isinstance(each, ast.FunctionDef))  # not those of classes in it
    assigned = [each for method in methods for each in ast.walk(method) if isinstance(each, ast.Assign)]
    return {name for each in assigned if _makes(each.value) for name in _of_self([each], ast.Store)}


def _makes(value: ast.expr) -> bool:
    made = (called(each) for each in ast.walk(value) if makes_object(each))
    return any("drop" not in name.lower() for name in made)  # which many do without


def _of_self(statements: list[ast.stmt], how: type[ast.expr_context]) -> set[str]:
    """The attributes of the object that are read or set in them."""
    return {name for each in statements for name in attributes(each, how)}


def _places(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.stmt) and stands_for_more(node):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        yield node.lineno, getattr(target, "id", "")
    if isinstance(node, (ast.Module, ast.FunctionDef)):
        yield from ((one.lineno, name) for name, one in variables_to_come(node).items())
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_placeholder(last := last_of(node)):
        yield last.lineno, node.name


def is_placeholder(last: ast.stmt) -> bool:
    if isinstance(last, ast.Raise):
        raised = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    return isinstance(last, ast.Pass) or (isinstance(last, ast.Return) and _is_dots(last.value))


def _is_dots(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is Ellipsis
