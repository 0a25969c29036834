"""Which sizes a model really follows: each is changed on its own, and the model is looked at again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch

from ....reference.model_sizes import AnySizes
from ....reference.sizes import Sizes
from .attended import attending, attends, counts_head_dim
from .build_attempt import BuildAttempt, Level
from .calls.blueprint import Assignment, Builder
from .probing import run
from .trial_sizes import fit

_TOLD_BY_OUTPUT = ("heads", "depth")  # where no shape tells them
_TURNED = {"heads": "head_dim", "head_dim": "heads"}  # of a product of both, either may be what is given


@dataclass(frozen=True)
class Controls:
    """The final assignment, and what it controls."""

    assignment: Assignment
    fields: frozenset[str]  # of Sizes, that the model follows
    fixed: dict[str, int]  # the others, and their values
    square_only: bool
    mlp_ratio: float | None  # where mlp_dim is embed_dim times this, whatever is asked for
    whole_mlp_ratio: bool  # where mlp_dim can only be a multiple of embed_dim
    headless: bool  # where features of width embed_dim come out, not class scores
    notes: tuple[str, ...]

    def with_derived(self, sizes: AnySizes) -> AnySizes:
        """Return ``sizes`` with what the model derives from ``embed_dim`` by itself."""
        if self.headless:
            sizes = type(sizes)(**{**vars(sizes), "classes": sizes.embed_dim})
        if self.mlp_ratio is not None:
            return replace(sizes, mlp_dim=int(sizes.embed_dim * self.mlp_ratio))
        if self.whole_mlp_ratio:
            return replace(sizes, mlp_dim=sizes.embed_dim * max(1, round(sizes.mlp_dim / sizes.embed_dim)))
        return sizes


def verify(builder: Builder, attempt: BuildAttempt) -> Controls:
    """Change each size on its own, and see whether the model follows it."""
    return _Verification(builder, attempt).controls()


class _Verification:
    def __init__(self, builder: Builder, base: BuildAttempt) -> None:
        self.builder = builder
        self.assignment = dict(base.assignment)
        turned = {
            slot: _TURNED[one]
            for slot, one in base.assignment.items()
            if isinstance(one, str) and one in _TURNED and (not slot.named or slot.is_letter)
        }
        if turned and counts_head_dim(builder, base):
            self.assignment |= turned
            base.assignment = dict(self.assignment)
        real = self._at_real_sizes(base)
        base.seen |= (attended := attending(builder, real))
        self.base = self._at_real_sizes(base) if attended else real
        self.base.seen |= attended
        self.sizes = self.base.sizes

    def _at_real_sizes(self, base: BuildAttempt) -> BuildAttempt:
        """Repeat the attempt at the sizes that the model has of its own, where it says them right."""
        own = {name: one for name, one in base.seen.items() if name not in {*base.claimed, "height", "width"}}
        if "embed_dim" in own:  # keeps the ratio, which may have to be whole
            own.setdefault("mlp_dim", base.sizes.mlp_dim * own["embed_dim"] // base.sizes.embed_dim)
        sizes = fit(base.sizes, own)
        if not base.claimed and sizes.input_shape == base.sizes.input_shape:
            return replace(base, sizes=sizes)  # the same model, which takes seconds where all is in its code
        real = run(self.builder, self.assignment, sizes) if own else base
        return real if real.level >= base.level else base

    def controls(self) -> Controls:
        whole = self._settle_ratio()
        together = self._seen_together()
        follows = {name for name in vars(self.sizes) if name in together or self._follows(name)}
        square = self._is_square(follows)
        follows |= {"height", "width"} if square else set()  # one of them may be named for both
        follows |= self._unknown()
        fixed = {name: self._value(name) for name in vars(self.sizes) if name not in follows}
        ratio = self._mlp_ratio() if "mlp_dim" in fixed and "embed_dim" in follows else None
        headless = fixed.get("classes") == self.sizes.embed_dim and "embed_dim" in follows
        derived = {"mlp_dim": ratio is not None, "classes": headless}
        fixed = {name: value for name, value in fixed.items() if not derived.get(name)}
        notes = tuple(self._notes(fixed, square, ratio, headless))
        return Controls(self.assignment, frozenset(follows), fixed, square, ratio, whole, headless, notes)

    def _unknown(self) -> set[str]:
        """What is asked for and seen nowhere, of code that does not come to use it: it may well follow."""
        return {"heads"} & {*self.base.claimed} - {*self.base.seen}

    def _is_square(self, follows: set[str]) -> bool:
        """Has an image to be as wide as high?"""
        name = next((one for one in ("width", "height") if one in follows), None)
        if name is None:
            return False
        # counted along a side, patches would be as oblong as the image
        return "patches_side" in self.assignment.values() or not self._works(**{name: self._other(name)})

    def _seen_together(self) -> set[str]:
        """Those that are seen to follow where all are changed at once, which tells most of most models."""
        changes = {name: self._other(name) for name in self.base.claimed}
        if {"embed_dim", "mlp_dim"} <= changes.keys():  # keeps the ratio, which may have to be whole
            changes["mlp_dim"] = changes["mlp_dim"] * changes["embed_dim"] // self.sizes.embed_dim
        if not changes:
            return set()
        changed = self._run(**changes)
        if changed.level < max(self.base.level, Level.RAN):
            return set()
        return {name for name, value in changes.items() if changed.seen.get(name) == value}

    def _follows(self, name: str) -> bool:
        if name == "batch":
            return all(self._works(batch=one) for one in (1, 3))
        claimed = name in self.base.claimed
        if name in self.sizes.lengths:  # first together: one of them alone asks for more
            free = self.base.level >= Level.RAN and (name not in self.base.seen or self._cuts_all)
            larger = self._run(**dict.fromkeys(self.sizes.lengths, self._other(name)))
            runs = larger.level >= self.base.level  # one that is cut up gives more rows
            return runs and (claimed or (free and self._reads_smaller()))
        changes = {name: self._other(name)}
        if name == "embed_dim":  # keeps the ratio, which may have to be whole
            changes["mlp_dim"] = self.sizes.mlp_dim * changes[name] // self.sizes.embed_dim
        return claimed and self._shows(self._run(**changes), name, changes[name])

    @cached_property
    def _cuts_all(self) -> bool:
        """Do as many tokens attend as its image has patches, whatever table of positions it keeps?"""
        return attends(self.builder, self.base)

    def _reads_smaller(self) -> bool:
        """Of a larger image, code that knows how many patches there are may read a part alone."""
        sizes = self.sizes
        return not isinstance(sizes, Sizes) or self._works(**dict.fromkeys(sizes.lengths, 2 * sizes.patch))

    def _shows(self, changed: BuildAttempt, name: str, value: int) -> bool:
        """Say whether ``changed`` got as far as the base, and differs from it as it should."""
        if changed.level < min(self.base.level, Level.RAN):
            return False
        if name in _TOLD_BY_OUTPUT and changed.shapes == self.base.shapes:  # depth: one block, over and over
            return changed.seen.get(name) == value or not self._same_output(changed.sizes)
        before = self.base.seen.get(name, 0)
        now = int(getattr(self.sizes, name))
        # one that stays as given says nothing; blocks kept as halves are twice as many; one may be left out
        stays = value if name in self.base.contradicted else before
        told = (value, stays, before * value / now, before + value - now)
        return changed.shapes != self.base.shapes and changed.seen.get(name, value) in told

    def _same_output(self, sizes: AnySizes) -> bool:
        """Does the same come out as at the base, of the same parameters? Not where nothing does."""
        drawn = (run(self.builder, self.assignment, at, draws=True) for at in (self.sizes, sizes))
        one, other = (attempt.output for attempt in drawn)
        if one is None or other is None or one.shape != other.shape:
            return False
        return torch.allclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True)

    def _other(self, name: str) -> int:
        """Return another value for a size, that fits all others."""
        now: int = getattr(self.sizes, name)
        if name in ("height", "width", "embed_dim"):
            return 2 * now
        if name == "patch":
            near = (now + 1, now - 1, 2 * now, now // 2)
            return next((one for one in near if one and self.sizes.height % one == 0), 1)
        if name == "heads":
            return now // 2 if now % 2 == 0 else 1
        return now + (self.sizes.embed_dim if name == "mlp_dim" else 1)

    def _run(self, **changes: int) -> BuildAttempt:
        return run(self.builder, self.assignment, replace(self.sizes, **changes))

    def _works(self, **changes: int) -> bool:
        return self._run(**changes).level >= min(self.base.level, Level.RAN)

    def _settle_ratio(self) -> bool:
        """Say whether the MLP ratio must be a whole number, and see to it that it is."""
        ratios = [slot for slot, choice in self.assignment.items() if choice == "mlp_ratio"]
        half = self.sizes.mlp_dim + self.sizes.embed_dim // 2
        if not ratios or self._shows(self._run(mlp_dim=half), "mlp_dim", half):
            return False
        self.assignment |= dict.fromkeys(ratios, "mlp_ratio_whole")
        return True

    def _value(self, name: str) -> int:
        own = int(getattr(self.sizes, name))
        if name in self.sizes.lengths and self._runs_here_alone:
            return own
        return self.base.seen.get(name) or own

    @cached_property
    def _runs_here_alone(self) -> bool:
        """Does it run on its image, and not on one of the size that its tables seem to be for?"""
        seen = {name: self.base.seen[name] for name in self.sizes.lengths if name in self.base.seen}
        return bool(seen) and self.base.level >= Level.RAN and not self._works(**seen)

    def _mlp_ratio(self) -> float | None:
        """Return what ``mlp_dim`` is of ``embed_dim``, if it follows that."""
        wide = self._run(embed_dim=self._other("embed_dim"))
        width = self.base.seen.get("mlp_dim", self.sizes.embed_dim)  # not to be seen where both are equal
        wider = wide.seen.get("mlp_dim", wide.sizes.embed_dim)
        return wider / wide.sizes.embed_dim if wider != width else None

    def _notes(self, fixed: dict[str, int], square: bool, ratio: float | None, headless: bool) -> list[str]:
        notes = [
            f"`{name}` is ignored: the model always has {value}"
            for name, value in fixed.items()
            if name in self.base.claimed
        ]
        if "mlp_dim" in self.base.claimed and ratio is not None:
            notes.append(f"`mlp_dim` is ignored: it is always {ratio:g} times `embed_dim`")
        if headless:
            notes.append("there is no classification head: the model returns features of width `embed_dim`")
        if "heads" in fixed and "heads" not in self.base.seen:
            notes.append(f"number of heads unknown, assumed {fixed['heads']}")
        if square:
            notes.append("non-square images raise an error")
        if "batch" in fixed:
            notes.append(f"a batch of {fixed['batch']} works, but not both a batch of 1 and one of 3")
        return notes
