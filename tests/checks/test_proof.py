"""What is blamed is put right in the student's own pass: then the rest is right, or what is not is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpus import edited
from one_file import graded_file
from test_unfinished import FINISHED

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.points.scoring import scored
from vitcheck.checks.record.for_students import for_students
from vitcheck.checks.record.result import Proof, Result, Visibility
from vitcheck.reports.words.standing import findings
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.host.session import Session
from vitcheck.submissions.host.trace import Trace

VIT = load_assignment("vit")
SCALE = ("/ (D // self.heads) ** 0.5", "/ D**0.5")
RESIDUAL = ("return x + self.mlp", "return self.mlp")
LOOP = (
    "context = scores.softmax(-1) @ v",
    "context = torch.stack([scores[:, i].softmax(-2) @ v[:, i] for i in range(self.heads)], dim=1)",
)


def proof_of(zygote: Zygote, folder: Path, *edits: tuple[str, str]) -> Proof | None:
    return graded(zygote, folder, *edits).proof


def graded(zygote: Zygote, folder: Path, *edits: tuple[str, str]) -> Result:
    return graded_file(edited(FINISHED, edits), VIT, zygote, folder)


@pytest.fixture
def unrepaired(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the line of a slip is found by a change of the code, which proves as much."""
    monkeypatch.setattr("vitcheck.checks.grading.grading.is_repairable", lambda _: False)


@pytest.mark.usefixtures("unrepaired")
@pytest.mark.parametrize(
    ("edits", "cured"),
    [
        ([SCALE], ["S12"]),
        ([LOOP], ["S13"]),  # apart, one head after the other
        ([RESIDUAL], ["S19"]),  # it has no tensor of its own
        ([("context.transpose(1, 2).reshape", "context.reshape")], ["S15"]),
        ([("self.cls.expand(len(x), -1, -1), x]", "x, self.cls.expand(len(x), -1, -1)]")], ["S06"]),
        ([("x[:, 0]", "x[:, -1]")], ["S24"]),
        ([SCALE, RESIDUAL], ["S12", "S19"]),
    ],
)
def test_with_right_numbers_for_what_is_blamed_all_else_is_right(
    edits: list[tuple[str, str]], cured: list[str], zygote: Zygote, tmp_path: Path
) -> None:
    proof = proof_of(zygote, tmp_path, *edits)
    assert proof is not None
    assert (proof.proven, proof.cured, proof.still) == (True, cured, [])


def test_a_change_of_the_code_that_makes_all_right_is_a_proof(zygote: Zygote, tmp_path: Path) -> None:
    proof = proof_of(zygote, tmp_path, ("gelu(self.fc1(x))", "gelu(self.fc1(x)) * 3"))
    assert proof is not None
    assert (proof.proven, proof.cured) == (True, ["S18"])


@pytest.mark.usefixtures("unrepaired")
def test_right_work_and_what_raises_have_nothing_to_prove(zygote: Zygote, tmp_path: Path) -> None:
    assert proof_of(zygote, tmp_path) is None
    assert proof_of(zygote, tmp_path, ("dim=1)", "dim=2)")) is None


@pytest.mark.usefixtures("unrepaired")
@pytest.mark.parametrize(
    "lie", [lambda trace: trace, lambda trace: replace(trace, records=trace.records[:9])]
)
def test_a_child_that_lies_proves_nothing_and_changes_no_mark(
    lie: Callable[[Trace], Trace], zygote: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It leaves the numbers as they were, or tells of a shorter pass."""
    honest = graded(zygote, tmp_path, SCALE)
    trace = Session.trace

    def refusing(session: Session, *given: Any, **options: Any) -> Trace:
        is_cured = bool(options.pop("cures", ()))
        return lie(trace(session, *given, **options)) if is_cured else trace(session, *given, **options)

    monkeypatch.setattr(Session, "trace", refusing)
    refused = graded(zygote, tmp_path, SCALE)
    assert refused.proof is None or not refused.proof.proven
    assert refused.score == honest.score
    assert not next(findings(refused)).proof


@pytest.mark.usefixtures("unrepaired")
def test_the_first_finding_says_what_its_fix_brings(zygote: Zygote, tmp_path: Path) -> None:
    alone, both = (graded(zygote, tmp_path, *edits) for edits in ([SCALE], [SCALE, RESIDUAL]))
    assert next(findings(alone)).proof == "With this fixed, everything after it is right."
    assert next(findings(both)).proof == "With this and S19 fixed, everything after it is right."
    assert alone.proof is not None
    assert both.proof is not None
    assert both.score.earned < alone.score.earned < (alone.proof.points or 0) == alone.score.possible
    assert both.score.earned < (both.proof.points or 0) < both.score.possible


@pytest.mark.usefixtures("unrepaired")
def test_what_the_first_fix_brings_is_counted_anew_with_other_points(zygote: Zygote, tmp_path: Path) -> None:
    result = graded(zygote, tmp_path, SCALE)
    doubled = VIT.model_copy(update={"points": VIT.points.model_copy(update={"out_of": 20})})
    again = scored(result, doubled)
    assert again.proof is not None
    assert again.proof.points == again.score.possible == 20


@pytest.mark.usefixtures("unrepaired")
def test_who_does_not_see_all_checks_sees_no_proof(zygote: Zygote, tmp_path: Path) -> None:
    result = graded(zygote, tmp_path, SCALE)
    assert for_students(result).proof == result.proof
    hides = [one.model_copy(update={"visibility": Visibility.HIDDEN}) for one in result.checks[:1]]
    hidden = result.model_copy(update={"checks": [*hides, *result.checks[1:]]})
    assert for_students(hidden).proof is None


NORM = """

class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        apart = x - x.mean(-1, keepdim=True)
        spread = (apart**2).mean(-1, keepdim=True)
        return self.gain * apart / (spread + 1e-5) ** 0.5 + self.shift


class Block"""
OWN_NORM = (
    ("\n\nclass Block", NORM),
    (
        "self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)",
        "self.norm1, self.norm2 = Norm(dim), Norm(dim)",
    ),
    ("self.norm, self.head = nn.LayerNorm(dim)", "self.norm, self.head = Norm(dim)"),
)
SLIPS_OF_A_NORM = (
    ("(apart**2).mean(-1, keepdim=True)", "apart.var(-1, keepdim=True)"),  # which has a name
    ("(apart**2).mean(-1, keepdim=True)", "(apart**2).mean(1, keepdim=True)"),
    ("(spread + 1e-5) ** 0.5", "(spread + 1e-5)"),
    ("self.gain * apart", "self.gain * x"),
)


@pytest.mark.parametrize("slip", SLIPS_OF_A_NORM)
def test_one_line_that_spoils_every_norm_is_one_mistake(
    slip: tuple[str, str], zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(zygote, tmp_path, *OWN_NORM, slip)
    told = list(findings(result))
    assert [one.label for one in told] == ["S09"]
    assert told[0].proof == "With this fixed, everything after it is right."
    assert result.proof is not None
    assert result.proof.points == result.score.possible


@pytest.mark.usefixtures("unrepaired")
@pytest.mark.parametrize("slip", SLIPS_OF_A_NORM)
def test_right_numbers_for_a_norm_are_those_of_all_that_reads_it(
    slip: tuple[str, str], zygote: Zygote, tmp_path: Path
) -> None:
    """Keys and values read the norm that is told of at the queries."""
    proof = proof_of(zygote, tmp_path, *OWN_NORM, slip)
    assert proof is not None
    assert (proof.proven, proof.cured) == (True, ["S09", "S16", "S23"])
