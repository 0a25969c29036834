"""Single components, each graded alone: whatever their style, right ones pass and wrong ones are named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from part_mutants import COMPONENTS, Planted
from submitting import BASICS, Edit, changed, parts

from vitcheck.checks.assignment.asked_parts import ASPECTS, AskedPart
from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.parts.alone import asking_for
from vitcheck.checks.parts.parts import Parts
from vitcheck.submissions.host.process import Zygote

STYLES = ("classes", "functions", "library", "hardcoded")


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("key", BASICS.components)
@pytest.mark.parametrize("style", STYLES)
def test_a_right_component_passes_in_every_style(style: str, key: str, seed: int) -> None:
    found = parts(changed(style), seed=seed).part(key)
    assert [fault.message for fault in found.faults] == []
    assert found.component is not None
    assert [one for one in found.component.walk.steps if not one.explained] == []


@pytest.mark.parametrize("planted", COMPONENTS, ids=str)
def test_a_planted_mistake_is_named(planted: Planted) -> None:
    found = parts(changed(planted.sample, *planted.edits))
    with pytest.raises(CheckFailed) as failed:
        found.check(planted.key, next(one.aspect or "values" for one in found.part(planted.key).faults))
    assert failed.value.mistakes[:1] == ((planted.id,) if planted.id else ())


def test_two_mistakes_in_two_components_are_two_diagnoses() -> None:
    text = changed("classes", ("[cls, x]", "[x, cls]"), ("scores.softmax(dim=-1)", "scores.softmax(dim=-2)"))
    found = parts(text)
    wrong = {key: found.part(key).faults for key in ("class_token", "attention", "mlp", "positions")}
    assert wrong["class_token"][0].mistakes == ("cls-appended-last",)
    assert wrong["attention"][0].mistakes == ("softmax-over-queries",)
    assert wrong["mlp"] == wrong["positions"] == ()


def test_what_crashes_costs_itself_alone_and_says_the_line() -> None:
    found = parts(changed("classes", ("x = self.proj(x)\n", "x = self.proj(x) + self.missing\n")))
    with pytest.raises(CheckFailed, match=r"no attribute 'missing' \(parts\.py, line 15\)"):
        found.check("patch_embedding", "values")
    found.check("class_token", "values")


def test_what_cannot_be_built_says_why() -> None:
    found = parts(
        changed("classes", ("self.head_dim = embed_dim // num_heads", "self.head_dim = embed_dims"))
    )
    with pytest.raises(
        CheckFailed, match=r"MultiHeadSelfAttention could not be built: NameError.*embed_dims"
    ):
        found.check("attention", "values")


READS_SETTINGS = """
from torch import nn

class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.inner, self.outer = nn.Linear(c.width, 4 * c.width), nn.Linear(4 * c.width, c.width)

    def forward(self, x):
        return self.outer(nn.functional.gelu(self.inner(x)))
"""


MLP_OF_A_RATIO = """
from torch import nn

class MLP(nn.Module):
    def __init__(self, dim{fattore}):
        super().__init__()
        self.inner = nn.{layer}(dim, {ratio} * dim{kernel})
        self.outer = nn.{layer}({ratio} * dim, dim{kernel})

    def forward(self, x):
        return self.outer(nn.functional.gelu(self.inner(x{turned}))){turned}
"""


@pytest.mark.parametrize("ratio", ["4", "3", "fattore"])
@pytest.mark.parametrize("layer", ["Linear", "Conv1d"])
def test_an_mlp_whose_ratio_is_its_own_is_right(ratio: str, layer: str) -> None:
    given = {"kernel": ", 1", "turned": ".mT"} if layer == "Conv1d" else {"kernel": "", "turned": ""}
    fattore = ", fattore" if ratio == "fattore" else ""
    text = MLP_OF_A_RATIO.format(ratio=ratio, layer=layer, fattore=fattore, **given)
    found = parts(text).part("mlp")
    assert [fault.message for fault in found.faults] == []
    assert found.component is not None


def test_settings_are_given_whatever_the_argument_is_called() -> None:
    parts(READS_SETTINGS).check("mlp", "values")


@pytest.mark.parametrize("key", BASICS.components)
def test_arguments_that_say_nothing_are_found_by_trying(key: str) -> None:
    text = changed("classes")
    names = ("in_channels", "patch_size", "embed_dim", "n_features", "num_patches", "num_heads", "hidden_dim")
    for number, name in enumerate(names):
        text = re.sub(rf"(?<![.\w]){name}\b", f"quux_{number}", text)
    parts(text).check(key, "values")


def test_what_is_missing_is_said() -> None:
    with pytest.raises(CheckFailed, match="No class or function was found that takes B T D, returns B T D"):
        parts("import torch.nn as nn\n\ndef helper():\n    return 1\n").check("attention", "values")


def test_a_name_that_says_nothing_is_found_by_trying() -> None:
    parts(
        changed(
            "classes",
            ("class MultiHeadSelfAttention", "class Thing"),
            ("= MultiHeadSelfAttention(", "= Thing("),
        )
    ).check("attention", "values")


def test_a_pinned_name_is_the_one_that_counts() -> None:
    pinned = {"attention": AskedPart(points=1, name="MLP")}
    with pytest.raises(CheckFailed):
        parts(changed("classes"), BASICS.model_copy(update={"components": pinned})).check(
            "attention", "values"
        )
    unknown = {"attention": AskedPart(points=1, name="MultiHeadAttn")}
    with pytest.raises(CheckFailed, match="asks for MultiHeadAttn, but nothing of that name is defined"):
        parts(changed("classes"), BASICS.model_copy(update={"components": unknown})).check(
            "attention", "values"
        )


def test_the_shape_of_the_worked_example_is_judged() -> None:
    found = parts(changed("classes", ("return x.transpose(1, 2)", "return x"))).part("patch_embedding")
    told = "given 1 × 3 × 8 × 8, expected 1 × 4 × 6 (B N D), got 1 × 6 × 4"
    assert told in [fault.message for fault in found.faults]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (("self.bias = nn.Parameter(torch.zeros(n_features))", "self.bias = 0.0"), "trainable parameters ("),
        (
            (
                "self.affine = elementwise_affine",
                "self.extra = nn.Parameter(torch.ones(1))\n        self.affine = elementwise_affine",
            ),
            "expected no parameters, got",
        ),
    ],
)
def test_trainable_numbers_are_counted(edit: tuple[str, str], message: str) -> None:
    found = parts(changed("classes", edit))
    key = "layer_norm_plain" if "no parameters" in message else "layer_norm"
    assert any(message in fault.message for fault in found.part(key).faults)


def failing(found: Parts, key: str) -> set[str]:
    failed = set()
    for aspect in ASPECTS:
        try:
            found.check(key, aspect)
        except CheckFailed:
            failed.add(aspect)
    return failed


@pytest.mark.parametrize(
    ("key", "edit", "lost"),
    [
        ("attention", ("scores.softmax(dim=-1)", "scores.softmax(dim=-2)"), {"values"}),
        ("patch_embedding", ("return x.transpose(1, 2)", "return x"), {"values", "shape"}),
        (
            "layer_norm",
            (
                "self.affine = elementwise_affine",
                "self.affine, self.more = elementwise_affine, nn.Parameter(torch.ones(3))",
            ),
            {"parameters"},
        ),
        ("patch_embedding", ("x = self.proj(x)\n", "x = self.proj(x) + self.missing\n"), set(ASPECTS)),
    ],
)
def test_a_mistake_costs_the_aspects_that_it_is_about(key: str, edit: Edit, lost: set[str]) -> None:
    assert failing(parts(changed("classes", edit)), key) == lost


def test_a_parameter_that_no_gradient_reaches_is_named() -> None:
    found = parts(changed("classes", ("x = x * self.weight +", "x = x * self.weight.detach() +")))
    with pytest.raises(CheckFailed, match="No gradient reaches weight"):
        found.check("layer_norm", "parameters")
    found.check("layer_norm", "values")


def test_a_function_is_not_asked_for_parameters() -> None:
    with pytest.raises(NotApplicable):
        parts(changed("functions")).check("layer_norm", "parameters")


def test_a_part_whose_patches_have_an_odd_side_is_changed_to_sizes_that_exist(
    zygote: Zygote, tmp_path: Path
) -> None:
    text = (
        "from torch import nn\n\n\nclass Mlp(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.net = nn.Sequential(nn.Linear(64, 4 * 64), nn.GELU(), nn.Linear(4 * 64, 64))\n\n"
        "    def forward(self, x):\n        return self.net(x)\n"
    )
    (tmp_path / "mlp.py").write_text(text)
    asked = asking_for(load_assignment("vit"), {"mlp": AskedPart(points=100)})
    assert grade(tmp_path / "mlp.py", asked, zygote=zygote).score.earned == 100
