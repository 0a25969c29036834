"""A mark is right where a local variable holds the stage, wherever people put marks."""

from __future__ import annotations

import pytest
from examining import BRIEF, examine

from vitcheck.checks.examining.verdicts import CheckFailed, Missing, NotApplicable, NotReached
from vitcheck.checks.rules.kinds.breakpoint import Breakpoints

EVERY = [f"S{number:02}" for number in range(1, 27)]
SCORES = "attn_scores = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)"
AFTER_SCORES = f"{SCORES}\n        # BREAKPOINT S12 - scores before softmax\n"
INDENT = "\n        "


def check(label: str, *edits: tuple[str, str], base: str = "report") -> None:
    Breakpoints(examine(base, *edits)).check(label)


def refused(label: str, *edits: tuple[str, str]) -> str:
    with pytest.raises((CheckFailed, Missing)) as failed:
        check(label, *edits)
    return str(failed.value)


def test_every_mark_of_the_report_is_right() -> None:
    breakpoints = Breakpoints(examine("report"))
    for label in EVERY:
        breakpoints.check(label)


@pytest.mark.parametrize(
    "lines",
    [
        f"{SCORES}  # BREAKPOINT S12",
        f"# BREAKPOINT S12{INDENT}{SCORES}",
        f"{SCORES}\n{INDENT}# BREAKPOINT S12\n",
        SCORES.replace("/", f"/ (  # BREAKPOINT S12{INDENT}")
        + INDENT
        + ")",  # on a line of a longer statement
        SCORES.replace("= ", f"= ({INDENT}") + f"{INDENT})  # BREAKPOINT S12",
        f"if True:{INDENT}    {SCORES}  # BREAKPOINT S12",
        f"with torch.no_grad():  # BREAKPOINT S12{INDENT}    {SCORES}{INDENT}    scores = attn_scores",
        f"{SCORES}{INDENT}pass  # BREAKPOINT S12",
        f"{SCORES}{INDENT}breakpoint = 1  # breakpoint: S11, S12 and S13",
    ],
)
def test_a_mark_may_stand_on_before_or_after_the_assignment(lines: str) -> None:
    check("S12", (AFTER_SCORES, f"{lines}\n"))


def test_a_mark_in_a_loop_body_is_passed_in_every_turn() -> None:
    edit = ("            x = block(x)\n", "            x = block(x)  # BREAKPOINT S22\n")
    check("S22", edit, ("        # BREAKPOINT S22 - output of the last block\n", ""))


@pytest.mark.parametrize(
    "first",
    ["", '"""Says what it does."""\n        ', "global IMG_SIZE\n        ", "x: torch.Tensor\n        "],
)
def test_a_mark_may_be_the_first_line_of_a_function(first: str) -> None:
    old = "        # BREAKPOINT S08 - block input\n"
    check(
        "S08",
        (old, ""),
        ("        B, T, D = x.shape\n", f"        # BREAKPOINT S08\n        {first}B, T, D = x.shape\n"),
    )


def test_one_mark_may_carry_several_labels() -> None:
    old = "# BREAKPOINT S09 - Q\n        # BREAKPOINT S10 - K\n        # BREAKPOINT S11 - V\n"
    for label in ("S09", "S10", "S11"):
        check(label, (old, "# BREAKPOINT S09-S11\n"))


def test_a_mark_at_the_wrong_place_is_told_what_is_there() -> None:
    wrong = f"# BREAKPOINT S12{INDENT}x_norm = self.norm1(x_in)"
    text = refused("S12", (AFTER_SCORES, f"{SCORES}\n"), ("x_norm = self.norm1(x_in)", wrong))
    assert "no local variable holds S12" in text
    assert "report.py:" in text
    assert text.endswith("there are x, x_in, x_norm")


def test_a_mark_that_is_never_reached_is_said_to_be() -> None:
    text = refused(
        "S12", (AFTER_SCORES, f"{SCORES}\n        if x is None:\n            T = 0  # BREAKPOINT S12\n")
    )
    assert "is never reached" in text


def test_a_missing_mark_is_asked_for() -> None:
    with pytest.raises(Missing, match="asks for a comment `# BREAKPOINT S12` after the line"):
        check("S12", (AFTER_SCORES, f"{SCORES}\n"))
    assert "S01" in refused("S01", ("        # BREAKPOINT S01 - input image\n", ""))


def test_either_of_two_label_sets_will_do_unless_the_assignment_names_one() -> None:
    early = ("# BREAKPOINT S15 - attention output", "# BREAKPOINT S15")
    late = ("# BREAKPOINT S16 - residual and norm after attention", "# BREAKPOINT S15, S16")
    sheet = BRIEF.model_copy(update={"labels": ("sheet",)})
    check("S15", early)
    check("S15", ("# BREAKPOINT S15 - attention output", ""), late)
    Breakpoints(examine("report", late, assignment=sheet)).check("S15")
    with pytest.raises(CheckFailed, match=r"no local variable holds"):
        Breakpoints(examine("report", early, assignment=sheet)).check("S15")


CALL = "y = F.scaled_dot_product_attention("


def test_what_is_never_held_in_a_variable_is_marked_where_it_is_computed() -> None:
    with pytest.raises(NotApplicable, match="never stores this stage in a variable"):
        check("S13", base="fused_sdpa")  # inside of the library
    check("S13", (CALL, f"# BREAKPOINT S13{INDENT}{CALL}"), base="fused_sdpa")
    with pytest.raises(NotApplicable, match="there is no comment where"):
        check(
            "S13",
            (CALL, f"pass{INDENT}{CALL}"),
            ("import torch\n", "import torch  # BREAKPOINT S13\n"),
            base="fused_sdpa",
        )


def test_what_was_not_found_is_not_blamed_on_the_mark() -> None:
    crash = ("x_last = x\n", "x_last = x @ x\n")
    with pytest.raises(NotReached):
        check("S25", crash)
    check("S12", crash)  # reached before


def test_heads_side_by_side_are_the_same_stage() -> None:
    merged = "attn_concat = attn_ctx.transpose(1, 2).reshape(B, T, D)"
    old = f"# BREAKPOINT S14 - context of each head{INDENT}{merged}\n"
    new = f"attn_ctx = {merged}  # BREAKPOINT S14\n"
    strict = BRIEF.model_copy(update={"labels": ("report",)})
    Breakpoints(examine("report", (old, new), assignment=strict)).check("S14")
