"""From a picture to S01: the student's own preprocessing, on pictures whose right input is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from ....reference.imagenet import IMAGENET_MEAN, IMAGENET_STD
from ....submissions.questions.images import PICTURES
from ....submissions.questions.own_functions import Prepared
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotApplicable, NotAsked
from ...locating.search.shapes import shaped
from . import holds
from .passes import code_of

_CLOSE = 0.02  # of normalised values: 8-bit rounding is 0.02, the next usual constants differ by 0.3
_SPREAD = 0.39  # a deviation of pixels in colour, of which photographs have up to 0.3 around 0.5
_ALIKE = 0.1  # mean difference of quarters, of values that go from 0 to 1: resampling blurs edges by far less


@holds(order=150)
def preprocessing(examination: Examination) -> None:
    """Images are prepared as asked: normalised RGB, whatever their mode and shape.

    Else: The image preprocessing is wrong
    """
    found = examination.own_functions().prepared
    if not found:
        raise NotAsked("no function or transform that prepares images was found, or it could not be called")
    reaching = [one for one in found if one.reaches_model]
    for prepared in reaching:
        _judge(examination, prepared)
    if not reaching:  # one of them makes the input, and the others may be for something else
        _judge_best(examination, found)


def _judge_best(examination: Examination, found: Sequence[Prepared]) -> None:
    failures: list[CheckFailed] = []
    for prepared in found:
        try:
            return _judge(examination, prepared)
        except CheckFailed as failed:
            failures.append(failed)
    raise failures[0]


def _judge(examination: Examination, prepared: Prepared) -> None:
    side = examination.assignment.full.height
    if not examination.assignment.asks_sizes and len(_image(prepared.tensors["black"])) == 1:
        raise NotApplicable(f"{prepared.told} prepares grey images")
    steps: list[Callable[[], None]] = [
        lambda: _form(examination, prepared),
        lambda: _values(prepared),
        lambda: _layout(prepared, side),
        lambda: _normalised(examination, prepared),
    ]
    if prepared.is_function and "convert(" not in code_of(examination):  # or the caller may do it
        steps.append(lambda: _modes(prepared))
    if _is_resized(prepared):
        steps.append(lambda: _shape(prepared, side))
    _raise_first(examination, [end for step in steps if (end := _end_of(step)) is not None])


def _end_of(step: Callable[[], None]) -> CheckFailed | NotApplicable | None:
    try:
        step()
    except (CheckFailed, NotApplicable) as end:
        return end
    return None


def _raise_first(examination: Examination, ends: Sequence[CheckFailed | NotApplicable]) -> None:
    """Raises the first of them that costs something: what the assignment accepts hides nothing else."""
    failures = [one for one in ends if isinstance(one, CheckFailed)]
    counted = (one for one in failures if not one.mistakes or any(map(examination.counts, one.mistakes)))
    for end in (*counted, *ends):
        raise end


def _form(examination: Examination, prepared: Prepared) -> None:
    """Number type and axes."""
    if prepared.dtypes["black"] != "float32":
        text = f"{prepared.told} returns {prepared.dtypes['black']}, but the weights are float32"
        raise CheckFailed(text, ("integer-input",))
    adds_axis = any(
        word in code_of(examination)
        for word in ("unsqueeze", "[None", "stack(", "expand_dims", "DataLoader", "view(")
    )
    if prepared.is_function and prepared.tensors["black"].dim() == 3 and not adds_axis:
        shape = shaped(prepared.tensors["black"].shape)
        raise CheckFailed(
            f"{prepared.told} returns the shape {shape}, without a batch axis", ("missing-batch-axis",)
        )


def _values(prepared: Prepared) -> None:
    """What black, white and red become in each channel, whatever they are normalised by."""
    black, white = _levels(prepared, "black"), _levels(prepared, "white")
    if float(_image(prepared.tensors["black"]).flatten(1).std(1).max()) > _CLOSE:
        text = f"{prepared.told} turns a black image into channels that are not constant"
        raise CheckFailed(text, ("hwc-viewed-as-chw",))
    slope, std = white - black, torch.tensor(IMAGENET_STD, dtype=torch.float64)
    if bool(((slope * 255 * std - 1).abs() < _CLOSE).all() or ((slope * 255 - 1).abs() < _CLOSE).all()):
        raise CheckFailed(_told(prepared), ("double-scaling-255",))
    red = (_levels(prepared, "red") - black) / slope
    if red.argmax() == 2:
        raise CheckFailed(
            f"{prepared.told} turns a red image bright in the last channel", ("bgr-channel-order",)
        )


def _told(prepared: Prepared) -> str:
    black, white = (_list(_levels(prepared, one)) for one in ("black", "white"))
    return f"{prepared.told} turns a black pixel into {black} and a white one into {white}"


def _normalised(examination: Examination, prepared: Prepared) -> None:
    black, white = _levels(prepared, "black"), _levels(prepared, "white")
    mean, std = (torch.tensor(one, dtype=torch.float64) for one in (IMAGENET_MEAN, IMAGENET_STD))
    right_black, right_white = -mean / std, (1 - mean) / std
    if float(black.abs().max()) < _CLOSE:
        if not _normalises_elsewhere(examination):
            raise CheckFailed(_told(prepared), ("missing-normalisation",))
        raise NotApplicable(f"{prepared.told} does not normalise, but other code here does")
    if not _close(black, right_black) or not _close(white, right_white):
        _demand_in_order(prepared, black, white)
        right = f"{_list(right_black)} and {_list(right_white)}"
        text = f"{_told(prepared)}; with ImageNet's constants these are {right}"
        raise CheckFailed(text, ("wrong-normalisation-constants",))


def _demand_in_order(prepared: Prepared, black: Tensor, white: Tensor) -> None:
    """Raises CheckFailed where what is subtracted is a deviation, and what it is divided by a mean."""
    divisor = 1 / (white - black)
    subtracted = -black * divisor
    if bool((divisor > _SPREAD).all() and (subtracted > 0).all() and (subtracted < divisor).all()):
        text = f"{prepared.told} subtracts {_list(subtracted)} and divides by {_list(divisor)}"
        raise CheckFailed(text, ("mean-and-std-exchanged",))


def _normalises_elsewhere(examination: Examination) -> bool:
    code = code_of(examination).lower()
    return any(word in code for word in ("normalize(", "normalise(", "0.485"))


def _layout(prepared: Prepared, side: int) -> None:
    """Coloured quarters stay quarters."""
    if _differs(prepared, "quarters", side):
        if not _differs(prepared, "quarters", side, turned=True):
            text = f"{prepared.told} swaps the rows and columns of an image"
            raise CheckFailed(text, ("image-rows-columns-exchanged",))
        text = f"{prepared.told} scrambles an image of four coloured quarters"
        raise CheckFailed(text, ("hwc-viewed-as-chw",))


def _modes(prepared: Prepared) -> None:
    """Grey pictures, pictures with transparency and with a palette become the RGB ones."""
    for picture, same in (("grey", "white"), ("transparent", "quarters"), ("palette", "quarters")):
        told = f"{prepared.told}, given a {picture} image,"
        if picture in prepared.errors:
            raise CheckFailed(f"{told} fails: {prepared.errors[picture]}", ("grey-or-alpha-not-converted",))
        found, expected = prepared.tensors[picture], prepared.tensors[same]
        if found.shape != expected.shape or float((found - expected).abs().mean()) > _ALIKE:
            text = f"{told} returns another tensor ({shaped(found.shape)}) than of the same image in RGB"
            raise CheckFailed(text, ("grey-or-alpha-not-converted",))


def _shape(prepared: Prepared, side: int) -> None:
    """A picture that is not square is squeezed to a square, all of it."""
    if "wide" in prepared.errors:
        raise CheckFailed(
            f"{prepared.told}, given a wide image, fails: {prepared.errors['wide']}", ("resize-policy",)
        )
    if _differs(prepared, "wide", side):
        shape = shaped(prepared.tensors["wide"].shape)
        text = f"{prepared.told} does not resize a wide image to a square, but crops it ({shape})"
        raise CheckFailed(text, ("resize-policy",))


def _is_resized(prepared: Prepared) -> bool:
    """Or else something before or behind this does it."""
    wide, square = prepared.tensors.get("wide"), prepared.tensors["black"]
    return wide is None or wide.shape[-1] != 2 * square.shape[-1] or wide.shape[-2] != square.shape[-2]


def _differs(prepared: Prepared, picture: str, side: int, *, turned: bool = False) -> bool:
    """From the picture squeezed to a square, both scaled so that black is 0 and white 1 in each channel.

    ``turned`` is the picture with rows and columns exchanged.
    """
    if picture not in prepared.tensors:
        return True
    black, white = _levels(prepared, "black")[:, None, None], _levels(prepared, "white")[:, None, None]
    student = (_image(prepared.tensors[picture]) - black) / (white - black)
    size = prepared.tensors["black"].shape[-1]
    # not by the reference: that imports torchvision, which takes longer than all checks together
    squeezed = PICTURES[picture](side).resize((size, size), Image.Resampling.BILINEAR)
    right = torch.from_numpy(np.array(squeezed) / 255).permute(*((2, 1, 0) if turned else (2, 0, 1)))
    return student.shape != right.shape or float((student - right).abs().mean()) > _ALIKE


def _image(tensor: Tensor) -> Tensor:
    """Channels, rows and columns of the one image."""
    return tensor[0] if tensor.dim() == 4 else tensor


def _levels(prepared: Prepared, picture: str) -> Tensor:
    """The mean of each channel. Raises CheckFailed where there are not three in front."""
    if picture not in prepared.tensors:
        raise CheckFailed(f"{prepared.told}, given a {picture} image, fails: {prepared.errors.get(picture)}")
    image = _image(prepared.tensors[picture])
    if image.shape[0] != 3:
        raise CheckFailed(
            f"{prepared.told} returns the shape {shaped(image.shape)}, but 3 channels should come first"
        )
    return image.mean((1, 2))


def _close(a: Tensor, b: Tensor) -> bool:
    return bool(((a - b).abs() < _CLOSE).all())


def _list(values: Tensor) -> str:
    return "(" + ", ".join(f"{value:.3g}" for value in values.tolist()) + ")"
