"""What an argument means by what changes where it alone is changed: of a model's shapes, or of its pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from ....questions.meanings import fields_of
from ...tracing.shapes_alone import ShapesAlone
from ..calls.blueprint import BlueprintSlot

_CHANNELS, _SIDE = 3, 8  # where no layer shows how many there are, or patches beside each other
_USUAL_HEADS = 12  # of the models that are published most, at most
_AXES_OF_A_KERNEL = 4  # of a convolution, or of what maps patches without flattening them
_TABLES = 2  # of tokens: no more kinds of tensors have a row for each, as each block has of its weights
_MOST_HEADS = 16  # a larger number of the student's that shapes no tensor is more likely a side of the image
_Shape = tuple[int, ...]


@dataclass(frozen=True)
class Look:
    """The shapes of all tensors that a model holds, and the sizes that can be read off it.

    ``sides`` are numbers that it was given, of which one may be the image's.
    """

    model: nn.Module
    shapes: Mapping[str, _Shape]
    sizes: Mapping[str, int]
    sides: Sequence[int] = ()

    @property
    def shows_side(self) -> bool:
        """Can a side of the image be read off it, or was one given?"""
        return "height" in self.sizes or bool(self.sides)

    @cached_property
    def calls(self) -> int | None:
        """How many modules a pass calls, each as often as it is used; None where no pass can be run."""
        side, patch = self.sizes.get("height"), self.sizes.get("patch", 1)
        given = (one for one in self.sides if one > patch and one % patch == 0)
        sides = [side] if side else [_SIDE * patch, *given]
        return next((calls for one in sides if (calls := self._calls(one)) is not None), None)

    def _calls(self, side: int) -> int | None:
        """Of an image of that side."""
        called: list[nn.Module] = []
        channels = self.sizes.get("channels", _CHANNELS)
        hook = register_module_forward_hook(lambda module, *_: called.append(module))
        try:
            with ShapesAlone(), torch.no_grad():
                self.model(torch.zeros(2, channels, side, side))
        except (Exception, SystemExit):
            return None
        finally:
            hook.remove()
        return len(called)


def told(
    before: Look, after: Look, slot: BlueprintSlot, now: float, factor: float, named: Set[str]
) -> Iterator[str]:
    """What the slot may mean, of which ``now`` was given before, and ``factor`` times that after.

    What shapes nothing, or how many tensors there are, is none of the sizes that are ``named``.
    """
    if before.shapes.keys() != after.shapes.keys():  # more blocks, or more heads, which are smaller then
        kept = before.shapes.keys() & after.shapes.keys()
        changed = [pair for name in kept for pair in zip(before.shapes[name], after.shapes[name])]
        if any(one != other and (other < one) == (factor > 1) for one, other in changed):
            yield "heads"  # each of which is smaller, the more there are
            return
        alike = all(one == other for one, other in changed)
        deeper = alike or before.sizes.get("depth") != after.sizes.get("depth")
        likely = ("depth", "heads") if deeper else ("heads", "depth")
        yield from (one for one in likely if one not in named)  # else it is a count of something else
    elif before.shapes == after.shapes:
        calls = before.calls, after.calls
        if calls[0] != calls[1]:  # one block is used again and again, or a layer for each head
            yield from ("depth", "heads")
            if None not in calls:
                return
        yield from (one for one in _unseen(before, slot, now) if not {*fields_of(one)} & named)
    elif _is_split(before.shapes, after.shapes, now, factor):
        yield "heads"
    elif _is_stacked(before.shapes, after.shapes, now, factor):
        yield "depth"
    elif _scaled(before, after, "embed_dim", factor):
        yield from _of_width(before.sizes.get("embed_dim", 0), slot, now)
    elif _scaled(before, after, "mlp_dim", factor):
        yield "mlp_dim" if after.sizes["mlp_dim"] == now * factor else "mlp_ratio"
    else:
        if _is_read(before, after):
            yield "embed_dim"  # a layer behind the last block reads so many
        yield from _inside(before, after, now)
        yield from _ends(before.shapes, after.shapes, now, factor) or _of_a_table(before, after, factor)


def _of_width(width: int, slot: BlueprintSlot, now: float) -> tuple[str, ...]:
    """The width itself, or one of the two numbers whose product it is, of which heads are mostly fewer."""
    if width == now or width % now:
        return ("embed_dim",)
    given = slot.own.value if slot.own and isinstance(slot.own.value, (int, float)) else now
    of_heads = ("heads", "head_dim") if given <= _USUAL_HEADS else ("head_dim", "heads")
    return *of_heads, "embed_dim"


def _scaled(before: Look, after: Look, size: str, factor: float) -> bool:
    was = before.sizes.get(size) or before.sizes.get("embed_dim")  # an MLP as wide as the tokens is not seen
    return was is not None and after.sizes.get(size) == factor * was


def _changed(before: Mapping[str, _Shape], after: Mapping[str, _Shape]) -> list[tuple[_Shape, _Shape]]:
    """The shapes before and after of all tensors in which they differ."""
    return [(one, after[name]) for name, one in before.items() if one != after[name]]


def _is_split(before: Mapping[str, _Shape], after: Mapping[str, _Shape], now: float, factor: float) -> bool:
    """Do all tensors that change have an axis for it, and beside it one that shrinks where that grows?"""
    changed = _changed(before, after)
    sides = [{(one, other) for one, other in zip(*pair) if one != other} for pair in changed]
    own = (now, now * factor)
    return all(
        own in pairs and any((other < one) == (factor > 1) for one, other in pairs - {own}) for pairs in sides
    )


def _is_stacked(before: Mapping[str, _Shape], after: Mapping[str, _Shape], now: float, factor: float) -> bool:
    """Do tensors of several kinds have so many rows, each of which belongs to one block?"""
    changed = _changed(before, after)
    rows = [one[1:] for one, other in changed if (one[:1], other[:1]) == ((now,), (now * factor,))]
    within = all(one[1:] == other[1:] for one, other in changed)
    return within and len({*rows}) > _TABLES


def _is_read(before: Look, after: Look) -> bool:
    """Is all that changes how many features, as many as a token has, a matrix reads?"""
    changed = _changed(before.shapes, after.shapes)
    width = before.sizes.get("embed_dim")
    return all(len(one) == 2 and one[0] == other[0] and one[1] == width for one, other in changed)


def _inside(before: Look, after: Look, now: float) -> tuple[str, ...]:
    """Of what changes in several blocks alone: an MLP, where matrices lead to it and back, else a head.

    Blocks are numbered: positions of rows and of columns are two tables, too.
    """
    numbered = {name: one for name, one in before.shapes.items() if any(map(str.isdigit, name))}
    changed = Counter(one for name, one in numbered.items() if one != after.shapes[name])
    depth = before.sizes.get("depth", 1)  # of blocks that are kept as halves twice as many
    if depth < 2 or min(changed.values(), default=0) < max(2, depth // 2):
        return ()
    matrices = {one for one in changed if len(one) == 2 and now in one}
    is_mlp = any(one[0] != one[1] and one[::-1] in matrices for one in matrices)
    return ("mlp_dim", "head_dim") if is_mlp else ("head_dim", "mlp_dim")


def _unseen(before: Look, slot: BlueprintSlot, now: float) -> Iterator[str]:
    """What shapes no tensor: heads, which divide the width, or an image without a table of positions."""
    if now > 1:
        heads = before.sizes.get("embed_dim", 1) % now == 0
        given = slot.own.value if slot.own and isinstance(slot.own.value, (int, float)) else now
        of_heads = "heads", "head_dim"
        every = (*of_heads, "image") if given <= _MOST_HEADS else ("image", *of_heads)
        yield from every if heads else ("image",)


def _ends(before: Mapping[str, _Shape], after: Mapping[str, _Shape], now: float, factor: float) -> list[str]:
    """What shapes the embedding or the head alone."""
    changed = _changed(before, after)
    grown = [[(one, other) for one, other in zip(old, new) if one != other] for old, new in changed]
    sides = [pair for pairs in grown for pair in pairs]
    kernels = [pairs for (old, _), pairs in zip(changed, grown) if len(old) == _AXES_OF_A_KERNEL]
    own = now, now * factor
    found = []
    if [own, own] in kernels or any(one % now**2 == 0 and other == one * factor**2 for one, other in sides):
        found.append("patch")
    if [own] in kernels:  # wherever its axis stands
        found.append("channels")
    return found + [meaning for one, other in sides for meaning in _side(one, other, now, factor)]


def _of_a_table(before: Look, after: Look, factor: float) -> tuple[str, ...]:
    """An image, or a side of it where rows grow as it does, if only a table or a map of tokens changes."""
    changed = _changed(before.shapes, after.shapes)
    width = before.sizes.get("embed_dim")
    grown = [[(old, new) for old, new in zip(one, other) if old != new] for one, other in changed]
    rows = [len(one) == len(other) > 1 and one[-1] == other[-1] == width for one, other in changed]
    maps = [width in one and len(sides) == 2 for (one, _), sides in zip(changed, grown)]  # both sides of each
    if not all(row or map_ for row, map_ in zip(rows, maps)):
        return ()
    of_side = any(new - token == factor * (old - token) for ((old, new), *_) in grown for token in (0, 1))
    return ("height", "width", "image") if of_side and not any(maps) else ("image",)


def _side(one: int, other: int, now: float, factor: float) -> Iterator[str]:
    for token in (0, 1):  # of the class token, beside those of the patches
        side = isqrt(max(one - token, 0))
        if side * side == one - token and other - token == (side * factor) ** 2 and now % max(side, 1) == 0:
            yield "patches_side" if side == now else "image"
    if (one, other) == (now + 1, now * factor + 1):
        yield "patches"
    if (one, other) == (now, now * factor):
        yield from ("classes", "tokens")
    elif one % now == 0 and isqrt(int(one // now)) ** 2 == one // now and other == one * factor:
        yield "channels"
