"""The measure of how often vitcheck is wrong is itself right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from vitcheck.__main__ import main
from vitcheck.checks.tools.selftest.cases import Case, CaseVerdict, Planted, load_cases
from vitcheck.checks.tools.selftest.corpus_counts import Counts, every, table

SCALE = Planted("scale-missing", "S12", ("scale-by-num-heads",))
TANH = Planted("gelu-tanh", "S17", kind="variant")
LEAK = Planted("state-leak", "")
RIGHT = CaseVerdict("graded", (), (), (), ())
CRASHED = CaseVerdict("crashed", (), (), (), ())


def said(*stages: str, named: tuple[str, ...] = (), variants: tuple[str, ...] = ()) -> CaseVerdict:
    return CaseVerdict("graded", stages, named, variants, ())


JUDGED = [  # detected, placed, named first
    (SCALE, RIGHT, (False, False, False)),
    (SCALE, CRASHED, (True, False, False)),
    (SCALE, said("S12", "S13", named=("scale-missing", "softmax-twice")), (True, True, True)),
    (SCALE, said("S12", named=("scale-by-num-heads",)), (True, True, True)),
    (SCALE, said("S11", "S12", named=("softmax-twice", "scale-missing")), (True, False, False)),
    (SCALE, said("S12", variants=("scale-missing",)), (True, True, False)),
    (TANH, said(variants=("qkv-bias-missing", "gelu-tanh")), (True, True, True)),
    (TANH, said("S17"), (True, True, False)),
    (LEAK, said(named=("state-leak",)), (True, True, True)),
    (LEAK, said("S04", named=("state-leak",)), (True, False, True)),
]


@pytest.mark.parametrize(("planted", "verdict", "right"), JUDGED)
def test_what_is_right_of_a_verdict(planted: Planted, verdict: CaseVerdict, right: tuple[bool, ...]) -> None:
    judged = verdict.detected(planted), verdict.placed(planted), verdict.named_first(planted)
    assert judged == right


def test_a_check_that_fails_is_a_complaint() -> None:
    assert CaseVerdict("graded", (), (), (), ("property[repeatable]",)).complains
    assert not RIGHT.complains


def test_the_table_counts_false_rejects_and_shares_of_mistakes() -> None:
    counts = Counts()
    counts.add(Case("fine", "report", {}), RIGHT)
    counts.add(Case("failed", "report", {}), said("S08"))
    counts.add(Case("scale", "report", {}, (SCALE,)), said("S12", named=("scale-missing",)))
    counts.add(Case("unnamed", "report", {}, (SCALE,)), said("S12"))
    assert list(table([("report", counts)]))[-1] == "| report | 2 | 1 | 2 | 100.0 % | 100.0 % | 50.0 % |"
    assert counts.short == [
        "failed: S08, and nothing was planted",
        "unnamed: S12, and S12 scale-missing was planted",
    ]


def test_of_two_mistakes_both_have_to_be_told() -> None:
    pair = Case("pair", "pairs", {}, (SCALE, Planted("head-hidden-layer", "S25")))
    counts = Counts()
    counts.add(pair, said("S12", "S25", named=("scale-missing", "head-hidden-layer")))
    counts.add(pair, said("S12", named=("scale-missing",)))
    assert list(table([("pairs", counts)]))[-1] == "| pairs | 0 | 0 | 2 | 100.0 % | 50.0 % | 50.0 % |"


def test_a_sample_is_spread_over_all_cases() -> None:
    cases = [Case(str(number), "", {}) for number in range(10)]
    assert [case.name for case in every(cases, 3)] == ["0", "3", "6"]
    assert every(cases, 99) == cases


def test_a_folder_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no selftest_cases\.py"):
        load_cases(tmp_path)
    refused = CliRunner().invoke(main, ["selftest", str(tmp_path)])
    assert refused.exit_code == 2
    assert "the corpus lies in vitcheck's repository" in refused.output.replace("\n", " ")


CORPUS = """
from pathlib import Path
from vitcheck.checks.tools.selftest.cases import Case, Planted

def cases():
    text = Path(BASE).read_text("utf-8")
    wrong = text.replace("attn_scores.softmax(dim=-1)", "attn_scores.softmax(dim=-2)")
    turned = Planted("softmax-over-queries", "S13")
    return [
        Case("fine", "report", {"vit.py": text.encode()}),
        Case("turned", "report", {"vit.py": wrong.encode()}, (turned,)),
        Case("mislabelled", "report", {"vit.py": wrong.encode()}),
    ]
"""


def test_the_command_prints_the_table_and_what_falls_short(tmp_path: Path) -> None:
    base = Path(__file__).parents[1] / "bases" / "report.py"
    (tmp_path / "selftest_cases.py").write_text(CORPUS.replace("BASE", repr(str(base))), "utf-8")
    command = [sys.executable, "-m", "vitcheck", "selftest", str(tmp_path), "--seeds", "2", "--jobs", "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "| report | 2 | 1 | 1 | 100.0 % | 100.0 % | 100.0 % |" in run.stdout, run.stderr
    assert "- mislabelled: S13 softmax-over-queries" in run.stdout
    assert "Of 3 programs under 2 seeds, 0 got more than one verdict" in run.stdout
    assert run.returncode == 1  # a correct program, as the corpus has it, was failed
