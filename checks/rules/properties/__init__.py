"""Properties of the whole model, most stated between two or more passes: no equation is needed.

Each function raises CheckFailed where the property does not hold, and NotApplicable where it means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from .batches import batch_independence, batch_sizes, memory_layout, responds_to_the_image
from .forms import operations, results_are_used, usual_forms
from .fresh import initial_weights, instances_of_their_own, registered
from .full import all_tokens, full_width
from .gradients import gradients
from .modes import dropout_comes_back, eval_mode_in_scripts
from .places import dtype_kept, one_device
from .preprocessing import preprocessing
from .sizes import number_of_blocks, one_block, other_resolution, uneven_image, width_divided_by_heads
from .slopes import backward_pass, every_block
from .state import memory_does_not_grow, no_side_effects, repeatable
from .symmetries import (
    finite_attention,
    head_permutation,
    identity_block,
    joint_permutation,
    positions_matter,
)
from .uses import (
    large_batch,
    pixel_ranges,
    saved_and_loaded,
    single_precision,
    train_and_eval,
    with_and_without_gradients,
)

Property = Callable[[Examination], None]

PROPERTIES: Mapping[str, Property] = {
    function.__name__.replace("_", "-"): function
    for function in (
        batch_independence,
        batch_sizes,
        memory_layout,
        responds_to_the_image,
        joint_permutation,
        positions_matter,
        head_permutation,
        identity_block,
        finite_attention,
        repeatable,
        no_side_effects,
        memory_does_not_grow,
        gradients,
        registered,
        instances_of_their_own,
        initial_weights,
        one_device,
        dtype_kept,
        eval_mode_in_scripts,
        one_block,
        number_of_blocks,
        width_divided_by_heads,
        other_resolution,
        uneven_image,
        operations,
        usual_forms,
        results_are_used,
        preprocessing,
        full_width,
        all_tokens,
        backward_pass,
        every_block,
        large_batch,
        single_precision,
        pixel_ranges,
        with_and_without_gradients,
        saved_and_loaded,
        train_and_eval,
        dropout_comes_back,
    )
}


def judge(examination: Examination, holds: Property) -> None:
    """Raises what the property raises, but for what the assignment accepts: that is not applicable."""
    try:
        holds(examination)
    except CheckFailed as failed:
        if failed.mistakes and not any(examination.counts(id) for id in failed.mistakes):
            raise NotAsked(f"the assignment accepts it: {failed.message}") from None
        raise
