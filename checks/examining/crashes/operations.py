"""What an operation demands of the sizes that it is given, and how they break it, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import prod

from ...locating.search.shapes import shaped
from .causes import Facts

_Shape = tuple[int, ...]
_UNPACKED = re.compile(r"to unpack \(expected (\d+)(?:, got (\d+))?\)")
_ELEMENTWISE = ("add", "sub", "mul", "div", "true_divide", "where", "masked_fill")


def demand_of(facts: Facts) -> str:
    """One sentence, or nothing where the exception says it all."""
    if "view size is not compatible" in facts.error.message:
        return (
            "After a transpose or permute the numbers are in another order in"
            " memory: reshape copies them, view cannot."
        )
    shapes = [one.shape for one in facts.operands]
    rule = _RULES.get(_plain(facts.op))
    return rule(shapes, facts.numbers) if rule is not None and shapes else _of_no_call(facts)


def _plain(op: str) -> str:
    """The name without underscores, and without what Python puts before it: add for ``__iadd__``."""
    name = op.strip("_")
    for prefix in ("i", "r"):
        if op.startswith("__") and name.startswith(prefix) and name[1:] in (*_ELEMENTWISE, "matmul"):
            return name[1:]
    return name


def _of_no_call(facts: Facts) -> str:
    error = facts.error
    if "not callable" in error.message:
        is_tuple = "'tuple'" in error.message
        comma = " A comma at the end of a line makes a tuple of what it stores." if is_tuple else ""
        return f"You call something that is not a function or module.{comma}"
    if "tuple" in error.message:
        return "Expected a tensor, got a tuple: look at what the call before it returns."
    if "NoneType" in error.message:
        return "A value on this line is None: does the function that made it end with a return?"
    if unpacked := _UNPACKED.search(error.message):
        values = unpacked[2] or "more"
        return f"The left side has {unpacked[1]} names, but the right side has {values} values."
    if error.type in ("AttributeError", "NameError", "UnboundLocalError"):
        return "This name is not defined before this line. Check the spelling."
    return ""


def _joined(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    if len({len(one) for one in shapes}) > 1:
        return "Tensors can only be concatenated if they have the same number of axes."
    axis = (numbers[-1] if numbers else 0) % len(shapes[0])
    uneven = [at for at in range(len(shapes[0])) if at != axis and len({one[at] for one in shapes}) > 1]
    if not uneven:
        return ""
    sizes = " and ".join(str(one[uneven[0]]) for one in shapes)
    needed = f"Tensors concatenated along axis {axis} must have equal sizes along all other axes"
    return f"{needed}, but along axis {uneven[0]} they have {sizes}."


def _elementwise(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    """Broadcasting, from the last axis back."""
    if len(shapes) < 2:
        return ""
    for back in range(1, min(map(len, shapes[:2])) + 1):
        first, second = shapes[0][-back], shapes[1][-back]
        if first != second and 1 not in (first, second):
            return (
                "Counted from the last axis, sizes must be equal or 1, but"
                f" here they are {first} and {second}."
            )
    return ""


def _product(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    if len(shapes) < 2 or min(map(len, shapes)) < 1:
        return ""
    first, second = shapes[0], shapes[1]
    inner = second[-2] if len(second) > 1 else second[-1]
    if first[-1] != inner:
        return (
            f"The last axis of the first factor has size {first[-1]}, but"
            " the second to last axis of the second"
            f" factor has size {inner}: they must be equal."
        )
    return (
        "The axes before the last two must be equal or 1, but they are"
        f" {shaped(first[:-2])} and {shaped(second[:-2])}."
    )


def _linear(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    if len(shapes) < 2 or shapes[0][-1:] == shapes[1][-1:]:
        return ""
    built, here = shapes[1][-1], shapes[0][-1]
    return f"The layer was built for {built} features, but its input has {here} on its last axis."


def _norm(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    normed = [one for one in shapes[1:] if one]
    if not normed and not numbers:
        return ""
    size = normed[0][-1] if normed else numbers[0]
    return f"The norm was built for {size} features, but its input has {shapes[0][-1]} on its last axis."


def _cut(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    wanted, here = [one for one in numbers if one != -1], prod(shapes[0])
    if -1 in numbers and wanted and here % max(1, prod(wanted)):
        return f"{here} values cannot be divided into parts of {shaped(wanted)}."
    if -1 not in numbers and prod(wanted) != here:
        return f"The tensor has {here} values, but {shaped(wanted)} would be {prod(wanted)}."
    return ""


def _permuted(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    return (
        f"The tensor has {len(shapes[0])} axes, numbered 0 to {len(shapes[0]) - 1};"
        " permute must name each once."
    )


def _axis(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    return f"The tensor has {len(shapes[0])} axes, numbered 0 to {len(shapes[0]) - 1}."


def _expanded(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    return (
        f"expand can only change axes of size 1, and needs a size for every axis (-1 keeps it). The tensor is"
        f" {shaped(shapes[0])}, but you asked for {shaped(numbers)}."
    )


def _convolved(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    if len(shapes) < 2:
        return ""
    channels, x = shapes[1][1], shapes[0]
    if len(x) != 4:
        return f"A convolution expects batch × channel × row × column, but its input has {len(x)} axes."
    return f"The layer was built for {channels} channels, but its input has {x[1]} on axis 1."


_RULES: dict[str, Callable[[Sequence[_Shape], Sequence[int]], str]] = {
    **dict.fromkeys(("cat", "concat", "concatenate", "stack"), _joined),
    **dict.fromkeys(_ELEMENTWISE, _elementwise),
    **dict.fromkeys(("matmul", "bmm", "mm", "baddbmm"), _product),
    **dict.fromkeys(("view", "reshape"), _cut),
    **dict.fromkeys(("softmax", "log_softmax", "transpose", "flatten", "mean", "sum", "unsqueeze"), _axis),
    **dict.fromkeys(("layer_norm",), _norm),
    "linear": _linear,
    "permute": _permuted,
    "expand": _expanded,
    "conv2d": _convolved,
}
