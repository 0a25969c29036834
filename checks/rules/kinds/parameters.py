"""How many numbers the model learns, against the reference at the assignment's size."""

from __future__ import annotations

from dataclasses import replace

from ....reference.model_sizes import ModelSizes
from ....reference.sizes import Sizes
from ....reference.vit import ReferenceViT, Variant
from ....submissions.host.trace import Use
from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.passes.reference_pass import VARIANTS
from ...examining.verdicts import CheckFailed, NotApplicable, NotAsked
from ...locating.search.origins import origin
from ...locating.walk import Walk
from ..declaring import once
from ..judging import demand_finished
from ..rulebook import rulebook_of

_DEPTHS = (2, 3)  # the number grows by the same with every block, so that two small models tell the large


@once(
    Kind(
        id="parameters",
        group="parameters",
        pays_for="the expected number of parameters",
        order=70,
        part="model",
        severity="minor",
        finished=True,
    )
)
def check_parameter_count(examination: Examination) -> None:
    """The model has the expected number of parameters.

    Else: The number of parameters is wrong
    """
    demand_finished(examination)
    if not examination.assignment.rules.parameters:
        raise NotAsked("this assignment does not count parameters")
    if examination.session.is_script:
        raise NotAsked("a script has no model whose parameters could be counted at another size")
    count, block = rulebook_of(examination.family).parameters, examination.architecture
    if variants := [one.id for one in examination.findings() if not examination.counts(one.id)]:
        raise NotAsked(f"an accepted variant may change the number: {', '.join(variants)}")
    if count is None or block is None or block not in examination.family.blocks:
        raise NotApplicable("the architecture was not recognised, or there is no reference model for it")
    full = replace(examination.assignment.full, batch=1)
    found, expected = _students(examination, full), count(full, block)
    if _has_fixed_positions(examination.walk):
        expected -= full.axes["T"] * full.axes["D"]
    if found != expected:
        more = f"{abs(found - expected):,} {'more' if found > expected else 'fewer'}"
        raise CheckFailed(
            f"expected {expected:,} parameters, got {found:,}: {more} than the reference model has"
        )


def _has_fixed_positions(walk: Walk) -> bool:
    """Is the table of positions made of no parameter, such as one of sines?"""
    table = walk.roles.get("positions")
    if not isinstance(table, Use):
        return False
    return all(leaf.kind != "parameter" for leaf in origin(walk.trace, walk.trace.used(table)).leaves)


def _students(examination: Examination, full: ModelSizes) -> int:
    counts = {}
    for depth in _DEPTHS:
        sizes = examination.session.sizes_for(replace(full, depth=depth))
        if replace(sizes, depth=full.depth) != full:
            raise NotApplicable("the model cannot be built at the assignment's size")
        counts[sizes.depth] = examination.session.parameter_count(sizes)
    return _at_depth(counts, full.depth)


def vit_parameters(full: ModelSizes, block: str) -> int:
    """The number of parameters of the reference ViT with this kind of block."""
    assert isinstance(full, Sizes)
    return expected_count(full, VARIANTS[block])


def expected_count(full: Sizes, variant: Variant) -> int:
    """The number of parameters of the reference at these sizes."""
    models = {depth: ReferenceViT(replace(full, depth=depth), variant) for depth in _DEPTHS}
    counts = {depth: sum(one.numel() for one in model.parameters()) for depth, model in models.items()}
    return _at_depth(counts, full.depth)


def _at_depth(counts: dict[int, int], depth: int) -> int:
    """The number at ``depth`` on the line through two others; alone, the number of a fixed depth."""
    if len(counts) == 1:
        return next(iter(counts.values()))
    (first, small), (second, large) = counts.items()
    return small + (large - small) * (depth - first) // (second - first)
