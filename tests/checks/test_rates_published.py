"""How a run is compared with the published rates, stopped, and gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import takewhile
from math import comb
from pathlib import Path

import pytest
from click.testing import CliRunner

from vitcheck.__main__ import main
from vitcheck.checks.tools.selftest.chance import LEVEL, fell, likelihood
from vitcheck.checks.tools.selftest.generated import Generated
from vitcheck.checks.tools.selftest.kept_rows import GradedProgram
from vitcheck.checks.tools.selftest.program_verdict import ProgramVerdict
from vitcheck.checks.tools.selftest.published import PUBLISHED, fallen, load_published, published_of
from vitcheck.checks.tools.selftest.rates import rates

ROOT = Path(__file__).parents[2]
FINE, LOST = ProgramVerdict("graded"), ProgramVerdict("graded", lost=3.0)


def test_the_likelihood_is_fishers() -> None:
    """The lady who tastes tea: all four cups by chance are one in 70, three or more 17 in 70."""
    assert likelihood(0, 4, 4, 4) == pytest.approx(1 / 70)
    assert likelihood(1, 4, 3, 4) == pytest.approx(17 / 70)
    assert likelihood(3, 3, 5, 5) == 1


def test_the_documentation_says_what_was_published() -> None:
    published, page = load_published(ROOT / "tests"), (ROOT / "docs" / "measured.md").read_text("utf-8")
    assert published is not None
    sizes = {kind: max(total for _, total in own.values()) for kind, own in published.rates.items()}
    assert sizes == {"right": 100, "part": 12, "wrong": 100, "unfinished": 25, "odd": 12}
    for kind, own in published.rates.items():
        _, _, table = page.partition(f"| {sizes[kind]} {kind} | programs |")
        for name, (count, total) in own.items():
            assert f"| {name} | {count} | {total} |" in table.partition("\n\n")[0]


def _chance(total: int, rate: float, count: int) -> float:
    return comb(total, count) * rate**count * (1 - rate) ** (total - count)


def _told(rate: float, before: int = 200, now: int = 40) -> float:
    """How likely a fall is told where both runs are of one rate, over all that they may give."""
    likely = [was for was in range(before + 1) if _chance(before, rate, was) > 1e-9]
    return sum(
        _chance(before, rate, was) * _chance(now, rate, count)
        for was in likely
        for count in takewhile(lambda one: fell(one, now, was, before, 30), range(now + 1))  # noqa: B023  # it is called at once
    )


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
def test_thirty_rates_that_did_not_fall_are_told_once_in_a_thousand_runs_at_most(rate: float) -> None:
    assert _told(rate) * 30 < LEVEL


def test_a_fall_from_nine_tenths_to_six_tenths_is_told_of_a_hundred_programs() -> None:
    told = [count for count in range(101) if fell(count, 100, 1800, 2000, 30)]
    assert max(told) == 75
    assert sum(_chance(100, 0.6, count) for count in told) > 0.999


def _rows(lost: int, of: int = 40) -> list[GradedProgram]:
    said = [LOST] * lost + [FINE] * (of - lost)
    return [
        GradedProgram(Generated(f"right_7_{number:04}", "right", {}, {}), one)
        for number, one in enumerate(said)
    ]


def test_a_rate_of_which_fewer_is_better_falls_where_it_rises() -> None:
    published = published_of(rates(_rows(200, 2000)), "0.1.0", "2026-01-01", "1")
    told = {kind: rate.measure.name for kind, rate, _ in fallen(rates(_rows(20)), published)}
    assert told == {"right": "lost points"}
    assert list(fallen(rates(_rows(0)), published)) == []
    assert list(fallen(rates(_rows(4)), published)) == []


def test_the_run_fails_where_a_rate_fell_and_says_which(tmp_path: Path) -> None:
    _corpus(tmp_path)
    (tmp_path / "generated").mkdir()
    published = published_of(rates(_rows(0, 2000)), "0.1.0", "2026-01-01", "1")
    (tmp_path / PUBLISHED).write_text(published.to_json(), "utf-8")
    assert load_published(tmp_path) == published
    assert _run(tmp_path, _rows(1), 40).exit_code == 0
    run = _run(tmp_path, _rows(20), 40)
    assert run.exit_code == 1
    assert "right, lost points: 20 of 40, and 0 of 2000 were published" in run.output


def test_the_run_fails_where_the_grader_did(tmp_path: Path) -> None:
    _corpus(tmp_path)
    row = GradedProgram(
        Generated("odd_7_0000", "odd", {}, {}), ProgramVerdict("grader_failed", cause="KeyError: 'query'")
    )
    run = _run(tmp_path, [*_rows(0, 8), row], 8)
    assert run.exit_code == 3
    assert "failed on odd_7_0000: KeyError: 'query'" in run.output
    assert "The seed is 7" in run.output


def _run(corpus: Path, rows: list[GradedProgram], count: int):  # type: ignore[no-untyped-def]  # click's result
    """A run of which all is kept: what is missing of these rows is fine."""
    shares = {"right": 1, "wrong": 1, "unfinished": 4, "part": 8, "odd": 8}
    names = {f"{kind}_7_{n:04}": kind for kind, share in shares.items() for n in range(count // share)}
    fine = {name: GradedProgram(Generated(name, kind, {}, {}), FINE) for name, kind in names.items()}
    known = fine | {row.program.name: row for row in rows}
    kept = corpus / "rows.jsonl"
    kept.write_text("".join(row.to_json() + "\n" for row in known.values()), "utf-8")
    command = ["selftest", str(corpus), "--generated", str(count), "--seed", "7", "--kept", str(kept)]
    return CliRunner().invoke(main, command, catch_exceptions=False)


def _corpus(folder: Path, seconds: float = 0) -> None:
    """Its programs are no Python, which is graded at once."""
    (folder / "selftest_cases.py").write_text(
        f"""
import time
from vitcheck.checks.tools.selftest.generated import Generated

def generated(kind, seed, number):
    time.sleep({seconds})
    return Generated(f"{{kind}}_{{seed}}_{{number:04}}", kind, {{"vit.py": b"class"}}, {{}})
""",
        "utf-8",
    )


def test_a_run_that_is_interrupted_ends_soon_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    _corpus(tmp_path, seconds=0.5)
    kept = tmp_path / "rows.jsonl"
    command = [sys.executable, "-m", "vitcheck", "selftest", str(tmp_path), "--kept", str(kept)]
    command += ["--seed", "7", "--jobs", "1", "--generated"]
    many = [*command, "200"]  # four minutes of them
    process = subprocess.Popen(many, stdout=subprocess.PIPE, text=True, start_new_session=True)
    while not kept.exists() or not kept.stat().st_size:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)  # Ctrl-C reaches all that the terminal runs
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on" in said
    before = kept.read_text("utf-8")
    done = subprocess.run([*command, "4"], capture_output=True, text=True, check=True)
    after = kept.read_text("utf-8")
    assert before
    assert after.startswith(before)
    names = [json.loads(line)["program"]["name"] for line in after.splitlines()]
    assert len({*names}) == len(names) >= 9
    assert "| 4 right |" in done.stdout


def test_what_is_published_is_what_was_kept(tmp_path: Path) -> None:
    kept, file = tmp_path / "rows.jsonl", tmp_path / PUBLISHED
    file.parent.mkdir()
    kept.write_text("".join(row.to_json() + "\n" for row in _rows(3)), "utf-8")
    command = [sys.executable, str(ROOT / "tests" / "benchmarks" / "generated_rates.py"), str(kept)]
    done = subprocess.run([*command, "--publish", str(file)], capture_output=True, text=True, check=True)
    assert "| lost points | 3 | 40 | 7.5 % |" in done.stdout
    published = load_published(tmp_path)
    assert published is not None
    assert published.seed == "7"
    assert published.rates["right"]["lost points"] == (3, 40)
    assert "wrong" not in published.rates
