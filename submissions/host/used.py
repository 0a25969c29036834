"""Parent side: one model in every way in which models are used, as ``uses`` and ``slopes`` answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ..errors import StudentCodeFailed
from ..questions.plain_passes import student_error
from ..questions.pooled import Pooled
from .decoding import decode, reading
from .session import LARGE, Session, raise_building_error
from .trace import Trace

_SECONDS = 60  # for models that can only be built at the size of ViT-B/16: a pass takes one of them


@dataclass(frozen=True)
class Use:
    """What came out of one use, or why nothing did."""

    outputs: tuple[tuple[str, str], ...]  # path, dtype
    tensors: tuple[Tensor, ...]
    error: StudentCodeFailed | None


@dataclass(frozen=True)
class Slopes:
    """One direction in which all parameters move: what gradients say of the scores, and what they do."""

    gradients: Mapping[str, float]  # by parameter, the largest; 0 where there is none
    claimed: float
    measured: float
    spread: float  # how large a slope of these parts is, whatever their signs
    error: StudentCodeFailed | None


@dataclass(frozen=True)
class WidePass:
    """A pass with weights that ``drawn`` gives by name, and ``held``, which are no parameters.

    ``trace`` holds the shapes of a recorded one, and ``made`` by the number of its record the memory of what
    is computed from weights alone.
    """

    trace: Trace
    tensors: tuple[Tensor, ...]
    drawn: Mapping[str, Pooled]
    held: Mapping[str, Tensor]
    made: Mapping[int, Tensor]
    error: StudentCodeFailed | None


def uses_of(
    session: Session, sizes: ModelSizes, seed: int, images: Mapping[str, Tensor], *, few: bool
) -> dict[str, Use]:
    """Every use by name, or a few, with the weights of that seed; each of ``images`` is a use of its own.

    Raises StudentCodeFailed where the model could not be built.
    """
    reply, out = _asked(session, "uses", sizes, seed, images, {"few": few})
    with reading():
        return {str(name): _use(str(name), row, out) for name, row in reply["uses"].items()}


def _use(name: str, row: Mapping[str, Any], out: Mapping[str, Tensor]) -> Use:
    outputs = tuple((str(path), str(dtype)) for path, dtype in row["outputs"])
    tensors = tuple(out[f"{name}.{number}"] for number in range(len(outputs)))
    return Use(outputs, tensors, student_error(row))


def slopes_of(session: Session, sizes: ModelSizes, seed: int, image: Tensor, *, measured: bool) -> Slopes:
    """Of the whole model, with all of its blocks. Raises StudentCodeFailed where it could not be built."""
    more = {"whole": True, "measured": measured}
    reply, _ = _asked(session, "slopes", sizes, seed, {"image": image}, more)
    with reading():
        return Slopes(
            gradients={str(name): float(size) for name, size in reply["parameters"]},
            claimed=float(reply["claimed"]),
            measured=float(reply["measured"]),
            spread=float(reply["spread"]),
            error=student_error(reply),
        )


def wide_pass(session: Session, sizes: ModelSizes, seed: int, image: Tensor) -> WidePass:
    """One plain pass in float32, and its operations. Raises StudentCodeFailed where it could not be built."""
    reply, out = _asked(session, "wide", sizes, seed, {"image": image})
    with reading():
        return WidePass(
            decode(reply["trace"], {}),
            tuple(out[f"out.{number}"] for number in range(int(reply["outputs"]))),
            {str(name): Pooled(float(a), float(b)) for name, (a, b) in reply["drawn"].items()},
            _named("held:", out),
            {int(number): one for number, one in _named("made:", out).items()},
            student_error(reply),
        )


def _named(kind: str, out: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(kind): one for name, one in out.items() if name.startswith(kind)}


def _asked(
    session: Session,
    request: str,
    sizes: ModelSizes,
    seed: int,
    images: Mapping[str, Tensor],
    more: Mapping[str, object] | None = None,
) -> tuple[Mapping[str, Any], Mapping[str, Tensor]]:
    header = {"request": request, "sizes": asdict(sizes), "seed": seed, **(more or {})}
    large = sizes.embed_dim * sizes.tokens > LARGE
    reply, out = session.child.request(header, images, seconds=_SECONDS if large else None)
    raise_building_error(reply)
    return reply, out
