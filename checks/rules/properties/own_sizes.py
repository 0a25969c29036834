"""What is handed in is a model of some size: the one that the code makes where nobody says another."""

from __future__ import annotations

from collections.abc import Mapping

from ....reference.model_sizes import ModelSizes
from ....submissions.errors import StudentCodeFailed
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotApplicable, NotAsked
from . import holds

# What the model is made of. Images and classes are those of a data set, which a file may name for its own.
_SIZES = {
    "patch": "patch size",
    "embed_dim": "width",
    "heads": "heads",
    "mlp_dim": "MLP width",
    "depth": "depth",
}
_NARROW = 4  # times narrower than a token: nobody means that
_LIKELY = 2  # sizes that agree, before one that does not is a slip


@holds(order=100)
def own_sizes(examination: Examination) -> None:
    """The default sizes of the code are those of the assignment.

    Else: The default sizes of the code are not those of the assignment
    """
    if examination.session.is_script:
        raise NotAsked("a script runs at its own sizes")
    full = examination.assignment.full
    own = examination.session.own_sizes(full)
    compared = [name for name in _SIZES if name in own and hasattr(full, name)]
    if not compared:
        raise NotAsked("the code has no default sizes")
    _demand_width(examination, own)
    others = [name for name in compared if not _as_asked(name, own, full)]
    if not others:
        return
    text = "by default the model has " + ", ".join(
        f"{_SIZES[name]} {own[name]} instead of {getattr(full, name)}" for name in others
    )
    if len(others) == 1 and len(compared) > _LIKELY:
        raise CheckFailed(text, ("default-size-wrong",), examination.first_draw)
    examination.variant("default-sizes-differ", text)


@holds(order=210)  # a model of any size, which may take too long, or too much
def own_pass(examination: Examination) -> None:
    """The model runs at the sizes that the code itself gives it.

    Else: The model fails at its own sizes
    """
    if examination.session.is_script:
        raise NotAsked("a script runs at its own sizes")
    if examination.crash is not None:
        raise NotApplicable("the model fails at other sizes, too")
    try:
        is_tried = examination.session.own_pass(examination.assignment.full)
    except StudentCodeFailed as error:
        text = f"with the sizes that your code gives it, the model fails: {error}"
        raise CheckFailed(text, ("own-sizes-fail",), frame=error.frame) from None
    if not is_tried:
        raise NotAsked("the code gives it no sizes but those of the other checks")


def _demand_width(examination: Examination, own: Mapping[str, int]) -> None:
    """Raises CheckFailed where the MLP is far narrower than a token, whatever is asked for.

    Then its ratio to the width of a token was taken for its width.
    """
    hidden, width = own.get("mlp_dim", 0), own.get("embed_dim", 0)
    if 0 < hidden * _NARROW < width:
        text = f"by default the hidden layer of the MLP has {hidden} units, and a token has {width} features"
        raise CheckFailed(text, ("mlp-ratio-wrong",), examination.first_draw)


def _as_asked(name: str, own: Mapping[str, int], full: ModelSizes) -> bool:
    """Is that the asked size, or one that follows from another width?"""
    in_proportion = name == "mlp_dim" and own[name] * full.embed_dim == full.mlp_dim * own.get("embed_dim", 0)
    return own[name] == getattr(full, name) or in_proportion
