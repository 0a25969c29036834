"""Parent side: one submission in its process, as a few typed questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from ..reference.sizes import Sizes
from .conversation import Child
from .errors import Frame, NotLoaded, Refused, StudentCodeFailed
from .recipe import Pins
from .source import Source
from .trace import Trace, decode

_FULL_SIZE_BYTES = 4 << 30  # of a traced pass of a model that can only be built at ViT-B/16 size


@dataclass(frozen=True)
class Left:
    """A statement that was not executed, and why."""

    file: str
    line: int
    text: str
    reason: str


@dataclass(frozen=True)
class Pass:
    """One plain forward pass."""

    outputs: tuple[tuple[str, str, tuple[int, ...]], ...]  # path, dtype, shape
    tensors: tuple[Tensor, ...]
    image_after: Tensor
    random_state_kept: bool


@dataclass(frozen=True)
class Passes:
    """Several plain passes on one model, and what they left behind."""

    passes: tuple[Pass, ...]
    changed: tuple[str, ...]  # names of tensors of the model whose values changed
    created: tuple[str, ...]  # names of tensors that were not there before
    mode_kept: bool
    gradients: Mapping[str, Mapping[str, Any]]  # by parameter: exists, finite, largest
    error: StudentCodeFailed | None


class Session:
    """Asks the child. Every method raises the SubmissionError that ended it, once and for all."""

    def __init__(self, child: Child) -> None:
        self._child = child

    def load(self, source: Source) -> tuple[Left, ...]:
        """Executes the files; the answer is what was left out. Raises NotLoaded."""
        keys = {name: f"file.{number}" for number, name in enumerate(source.files)}
        tensors = {keys[name]: _as_tensor(content) for name, content in source.files.items()}
        reply = self._asked({"request": "load", "files": keys}, tensors)
        return tuple(
            Left(str(one["file"]), int(one["line"]), str(one["text"]), str(one["reason"]))
            for one in reply["skipped"]
        )

    def infer(self, pins: Pins) -> Mapping[str, Any]:
        """Finds the model and how to build it; answers as Recipe.describe does. Raises NotLoaded."""
        header = {"request": "infer", "model": pins.model, "arguments": dict(pins.arguments)}
        recipe: Mapping[str, Any] = self._asked(header, {})["recipe"]
        return recipe

    def _asked(self, header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Mapping[str, Any]:
        reply, _ = self._child.request(header, tensors)
        failure = _student_error(reply)
        if failure is not None:
            raise NotLoaded(f"the code could not be executed: {failure}", next(iter(failure.frames), None))
        if reply["failure"] is not None:
            frame = reply["failure"]["frame"]
            raise NotLoaded(str(reply["failure"]["reason"]), frame and Frame(str(frame[0]), int(frame[1])))
        return reply

    def sizes_for(self, sizes: Sizes) -> Sizes:
        """The nearest sizes that the model can be built at; the batch stays as asked."""
        reply, _ = self._child.request({"request": "sizes", "sizes": asdict(sizes)})
        try:
            return Sizes(**{name: int(value) for name, value in reply["sizes"].items()})
        except (KeyError, TypeError, ValueError) as error:
            raise Refused(f"the reply of the submission's process makes no sense ({error})") from None

    def trace(
        self,
        sizes: Sizes,
        seed: int,
        image: Tensor | None = None,
        *,
        fixed: Mapping[str, Tensor] | None = None,
        marks: Sequence[tuple[str, int]] = (),
        dtype: str = "float64",
        mode: str = "eval",
    ) -> Trace:
        """One recorded pass; without an image, on shapes only.

        ``fixed`` sets parameters by name instead of drawing them. Raises StudentCodeFailed where the model
        could not even be built at these sizes; an exception in its forward pass is in the trace.
        """
        header = {
            "request": "trace",
            "sizes": asdict(sizes),
            "seed": seed,
            "marks": [list(mark) for mark in marks],
            "dtype": dtype,
            "mode": mode,
        }
        tensors = {f"set:{name}": one for name, one in (fixed or {}).items()}
        if image is not None:
            tensors["image"] = image
        large = sizes.embed_dim * sizes.tokens > 2**14
        reply, out = self._child.request(
            header, tensors, seconds=60 if large else None, body_limit=_FULL_SIZE_BYTES if large else None
        )
        failure = _building_error(reply)
        if failure is not None:
            raise failure
        return decode(reply, out)

    def forward(
        self,
        sizes: Sizes,
        seed: int,
        images: Sequence[Tensor],
        *,
        order: Sequence[int] | None = None,
        dtype: str = "float64",
        mode: str = "eval",
        backward: bool = False,
    ) -> Passes:
        """Plain passes over ``images`` (in ``order``), then a backward pass on the last if asked for.

        Raises StudentCodeFailed where the model could not be built.
        """
        header = {
            "request": "forward",
            "sizes": asdict(sizes),
            "seed": seed,
            "images": [f"image.{number}" for number in (range(len(images)) if order is None else order)],
            "dtype": dtype,
            "mode": mode,
            "backward": backward,
        }
        reply, out = self._child.request(
            header, {f"image.{number}": one for number, one in enumerate(images)}
        )
        failure = _building_error(reply)
        if failure is not None:
            raise failure
        return _passes(reply, out)


def _as_tensor(content: bytes) -> Tensor:
    return (
        torch.frombuffer(bytearray(content), dtype=torch.uint8)
        if content
        else torch.empty(0, dtype=torch.uint8)
    )


def _student_error(reply: Mapping[str, Any]) -> StudentCodeFailed | None:
    error = reply.get("error")
    if not isinstance(error, dict):
        return None
    frames = tuple(Frame(str(file), int(line)) for file, line in error["frames"])
    return StudentCodeFailed(str(error["type"]), str(error["message"]), frames)


def _building_error(reply: Mapping[str, Any]) -> StudentCodeFailed | None:
    """An exception outside of the forward pass, whose own errors come without a kind."""
    error = reply.get("error")
    return _student_error(reply) if isinstance(error, dict) and "kind" in error else None


def _passes(reply: Mapping[str, Any], out: Mapping[str, Tensor]) -> Passes:
    try:
        passes = tuple(
            Pass(
                outputs=tuple((str(path), str(dtype), tuple(shape)) for path, dtype, shape in one["outputs"]),
                tensors=tuple(out[f"out.{number}.{position}"] for position in range(len(one["outputs"]))),
                image_after=out[f"image.{number}"],
                random_state_kept=bool(one["random_state_kept"]),
            )
            for number, one in enumerate(reply["passes"])
        )
        return Passes(
            passes,
            tuple(str(name) for name in reply["changed"]),
            tuple(str(name) for name in reply["created"]),
            bool(reply["mode_kept"]),
            reply["gradients"],
            _student_error(reply),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise Refused(f"the reply of the submission's process makes no sense ({error})") from None
