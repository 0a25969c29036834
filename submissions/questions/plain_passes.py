"""Parent side: what plain passes gave, and what they left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ..errors import Frame, StudentCodeFailed


@dataclass(frozen=True)
class Gradient:
    """What a backward pass gave one parameter; ``largest`` is a magnitude, 0 where there is none."""

    asked: bool  # is it a parameter that requires one?
    exists: bool
    finite: bool
    largest: float
    idle: float  # share of rows in which it is 0 everywhere


@dataclass(frozen=True)
class Pass:
    """One plain forward pass."""

    outputs: tuple[tuple[str, str], ...]  # path, dtype
    tensors: tuple[Tensor, ...]  # float64, whatever they were
    image_after: Tensor
    random_state_kept: bool
    random_state: str  # after it; equal where it is the same
    mode_kept: bool


@dataclass(frozen=True)
class Passes:
    """Several plain passes on one model, and what they left behind."""

    passes: tuple[Pass, ...]
    changed: tuple[str, ...]  # names of tensors of the model whose values changed
    created: tuple[str, ...]  # names of tensors that were not there before
    gradients: Mapping[str, Gradient]  # by parameter
    graphs_kept: tuple[int, ...]  # tensors with their graph that the model holds after each backward pass
    error: StudentCodeFailed | None


def passes_in(reply: Mapping[str, Any], out: Mapping[str, Tensor], count: int) -> Passes:
    """As many passes as were asked for, unless one raised. Raises ValueError, KeyError or TypeError."""
    passes = tuple(
        Pass(
            outputs=tuple((str(path), str(dtype)) for path, dtype in one["outputs"]),
            tensors=tuple(out[f"out.{number}.{at}"].double() for at in range(len(one["outputs"]))),
            image_after=out[f"image.{number}"],
            random_state_kept=bool(one["random_state_kept"]),
            random_state=str(one["random_state"]),
            mode_kept=bool(one["mode_kept"]),
        )
        for number, one in enumerate(reply["passes"])
    )
    error = student_error(reply)
    if error is None and len(passes) != count:
        raise ValueError(f"{len(passes)} passes instead of {count}")
    return Passes(
        passes,
        tuple(str(name) for name in reply["changed"]),
        tuple(str(name) for name in reply["created"]),
        {str(name): _gradient(one) for name, one in reply["gradients"].items()},
        tuple(int(one) for one in reply["graphs_kept"]),
        error,
    )


def _gradient(row: Mapping[str, Any]) -> Gradient:
    return Gradient(
        bool(row["asked"]),
        bool(row["exists"]),
        bool(row["finite"]),
        float(row["largest"]),
        float(row["idle"]),
    )


def student_error(reply: Mapping[str, Any]) -> StudentCodeFailed | None:
    """The exception of the student's code that a reply tells of."""
    error = reply.get("error")
    if not isinstance(error, dict):
        return None
    frames = tuple(Frame(str(file), int(line)) for file, line in error["frames"])
    return StudentCodeFailed(str(error["type"]), str(error["message"]), frames)
