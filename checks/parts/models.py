"""ViTs for functions that read one: the submission's own, else small ones of ours; what they attend to."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ...submissions.errors import NotLoaded, StudentCodeFailed
from ...submissions.host.asking import SampleSession
from ...submissions.host.session import Session
from ...submissions.questions.part_questions import ModelArgument
from ..examining.drawing import draw_examples, noise
from ..examining.examination import Examination
from ..locating.locate import locate
from ..vit.vit_family import VIT
from .readings import processed
from .trials import Answer, Trial, right_fusions

_DRAWS = 8
_SAMPLES = ("timm", "torchvision")  # whose names for the parts of a model the function may rely on


def model_trials(examination: Examination, fusion: str | None) -> Iterator[Trial]:
    """Calls of ``get_attention`` with a model and images; the answers are made from the located S13."""
    drawn = draw_examples(_DRAWS, examination.seed, VIT)
    draw = max(drawn, key=lambda one: one.sizes.heads)  # over two heads, a sum is twice the mean
    for session, sample in _models(examination):
        sizes = session.sizes_for(type(draw.sizes)(**{**vars(draw.sizes), "width": draw.sizes.height}))
        image = noise(sizes, draw.seed)
        attention = _attention(session, sizes, draw.seed, image)
        for batch in (sizes.batch, 1) if attention else ():
            model = ModelArgument(sizes, draw.seed, sample)
            maps = [one[:batch] for one in attention]
            yield Trial({"model": [model], "image": [image[:batch]]}, tuple(_answers(maps, fusion)))


def _models(examination: Examination) -> Iterator[tuple[Session, str | None]]:
    if _has_model(examination):
        yield examination.session, None
    for sample in _SAMPLES:
        yield SampleSession(examination.session, sample), sample


def _has_model(examination: Examination) -> bool:
    assignment = examination.assignment
    try:
        if not assignment.architectures:  # else it has been looked for
            examination.session.infer(assignment.model.pins)
    except NotLoaded:
        return False
    return True


def _attention(session: Session, sizes: ModelSizes, seed: int, image: Tensor) -> list[Tensor]:
    """S13 of every block; nothing where the model is none that can be followed."""
    try:
        trace = session.trace(sizes, seed, image)
    except StudentCodeFailed:
        return []
    stages = locate(trace, sizes, VIT).context.stages
    return [tensor for (key, _), tensor in stages.items() if key == "attention_probabilities"]


def _answers(attention: list[Tensor], fusion: str | None) -> Iterator[Answer]:
    for ids, maps in processed(attention, right_fusions(fusion)):
        yield ids, torch.stack(maps)
        if not ids:
            yield ("maps-layers-reversed",), torch.stack(maps[::-1])
            yield ("maps-of-one-layer",), maps[-1]
            yield ("maps-of-one-layer",), maps[0]
