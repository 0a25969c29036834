"""Wrong programs, proven wrong by measurement; what is wrong is known by construction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from .drawing import Below
from .marking import spans
from .mistakes import MISTAKES, ORDERS, Mistake
from .mutating import Candidate, Mutated, both, candidates, changed_tree, drawn, mutated
from .oracle import Step
from .program import Program
from .proving import DOUBLE, KEPT_SINGLE, Run, changed, computed, given, instrumented, quietly, run, scores

_ORDER = [f"S{number:02}" for number in range(2, 27)]
_TRIES = 40  # slips of one program until one is wrong: most of those drawn are, and most of them raise


@dataclass(frozen=True)
class Wrong:
    """A wrong program."""

    program: Program  # the right one
    source: str
    slips: tuple[Mutated, ...]
    differs: str  # raises | scores | probabilities | gradients | training | second pass
    after: str  # the last stage that is as in the right program ("" where none is)
    stage: str  # the first one looked at that is not; the mistake is at it, or at one between both
    mistakes: tuple[
        Mistake, ...
    ]  # those of the catalogue whose equations give these scores; any of them is true

    @property
    def kind(self) -> str:
        return self.mistakes[0].kind if self.mistakes else "error"

    def files(self) -> dict[str, bytes]:
        return self.program.files(self.source)


def wrong_program(program: Program, below: Below, count: int = 1) -> Wrong | None:
    """The program with ``count`` slips, each of them wrong; None where those drawn were not.

    Most slips raise: of the programs, one in six does.
    """
    right, found = _Measured(program), candidates(program.source)
    raising = count == 1 and below(6) == 5
    one_by_one = (one for one in _found(right, found, below) if (one.differs == "raises") == raising)
    first = next(one_by_one, None)
    if count == 1:
        return first
    for second in one_by_one:
        if first is not None and (joined := _joined(right, first, second)):
            return joined
    return None


def _found(right: _Measured, slips: Mapping[str, list[Candidate]], below: Below) -> Iterator[Wrong]:
    for _ in range(_TRIES):
        candidate = drawn(slips, below)
        slip = mutated(right.program.source, candidate)
        if slip is not None and (found := right.judged(slip.source, (slip,))):
            yield found


def _joined(right: _Measured, first: Wrong, second: Wrong) -> Wrong | None:
    slips = (*first.slips, *second.slips)
    text = both(slips[0], slips[1], right.program.source)
    found = right.judged(text, slips) if text else None
    if found is None:
        return None
    one = min((first, second), key=lambda each: (each.stage or "S99", each.after))
    return Wrong(
        found.program,
        found.source,
        slips,
        found.differs,
        one.after,
        one.stage,
        (*first.mistakes, *second.mistakes),
    )


class _Measured:
    """What the right program computes, to compare with."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.tolerance = KEPT_SINGLE if program.facts.rounds else DOUBLE
        self.run = run(program, instrumented(program.source, program.spans))
        self.scores = scores(self.run.output, program.facts)
        self.stages = _first_seen(self.run)

    def judged(self, source: str, slips: tuple[Mutated, ...]) -> Wrong | None:
        """What is wrong of it; None where nothing is."""
        try:
            tree, marks = changed_tree(
                self.program.source, spans(self.program.text), tuple(one.candidate for one in slips)
            )
            done = run(self.program, changed(tree, marks))
            got = scores(done.output, self.program.facts)
            differs = self._differs(done, got)
        except Exception:  # a student's code may raise anything
            return Wrong(self.program, source, slips, "raises", "", "", ())
        if not differs:
            return None
        after, stage = self._stage(done) if differs in ("scores", "probabilities") else ("", "")
        mistakes = self._mistakes(got) if differs == "scores" else ()
        if not mistakes and stage in ("S02", "S03") and self._is_reordered(done):
            return None
        return Wrong(self.program, source, slips, differs, after, stage, mistakes)

    def _differs(self, done: Run, got: Tensor) -> str:
        if not self._same(got, self.scores):
            return "scores"
        if not self._same(_first_seen(done).get("S26"), self.stages.get("S26")):
            return "probabilities"
        for name, measure in (("second pass", _again), ("training", _training), ("gradients", _gradients)):
            if not self._same(measure(self.program, done.model), measure(self.program, self.run.model)):
                return name
        return ""

    def _same(self, one: object, other: object) -> bool:
        if not isinstance(one, Tensor) or not isinstance(other, Tensor):
            return type(one) is type(other)
        if one.shape != other.shape:
            return False
        return bool(torch.allclose(one.double(), other.double(), rtol=self.tolerance, atol=self.tolerance))

    def _stage(self, done: Run) -> tuple[str, str]:
        """The last stage that is the same, and the first that is not."""
        seen, after = _first_seen(done), ""
        for stage in (one for one in _ORDER if one in self.stages):
            if not self._same(seen.get(stage), self.stages[stage]):
                return after, stage
            after = stage
        return after, "S25"

    def _is_reordered(self, done: Run) -> bool:
        """Has every patch the same numbers in another order? Then only the order of weights differs."""
        seen = _first_seen(done)
        pairs = [(seen.get(one), self.stages.get(one)) for one in ("S02", "S03")]
        patches = [[_sorted_patches(one) for one in pair] for pair in pairs]
        return all(self._same(one, other) for one, other in patches)

    def _mistakes(self, got: Tensor) -> tuple[Mistake, ...]:
        found = [one for one in MISTAKES if self._gives(got, {one.step: one.wrong})]
        if not found and any(self._gives(got, order) for order in ORDERS):
            found = [Mistake("qkv-order-swapped", "S09", "", next(iter(ORDERS[0].values())), "layout")]
        return tuple(found)

    def _gives(self, got: Tensor, wrong: Mapping[str, Step]) -> bool:
        try:
            return self._same(computed(self.program, self.run.model, torch.float64, wrong), got)
        except Exception:  # the mistake does not fit this model: positions multiplied where there are none
            return False


def _first_seen(done: Run) -> dict[str, object]:
    """Each stage when it was first computed; S21 is block 2's output."""
    found: dict[str, object] = {}
    for stage, value in done.seen:
        if stage == "S20" and "S20" in found:
            found.setdefault("S21", value)
        found.setdefault(stage, value)
    return found


def _sorted_patches(value: object) -> object:
    return value.flatten(2).sort(-1).values if isinstance(value, Tensor) and value.ndim > 2 else value


def _again(program: Program, model: nn.Module) -> Tensor:
    torch.manual_seed(0)  # what a function drops in train mode is drawn alike
    with quietly(), torch.no_grad():
        return scores(model(given(program.facts.part, torch.float64)), program.facts)


def _training(program: Program, model: nn.Module) -> Tensor:
    """The scores in train mode, with no number dropped: where dropout stands is free."""
    kinds = ((nn.Dropout, "p"), (nn.MultiheadAttention, "dropout"))
    dropping = [(one, name) for one in model.modules() for kind, name in kinds if isinstance(one, kind)]
    rates = [getattr(one, name) for one, name in dropping]
    for one, name in dropping:
        setattr(one, name, 0.0)
    model.train()
    try:
        return _again(program, model)
    finally:
        model.eval()
        for (one, name), rate in zip(dropping, rates):
            setattr(one, name, rate)


def _gradients(program: Program, model: nn.Module) -> Tensor:
    """The length of every weight's gradient, by name: in which order layers are made is free."""
    model.zero_grad()
    with quietly(), torch.enable_grad():
        out = scores(model(given(program.facts.part, torch.float64)), program.facts)
        if out.requires_grad:
            out.square().sum().backward()  # type: ignore[no-untyped-call]  # torch types it no better
    sizes = [
        torch.zeros(()) if one.grad is None else one.grad.norm()
        for _, one in sorted(model.named_parameters())
    ]
    return torch.stack([one.double() for one in sizes]) if sizes else torch.zeros(0)
