"""What an argument may be given, by its name, its annotation and its default; and all arguments together."""

from __future__ import annotations

import heapq
import inspect
import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from .....reference.model_sizes import ModelSizes
from .....reference.sizes import Sizes
from ....questions.meanings import fields_of
from ..calls.blueprint import Assignment, BlueprintSlot, Choice, Literal
from ..calls.parameter_names import meanings

_EMPTY = inspect.Parameter.empty
PAIRS = {"image": "image_pair", "patch": "patch_pair", "patches": "patches_pair", "heads": "heads_list"}
_SHAPES = {"image": ("image_chw", "image_hwc", "image_bchw")}  # what code unpacks into three, or into four
MOST_TRIES = 64  # ways to give all of them a value
_IMAGES = "image", "image_pair", "height"
_COUNTS = "patches", "patches_side", "patches_pair", "tokens"  # beside an image they tell the patch
_SAID_ONCE = "mlp_dim", "depth", "heads", "channels"
_WIDTH = 64  # of one further layer, where a list of widths is asked for
_MOST_COUNTED = 48  # heads or blocks: ViT-22B has as many
_ODD = 0.1  # less than any order of names says
_MOST_AS_RATIO = 8  # an MLP "width" of at most this is a ratio


def choices(
    name: str, annotation: str, default: object, kind: type[ModelSizes] = Sizes
) -> tuple[Choice, ...]:
    """List what an argument may be given, the most plausible first.

    Nothing where its default will do, or where its name says nothing. ``default`` is
    ``inspect.Parameter.empty`` where there is none.
    """
    found = meanings(name, kind)
    if not found:
        return (Literal(False),) if default is _EMPTY and annotation == "bool" else ()
    if found == ("zero",):  # tokens beside those of the assignment
        return found if default is _EMPTY or isinstance(default, int) else ()
    if default is _EMPTY:
        return _forms(found, bool(re.search(r"tuple|list|sequence", annotation.lower())), annotation != "int")
    sizes = tuple(one for one in found if fields_of(one))
    if isinstance(default, (bool, str)) or callable(default) or not sizes:
        return ()
    if default is None:
        return (*_forms(sizes, False, False), Literal(None))
    if isinstance(default, (tuple, list)):
        return _sequence_forms(sizes, default)
    return _number_forms(sizes, default) if isinstance(default, (int, float)) else ()


def _forms(found: tuple[str, ...], sequence: bool, either: bool) -> tuple[Choice, ...]:
    pairs = tuple(PAIRS[one] for one in found if one in PAIRS)
    pairs += tuple(shape for one in found for shape in _SHAPES.get(one, ()))
    if sequence and not pairs and fields_of(found[0]):
        return (Literal([_WIDTH]), *found)
    return (*pairs, *found) if sequence else (*found, *pairs) if either else found


def _sequence_forms(sizes: tuple[str, ...], default: Any) -> tuple[Choice, ...]:
    if len(default) == 3 and {"image", "image_chw", "image_pair"} & set(sizes):
        return (image_shape(default),)
    if len(default) == 4 and "image_bchw" in sizes:
        return ("image_bchw",)
    return tuple(dict.fromkeys(PAIRS.get(one, one) for one in sizes if one in PAIRS or one.endswith("_pair")))


def image_shape(sides: Sequence[Any]) -> Choice:
    """What these three are of an image: its channels are one or three, and come first or last."""
    return "image_hwc" if sides[-1] in (1, 3) else "image_chw"


def _number_forms(sizes: tuple[str, ...], default: Any) -> tuple[Choice, ...]:
    if sizes[0] == "classes" and default == 0:
        return ("classes", Literal(default))  # no head, where nobody asks for one
    if "mlp_ratio" not in sizes and default < 1:
        return ()  # no size, but a dropout rate or the like
    if "mlp_dim" in sizes and default <= _MOST_AS_RATIO and "embed_dim" not in sizes:
        return ("mlp_ratio",)
    return (*sizes, Literal(default)) if len(sizes) > 1 else sizes


def assignments(slots: tuple[BlueprintSlot, ...]) -> list[Assignment]:
    """List the ways to give each slot one of its choices, the most plausible first.

    Slots of one name mean the same. A way is the less plausible, the further down the lists its choices
    stand, and where two names mean the same; of two that are as plausible, the one comes first in which the
    student's own values go together.
    """
    groups: dict[object, list[BlueprintSlot]] = {}
    for slot in slots:
        groups.setdefault(slot.plain if len(slot.choices) > 1 else slot, []).append(slot)
    options = [max((one.choices for one in group), key=len) for group in groups.values()]
    own = [group[0].own.value if group[0].own else None for group in groups.values()]
    every = itertools.islice(itertools.product(*map(enumerate, options)), 4096)
    ways = [one for one in every if not _leaves_width_out([choice for _, choice in one], options)]
    return [
        {slot: choice for (_, choice), group in zip(way, groups.values(), strict=True) for slot in group}
        for way in heapq.nsmallest(MOST_TRIES, ways, key=partial(_doubt, own))
    ]


def _doubt(own: Sequence[object], way: tuple[tuple[int, Choice], ...]) -> float:
    said = {choice: one for (_, choice), one in zip(way, own, strict=True) if type(one) is int}
    return _implausibility(way) + _ODD * contradictions(
        {one: said[one] for one in said if isinstance(one, str)}
    )


def contradictions(said: Mapping[str, int]) -> int:
    """How many things are wrong where the sizes of these names are so large."""
    width, heads = said.get("embed_dim", 0), said.get("heads", 1)
    odd = (
        width and said.get("mlp_dim", width) < width,
        heads < 1 or width % heads,
        max(heads, said.get("depth", 0)) > _MOST_COUNTED,
    )
    return sum(map(bool, odd))


def _leaves_width_out(meant: Sequence[Choice], options: Sequence[Sequence[Choice]]) -> bool:
    """Do two names say the same, and none how wide a token is, which one of them may say?

    Where widths are confused in the code, it runs where they are equal: so it is not to be understood.
    """
    twice = {choice for choice in _SAID_ONCE if meant.count(choice) > 1}
    may_be_width = (choice in twice and "embed_dim" in options[number] for number, choice in enumerate(meant))
    return "embed_dim" not in meant and any(may_be_width)


def _implausibility(way: tuple[tuple[int, Choice], ...]) -> float:
    meant = [choice for _, choice in way if isinstance(choice, str)]
    has_image = any(choice in _IMAGES for choice in meant)
    # heads tell the width together, unless names say both: then they may be wider together, or narrower
    product = () if {(0, "embed_dim"), (0, "head_dim")}.issubset(way) else ("embed_dim",)
    told = {"head_dim": product} if "heads" in meant else {}
    told |= dict.fromkeys(_COUNTS, ("patch",)) if has_image else {}
    found = (told.get(choice, fields_of(choice)) for choice in meant)
    kinds = Counter(fields for fields in found if fields)
    twice = sum(count - 1 for count in kinds.values())
    lone_side = (("height",) in kinds) != (("width",) in kinds)
    unused = sum(rank > 0 and isinstance(choice, Literal) for rank, choice in way)  # though it has a meaning
    return sum(rank for rank, _ in way) + 2.5 * (twice + lone_side) + 0.5 * unused
