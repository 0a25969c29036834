"""Parent side: does a pass that comes to its end stop before there are scores?"""

from __future__ import annotations

from math import prod

from ...reference.model_sizes import ModelSizes
from .trace import Trace

_AXES = 3  # of tokens, at the least: scores of a text have as many, but one of them is the vocabulary


def is_begun(trace: Trace, sizes: ModelSizes, of_script: bool) -> bool:
    """Does a model return nothing, its image, or only tokens; or has a script nothing that may be scores?"""
    if trace.error is not None or trace.left_out:
        return False
    if of_script:
        return not any(one.image and _are_scores(one.shape, sizes) for one in trace.records[1:])
    return trace.gives_back_image or all(_are_tokens(where.shape, sizes) for _, where in trace.outputs)


def _are_scores(shape: tuple[int, ...], sizes: ModelSizes) -> bool:
    return shape[-1:] == sizes.output_shape[-1:] and prod(shape) == prod(sizes.output_shape)


def _are_tokens(shape: tuple[int, ...], sizes: ModelSizes) -> bool:
    """Where there is no head yet, as many classes are supposed as there are features."""
    other = sizes.output_shape[-1] not in shape[1:]
    return len(shape) >= _AXES and (other or shape[-1] == sizes.embed_dim)
