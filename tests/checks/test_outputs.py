"""What a model returns on request is compared with the stages that it claims to be."""

from __future__ import annotations

import pytest
from examining import BRIEF, examine

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable
from vitcheck.checks.rules.kinds.output import check_output

CLIP = load_assignment("clip-vit").model_copy(update={"examples": 2})
TOKENS = "output += (x[:, 1:],)"
MAPS = "weights[:, :, 0, 1:].unflatten(-1, (self.grid, self.grid))"


@pytest.mark.parametrize("name", ["patch-tokens", "class-attention"])
def test_what_is_asked_for_is_found_among_what_is_returned(name: str) -> None:
    check_output(examine("clip_style", assignment=CLIP), name)


@pytest.mark.parametrize("name", ["patch-tokens", "class-attention"])
def test_a_model_that_returns_no_more_than_its_feature_is_told_so(name: str) -> None:
    alone = ("return output\n", "return feature\n")
    with pytest.raises(CheckFailed, match=r"but nothing that is returned is that; its shapes are"):
        check_output(examine("clip_style", alone, assignment=CLIP), name)


WRONG = [
    ("patch-tokens", (TOKENS, "output += (x,)"), "all tokens, the class token among them"),
    ("patch-tokens", (TOKENS, "output += (x[:, :-1],)"), "expected the patch tokens"),
    ("class-attention", (MAPS, "weights"), "attention of all tokens to all tokens"),
    ("class-attention", (MAPS, MAPS.replace("0, 1:", "1:, 0")), "from the patches to the class token"),
    ("class-attention", (MAPS, MAPS + ".mean(1)"), "averaged over the heads"),
    ("class-attention", ("torch.stack(maps)", "maps[-1]"), "the last block alone"),
]


@pytest.mark.parametrize(("name", "edit", "says"), WRONG)
def test_what_is_returned_in_its_place_is_named(name: str, edit: tuple[str, str], says: str) -> None:
    with pytest.raises(CheckFailed, match=says):
        check_output(examine("clip_style", edit, assignment=CLIP), name)


def test_a_forward_pass_that_fails_with_its_switches_on_is_said_to() -> None:
    with pytest.raises(CheckFailed, match="with its optional outputs on, the forward pass fails: NameError"):
        check_output(examine("clip_style", (TOKENS, "output += (tokens,)"), assignment=CLIP), "patch-tokens")


def test_an_assignment_that_asks_for_nothing_more_is_passed_over() -> None:
    with pytest.raises(NotApplicable):
        check_output(examine("report", assignment=BRIEF), "patch-tokens")
