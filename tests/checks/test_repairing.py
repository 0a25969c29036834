"""A slip that no equation of the catalogue describes is told by the change that makes the program right."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import pytest
from corpus import BASES

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.repair import Repair
from vitcheck.checks.examining.verdicts import CheckOutcome
from vitcheck.checks.grading import grading
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.locating.patience import BRIEF
from vitcheck.checks.record.result import Result, StageStatus, Status
from vitcheck.checks.repairing import repairing, trials
from vitcheck.checks.repairing.repairing import Mended
from vitcheck.checks.repairing.telling import told
from vitcheck.submissions.errors import TimedOut
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.host.session import Session
from vitcheck.submissions.reading.edits.edit import Edit

ASKED = load_assignment("vit-prenorm").model_copy(update={"examples": 4})
TEXT = BASES["prenorm"].source()

SLIPS = (  # what is right, what is written instead, the part of it that is marked, its name, and its stage
    ("x + self.pos_embed)", "x - self.pos_embed)", "x - self.pos_embed", "wrong-operator", "S07"),
    ("self.mlp(self.norm2(x))", "self.attn(self.norm2(x))", "self.attn", "wrong-layer", "S17"),
    ("(attn @ v)", "(torch.tanh(attn) @ v)", "torch.tanh(attn)", "extra-step", "S14"),
    ("transpose(1, 2).reshape(B, N, C)", "transpose(0, 2).reshape(B, N, C)", "0", "wrong-number", "S15"),
    ("return x[:, 0]", "return x[:, -1]", "-1", "readout-last-token", "S24"),
    ("return x[:, 0]", "return x[:, 2]", "2", "wrong-number", "S24"),
    ("x = blk(x)", "x = blk(blk(x))", "blk(blk(x))", "depth-off-by-one", "S22"),  # which keeps its name
    ("x = blk(x)", "pass", "pass", "missing-step", "S09"),  # what the loop gives is used nowhere
    ("_ in range(depth)]", "_ in range(1, depth)]", "1", "depth-off-by-one", "S22"),  # where they are built
    ("for blk in self.blocks:", "for blk in self.blocks[1:]:", "1", "depth-off-by-one", "S22"),
    (
        "for blk in self.blocks:",
        "for blk in self.blocks[:-1]:",
        "self.blocks[:-1]",
        "depth-off-by-one",
        "S22",
    ),
    ("x = self.norm(x)", "x = x", "x", "final-norm-missing", "S23"),  # by the layer that nothing uses
    ("permute(2, 0, 3, 1, 4)", "permute(2, 3, 0, 1, 4)", "3, 0", "wrong-argument-order", "S14"),
    ("head_dim**-0.5", "dim // num_heads**-0.5", "dim // num_heads**-0.5", "wrong-brackets", "S12"),
    ("qkv.unbind(0)", "qkv[1], qkv[1], qkv[2]", "1", "query-equals-key", "S09"),
    (
        "attn = self.attn_drop(attn)\n        x = (attn @ v)",
        "kept = self.attn_drop(attn)\n        out = v\n        x = out",  # nothing reads the weights
        "v",
        "missing-step",
        "S14",
    ),
    ("x = (attn @ v)", "out = attn @ v\n        x = q", "q", "wrong-variable", "S15"),
    ("torch.zeros(1, num_patches", "torch.zeros(2, num_patches", "2", "wrong-number", "S07"),
    ("head_dim = dim // num_heads", "head_dim = dim", "dim", "scale-by-embed-dim", "S12"),
)


def graded(folder: Path, zygote: Zygote, text: str) -> Result:
    (folder / "vit.py").write_text(text)
    return grade(folder / "vit.py", ASKED, zygote=zygote, seed=1)


def slipped(right: str, wrong: str, text: str = TEXT) -> str:
    assert text.count(right) == 1
    return text.replace(right, wrong)


def marked(result: Result) -> str:
    """The part of a line that is shown as the mistake."""
    where = result.mistakes[0].location
    assert where is not None
    assert where.column is not None
    assert where.width is not None
    line = next(one.text for one in where.excerpt if one.marked)
    return line[where.column - 1 :][: where.width]


def failed(result: Result) -> list[str]:
    return [label for label, one in result.stages.items() if one.status is StageStatus.FAILED]


@pytest.mark.parametrize(("right", "wrong", "part", "id", "label"), SLIPS)
def test_a_slip_is_told_by_its_kind_its_stage_and_its_place(
    tmp_path: Path, zygote: Zygote, right: str, wrong: str, part: str, id: str, label: str
) -> None:
    result = graded(tmp_path, zygote, slipped(right, wrong))
    assert [(one.id, one.stage) for one in result.mistakes] == [(id, label)]
    assert failed(result) == [label]
    assert marked(result) == part
    assert result.score.earned == result.score.possible - 12  # one mistake, whatever followed from it


NORMED = slipped("x = x + self.attn(self.norm1(x))", "h = self.norm1(x)\n        x = x + self.attn(h)")
NORMED = slipped("x = x + self.mlp(self.norm2(x))", "h = self.norm2(x)\n        x = x + self.mlp(h)", NORMED)
OF_FOUR = slipped("for _ in range(depth)", "for _ in range(4)", slipped("        depth=12,\n", ""))
ADDED = slipped("x = torch.cat((cls_tokens, x), dim=1)", "x = x + self.pos_embed[:, 1:]")
ADDED = slipped(
    "x = self.pos_drop(x + self.pos_embed)",
    "x = torch.cat((cls_tokens + self.pos_embed[:, :1], x), dim=1)",
    ADDED,
)
ELSEWHERE = (  # the right program, a part of it, what is written instead, and what is marked of that
    (TEXT, "N, 3, self.num_heads", "N, self.num_heads, 3", "self.num_heads, 3"),  # unbind raises behind it
    (NORMED, "h = self.norm1(x)", "self.norm1(x)", "self.norm1(x)"),  # h is bound only later
    (NORMED, "h = self.norm2(x)", "self.norm2(x)", "self.norm2(x)"),  # h was bound before, and raises nothing
    (NORMED, "h = self.norm2(x)", "pass", "pass"),
    (TEXT, "self.head = nn.Linear(embed_dim", "nn.Linear(embed_dim", "nn.Linear(embed_dim, num_classes)"),
    (OF_FOUR, "N, 3, self.num_heads", "N, self.num_heads, 3", "self.num_heads, 3"),
    (ADDED, "x), dim=1)", "x), dim=2)", "2"),  # so that only patches have positions before it
)


@pytest.mark.parametrize(("text", "right", "wrong", "part"), ELSEWHERE)
def test_a_slip_that_shows_on_another_line_is_told_at_its_own(
    tmp_path: Path, zygote: Zygote, text: str, right: str, wrong: str, part: str
) -> None:
    result = graded(tmp_path, zygote, slipped(right, wrong, text))
    assert marked(result) == part
    assert len({one.location.line for one in result.mistakes if one.location}) == 1


def test_what_comes_after_a_crash_may_be_missing_where_that_is_right(tmp_path: Path, zygote: Zygote) -> None:
    """A change that mends the crash has left nothing out that the submission had."""
    text = "\n".join(line for line in TEXT.split("\n") if "cls_token" not in line)
    text = slipped("torch.zeros(1, num_patches + 1,", "torch.zeros(1, num_patches,", text)
    text = slipped("return x[:, 0]", "return x.mean(1)", text)
    (tmp_path / "vit.py").write_text(slipped("x = x.flatten(2)", "x.flatten(2)", text))
    result = grade(tmp_path / "vit.py", load_assignment("vit"), zygote=zygote, seed=1)
    assert marked(result) == "x.flatten(2).transpose(1, 2)"


def test_a_number_that_is_called_by_mistake_is_told_where_that_is(tmp_path: Path, zygote: Zygote) -> None:
    """It is used as one elsewhere, so that it is right as it is stored."""
    result = graded(tmp_path, zygote, slipped("self.attn_drop(attn)", "self.num_heads(attn)"))
    (told,) = {one.location.line for one in result.stages.values() if one.crashed and one.location}
    assert told == 1 + TEXT[: TEXT.index("self.attn_drop(attn)")].count("\n")


@pytest.mark.parametrize("wrong", ["0.1", "nn.Dropout(drop),"])
def test_what_cannot_be_called_is_told_where_it_is_stored(
    tmp_path: Path, zygote: Zygote, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repairing, "Trials", None)  # a change of the line that calls it would mend nothing
    result = graded(tmp_path, zygote, slipped("self.drop = nn.Dropout(drop)", f"self.drop = {wrong}"))
    (told,) = [one.location for one in result.stages.values() if one.crashed]
    assert told is not None
    assert told.line == 1 + TEXT[: TEXT.index("self.drop = ")].count("\n")


def test_what_is_computed_and_not_used_is_told_where_no_stage_is_wrong(
    tmp_path: Path, zygote: Zygote
) -> None:
    """Without the class token the model is one that some courses ask for, but for what learns nothing."""
    text = slipped("x = torch.cat((cls_tokens, x), dim=1)", "torch.cat((cls_tokens, x), dim=1)")
    (tmp_path / "vit.py").write_text(slipped("self.pos_embed)", "self.pos_embed[:, : x.shape[1]])", text))
    result = grade(tmp_path / "vit.py", load_assignment("vit"), zygote=zygote, seed=1)
    assert [one.id for one in result.mistakes] == ["result-not-used"]
    assert result.mistakes[0].location is not None
    assert result.mistakes[0].location.line == 1 + text[: text.index("torch.cat(")].count("\n")


def test_a_dropout_of_eval_mode_is_told_by_its_line_alone(tmp_path: Path, zygote: Zygote) -> None:
    """A rate of 0 where it is stored would make all right as well, and so would a line less."""
    text = slipped("self.attn_drop(attn)", "nn.functional.dropout(attn, self.rate)")
    result = graded(tmp_path, zygote, slipped("self.scale =", "self.rate = 0.1\n        self.scale =", text))
    assert [(one.id, one.stage) for one in result.mistakes] == [("functional-dropout-always-on", "S14")]
    where = result.mistakes[0].location
    assert where is not None
    assert "self.rate)" in next(one.text for one in where.excerpt if one.marked)


TWO = (  # as SLIPS, twice each
    (SLIPS[0], SLIPS[2]),  # neither has a name of its own
    (SLIPS[3], SLIPS[4]),  # one of them has
    (
        ("* self.scale", "* self.scale * N", "", "", "S12"),
        ("x + self.mlp(self.norm2(x))", "self.mlp(self.norm2(x))", "", "residual-mlp-missing", "S19"),
    ),
    (SLIPS[4], ("self.head(x)", "self.pos_drop(x)", "", "head-missing", "S25")),  # no scores come out
)


@pytest.mark.parametrize("slips", TWO)
def test_of_two_slips_each_is_told_at_its_own_stage_and_line(
    tmp_path: Path, zygote: Zygote, slips: tuple[tuple[str, str, str, str, str], ...]
) -> None:
    text = TEXT
    for right, wrong, *_ in slips:
        text = slipped(right, wrong, text)
    result = graded(tmp_path, zygote, text)
    told = {(one.stage, one.location.line) for one in result.mistakes if one.location}
    lines = [1 + text[: text.index(wrong)].count("\n") for _, wrong, *_ in slips]
    assert told == {(slip[-1], line) for slip, line in zip(slips, lines)}
    assert failed(result) == [slip[-1] for slip in slips]


@pytest.mark.parametrize("held", ["cls_token", "pos_embed"])
def test_a_tensor_that_is_no_parameter_is_told_where_it_is_stored(
    tmp_path: Path, zygote: Zygote, held: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = next(one for one in TEXT.split("\n") if f"self.{held} = nn.Parameter(" in one)
    text = slipped(line, line.replace("nn.Parameter(torch.zeros", "(torch.randn"))
    monkeypatch.setattr(repairing, "Trials", None)  # and no change is tried, since all numbers are right
    result = graded(tmp_path, zygote, text)
    told = [
        one.location.line for one in result.mistakes if one.location and one.id.endswith("-not-parameter")
    ]
    assert told == [1 + TEXT[: TEXT.index(line)].count("\n")]


def test_a_slip_at_a_stage_that_is_not_asked_for_makes_nothing_right() -> None:
    """Or a wrong program would have all points: nothing is left that could fail."""
    edit = Edit("vit.py", "operator", 101, 25, 0, 1, "-", "+")
    unseen = CheckOutcome("equation[S09]", "query", "it is right", "not_reached")
    examination = cast(Examination, SimpleNamespace(crash=None, repairs=()))
    mended = Mended(Repair(edit, "positioned_tokens"), examination, examination)
    assert told([unseen], mended, {unseen.id}, examination) == [unseen]


def test_a_changed_program_that_ends_its_process_costs_nothing(
    tmp_path: Path, zygote: Zygote, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object, **__: object) -> NoReturn:
        raise TimedOut("the code took too long")

    monkeypatch.setattr(grading, "find_repairs", ended)
    result = graded(tmp_path, zygote, slipped(*SLIPS[2][:2]))
    assert (result.status, failed(result)) == (Status.GRADED, ["S13"])
    assert result.mistakes == []


def test_a_change_that_fails_at_sizes_at_which_the_submission_runs_mends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wrong order of patches shows at none of the others, say, where heads are taken from the classes."""

    class Fewer(SimpleNamespace):
        failing = ("a draw",)

        def __init__(self, *_: object) -> None:
            super().__init__(trace_examples=lambda: None)

    monkeypatch.setattr(trials, "Examination", Fewer)
    monkeypatch.setattr(trials.Trials, "_seems_better", lambda *_: True)
    monkeypatch.setattr(trials.Trials, "_changed", lambda *_: None)
    one = object.__new__(trials.Trials)
    one.examination = cast(Examination, SimpleNamespace(failing=[], assignment=None, seed=0))
    one.session = cast(Session, SimpleNamespace(replace=lambda _: None))
    one.effort, one._raised = 1.0, False
    assert one.repaired(Edit("vit.py", "variable", 60, 1, 0, 5, "heads", "classes"), BRIEF) is None


def test_a_doubtful_change_is_examined_anew_where_none_is_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has loaded other programs since, and would answer for the last of them."""
    first, second = (Edit("vit.py", "missing", line, 1, 0, 1, "x", "self.norm(x)") for line in (1, 2))
    loaded = []

    class Doubtful(SimpleNamespace):
        def repaired(self, edit: Edit, _: object) -> object:
            loaded.append(edit)
            return SimpleNamespace(keys=(), is_wrong=None, edit=edit)

    doubtful = Doubtful(
        used=set(),
        examination=None,
        held=None,
        promising=lambda _: ((one, None) for one in (first, second)),
        is_likely=lambda *_: False,
    )
    monkeypatch.setattr(repairing, "Trials", lambda *_: doubtful)
    monkeypatch.setattr(repairing, "suspects", lambda *_, anywhere: [])
    monkeypatch.setattr(repairing, "mended_stage", lambda *_: "query")
    right = cast(Examination, SimpleNamespace(keys=(), diagnosis=None))
    (found,) = repairing.find_repairs(right, cast(Session, None))
    assert (found.repair, cast(Any, found.after).edit) == (Repair(first, "query"), first)
    assert loaded == [first, second, first]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("torch.cos(position * div_term)", "torch.cos(position + div_term)"),
        ("-math.log(10000.0)", "math.log(10000.0)"),
    ],
)
def test_a_wrong_formula_of_positions_is_told_where_it_is(
    tmp_path: Path, zygote: Zygote, right: str, wrong: str
) -> None:
    """In a function that runs while the model is built; what leaves no formula at all mends nothing."""
    result = graded(tmp_path, zygote, slipped(right, wrong, BASES["sinusoidal"].source()))
    (told,) = [one for one in result.mistakes if one.stage == "S07"]
    assert told.id == "sinusoid-wrong-frequencies"
    assert told.location is not None
    text = (tmp_path / "vit.py").read_text().split("\n")
    assert wrong in text[told.location.line - 1]
