"""What an argument may be given, by its name, its annotation and its default."""

from __future__ import annotations

import inspect
import re
from typing import Any

from ....reference.model_sizes import ModelSizes
from ....reference.sizes import Sizes
from ...questions.meanings import fields_of
from .blueprint import Choice, Literal
from .parameter_names import meanings

_EMPTY = inspect.Parameter.empty
_PAIRS = {"image": "image_pair", "patch": "patch_pair", "patches": "patches_pair", "heads": "heads_list"}
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
    pairs = tuple(_PAIRS[one] for one in found if one in _PAIRS)
    return (*pairs, *found) if sequence else (*found, *pairs) if either else found


def _sequence_forms(sizes: tuple[str, ...], default: Any) -> tuple[Choice, ...]:
    if len(default) == 3 and {"image", "image_chw", "image_pair"} & set(sizes):
        return ("image_hwc",) if default[-1] in (1, 3) else ("image_chw",)
    if len(default) == 4 and "image_bchw" in sizes:
        return ("image_bchw",)
    return tuple(
        dict.fromkeys(_PAIRS.get(one, one) for one in sizes if one in _PAIRS or one.endswith("_pair"))
    )


def _number_forms(sizes: tuple[str, ...], default: Any) -> tuple[Choice, ...]:
    if "mlp_ratio" not in sizes and default < 1:
        return ()  # no size, but a dropout rate or the like
    if "mlp_dim" in sizes and default <= _MOST_AS_RATIO and "embed_dim" not in sizes:
        return ("mlp_ratio",)
    return (*sizes, Literal(default)) if len(sizes) > 1 else sizes
