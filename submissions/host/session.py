"""Parent side: one submission in its process, as a few typed questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ...reference.model_sizes import AnySizes, ModelSizes, description
from ..errors import Frame, NotLoaded
from ..questions.answers import Habit, Inventory, Prepared, habits_in, inventory_in, prepared_in
from ..questions.pins import Pins
from ..questions.plain_passes import Passes, passes_in, student_error
from ..questions.size_limits import gradable
from ..reading.source import Source
from .conversation import Child
from .decoding import decode, reading
from .trace import Trace

LARGE = 2**14  # numbers in one image's tokens, beyond which a pass takes seconds
_NOTES = 1_000  # of statements that were left out: nobody reads more
_FULL_SIZE_BYTES = 2 << 30  # of a traced pass of a model that can only be built at ViT-B/16 size


@dataclass(frozen=True)
class Left:
    """A statement that was not executed, and why."""

    file: str
    line: int
    text: str
    reason: str


class Session:
    """Asks the child. Every method raises the SubmissionError that ended it, once and for all."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.is_script = False  # once it is inferred: is it run from top to bottom, for want of a model?
        self.left: tuple[Left, ...] = ()  # what was not executed, so far as is known

    def load(self, source: Source) -> None:
        """Executes the files; what was left out is in ``left``. Raises NotLoaded."""
        keys = {name: f"file.{number}" for number, name in enumerate(source.files)}
        tensors = {keys[name]: _as_tensor(content) for name, content in source.files.items()}
        reply = self._asked({"request": "load", "files": keys}, tensors)
        with reading():
            self.left = _left(reply)

    def infer(self, pins: Pins, small: ModelSizes | None = None) -> tuple[str, ...]:
        """Finds the model and how to build it; the answer is what had to be inferred. Raises NotLoaded.

        ``small`` are sizes to try, of an architecture that the child does not know. Without them a ViT is
        looked for, and where there is no model, the files are run as a script: see ``is_script``.
        """
        header = {
            "request": "infer",
            "model": pins.model,
            "arguments": dict(pins.arguments),
            "described": small and description(small),
        }
        reply = self._asked(header, {})
        with reading():
            self.is_script = bool(reply.get("script", False))
            self.left = _left(reply) if self.is_script else self.left
            return tuple(str(note) for note in reply["recipe"]["notes"])

    def _asked(self, header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Mapping[str, Any]:
        reply, _ = self.child.request(header, tensors)
        raise_loading_error(reply)
        return reply

    def sizes_for(self, sizes: AnySizes) -> AnySizes:
        """The nearest sizes that the model can be built at; the batch stays as asked.

        Raises Refused where a pass at them would be too large to look at.
        """
        return self.each_sizes_for([sizes])[0]

    def each_sizes_for(self, wanted: Sequence[AnySizes]) -> list[AnySizes]:
        """The same of several at once, in their order: a question takes longer than its answer."""
        return [gradable(*pair) for pair in zip(self._sizes_for(wanted, whole=False), wanted)]

    def whole_sizes_for(self, sizes: AnySizes) -> AnySizes:
        """The same with as many blocks as the code fixes; a pass through one of them is what is bounded."""
        (found,) = self._sizes_for([sizes], whole=True)
        gradable(replace(found, depth=1), replace(sizes, depth=1))  # only the process itself runs all of them
        return found

    def _sizes_for(self, wanted: Sequence[AnySizes], whole: bool) -> list[AnySizes]:
        header = {"request": "sizes", "wanted": [asdict(one) for one in wanted], "whole": whole}
        reply, _ = self.child.request(header)
        raise_building_error(reply)
        with reading():
            rows = [{name: int(value) for name, value in row.items()} for row in reply["sizes"]]
            return [type(one)(**row) for one, row in zip(wanted, rows, strict=True)]

    def parameter_count(self, sizes: ModelSizes) -> int:
        """How many numbers the model learns. Raises StudentCodeFailed where it could not be built."""
        reply, _ = self.child.request({"request": "parameters", "sizes": asdict(sizes)})
        raise_building_error(reply)
        with reading():
            return int(reply["count"])

    def trace(
        self,
        sizes: ModelSizes,
        seed: int,
        image: Tensor | None = None,
        *,
        fixed: Mapping[str, Tensor] | None = None,
        drawn: int | None = None,
        marks: Sequence[tuple[str, int]] = (),
    ) -> Trace:
        """One recorded pass in eval mode and float64; without an image, on shapes only.

        ``fixed`` sets parameters by name instead of drawing them; ``drawn`` is a seed of their own to draw
        them from, where nothing else shall be drawn anew. Raises StudentCodeFailed where the model
        could not even be built at these sizes; an exception in its forward pass is in the trace.
        """
        header = {
            "request": "trace",
            "sizes": asdict(sizes),
            "seed": seed,
            "drawn": drawn,
            "marks": [list(mark) for mark in marks],
            "dtype": "float64",
            "mode": "eval",
        }
        tensors = {f"set:{name}": one for name, one in (fixed or {}).items()}
        if image is not None:
            tensors["image"] = image
        large = sizes.embed_dim * sizes.tokens > LARGE
        reply, out = self.child.request(
            header, tensors, seconds=60 if large else None, body_limit=_FULL_SIZE_BYTES if large else None
        )
        raise_building_error(reply)
        return decode(reply, out)

    def forward(
        self,
        sizes: ModelSizes,
        seed: int,
        images: Sequence[Tensor],
        *,
        order: Sequence[int] | None = None,
        dtype: str = "float64",
        modes: Sequence[str] = (),
        channels_last: bool = False,
        wider: int = 0,
        backward: bool = False,
        switches: bool = False,
    ) -> Passes:
        """Plain passes over ``images`` (in ``order``), then a backward pass on the last if asked for.

        ``modes`` are "train", "eval" or "graph" (eval with gradients), one for each pass; eval where there
        are none. ``channels_last`` lays the same images out in memory as image files do; ``wider`` is how
        much is added to the width of the tokens, whether the heads divide it or not. With ``switches``, every
        argument of the forward pass that is off by default is on.

        Raises StudentCodeFailed where the model could not be built.
        """
        order = range(len(images)) if order is None else order
        header = {
            "request": "forward",
            "sizes": asdict(sizes),
            "seed": seed,
            "images": [f"image.{number}" for number in order],
            "dtype": dtype,
            "mode": modes[0] if modes else "eval",
            "modes": list(modes) or ["eval"] * len(order),
            "channels_last": channels_last,
            "wider": wider,
            "backward": backward,
            "switches": switches,
        }
        reply, out = self.child.request(header, {f"image.{number}": one for number, one in enumerate(images)})
        raise_building_error(reply)
        with reading():
            return passes_in(reply, out, len(order))

    def habits(self, sizes: ModelSizes, seed: int, image: Tensor) -> tuple[Habit, ...]:
        """What one pass in eval mode does beside computing, up to where it may raise an exception.

        Raises StudentCodeFailed where the model could not be built.
        """
        header = {"request": "habits", "sizes": asdict(sizes), "seed": seed}
        reply, _ = self.child.request(header, {"image": image})
        raise_building_error(reply)
        with reading():
            return habits_in(reply)

    def inventory(self, sizes: ModelSizes, seed: int) -> Inventory:
        """What a model holds when it is fresh. Raises StudentCodeFailed where it could not be built."""
        reply, _ = self.child.request({"request": "inventory", "sizes": asdict(sizes), "seed": seed})
        raise_building_error(reply)
        with reading():
            return inventory_in(reply)

    def prepare(self, side: int) -> Prepared | None:
        """What the student's preprocessing makes of the pictures of ``images``; None where there is none."""
        reply, out = self.child.request({"request": "prepare", "side": side})
        raise_building_error(reply)
        with reading():
            return prepared_in(reply, out)


def _left(reply: Mapping[str, Any]) -> tuple[Left, ...]:
    return tuple(
        Left(str(one["file"]), int(one["line"]), str(one["text"]), str(one["reason"]))
        for one in reply["skipped"][:_NOTES]
    )


def _as_tensor(content: bytes) -> Tensor:
    return (
        torch.frombuffer(bytearray(content), dtype=torch.uint8)
        if content
        else torch.empty(0, dtype=torch.uint8)
    )


def raise_loading_error(reply: Mapping[str, Any]) -> None:
    """Raises NotLoaded where the reply says why there is nothing to ask, or the student's code raised."""
    with reading():
        raised = student_error(reply)
        if raised is not None:
            raise NotLoaded(f"the code could not be executed: {raised}", next(iter(raised.frames), None))
        if reply["failure"] is not None:
            frame = reply["failure"]["frame"]
            raise NotLoaded(str(reply["failure"]["reason"]), frame and Frame(str(frame[0]), int(frame[1])))


def raise_building_error(reply: Mapping[str, Any]) -> None:
    """Raises StudentCodeFailed for an exception outside of the forward pass: only those come with a kind."""
    error = reply.get("error")
    with reading():
        failure = student_error(reply) if isinstance(error, dict) and "kind" in error else None
    if failure is not None:
        raise failure
