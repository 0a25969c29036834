"""A student's Python as text and as a tree: the one place where bytes are decoded and text is parsed.

Whatever it is given, it answers or says NotPythonError, and takes time in proportion to what it is given.
"""

from __future__ import annotations

import ast
import codecs
import functools
import io
import symtable
import tokenize
import warnings
from collections.abc import Iterator

from .saying_so import saying_so

# what parsing, compiling and walking raise on code that nobody has written by hand
ABSURD = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMMENT = 2_000  # characters of one that an expression sees; long ones hold data
_COOKIE_BYTES = 1000  # of the first two lines, in which an encoding is declared
# with what some encodings take for something else
_PLAIN = rb"\u0041 \x41 +AEE- ~{ %%x" + bytes(range(32, 91))
_NO_TEXT = "(code that is nested too deeply to be shown)"


class NotPythonError(ValueError):
    """A text cannot be parsed; ``line`` counts from 1, and the message says why.

    The part of the line that cannot be read begins at ``column``, from 1, where that is known.
    """

    def __init__(self, error: BaseException) -> None:
        told = error if isinstance(error, SyntaxError) else SyntaxError(str(error))
        self.line = told.lineno or 1
        self.column = told.offset if told.offset and told.offset > 0 else None
        end = told.end_offset if told.end_lineno == told.lineno else None
        self.width = max((end or 0) - (self.column or 0), 1)
        super().__init__(told.msg or type(error).__name__)


def decode(content: bytes) -> str:
    """Return the text of a source file with Unix line ends; bytes that make no sense are replaced.

    An encoding that it declares counts if Python could read code in it: of those that change plain letters,
    or are no text at all, such as ``hex``, the bytes are read as UTF-8.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        encoding = _declared(content)
    return content.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")


def _declared(content: bytes) -> str:
    beginning = io.BytesIO(b"".join(one[:_COOKIE_BYTES] for one in content[: 1 << 16].splitlines(True)[:2]))
    try:
        encoding, _ = tokenize.detect_encoding(beginning.readline)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that are none
            is_plain = _PLAIN.decode(encoding, "replace") == _PLAIN.decode("ascii")
    except (SyntaxError, LookupError, ValueError):  # no such encoding, or one of bytes into bytes
        return "utf-8"
    return encoding if is_plain else "utf-8"


def parse(text: str, file: str = "<unknown>") -> ast.Module:
    """Return the tree, in which what is not written yet says so with NotImplementedError.

    Raises NotPythonError.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like
            return saying_so(ast.parse(text, file))
    except ABSURD as error:
        raise NotPythonError(error) from None


@functools.lru_cache(maxsize=16)  # each question about a submission reads the same few files
def tree(text: str) -> ast.Module | None:
    """Return the tree of ``text``, which nobody may change; None where it cannot be parsed.

    In it the object of a method is ``self``, whatever it is called there, and a class has its name.
    """
    try:
        return with_self(parse(text))
    except NotPythonError:
        return None


def with_self(module: ast.Module) -> ast.Module:
    """Have methods call the object that they are called of as most people do, and a class by its name."""
    classes = (one for one in ast.walk(module) if isinstance(one, ast.ClassDef))
    methods = [(kind, one) for kind in classes for one in kind.body if isinstance(one, ast.FunctionDef)]
    for kind, method in methods:
        decorators = {one.id for one in method.decorator_list if isinstance(one, ast.Name)}
        first = next(iter([*method.args.posonlyargs, *method.args.args]), None)
        if first is None or "staticmethod" in decorators:
            continue
        own, known = first.arg, kind.name if "classmethod" in decorators else "self"
        first.arg = "cls" if "classmethod" in decorators else "self"
        for node in ast.walk(method) if own != known else ():
            if isinstance(node, ast.Name) and node.id == own:
                node.id = known
    return module


def nodes(text: str) -> Iterator[ast.AST]:
    """Yield every node of ``text``; none where it cannot be parsed."""
    yield from ast.walk(tree(text) or ast.Module([], []))


def lines_of(statement: ast.stmt) -> range:
    """Return its lines, counted from 1, those of its decorators included."""
    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])
    return range(first, (statement.end_lineno or statement.lineno) + 1)


def written(node: ast.AST) -> str:
    """Return the code of a part of a tree, in one way of writing it."""
    try:
        return ast.unparse(node)
    except ABSURD:  # it goes down level by level, which the parser does not
        return _NO_TEXT


def names_bound(statement: ast.stmt) -> set[str]:
    """The names that it binds, or changes what they stand for; of ``from m import *`` the star."""
    if isinstance(statement, DEFINITIONS):
        return {statement.name}
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            names.add(base_name(node))
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, DEFINITIONS):
            names.add(node.name)
    return names


def names_read(node: ast.AST) -> set[str]:
    """The names that are read in it."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def names_unbound(node: ast.AST) -> set[str]:
    """The names that are read in it and not bound there; of what does not compile all that are read."""
    try:
        return {*_unbound(symtable.symtable(written(node), "", "exec"))}
    except ABSURD:
        return names_read(node)


def _unbound(table: symtable.SymbolTable) -> Iterator[str]:
    is_outermost = table.get_type() == "module"
    read = (one for one in table.get_symbols() if one.is_referenced())
    yield from (one.get_name() for one in read if is_outermost or one.is_global())
    for inner in table.get_children():
        yield from _unbound(inner)


def base_name(node: ast.expr) -> str:
    """``cfg`` of ``cfg.sizes["patch"]``; nothing where it begins with no name."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each comment; of text that is no Python, those that stand before the mistake."""
    try:
        for token in _tokens(text):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string[:_COMMENT]
    except (tokenize.TokenError, *ABSURD):
        return


def is_complete(text: str) -> bool:
    """Tell whether a statement may begin after ``text``: no bracket, string or backslash is open."""
    try:
        for _ in _tokens(text + "\n"):
            pass
    except tokenize.TokenError:
        return False
    except ABSURD:
        return True
    return not text.endswith("\\")


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text).readline)


def imports(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield name and level of each module that an import may mean; ``from a import b`` may mean ``a.b``."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, 0) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        name = node.module or ""
        yield name, node.level
        yield from (((name + "." + alias.name).lstrip("."), node.level) for alias in node.names)
