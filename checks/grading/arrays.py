"""The arrays of a submission, as one safetensors file: numbers in float32, colours in bytes.

Of every stage that was seen, ``S12/student`` is the student's tensor of one image. Where it is wrong,
``S12/expected`` is what the equation predicts from the student's own inputs, and ``S12/error`` how far apart
they are, taken in float64. Names such as ``S13/row_sums`` are of what ``measures`` gives. The file's metadata
tells under ``stages``, for each, which image of how many it is, in which block, and the shape before large
tensors were cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import torch
from safetensors.torch import save
from torch import Tensor

from ...reference.stages import Stage
from ..examining.examination import Examination
from ..examining.measures import MeasuredPass, Measures
from ..examining.passes.replay import Seen
from ..locating.comparing import ROUNDING
from ..rules.rulebook import rulebook_of
from .stage_rows import worst

_LARGE = 2**13  # numbers in a tensor: a few hundred KB in all
_KEPT = 32  # along each axis of a large one: what a figure can show


def kept_arrays(models: Sequence[Examination]) -> bytes | None:
    """The file's content for models or components; None where no stage was seen in any."""
    if not models:
        return None
    family = models[0].family
    passes = {row.label: found for row in family.stages if (found := _shown(models, row)) is not None}
    return packed(passes, rulebook_of(family).measures)


def packed(passes: Mapping[str, tuple[MeasuredPass, Seen]], measures: Measures) -> bytes | None:
    """The same for stages by label, each with the pass that it was seen in.

    Of a stage that is right, the first image of the batch is kept, else the one with the largest error.
    """
    arrays: dict[str, Tensor] = {}
    told: dict[str, dict[str, object]] = {}
    for label, (of, seen) in passes.items():
        image = _image(seen)
        arrays |= {f"{label}/{name}": _plain(one) for name, one in _of_stage(of, seen, image, measures)}
        told[label] = {
            "image": image,
            "images": len(seen.student),
            "block": seen.step.block,
            "shape": list(seen.student.shape[1:]),
        }
    # one entry, since safetensors writes several in another order each time
    return save(arrays, {"stages": json.dumps(told)}) if arrays else None


def _shown(models: Sequence[Examination], row: Stage) -> tuple[MeasuredPass, Seen] | None:
    """The stage in the first model or component that gets it wrong, else in the first that has it."""
    found = [(one.shown(), seen) for one in models if (seen := worst(one, row.key)) is not None]
    found = [pair for pair in found if pair[1].student.dim() > 1 and pair[1].student.numel()]
    return next((pair for pair in found if pair[1].differs(ROUNDING)), next(iter(found), None))


def _image(seen: Seen) -> int:
    if seen.student.shape != seen.right.shape or not seen.differs(ROUNDING):
        return 0
    return int((seen.student - seen.right).abs().flatten(1).amax(1).nan_to_num(torch.inf).argmax())


def _of_stage(of: MeasuredPass, seen: Seen, image: int, measures: Measures) -> Iterator[tuple[str, Tensor]]:
    yield "student", _cut(seen.student[image])
    if seen.differs(ROUNDING) and seen.student.shape == seen.right.shape:
        yield "expected", _cut(seen.right[image])
        yield "error", _cut((seen.student - seen.right)[image].abs())
    if seen.student.dim() != seen.right.dim():
        return
    for name, measure in measures.get(seen.step.key, {}).items():
        try:
            yield name, measure(of, seen, image)
        except (LookupError, ValueError, RuntimeError):  # there is nothing to measure, and no figure then
            continue


def _cut(tensor: Tensor) -> Tensor:
    whole = tensor.numel() <= _LARGE
    return tensor if whole else tensor[tuple(slice(_KEPT) for _ in tensor.shape)]


def _plain(tensor: Tensor) -> Tensor:
    """In float32, but for bytes; copied, since stages may share their memory."""
    dtype = torch.uint8 if tensor.dtype is torch.uint8 else torch.float32
    return tensor.detach().to(dtype, copy=True).contiguous()
