"""What can be said of a student's code without running it, and how its files are named."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from ..errors import Frame, NotLoaded
from .python_text import NotPythonError, comments, decode, is_complete, nodes, parse, tree, written

STUDENT_PREFIX = "<submission>/"  # before a relative path: the file name that student code is compiled under

_CELL = re.compile(r"(?P<notebook>.+\.ipynb)\[(?P<number>\d+)\]")
_MAGIC = re.compile(
    r"\s*(?:%{1,2}\w|!|\?{1,2}\s*\w"  # %matplotlib inline, !pip install, ?help
    r"|[\w.]+\?{1,2}\s*$|[\w, ]+=\s*[!%]\w"  # help?, files = !ls
    r"|(?:pip3?|conda|mamba|cd|ls|cat|cp|mv|rm|mkdir|matplotlib|load_ext)\s+(?!in\b|is\b|not\b|and\b|or\b|if\b)"
    r"[\w./~-]*\w)"  # pip install einops: IPython knows its own commands without a sign
)
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_PYTHON_CELLS = {"capture", "prun", "time", "timeit", "writefile"}  # cell magics whose body is Python
_PRINTS = {"print", "pprint", "pp"}
_NEW_TENSOR = {
    "permute", "transpose", "view", "reshape", "flatten", "squeeze", "unsqueeze", "expand", "repeat",
    "contiguous", "softmax", "masked_fill", "clone",
}  # fmt: skip

_LABEL = r"S?0*([1-9]\d?)\b"
_MARK = re.compile(
    r"#+\s*breakpoints?\b\W*(?:(?:at|for|stage|step)\b\W*)*(?P<labels>S0*[1-9]\d?\b.*)", re.IGNORECASE
)
_HEADING = re.compile(r"#+\s*S0*([1-9]\d?)\b", re.IGNORECASE)
_FIRST = re.compile(_LABEL, re.IGNORECASE)
_NEXT = re.compile(  # a bare number counts only right after its separator: "S09-11", not "S01 - 3 channels"
    r"(?:\s*(?:[=:(-]\s*)?[qkv]\)?(?=\s*[,/&+]))?"  # S09 (q), S10 (k)
    rf"(?P<sep>[-\u2013/,&+](?=\d)|\s*(?:(?:[-\u2013/,&+]|\.\.+|\bto\b|\band\b)\s*)?(?=S)){_LABEL}",
    re.IGNORECASE,
)
_RANGES = {"-", "\u2013", "..", "...", "to"}
_LINE = 2_000  # characters of a line that an expression sees; long ones hold data
_MARKS = 2_000  # a program has 26, or as many in each of its cells
_INSIDE = 200  # lines like magics inside of strings or brackets; after so many, no more are looked for


@dataclass(frozen=True)
class Magic:
    """A line that only IPython understands; ``line`` counts from 1."""

    line: int
    text: str


@dataclass(frozen=True)
class Mark:
    """A comment such as ``# BREAKPOINT S09``: the student says that stage ``label`` lives here."""

    label: str  # always as "S09"
    file: str
    line: int


def cell_file(notebook: str, number: int) -> str:
    """Name the file of a code cell, where ``number`` counts all cells from 1: ``"vit.ipynb[3]"``."""
    return f"{notebook}[{number}]"


def module_file(file: str) -> str | None:
    """Name the module that ``file`` is executed in: a cell's notebook, a ``.py`` file itself, else None."""
    if cell := _CELL.fullmatch(file):
        return cell["notebook"]
    return file if file.endswith(".py") else None


def cell_number(file: str) -> int:
    """Return where a cell stands in its notebook; 0 for any other file."""
    cell = _CELL.fullmatch(file)
    return int(cell["number"]) if cell else 0


def clean(text: str) -> tuple[str, list[Magic]]:
    """Return ``text`` as plain Python, and what was taken out of it: no line moves.

    A line magic or shell command becomes ``pass``; a cell of another language (``%%bash``) becomes blank.
    Text that already is Python is returned as it is.
    """
    if tree(text) is not None:
        return text, []
    lines = text.split("\n")
    cell = _CELL_MAGIC.match(text)
    if cell and cell[1] not in _PYTHON_CELLS:
        number = text[: cell.start(1)].count("\n") + 1
        return "\n" * (len(lines) - 1), [Magic(number, lines[number - 1].strip())]
    magics, start, inside = [], 0, 0
    for index, line in enumerate(lines):
        if inside == _INSIDE or not _MAGIC.match(line, 0, _LINE):
            continue
        if not is_complete("\n".join(map(str.lstrip, lines[start:index]))):
            inside += 1
            continue
        magics.append(Magic(index + 1, line.strip()))
        _blank(lines, index)
        start = index  # where nothing is open: what stands before need not be read again
    return "\n".join(lines), magics


def _blank(lines: list[str], index: int) -> None:
    """Put ``pass`` for a magic, which may be the only line of an ``if``, and blank its continuation lines."""
    continued = lines[index].endswith("\\")
    lines[index] = lines[index][: len(lines[index]) - len(lines[index].lstrip())] + "pass"
    while continued and index + 1 < len(lines):
        index += 1
        continued = lines[index].endswith("\\")
        lines[index] = ""


def marks(files: Mapping[str, bytes]) -> list[Mark]:
    """List the ``# BREAKPOINT`` comments in the order of the code, one mark a label, as far as they are few.

    Case does not matter; ``S9``, ``S09:``, ``S09, S10``, ``S09/S10`` and ``S09-S11`` are understood.
    """
    found = (
        Mark(label, file, line)
        for file, text in texts(files)
        for line, comment in comments(text)
        for label in _labels(comment)
    )
    return list(islice(found, _MARKS))


def headings(files: Mapping[str, bytes]) -> list[Mark]:
    """List the plain comments that begin with a label, such as ``# S12 attention scores``."""
    return [
        Mark(f"S{int(found[1]):02}", file, line)
        for file, text in texts(files)
        for line, comment in comments(text)
        if (found := _HEADING.match(comment))
    ]


def _labels(comment: str) -> list[str]:
    mark = _MARK.match(comment)
    return labels_at(mark["labels"]) if mark else []


def labels_at(text: str) -> list[str]:
    """List the labels that ``text`` begins with, such as "S09" to "S11" in ``S09-S11`` or ``S9/10/11``."""
    match = _FIRST.match(text)
    numbers: list[int] = []
    while match:
        number = int(match[match.lastindex or 1])
        is_range = numbers and match.groupdict().get("sep", "").strip().lower() in _RANGES
        numbers += range(numbers[-1] + 1, number) if is_range else ()
        numbers.append(number)
        match = _NEXT.match(text, match.end())
    return [f"S{number:02}" for number in dict.fromkeys(numbers)]


def prints(files: Mapping[str, bytes]) -> list[Frame]:
    """List where ``print`` or ``pprint`` is called, or ``print`` is given another name."""
    found = [
        Frame(file, node.lineno)
        for file, text in texts(files)
        for node in nodes(text)
        if isinstance(node, (ast.expr, ast.stmt)) and _prints(node)
    ]
    return list(dict.fromkeys(found))


def _prints(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=function):
            return _called(function) in _PRINTS
        case ast.Assign(value=ast.Name("print")) | ast.NamedExpr(value=ast.Name("print")):
            return True
        case ast.ImportFrom(names=names):
            return any(one.name in _PRINTS and one.asname for one in names)
    return False


def _called(function: ast.expr) -> str:
    """Return ``print`` of ``print(…)``, ``pprint`` of ``pprint.pprint(…)``, nothing of ``self.print(…)``."""
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.attr if function.value.id in ("pprint", "builtins", "rich") else ""
    return function.id if isinstance(function, ast.Name) else ""


def discarded(files: Mapping[str, bytes]) -> Iterator[tuple[Frame, str]]:
    """Calls of methods that give a new tensor, such as ``x.permute(…)``, whose result is not kept."""
    for file, text in texts(files):
        for node in nodes(text):
            call = node.value if isinstance(node, ast.Expr) else None
            method = call.func if isinstance(call, ast.Call) else None
            if isinstance(method, ast.Attribute) and method.attr in _NEW_TENSOR:
                yield Frame(file, method.lineno), f"{written(method)}(…)"


def imports(files: Mapping[str, bytes]) -> dict[str, Frame]:
    """Map the top-level name of each absolute import, such as ``"torchvision"``, to its first place."""
    found: dict[str, Frame] = {}
    for file, text in texts(files):
        for node in nodes(text):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            else:
                continue
            for name in names:
                found.setdefault(name.partition(".")[0], Frame(file, node.lineno))
    return found


def demand_python(files: Mapping[str, bytes]) -> None:
    """Raise NotLoaded for the first syntax error, where every file of code has one."""
    code = [(file, text) for file, text in texts(files) if text.strip()]
    if code and all(tree(text) is None for _, text in code):
        file, text = code[0]
        try:
            parse(text)
        except NotPythonError as error:
            raise syntax_error(file, error) from None


def syntax_error(file: str, error: NotPythonError) -> NotLoaded:
    """What is said of a file that cannot be parsed."""
    part = None if error.column is None else (error.column, error.width)
    return NotLoaded(f"syntax error: {error}", Frame(file, error.line), part)


def parsed(files: Mapping[str, bytes]) -> Iterator[tuple[str, ast.Module]]:
    """Yield file name and syntax tree of each source file that is Python."""
    for file, text in texts(files):
        if (found := tree(text)) is not None:
            yield file, found


def parsed_file(files: Mapping[str, bytes], file: str) -> ast.Module | None:
    """The syntax tree of one source file; None where there is none, or it is no Python."""
    return dict(parsed({file: files[file]} if file in files else {})).get(file)


def texts(files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield file name and plain Python of each source file."""
    for file, content in files.items():
        if module_file(file):
            yield file, clean(decode(content))[0]
