"""What a student's code asks of the program that it runs in: mostly honest, and for a person to look at."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import Frame
from .code import parsed

_ANYWHERE = (  # whoever asks for these hardly wants to compute
    "sys._getframe",
    "sys.settrace",
    "sys.setprofile",
    "sys.modules",
    "inspect.stack",
    "inspect.currentframe",
    "ctypes",
    "torch.utils._python_dispatch",
    "torch.overrides",
    "torch._C",
)
# Outside of models these are everyday: training is timed, devices are chosen, memory is freed.
_IN_MODELS = ("sys", "inspect", "gc", "time", "datetime", "os.environ", "os.getenv", "traceback")
_MOST = 20  # that a person is shown of one submission
_DEEPEST = 3  # attributes in what is asked for, as in torch.utils._python_dispatch
_NOTEBOOKS = ("google.colab", "ipykernel", "IPython")  # looked for among the modules, to know where one is


@dataclass(frozen=True)
class EnvironmentAccess:
    """Something outside of the model that its code asks for, such as ``sys.modules``."""

    what: str
    frame: Frame


def questions(files: Mapping[str, bytes]) -> list[EnvironmentAccess]:
    """Each thing that is asked for, once in a file, at its first line; the first few of them."""
    found: dict[tuple[str, str], EnvironmentAccess] = {}
    for file, tree in parsed(files):
        names, passed_over = _imported(tree), _lines_about_notebooks(tree)
        for node, in_model in _nodes(tree):
            what = _dotted(node, names)
            if what and node.lineno not in passed_over and _is_unusual(what, in_model):
                frame = Frame(file, node.lineno)
                found.setdefault((file, what), EnvironmentAccess(what, frame))
    return sorted(found.values(), key=lambda one: (one.frame.file, one.frame.line))[:_MOST]


def _nodes(tree: ast.Module) -> Iterator[tuple[ast.expr, bool]]:
    """Every name and attribute, and whether it stands in a class with a forward pass.

    Without recursion: code may be nested more deeply than this process can follow.
    """
    todo: list[tuple[ast.AST, bool]] = [(tree, False)]
    while todo:
        node, in_model = todo.pop()
        if isinstance(node, (ast.Attribute, ast.Name)):
            yield node, in_model
        inside = in_model or (isinstance(node, ast.ClassDef) and _has_forward(node))
        todo += [(child, inside) for child in ast.iter_child_nodes(node)]


def _has_forward(node: ast.ClassDef) -> bool:
    return any(isinstance(one, ast.FunctionDef) and one.name == "forward" for one in node.body)


def _imported(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for: ``{"perf_counter": "time.perf_counter"}``."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                names[alias.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return names


def _dotted(node: ast.expr, names: Mapping[str, str]) -> str:
    """``sys.modules`` of an attribute of a module, or of a name that was imported from one.

    Of more attributes nothing is made; the inner ones are looked at by themselves.
    """
    attributes: list[str] = []
    while isinstance(node, ast.Attribute) and len(attributes) < _DEEPEST:
        attributes.append(node.attr)
        node = node.value
    module = names.get(node.id) if isinstance(node, ast.Name) else None
    return ".".join((module, *reversed(attributes))) if module else ""


def _is_unusual(what: str, in_model: bool) -> bool:
    asked = (*_ANYWHERE, *_IN_MODELS) if in_model else _ANYWHERE
    return any(what.startswith(f"{one}.") or (what == one and "." in one) for one in asked)


def _lines_about_notebooks(tree: ast.Module) -> set[int]:
    """Where code asks whether it runs in a notebook, as ``"google.colab" in sys.modules`` does."""
    texts = (one for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return {one.lineno for one in texts if str(one.value).startswith(_NOTEBOOKS)}
