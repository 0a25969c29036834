"""The stage table: whole, in order, and true of the reference ViT in every architecture."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from vitcheck.reference import equations
from vitcheck.reference.sizes import Sizes, preset
from vitcheck.reference.stages import ARCHITECTURES, LABEL_SETS, STAGES, stage, stages_of
from vitcheck.reference.vit import CLIP, POST_NORM, PRE_NORM, REPORT, ReferenceViT, Variant

VARIANTS = pytest.mark.parametrize(
    "variant", [REPORT, PRE_NORM, POST_NORM, CLIP], ids=lambda variant: variant.name
)

B16 = {  # copied from the assignment, one image
    "S01": (1, 3, 224, 224),
    "S02": (1, 196, 3, 16, 16),
    "S03": (1, 196, 768),
    "S04": (1, 196, 768),
    "S05": (1, 1, 768),
    "S09": (1, 12, 197, 64),
    "S10": (1, 12, 197, 64),
    "S11": (1, 12, 197, 64),
    "S12": (1, 12, 197, 197),
    "S13": (1, 12, 197, 197),
    "S14": (1, 12, 197, 64),
    "S17": (1, 197, 3072),
    "S24": (1, 768),
    "S25": (1, 1000),
    "S26": (1, 1000),
}
SEQUENCE = (1, 197, 768)  # every other stage


def test_labels_count_the_stages() -> None:
    assert [one.label for one in STAGES] == [f"S{number:02}" for number in range(1, 27)]
    assert len({one.key for one in STAGES}) == 26


def test_shapes_at_full_size_are_the_assignments() -> None:
    sizes = preset("B/16")
    assert {one.label: one.shape(sizes) for one in STAGES} == {
        one.label: B16.get(one.label, SEQUENCE) for one in STAGES
    }


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_predecessors_come_first_and_are_what_the_equation_names(architecture: str) -> None:
    seen: set[str] = set()
    for one in stages_of(architecture):
        assert set(one.predecessors) <= seen
        assert set(re.findall(r"S\d\d", one.equation)) == {stage(key).label for key in one.predecessors}
        seen.add(one.key)


def test_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(ValueError, match="'sandwich'; there are report, pre-norm, post-norm, clip"):
        stages_of("sandwich")


@VARIANTS
@pytest.mark.parametrize(
    "sizes",
    [
        Sizes(height=8, width=12, patch=4, embed_dim=20, heads=5, mlp_dim=28, depth=3, classes=9),
        Sizes(batch=3, channels=1, height=6, width=4, patch=2, embed_dim=8, heads=1, mlp_dim=4, depth=2),
        preset("S/32"),
    ],
)
def test_the_reference_has_every_stage_in_its_shape(variant: Variant, sizes: Sizes) -> None:
    model = ReferenceViT(sizes, variant).to("meta")
    image = torch.empty(sizes.batch, sizes.channels, sizes.height, sizes.width, device="meta")
    shapes = {key: tuple(tensor.shape) for key, tensor in model(image).items()}
    assert shapes == {one.key: one.shape(sizes) for one in stages_of(variant.name)}


@VARIANTS
def test_the_function_of_a_stage_is_the_last_that_made_it(
    variant: Variant, small: Sizes, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, Tensor]] = []

    def recording(name: str) -> Callable[..., Tensor]:
        original: Callable[..., Tensor] = getattr(equations, name)

        def call(*args: Any, **kwargs: Any) -> Tensor:
            made.append((name, original(*args, **kwargs)))
            return made[-1][1]

        return call

    activation = variant.activation.__name__
    for name in {one.operation for one in stages_of(variant.name) if one.operation} - {activation}:
        monkeypatch.setattr(equations, name, recording(name))
    traced = dataclasses.replace(variant, activation=recording(activation))
    stages = ReferenceViT(small, traced)(torch.randn(2, 3, 8, 12))
    for one in stages_of(variant.name):
        if one.operation:
            last = [name for name, tensor in made if tensor is stages[one.key]][-1]
            assert last == one.operation, one.key


@VARIANTS
def test_stages_depend_on_their_predecessors(
    variant: Variant, small: Sizes, randomise: Callable[[nn.Module], None]
) -> None:
    image = torch.randn(2, 3, 8, 12, dtype=torch.float64, requires_grad=True)
    model = ReferenceViT(small, variant)
    randomise(model)
    stages = model(image)
    for one in stages_of(variant.name):
        for key in one.predecessors:
            (gradient,) = torch.autograd.grad(stages[one.key].square().sum(), stages[key], retain_graph=True)
            assert gradient.abs().max() > 0, (one.key, key)


@pytest.mark.parametrize("id_", ["S12", "s12", "attention_scores", "Attention_Scores"])
def test_a_stage_is_found_by_key_and_label(id_: str) -> None:
    assert stage(id_).function is equations.attention_scores


def test_an_unknown_stage_is_refused_with_near_names() -> None:
    with pytest.raises(ValueError, match="no stage 'attention_score'; did you mean attention_scores"):
        stage("attention_score")
    with pytest.raises(ValueError, match="no stage 'x'; stages are S01 to S26"):
        stage("x")


def test_the_sheet_numbers_two_stages_differently() -> None:
    differing = {label for label, keys in LABEL_SETS["sheet"].items() if LABEL_SETS["report"][label] != keys}
    assert differing == {"S14", "S15"}


def test_every_label_of_every_set_stands_for_known_stages() -> None:
    for labels in LABEL_SETS.values():
        assert list(labels) == [one.label for one in STAGES]
        assert {key for keys in labels.values() for key in keys} <= {one.key for one in STAGES}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_explanations_are_two_to_four_sentences(architecture: str) -> None:
    for one in stages_of(architecture):
        assert one.invariants
        assert 2 <= len(re.findall(r"[.?!](?= [A-Z]|$)", one.explanation)) <= 4, one.key


def test_the_table_can_be_listed_without_loading_torch() -> None:
    code = "import sys, vitcheck.reference.stages; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
