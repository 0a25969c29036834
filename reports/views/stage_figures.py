"""Which figures fit which stage, the most telling one first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..figures import grids, plots
from ..figures.bars import bars, signed_bars
from ..figures.figure_parts import Figure, Map
from ..figures.kept import Array, Arrays, Kept
from ..figures.maps import Axes, comparison, maps, veils
from ..figures.thumbnails import thumbnail
from ..words.text import numeral
from ..words.wording import say, words
from .stage_views import StageView

_HEADS = 16  # of which the class token's attention is drawn: small maps, and one is as telling as another

Draw = Callable[[Kept, StageView], Figure]


def figures(stage: StageView, arrays: Arrays) -> tuple[Figure, ...]:
    """All of a stage, the last with a note about what was kept; none where nothing was."""
    kept = _kept(stage, arrays)
    if kept is None:
        return ()
    drawn = [draw(kept, stage) for draw in _draws(stage, kept)]
    return (*drawn[:-1], *(replace(last, note=_note(kept)) for last in drawn[-1:]))


def picture(stage: StageView, arrays: Arrays) -> Figure | None:
    """The most telling of them, of the one head with the largest error where there are many."""
    kept = _kept(stage, arrays)
    first = next(iter(_draws(stage, kept)), None) if kept else None
    return replace(first(kept.at_worst, stage), note=_note(kept)) if kept and first else None


def thumbnails(stages: Sequence[StageView], arrays: Arrays) -> dict[str, str]:
    """By label a data URI of each stage of which something was kept."""
    kept = {one.label: (one, found) for one in stages if (found := _kept(one, arrays))}
    return {label: thumbnail(found, one.key == "image") for label, (one, found) in kept.items()}


def _kept(stage: StageView, arrays: Arrays) -> Kept | None:
    """The image is kept with its patches."""
    return arrays.stages.get("S02" if stage.key == "image" else stage.label)


def _draws(stage: StageView, kept: Kept) -> list[Draw]:
    """Its own figures, and the numbers themselves unless those show them."""
    own = [draw for array, draw in _OWN.get(stage.key, ()) if array in kept.arrays]
    is_right = "error" not in kept.arrays
    shown = stage.key in _SHOWING or (stage.key in _SHOWING_RIGHT and is_right)
    return own if stage.key == "image" or (own and shown) else [*own, _values]


def _axes(stage: StageView) -> Axes:
    """What stands below and beside each other in a map of a stage's last axes."""
    letters = stage.axes.split()[1:]
    if letters[-2:] == ["T", "T"]:
        return say("axis.queries"), say("axis.keys")
    if len(letters) > 3:
        letters = [letters[0], "F"]
    row, column = ["1", *letters][-2:]
    return _axis(row), _axis(column)


def _axis(letter: str) -> str:
    return words().get(f"axis.{letter}", letter)


def _note(kept: Kept) -> str:
    """Which image it is, of which block, and how much of it."""
    parts = [say("figure.which", image=kept.image, images=kept.images)]
    parts += [say("figure.block", block=kept.block)] if kept.block > 1 else []
    whole = not kept.is_cut or "tiles" in kept.arrays  # the image and its patches are never cut
    parts += [] if whole else [say("figure.cut", most=max(kept.student.shape))]
    return " ".join(parts)


def _figure(name: str, **drawn: Any) -> Figure:
    """With the title and the sentence that the catalogue has for it."""
    return Figure(say(f"{name}.title"), say(f"{name}.sentence"), **drawn)


def _values(kept: Kept, stage: StageView) -> Figure:
    own = f"values.{stage.key}" if f"values.{stage.key}" in words() else "values.any"
    sentence = say("values.compared" if "error" in kept.arrays else own)
    return Figure(say("values.title"), sentence, panels=comparison(kept, _axes(stage)))


def _map_of(name: str, row: str, kept: Kept) -> Figure:
    """The array ``name`` on its own, by tokens from left to right."""
    shown = maps([(say(f"{name}.map"), kept.arrays[name])], (say(row), say("axis.T")))
    return _figure(name, panels=(shown,))


def _attention(kept: Kept, stage: StageView) -> Figure:
    """The maps, with the sums of their rows beside the student's."""
    sums = kept.arrays["row_sums"]
    most = max(1.0, float(np.nan_to_num(np.abs(sums)).max()))
    panels, heads = comparison(kept, _axes(stage), root=True), iter(sums)
    if len(panels) > 1 or "error" in kept.arrays:  # a row of maps for each head, the student's first
        shown = tuple(
            replace(one, maps=(_summed(one.maps[0], next(heads), most), *one.maps[1:])) for one in panels
        )
    else:
        shown = (replace(panels[0], maps=tuple(_summed(one, next(heads), most) for one in panels[0].maps)),)
    low, high = numeral(float(sums.min())), numeral(float(sums.max()))
    return Figure(say("attention.title"), say("attention.sentence", low=low, high=high), panels=shown)


def _summed(shown: Map, sums: Array, most: float) -> Map:
    return replace(shown, sums=bars(sums[: shown.rows], 0.0, most), unit=round(100 / most, 1))


def _class_attention(kept: Kept, stage: StageView) -> Figure:
    """Over the image, the mean of the heads before each of them; records of old have no image here."""
    heads = kept.arrays["class_attention"][:_HEADS]
    titled = [(say("axis.head", head=number), one) for number, one in enumerate(heads, kept.head)]
    with np.errstate(invalid="ignore"):  # of infinities of both signs
        mean = heads.mean(0)
    titled = [(say("class_attention.mean"), mean), *titled] if len(heads) > 1 else titled
    axes, pixels = (say("axis.rows"), say("axis.columns")), kept.arrays.get("pixels")
    shown = maps(titled, axes) if pixels is None else veils(titled, axes, pixels)
    return _figure("class_attention", panels=(shown,))


def _logits(kept: Kept, stage: StageView) -> Figure:
    if kept.student.ndim > 1:  # logits at every position
        return _values(kept, stage)
    return _figure("logits", bars=signed_bars(kept.student.ravel()))


def _probabilities(kept: Kept, stage: StageView) -> Figure:
    total = numeral(float(kept.student.sum()))
    sentence = say("probabilities.cut" if kept.is_cut else "probabilities.sentence", total=total)
    return Figure(say("probabilities.title"), sentence, bars=signed_bars(kept.student.ravel()))


# the figures of each stage by key, and the array that each needs
_OWN: Mapping[str, tuple[tuple[str, Draw], ...]] = {
    "image": (("pixels", lambda kept, _: _figure("image", panels=(grids.image(kept),))),),
    "patches": (
        ("sources", lambda kept, _: _figure("patches", panels=(grids.patches(kept),))),
        ("tiles", lambda kept, _: _figure("tiles", panels=(grids.tiles(kept),))),
    ),
    "flattened_patches": (
        ("sources", lambda kept, _: _figure("flattened", panels=(grids.flattened(kept),))),
    ),
    "positioned_tokens": (("similarity", lambda kept, _: _map_of("similarity", "axis.T", kept)),),
    **dict.fromkeys(
        ("query", "key", "value", "attention_context"),
        (("norms", lambda kept, _: _map_of("norms", "axis.h", kept)),),
    ),
    "attention_scores": (
        ("student", lambda kept, stage: _figure("scores", panels=comparison(kept, _axes(stage)))),
    ),
    "attention_probabilities": (("row_sums", _attention), ("class_attention", _class_attention)),
    **dict.fromkeys(
        ("post_attention_norm", "post_mlp_norm"),
        (("statistics", lambda kept, _: _figure("norm", plots=plots.statistics(kept.arrays["statistics"]))),),
    ),
    "mlp_hidden": (("curve", lambda kept, _: _figure("curve", plots=(plots.curves(kept.arrays["curve"]),))),),
    **dict.fromkeys(
        ("block_output", "second_block_output", "last_block_output", "final_sequence"),
        (("stream", lambda kept, _: _figure("stream", plots=(plots.streams(kept.arrays["stream"]),))),),
    ),
    "logits": (("student", _logits),),
    "class_probabilities": (("student", _probabilities),),
}
_SHOWING = ("attention_scores", "attention_probabilities")  # what is there, and what should be
_SHOWING_RIGHT = ("patches", "flattened_patches", "logits", "class_probabilities")  # what is there
