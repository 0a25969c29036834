"""Parent side: one submission in its process, as a few typed questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ...reference.model_sizes import AnySizes, ModelSizes, description
from ..errors import NotLoaded, StudentCodeFailed
from ..questions.building import CountParameters, FitSizes, TakeOwnSizes, TryOwnPass
from ..questions.loading import Infer, Load, Replace, Skipped
from ..questions.own_functions import CallOwnFunctions, OwnFunctions
from ..questions.pins import Pins
from ..questions.question import A, OfSubject, Question
from ..questions.recording import Cure, RecordPass
from ..questions.size_limits import gradable
from ..questions.uses import RunWide, Wide
from ..reading.source import Source
from .begun import is_begun
from .conversation import Child
from .decoding import decode
from .replies import answer_in, contradictions_refused
from .trace import Trace

_NOTES = 1_000  # of statements that were left out: nobody reads more


class Session:
    """Asks the child. Every method raises the SubmissionError that ended it, once and for all.

    ``about`` are the fields of ``OfSubject`` that say what is asked about, if it is not the model.
    """

    def __init__(self, child: Child, about: Mapping[str, Any] | None = None) -> None:
        self.child = child
        self._about = about or {}
        self.is_script = False  # once it is inferred: is it run from top to bottom, for want of a model?
        self.channels_last = False  # likewise: does its forward read images as B H W C?
        self.left: tuple[Skipped, ...] = ()  # what was not executed, so far as is known

    def ask(self, question: Question[A]) -> A:
        """The answer. Raises StudentCodeFailed where the student's code failed before there was one."""
        about = self._about if isinstance(question, OfSubject) else {}
        reply = self.child.request(
            {**vars(question), **about, "request": question.name},
            doing=question.doing,
            is_large=question.is_large,
            body_limit=question.large_bytes if question.is_large else None,
        )
        return answer_in(question, reply)

    def load(self, source: Source, passed_on: bool = False) -> None:
        """Executes the files; what was left out is in ``left``. Raises NotLoaded.

        What is not written yet gives back what it is given where it is ``passed_on``.
        """
        with not_executed():
            self.left = self.ask(Load(files=_as_tensors(source.files), passed_on=passed_on))[:_NOTES]

    def replace(self, source: Source) -> None:
        """Executes other files, and builds the model as that of the first. Raises NotLoaded."""
        with not_executed():
            self.ask(Replace(files=_as_tensors(source.files)))

    def infer(self, pins: Pins, small: ModelSizes | None = None) -> tuple[str, ...]:
        """Finds the model and how to build it; the answer is what had to be inferred. Raises NotLoaded.

        ``small`` are sizes to try, of an architecture that the child does not know. Without them a ViT is
        looked for, and where there is no model, the files are run as a script: see ``is_script``.
        """
        described = None if small is None else description(small)
        with not_executed():
            found = self.ask(Infer(model=pins.model, arguments=pins.arguments, described=described))
        self.is_script, self.channels_last = found.script, found.channels_last
        self.left = found.skipped[:_NOTES] if found.script else self.left
        return found.notes

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
        rows = self.ask(FitSizes(wanted=wanted, whole=whole))
        with contradictions_refused():
            return [type(one)(**row) for one, row in zip(wanted, rows)]

    def parameter_count(self, sizes: ModelSizes) -> int:
        """How many numbers the model learns. Raises StudentCodeFailed where it could not be built."""
        return self.ask(CountParameters(sizes=sizes))

    def own_sizes(self, sizes: ModelSizes) -> Mapping[str, int]:
        """What ``TakeOwnSizes`` asks for: what the model is where it is given only what it demands."""
        return self.ask(TakeOwnSizes(sizes=sizes))

    def own_pass(self, sizes: ModelSizes) -> bool:
        """What ``TryOwnPass`` asks for. Raises StudentCodeFailed where the model does not run."""
        return self.ask(TryOwnPass(sizes=sizes))

    def trace(
        self,
        sizes: ModelSizes,
        seed: int,
        image: Tensor | None = None,
        *,
        fixed: Mapping[str, Tensor] | None = None,
        drawn: int | None = None,
        marks: Sequence[tuple[str, int]] = (),
        cures: Sequence[Cure] = (),
    ) -> Trace:
        """What ``RecordPass`` asks for.

        Raises StudentCodeFailed where the model could not even be built at these sizes; an exception in its
        forward pass is in the trace.
        """
        asked = RecordPass(
            sizes=sizes, seed=seed, image=image, fixed=fixed or {}, drawn=drawn, marks=marks, cures=cures
        )
        trace = decode(self.ask(asked))
        if self._about:  # of a part, which gives what it gives in any shape
            return replace(trace, begun=trace.error is None and not trace.outputs)
        return replace(trace, begun=is_begun(trace, sizes, self.is_script))

    def wide(self, sizes: ModelSizes, seed: int, image: Tensor) -> Wide[Trace]:
        """One plain pass in float32. Raises StudentCodeFailed where the model could not be built."""
        found = self.ask(RunWide(sizes=sizes, seed=seed, image=image))
        return Wide(**{**vars(found), "trace": decode(found.trace)})

    def own_functions(self, side: int, classes: int) -> OwnFunctions:
        """What ``CallOwnFunctions`` asks for."""
        return self.ask(CallOwnFunctions(side=side, classes=classes))


@contextmanager
def not_executed() -> Iterator[None]:
    """Where code that raises stops all that follows: it is NotLoaded, as a whole."""
    try:
        yield
    except StudentCodeFailed as raised:
        raise NotLoaded(f"the code could not be executed: {raised}", raised.frame) from None


def _as_tensors(files: Mapping[str, bytes]) -> dict[str, Tensor]:
    return {name: _as_tensor(content) for name, content in files.items()}


def _as_tensor(content: bytes) -> Tensor:
    buffer = bytearray(content or b"\n")  # which must not be empty
    return torch.frombuffer(buffer, dtype=torch.uint8)[: len(content)]
