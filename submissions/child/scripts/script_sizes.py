"""The sizes of a ViT, read off the tensors that a pass made: where there is no constructor to ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isqrt, prod

from ...questions.recording import Reference
from ..tracing.tracing import Storage

_ACTIVATIONS = ("gelu", "relu", "silu", "erf", "tanh")


def sizes_seen(records: Sequence[Storage], views: Iterable[Reference]) -> dict[str, int]:
    """The fields of ``Sizes`` that the shapes tell, where ``records[0]`` is the image.

    ``views`` show heads before anything attends.
    """
    _, channels, height, width = records[0].shape
    found = {"batch": records[0].shape[0], "channels": channels, "height": height, "width": width}
    made = [one for one in records[1:] if one.image]
    if records[0].shape[0] == 1:
        made = [_of_one_image(one) for one in made]
    found |= _of_attention(made, found["batch"], height * width) or _of_patches(made, found)
    if not found.get("heads"):
        found["heads"] = _cut_into(found.get("embed_dim", 0), (one.shape for one in views))
    return {name: size for name, size in found.items() if size}


def _cut_into(width: int, shapes: Iterable[tuple[int, ...]]) -> int:
    """Into how many heads tokens of this width are: B T h d, B h T d, and the same without B."""
    for shape in shapes:
        for heads in shape[-3:-1] if len(shape) > 2 else ():
            if heads * shape[-1] == width and heads > 1:
                return heads
    return 0


def _of_one_image(one: Storage) -> Storage:
    """With an axis for the image, where a script whose image has none goes on without."""
    lacks = len(one.shape) == 1 or (len(one.shape) == 2 and one.shape[0] > 1)
    return replace(one, shape=(1, *one.shape)) if lacks else one


def _of_attention(made: Sequence[Storage], batch: int, pixels: int) -> dict[str, int]:
    first = next((at for at, one in enumerate(made) if "softmax" in one.op and _is_map(one.shape)), None)
    if first is None:
        return {}
    shape = made[first].shape
    tokens = shape[-1]
    sequences = [one for one in made if len(one.shape) == 3 and one.shape[-2] == tokens]
    embed_dim = _width([one for one in sequences if one.shape[-1] not in (1, tokens)])  # means, and maps
    return {
        "patch": isqrt(pixels // max(1, tokens - 1)),
        "heads": max(_heads(shape, batch), _one_by_one(made[first + 1 :], shape, embed_dim)),
        "embed_dim": embed_dim,
        "mlp_dim": _hidden(one for one in made if tokens in one.shape[:-1]),
        "classes": _classes(made, batch, embed_dim),
    }


def _of_patches(made: Sequence[Storage], image: Mapping[str, int]) -> dict[str, int]:
    """The side of a patch, the width that patches are mapped to, and the heads that scores are of.

    Nothing attends to them yet, or one token after the other does.
    """
    batch, channels, height, width = (image[name] for name in ("batch", "channels", "height", "width"))
    side = next(_sides(made, batch, channels, height, width), 0)
    if not side:
        return {"mlp_dim": _hidden(one for one in made if len(one.shape) > 2)}
    count, numbers = _rows(channels, height, width, side)
    rows = [one.shape for one in made if len(one.shape) == 3 and one.shape[1] in (count, count + 1)]
    tokens = [shape for shape in rows if shape[1:] != (count, numbers)]  # patches themselves are none
    widths = (shape[-1] for shape in tokens if shape[-1] != 1)  # 1: of a norm's means
    maps = (one.shape for one in made if _is_map(one.shape) and one.shape[-1] in (count, count + 1))
    heads = max((_heads(shape, batch) for shape in maps), default=0)
    embed_dim = next(widths, 0)
    return {
        "patch": side,
        "embed_dim": embed_dim,
        "heads": heads,
        "mlp_dim": _hidden(one for one in made if {count, count + 1} & {*one.shape[:-1]}),
        "classes": _classes(made, batch, embed_dim),
    }


def _sides(made: Sequence[Storage], batch: int, channels: int, height: int, width: int) -> Iterator[int]:
    """Of a convolution over patches, of what is multiplied, of all patches at once, or of each by itself."""
    yield from (height // one.shape[-2] for one in made if "convolution" in one.op and one.shape[-2] < height)
    for shape in (one.shape for record in made if "mm" in record.op for one in record.inputs):
        side = isqrt(shape[-1] // channels)
        whole = prod(_rows(channels, height, width, side)) if 1 < side < height else 0
        if prod(shape[-2:]) in (whole, batch * whole):
            yield side
    counted = Counter(_of_rows(one) for one in made if len(one.shape) >= 3)
    for shape, times in counted.items():
        last = shape[-3:]
        for side in {isqrt(last[-1] // channels), *last} & {*range(1, height)}:
            count, numbers = _rows(channels, height, width, side)
            is_cut = last.count(side) > 1 and height % side == 0 and times * prod(shape) >= count * numbers
            if last[1:] == (count, numbers) or is_cut:
                yield side


def _of_rows(one: Storage) -> tuple[int, ...]:
    """Its shape, with a row for each patch where it is unfolded into columns."""
    *first, inner, last = one.shape
    return (*first, last, inner) if "im2col" in one.op else one.shape


def _rows(channels: int, height: int, width: int, side: int) -> tuple[int, int]:
    """How many patches of this side there are, and of how many numbers."""
    return height // side * (width // side), channels * side**2


def _heads(shape: Sequence[int], batch: int) -> int:
    """Of maps B h T T, or of those of all images and heads along one axis."""
    return shape[-3] // (batch if len(shape) == 3 else 1)


def _one_by_one(later: Sequence[Storage], shape: Sequence[int], width: int) -> int:
    """How many heads there are where each has a map B T T and a context of its own, as wide as a head."""
    images, tokens, _ = shape if len(shape) == 3 else (0, 0, 0)
    contexts = (one.shape[-1] for one in later if one.shape[:-1] == (images, tokens))
    size = next((one for one in contexts if one != tokens), 0)
    return width // size if size and width % size == 0 else 0


def _is_map(shape: Sequence[int]) -> bool:
    return len(shape) in (3, 4) and shape[-1] == shape[-2] > 1


def _is_activation(op: str) -> bool:
    return any(name in op for name in _ACTIVATIONS)


def _hidden(rows: Iterable[Storage]) -> int:
    """How wide they are where an activation is taken of them."""
    return _most(one.shape[-1] for one in rows if _is_activation(one.op))


def _most(sizes: Iterable[int]) -> int:
    counted = Counter(sizes).most_common(1)
    return counted[0][0] if counted else 0


def _width(sequences: Sequence[Storage]) -> int:
    """That of tokens, which are normalised and put together: of each head there are sequences, too."""
    whole = [one for one in sequences if "layer_norm" in one.op or "cat" in one.op]
    return _most(one.shape[-1] for one in whole or sequences)


def _classes(made: Sequence[Storage], batch: int, width: int) -> int:
    """Those that the last probabilities are of, or the last map to one row for each image, if no token."""
    rows = [one for one in made if one.shape[:-1] == (batch,) and one.shape[-1] != width]
    scores = [one.shape[-1] for one in rows if "softmax" in one.op] or [
        one.shape[-1] for one in rows if "mm" in one.op or "mv" in one.op
    ]
    return scores[-1] if scores else 0
