"""What an operation demands of the sizes that it is given, and how they break it, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from .causes import Facts

_Shape = tuple[int, ...]
_ELEMENTWISE = ("add", "sub", "mul", "div", "true_divide", "where", "masked_fill")


def demand_of(facts: Facts) -> str:
    """One sentence, or nothing where the exception says it all."""
    if "view size is not compatible" in facts.error.message:
        return (
            "After a transposition the numbers no longer lie in that order: reshape copies them, view cannot."
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
    if "tuple" in error.message:
        return "A tuple stands where a tensor is expected: look at what the call before it returns."
    if "NoneType" in error.message:
        return "None stands where a value is expected: does the function before it return its result?"
    if "unpack" in error.message:
        return "As many names stand on the left as the right side is expected to have parts."
    if "not callable" in error.message:
        return "What stands before the parentheses is no function or module."
    if error.type in ("AttributeError", "NameError", "UnboundLocalError"):
        return "The name must be set, spelt the same way, before the line runs."
    return ""


def _joined(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    if len({len(one) for one in shapes}) > 1:
        return "Tensors that are joined need equally many axes."
    axis = (numbers[-1] if numbers else 0) % len(shapes[0])
    uneven = [at for at in range(len(shapes[0])) if at != axis and len({one[at] for one in shapes}) > 1]
    if not uneven:
        return ""
    sizes = " and ".join(str(one[uneven[0]]) for one in shapes)
    needed = f"Tensors joined along axis {axis} need equal sizes along all others"
    return f"{needed}, and along axis {uneven[0]} have {sizes}."


def _elementwise(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    """Broadcasting, from the last axis back."""
    if len(shapes) < 2:
        return ""
    for back in range(1, min(map(len, shapes[:2])) + 1):
        first, second = shapes[0][-back], shapes[1][-back]
        if first != second and 1 not in (first, second):
            return f"From the last axis back, sizes must be equal or 1; here {first} meets {second}."
    return ""


def _product(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    if len(shapes) < 2 or min(map(len, shapes)) < 1:
        return ""
    first, second = shapes[0], shapes[1]
    inner = second[-2] if len(second) > 1 else second[-1]
    if first[-1] != inner:
        return (
            f"The last axis of the first factor, {first[-1]}, must be as long as the last but one"
            f" of the second, {inner}."
        )
    return f"The axes before the last two must be equal or 1: {list(first[:-2])} meets {list(second[:-2])}."


def _linear(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    if len(shapes) < 2 or shapes[0][-1:] == shapes[1][-1:]:
        return ""
    built, here = shapes[1][-1], shapes[0][-1]
    return f"The layer was built for {built} features, and its input has {here} along its last axis."


def _norm(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    normed = [one for one in shapes[1:] if one]
    if not normed and not numbers:
        return ""
    size = normed[0][-1] if normed else numbers[0]
    return f"The norm was built for a last axis of {size}, and the last axis of its input is {shapes[0][-1]}."


def _cut(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    wanted, here = [one for one in numbers if one != -1], prod(shapes[0])
    if -1 in numbers and wanted and here % max(1, prod(wanted)):
        return f"{here} numbers cannot be cut into parts of {' × '.join(map(str, wanted))}."
    if -1 not in numbers and prod(wanted) != here:
        return f"The tensor has {here} numbers, and {' × '.join(map(str, wanted))} are {prod(wanted)}."
    return ""


def _permuted(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    return (
        f"The tensor has {len(shapes[0])} axes, numbered 0 to {len(shapes[0]) - 1}; each must be named once."
    )


def _axis(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    return f"The tensor has {len(shapes[0])} axes, numbered 0 to {len(shapes[0]) - 1}."


def _expanded(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    return (
        f"Only axes of size 1 can be expanded, and every axis needs a number (-1 leaves it); the tensor is"
        f" {' × '.join(map(str, shapes[0]))}, asked for was {' × '.join(map(str, numbers))}."
    )


def _convolved(shapes: Sequence[_Shape], numbers: Sequence[int]) -> str:
    if len(shapes) < 2:
        return ""
    channels, x = shapes[1][1], shapes[0]
    if len(x) != 4:
        return f"A convolution reads image × channel × row × column; its input has {len(x)} axes."
    return f"The layer was built for {channels} channels, and axis 1 of its input has {x[1]}."


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
