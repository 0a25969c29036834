"""Runs a program at small size, and proves it right: its weights, in the equations, give its scores."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from . import oracle
from .facts import Facts
from .marking import Span, marked_nodes
from .program import SMALL, Program

BATCH = 2
Tap: TypeAlias = Callable[[str, Any], Any]
# what rounding makes of logits of size one: 1e-13 was seen in double precision and 3e-6 in single; a constant
# that a program keeps in single precision rounds at 6e-8
DOUBLE, KEPT_SINGLE, SINGLE = 1e-10, 1e-5, 2e-4


@dataclass
class Run:
    """What one program computes: each stage at each time that it was computed, in order, and the result."""

    model: nn.Module
    seen: list[tuple[str, object]] = field(default_factory=list)
    output: object = None


def instrumented(source: str, where: tuple[Span, ...]) -> ast.Module:
    """The tree of a source in which sizes are small and every marked stage is told to ``__tap__``."""
    tree = ast.parse(source)
    changes: dict[ast.expr, list[str]] = {}
    for span, node in marked_nodes(tree, source, where):
        changes.setdefault(node, []).append(span.label)
    return changed(tree, changes)


def changed(tree: ast.Module, marks: Mapping[ast.expr, list[str]]) -> ast.Module:
    """The tree with its marked nodes replaced, in place."""
    for parent in list(ast.walk(tree)):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, list):
                value[:] = [_tapped(one, marks) for one in value]
            elif isinstance(value, ast.expr):
                setattr(parent, name, _tapped(value, marks))
    return ast.fix_missing_locations(tree)


def _tapped(node: Any, marks: Mapping[ast.expr, list[str]]) -> Any:
    for label in marks.get(node, ()) if isinstance(node, ast.expr) else ():
        if label.startswith("#"):
            if isinstance(node, ast.Constant) and label[1:] in SMALL:
                node.value = SMALL[label[1:]]
        else:
            called = ast.Call(ast.Name("__tap__", ast.Load()), [ast.Constant(label), node], [])
            node = ast.copy_location(called, node)
    return node


def executed(tree: ast.Module, seen: list[tuple[str, object]]) -> dict[str, Any]:
    """The namespace of a program after it ran, as a module that is imported."""
    module = ModuleType("generated_program")
    sys.modules[module.__name__] = module  # data classes look there
    vars(module)["__tap__"] = lambda label, value: _told(seen, label, value)
    with quietly():
        exec(compile(tree, "<generated>", "exec", dont_inherit=True), vars(module))
    return vars(module)


def _told(seen: list[tuple[str, object]], label: str, value: Any) -> Any:
    stages = label.split(",")
    if len(stages) == 1:
        seen.append((label, _kept(value)))
        return value
    values = tuple(value)
    seen.extend((stage, _kept(one)) for stage, one in zip(stages, values))
    return values


def _kept(value: object) -> object:
    return value.detach().clone() if isinstance(value, Tensor) else value


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Without what students print, the arguments of this process, or the library's advice."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        arguments, sys.argv = sys.argv, ["vit.py"]
        hook, sys.breakpointhook = sys.breakpointhook, lambda *_, **__: None
        try:
            yield
        finally:
            sys.argv, sys.breakpointhook = arguments, hook


def randomise(model: nn.Module, seed: int = 0) -> None:
    """Weights by name and shape, large enough that no mistake hides behind zeros and ones."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not parameter.requires_grad:
                continue  # fixed positions
            generator = torch.Generator().manual_seed(zlib.crc32(f"{seed} {name}".encode()))
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            if parameter.ndim == 1:
                parameter.copy_(0.3 * noise + (parameter.detach().to(torch.float64).mean() > 0.9).double())
            else:
                parameter.copy_(noise / max(parameter.shape[-1], 4) ** 0.5)


def given(part: str, dtype: torch.dtype) -> Tensor:
    """What a model or part reads."""
    shape = (
        (SMALL["channels"], SMALL["image"], SMALL["image"])
        if part in ("model", "embedding")
        else (10, SMALL["dim"])
    )
    return torch.randn(BATCH, *shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64).to(
        dtype
    )


def run(
    program: Program, tree: ast.Module, dtype: torch.dtype = torch.float64, tap: Tap | None = None
) -> Run:
    """Build the program at small size with weights of its own, and let it compute.

    ``tap`` is given each stage and its value then, and gives the value with which the program goes on.
    """
    seen: list[tuple[str, object]] = []
    namespace = executed(tree, seen)
    with quietly():
        model = eval(_small(program.entry), namespace)
        randomise(model)
        model = model.to(dtype).eval()
        seen.clear()
        if tap is not None:
            namespace["__tap__"] = tap
        with torch.no_grad():  # as a student looks at it
            output = model(given(program.facts.part, dtype))
    return Run(model, seen, output)


def _small(entry: str) -> str:
    """The expression with small sizes."""
    from .marking import plain, spans

    bare = plain(entry)
    return ast.unparse(instrumented(bare, spans(entry)))


def scores(output: object, facts: Facts) -> Tensor:
    """Pick the scores out of what is returned."""
    found = eval(facts.logits.format(out="out"), {"out": output})
    assert isinstance(found, Tensor)
    return found


def weights_of(program: Program, model: nn.Module) -> oracle.Weights:
    """The program's own weights, by role."""

    def of(role: str, number: int) -> Tensor | None:
        for key in (f"block.{role}", role):
            if key in program.weights:
                known = {
                    "self": model,
                    "i": number,
                    "torch": torch,
                    "P": SMALL["patch"],
                    "C": SMALL["channels"],
                }
                found: Tensor | None = eval(program.weights[key], known)
                return found
        return None

    return oracle.Weights(of)


def computed(
    program: Program,
    model: nn.Module,
    dtype: torch.dtype,
    wrong: Mapping[str, oracle.Step] = MappingProxyType({}),
) -> Tensor:
    """What the equations give for these weights, with some steps replaced by wrong ones."""
    weights, steps = weights_of(program, model), {**oracle.RIGHT, **wrong}
    state = oracle.State(weights, program.facts, SMALL["patch"], SMALL["heads"], SMALL["depth"], steps)
    with torch.no_grad():
        return oracle.result(state, given(program.facts.part, dtype))


def distances(program: Program) -> tuple[float, float]:
    """How far the program's scores lie from the equations', in double and in single precision."""
    found = []
    for dtype in (torch.float64, torch.float32):
        done = run(program, instrumented(program.source, program.spans), dtype)
        got, wanted = scores(done.output, program.facts), computed(program, done.model, dtype)
        if got.shape != wanted.shape:
            raise AssertionError(
                f"the scores are {tuple(got.shape)}, and the equations give {tuple(wanted.shape)}"
            )
        found.append((got.double() - wanted.double()).abs().max().item())
    return found[0], found[1]


def proven(program: Program) -> bool:
    """Does the program compute what the equations do?"""
    double, single = distances(program)
    return double < (KEPT_SINGLE if program.facts.rounds else DOUBLE) and single < SINGLE
