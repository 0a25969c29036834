"""An instructor's check of all sizes, weights and images, as docs/extending.md shows one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from examining import BRIEF

from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.verdicts import CheckOutcome
from vitcheck.checks.grading.grading import Grading
from vitcheck.checks.grading.own_checks import run_own_checks
from vitcheck.checks.grading.running import outcome_of
from vitcheck.submissions.host.process import Zygote

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "submissions" / "examples" / "report_block.py"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "docs" / "extending.md").read_text("utf-8"), re.M | re.S
)
DOCUMENTED = next(one for one in BLOCKS if "draws" in one)
HEAD = "from hypothesis import given, settings\nfrom vitcheck.api import CheckFailed, draws\n\n"


@pytest.fixture(scope="module")
def right(zygote: Zygote) -> Iterator[Examination]:
    with Grading(PROGRAM, BRIEF, zygote).examined() as examination:
        yield examination


def outcome(examination: Examination, text: str, folder: Path) -> CheckOutcome:
    """How the one check of this file ended."""
    (folder / "test_own.py").write_text(text)
    ((check, problem),) = run_own_checks(folder, examination)
    return outcome_of(check, problem, examination)


def test_the_check_that_is_documented_passes_a_right_program(right: Examination, tmp_path: Path) -> None:
    found = outcome(right, DOCUMENTED, tmp_path)
    assert (found.id, found.outcome) == ("own.an_image_alone", "passed")
    assert found.title == "An image alone gets the scores that it gets among others."


def test_it_fails_a_wrong_one_at_the_smallest_sizes_and_says_the_seed(zygote: Zygote, tmp_path: Path) -> None:
    wrong = tmp_path / "vit.py"
    wrong.write_text(
        PROGRAM.read_text().replace("softmax(attn_scores, dim=-1)", "softmax(attn_scores, dim=0)")
    )
    with Grading(wrong, BRIEF, zygote).examined() as examination:
        found, again = (outcome(examination, DOCUMENTED, tmp_path) for _ in range(2))
        drawn = vars(examination.first_draw.sizes)
    assert found.outcome == "failed"
    assert found.message.startswith("the scores of an image depend on the others in its batch")
    assert found.counterexample is not None
    assert {*drawn, "seed", "command"} == found.counterexample.keys()
    assert found.counterexample["heads"] == 2  # of 2 to 4
    assert again == found


def test_what_fails_at_some_sizes_only_is_shrunk_to_the_least_of_them(
    right: Examination, tmp_path: Path
) -> None:
    check = "@given(draw=draws())\ndef test_it(draw):\n    assert draw.sizes.classes < 7\n"
    found = outcome(right, HEAD + check, tmp_path)
    assert found.counterexample is not None
    assert found.counterexample["classes"] == 7


def test_images_and_weights_are_those_of_the_seed(right: Examination, tmp_path: Path) -> None:
    check = """
@settings(max_examples=3)
@given(draw=draws())
def test_it(examination, draw):
    images, sizes = draw.image, draw.sizes
    assert images.shape == (sizes.batch, sizes.channels, sizes.height, sizes.width)
    scores = examination.model(draw)(images)
    assert scores.shape == (sizes.batch, sizes.classes)
    assert scores.equal(examination.model(draw)(draw.image))
"""
    assert outcome(right, HEAD + check, tmp_path).outcome == "passed"


def test_a_check_that_raises_at_some_sizes_is_told_with_them(right: Examination, tmp_path: Path) -> None:
    check = "@given(draw=draws())\ndef test_it(draw):\n    raise CheckFailed('not so')\n"
    found = outcome(right, HEAD + check, tmp_path)
    assert (found.outcome, found.message) == ("failed", "not so")
    assert found.counterexample is not None


def test_what_hypothesis_does_otherwise_stays_as_it_is(right: Examination, tmp_path: Path) -> None:
    before = hypothesis.settings.default
    assert before is not None
    outcome(right, HEAD + "def test_it():\n    pass\n", tmp_path)
    assert hypothesis.settings.default == before
