"""Child side: what of a submission is looked at: its model, its script, or parts of what is not written."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from dataclasses import replace

import torch
from torch import Tensor, nn

from ...reference.components import COMPONENTS
from ...reference.model_sizes import described
from ..errors import NotLoaded
from ..questions.loading import Infer, Inferred
from ..questions.pins import Pins
from ..questions.recording import Recorded
from .building.begun import NotWritten, first_gap
from .building.calls.shortening import Change, Shortening, shortening
from .building.components.component_recipes import is_there
from .building.probing import as_given
from .building.recipe import infer, infer_nothing
from .building.ways import NoModel
from .loading.definitions import Definitions
from .loading.function_pairs import function_pairs
from .passes.recorded_passes import record
from .scripts.script_finding import find_script, has_classes, likeliest
from .scripts.scripts import Script
from .subject import Submission
from .tracing.shapes_alone import recorded_shapes


def infer_submission(asked: Infer) -> Inferred:
    """Finds it, and keeps how it is run. Raises NotLoaded, with the line, where there is nothing of it."""
    # a script is lent an image, so that only what reads images can be one
    may_be_script = asked.model is None and asked.described is None
    if asked.described is not None:
        Submission.small = described(asked.described)
    if may_be_script and (file := find_script(Submission.loaded)) is not None:
        with suppress(NotLoaded):  # the marks may stand where nothing is computed
            return _infer_script(file)
    try:
        return _infer_model(asked)
    except NotLoaded as error:
        return _infer_instead(error, may_be_script)


def _infer_model(asked: Infer) -> Inferred:
    if Submission.loaded.error is not None:
        raise Submission.loaded.error
    Submission.recipe = infer(Submission.loaded, Pins(asked.model, asked.arguments), Submission.small)
    return _of_recipe()


def _of_recipe() -> Inferred:
    Submission.shortening = _shortening()
    recipe = Submission.recipe
    return Inferred(tuple(recipe.notes()), channels_last=recipe.channels_last)


def _infer_instead(no_model: NotLoaded, may_be_script: bool) -> Inferred:
    """Where no model can be built. What stood in its way is said if nothing comes of anything else either."""
    why: Exception = no_model
    if may_be_script and (file := likeliest(Submission.loaded)) is not None:
        try:
            return _infer_script(file)
        except Exception as error:  # what scripts need is imported here, and may not fit
            is_other = has_classes(Submission.loaded) or isinstance(no_model, NotWritten)
            why = no_model if is_other else error
    if not isinstance(why, NoModel):
        raise why from None
    end = why.frame or first_gap(Submission.loaded)
    is_begun = may_be_script and (end is not None or _has_parts_alone())
    if not (isinstance(why, NotWritten) or is_begun):
        raise why from None
    Submission.recipe = infer_nothing(Submission.loaded, Submission.small, end)
    return _of_recipe()


def _infer_script(file: str) -> Inferred:
    script = Submission.script = Script(Submission.loaded, file)
    return Inferred(tuple(script.notes()), script=True, skipped=tuple(script.skipped))


def _has_parts_alone() -> bool:
    """Is there a part of a model, and are there no functions that may be the whole?"""
    loaded = Submission.loaded
    return not function_pairs(Definitions(loaded)) and any(is_there(loaded, key) for key in COMPONENTS)


def _shortening() -> Shortening | None:
    recipe = Submission.recipe
    if "depth" in recipe.controls.fields:
        return None
    sizes = recipe.sizes_for(replace(Submission.small, batch=1))

    def fresh() -> nn.Module:
        tried = recipe.builder.build_to_try(recipe.controls.assignment, sizes)
        with suppress(Exception):  # a table that is filled number by number takes seconds to build
            return deepcopy(tried)
        return recipe.build(sizes)

    def read(change: Change) -> frozenset[str]:
        found = recorded_shapes(lambda: _changed_pass(fresh(), sizes.input(0), change))
        if found.error is not None:
            raise found.error
        return frozenset(one.name for one in found.leaves)

    found = shortening(fresh, sizes.depth, read)
    recipe.builder.forget()
    return found


def _changed_pass(model: nn.Module, given: Tensor, change: Change) -> Recorded:
    change(model.eval())
    return record(model, as_given(given, torch.float32), dtype=torch.float32, keep_cells=False)
