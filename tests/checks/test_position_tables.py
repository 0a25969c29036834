"""Fixed tables of positions: which are right by some known formula, and which are none of them."""

from __future__ import annotations

import pytest
from corpus import BASES
from tracing_helpers import SQUARE, sizes_of, trace_source

from vitcheck.checks.locating.locate import locate
from vitcheck.checks.vit.vit_family import VIT

_TOKEN = "x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos_embed"
_NO_TOKEN = (  # so that row 0 holds the sines and cosines of the first patch
    ("    return torch.cat([torch.zeros(1, dim, dtype=grid.dtype), grid])", "    return grid"),
    ("        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))\n", ""),
    (_TOKEN, "x = x + self.pos_embed"),
    ("self.blocks(x))[:, 0]", "self.blocks(x)).mean(1)"),
)
_OMEGA = "(torch.arange(dim // 2, dtype=torch.float64) / (dim / 2))"


def named(*edits: tuple[str, str], base: str = "sincos_2d") -> set[str]:
    """What is said of the positions of a model with these edits."""
    text = BASES[base].source()
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    walk = locate(trace_source(text, base, sizes_of(base)), sizes_of(base), VIT)
    return {one.id for step in walk.steps for one in step.findings if one.stage == "positioned_tokens"}


@pytest.mark.parametrize(
    "edit",
    [
        ("angles.sin(), angles.cos()", "angles.cos(), angles.sin()"),
        ("[by_row, by_column]", "[by_column, by_row]"),
        (_OMEGA, "(torch.arange(dim // 2, dtype=torch.float64) / (dim // 2 - 1))"),
    ],
)
def test_sines_of_rows_and_columns_are_right_in_any_order(edit: tuple[str, str]) -> None:
    assert named(*_NO_TOKEN, edit) == set()
    assert named(edit) == set()


@pytest.mark.parametrize(
    "edit",
    [
        ("1.0 / 10000 **", "1.0 / 100 **"),
        ("by_row, by_column]", "by_row, by_row]"),
        ("angles.sin(), angles.cos()", "angles.sin(), angles"),
    ],
)
def test_other_sines_are_not(edit: tuple[str, str]) -> None:
    assert named(*_NO_TOKEN, edit) == {"sinusoid-wrong-frequencies"}
    assert named(edit) == {"sinusoid-wrong-frequencies"}


@pytest.mark.parametrize(
    "edit",
    [
        ("torch.cos(position * div_term)", "torch.cos(len(table) * div_term)"),
        ("torch.sin(position * div_term)", "torch.sin(div_term)"),
        ("torch.sin(position * div_term)", "position * div_term"),
    ],
)
def test_a_table_of_which_one_half_is_right_is_wrong(edit: tuple[str, str]) -> None:
    assert named(edit, base="sinusoidal") == {"sinusoid-wrong-frequencies"}


def test_waves_that_are_no_columns_of_the_formula_are_wrong() -> None:
    frequency = "-math.log(10000.0)"
    assert frequency in BASES["sinusoidal"].source()
    edits = (frequency, frequency[1:]), ("torch.cos(position * div_term)", "torch.cos(position + div_term)")
    assert named(*edits, base="sinusoidal") == {"sinusoid-wrong-frequencies"}


@pytest.mark.parametrize(
    "table", ["torch.randn(n_positions, dim)", "position / n_positions + torch.zeros(dim)"]
)
def test_other_fixed_numbers_are_not_taken_for_waves(table: str) -> None:
    made = "return table"
    assert named((made, f"return {table}"), base="sinusoidal") == set()


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (("math.log(10000.0)", "math.log(1000.0)"), {"sinusoid-wrong-frequencies"}),
        (("math.log(10000.0)", "math.log(1e4)"), set()),
    ],
)
def test_a_frozen_parameter_keeps_its_formula(edit: tuple[str, str], expected: set[str]) -> None:
    buffer = 'self.register_buffer("pe", sinusoid_table(n_positions, dim))'
    frozen = "self.pe = nn.Parameter(sinusoid_table(n_positions, dim), requires_grad=False)"
    assert named((buffer, frozen), edit, base="sinusoidal") == expected


@pytest.mark.parametrize("operator", "-*")
def test_what_a_position_does_to_the_class_token_alone_is_the_fault_of_s07(operator: str) -> None:
    """It was taken for a class token without a position, which some courses allow."""
    text = BASES["token_after_positions"].source()
    right = "self.class_token + self.class_position"
    assert text.count(right) == 1
    wrong = text.replace(right, right.replace("+", operator))
    walk = locate(trace_source(wrong, "token_after_positions", SQUARE), SQUARE, VIT)
    assert [step.key for step in walk.steps if not step.explained] == ["positioned_tokens"]
    assert "token 0 only" in next(step.message for step in walk.steps if not step.explained)
    assert not walk.ids


def test_a_sequence_without_a_class_token_may_be_stacked_with_others() -> None:
    """As of models that return what each block gives."""
    text = BASES["sincos_2d"].source()
    for old, new in (*_NO_TOKEN, ("self.blocks(x)", "self.blocks(torch.stack([x, 2 * x])[0])")):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    walk = locate(trace_source(text, "sincos_2d", sizes_of("sincos_2d")), sizes_of("sincos_2d"), VIT)
    assert walk.unexplained is None
    assert "cls-missing" in walk.ids
