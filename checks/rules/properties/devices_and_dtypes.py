"""Where tensors live and what type they have: a model can be moved to another device and to another dtype."""

from __future__ import annotations

from ...examining.examination import Examination
from ...examining.passes.example import Example
from ...examining.verdicts import CheckFailed
from . import holds
from .passes import example_of, leaves_of, line_of


@holds(order=60, begun=True, of_parts=True)
def one_device(examination: Examination) -> None:
    """All tensors of a pass are on the model's device.

    Else: Some tensors are not on the model's device
    """
    example = example_of(examination)
    for habit in examination.habits():
        if habit.kind != "device":
            continue
        if not habit.what:
            text = f"a tensor is created on the CPU, wherever the model is, and used in {line_of(habit)}"
            raise CheckFailed(text, ("tensor-made-on-cpu",), example.draw, habit.frames[0])
        text = f"{habit.what} is neither a parameter nor a buffer, so it is not moved with the model"
        raise CheckFailed(
            f"{text}; it is used in {line_of(habit)}",
            _left_behind(example, habit.what),
            None,
            habit.frames[0],
        )


@holds(order=60)
def dtype_kept(examination: Examination) -> None:
    """A bfloat16 model returns bfloat16 logits.

    Else: A bfloat16 model fails or returns another dtype
    """
    draw = example_of(examination).draw
    passes = examination.forward(draw, dtype="bfloat16")
    if passes.error is not None:
        raise CheckFailed(f"the model does not run in bfloat16: {passes.error}", ("dtype-promoted",), draw)
    found = {dtype for _, dtype in passes.passes[0].outputs if "float" in dtype}
    if found - {"bfloat16"}:
        raise CheckFailed(f"a bfloat16 model returns {', '.join(sorted(found))}", ("dtype-promoted",), draw)


def _left_behind(example: Example, name: str) -> tuple[str, ...]:
    for role, id in (("class_token", "cls-not-parameter"), ("positions", "pos-not-parameter")):
        if name in {leaf.name for leaf in leaves_of(example, role)}:
            return (id, "buffer-not-registered")
    return ("buffer-not-registered",)
