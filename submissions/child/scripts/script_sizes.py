"""The sizes of a ViT, read off the tensors that a pass made: where there is no constructor to ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isqrt

from ..tracing.tracing import Storage

_ACTIVATIONS = ("gelu", "relu", "silu", "erf", "tanh")


def sizes_seen(records: Sequence[Storage]) -> dict[str, int]:
    """The fields of ``Sizes`` that the shapes tell, where ``records[0]`` is the image."""
    _, channels, height, width = records[0].shape
    found = {"batch": records[0].shape[0], "channels": channels, "height": height, "width": width}
    made = [one for one in records[1:] if one.image]
    maps = [one.shape for one in made if "softmax" in one.op and _is_map(one.shape)]
    if not maps:
        return found
    tokens = maps[0][-1]
    sequences = (one.shape for one in made if len(one.shape) == 3 and one.shape[-2] == tokens)
    embed_dim = _most(shape[-1] for shape in sequences if shape[-1] > 1)  # 1: of a norm's means
    hidden = (one.shape[-1] for one in made if _is_activation(one.op) and tokens in one.shape[:-1])
    classes = [one.shape[-1] for one in made if "softmax" in one.op and not _is_map(one.shape)]
    found |= {
        "patch": isqrt(height * width // max(1, tokens - 1)),
        "heads": maps[0][-3] // (found["batch"] if len(maps[0]) == 3 else 1),
        "embed_dim": embed_dim,
        "mlp_dim": _most(hidden),
        "classes": classes[-1] if classes else _last_row(made, embed_dim),
    }
    return {name: size for name, size in found.items() if size}


def _is_map(shape: Sequence[int]) -> bool:
    return len(shape) in (3, 4) and shape[-1] == shape[-2] > 1


def _is_activation(op: str) -> bool:
    return any(name in op for name in _ACTIVATIONS)


def _most(sizes: Iterable[int]) -> int:
    counted = Counter(sizes).most_common(1)
    return counted[0][0] if counted else 0


def _last_row(made: Sequence[Storage], width: int) -> int:
    """The width of the last map to one row for each image, if that is no token."""
    rows = [
        one.shape[-1] for one in made if len(one.shape) == 2 and "mm" in one.op and one.shape[-1] != width
    ]
    return rows[-1] if rows else 0
