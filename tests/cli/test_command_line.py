"""What people see of the command line without any submission."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from vitcheck import __version__
from vitcheck.__main__ import main
from vitcheck.checks.assignment.assignment import assignment_text
from vitcheck.reference.stages import STAGES


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        *(["--help"], ["grade", "--help"], ["init", "--help"], ["validate", "--help"]),
        *(["stages"], ["explain", "S12"], ["explain", "scale-missing"]),
    ],
)
def test_help_and_listings_load_no_torch(arguments: list[str]) -> None:
    code = (
        "import sys; from vitcheck.__main__ import main; main(sys.argv[1:], standalone_mode=False);"
        "sys.exit('torch' in sys.modules or 'hypothesis' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_loads_no_library_beside_click() -> None:
    code = "import sys, vitcheck.__main__; sys.exit(bool({'pydantic', 'rich', 'jinja2'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "vitcheck", "--version"], capture_output=True, text=True)
    assert done.stdout == f"vitcheck, version {__version__}\n"


def test_help_names_commands_and_exit_codes() -> None:
    text = run("--help").output
    for part in ("check ", "explain ", "grade ", "stages ", "  1    with check", "  3    the grader itself"):
        assert part in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek"], "Did you mean 'check'?"),
        (["grade", "x", "--seeed", "1"], "Did you mean '--seed'?"),
        (
            ["explain", "scale-mising"],
            "'scale-mising' is not a stage or a known mistake; did you mean scale-miss",
        ),
        (["explain", "attention_score"], "did you mean attention_scores"),
        (["explain", "42"], "see `vitcheck stages` and `vitcheck mistakes`"),
        (["mistakes", "--stage", "S99"], "is not a stage"),
        (["check", "{here}", "--stage", "S99"], "there is no stage 'S99'; stages are S01 to S26"),
        (["check", "{here}", "--assignment", "vit-debuging"], "did you mean vit-debugging?"),
        (["grade", "{here}", "--assignment", "vit-debuging"], "did you mean vit-debugging?"),
        (["check", "{here}/vti.py"], "vti.py; did you mean vit.py?"),
        (["grade", "{here}", "{here}/vti.py"], "vti.py; did you mean vit.py?"),
        (["grade", "{here}/nothing"], "no folder, .py, .ipynb or archive inside"),
        (["grade", "{here}", "--jobs", "0"], "0 is not in the range x>=1"),
    ],
)
def test_usage_errors_say_what_is_near(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "vit.py").write_text("")
    (tmp_path / "nothing").mkdir()
    result = run(*(one.format(here=tmp_path) for one in arguments))
    assert (result.exit_code, message in " ".join(result.output.split())) == (2, True), result.output


def test_a_broken_assignment_file_is_a_usage_error_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\nexamples = 1\n')
    (tmp_path / "vit.py").write_text("")
    result = run("grade", str(tmp_path), "--assignment", str(file))
    assert result.exit_code == 2
    assert "mine.toml, line 2: examples: must be" in result.output


def test_every_stage_is_listed_with_its_axes() -> None:
    lines = run("stages", "--labels", "report").output.splitlines()
    assert list(dict.fromkeys(tuple(line.split()[:2]) for line in lines)) == [
        (one.label, one.key) for one in STAGES
    ]
    assert "B h T T" in next(line for line in lines if line.startswith("S12"))


def test_stages_are_those_of_the_blocks_that_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = run("stages", "--assignment", "vit-prenorm").output
    assert len(shipped.splitlines()) == 26
    assert "LayerNorm₃" not in shipped
    (tmp_path / "assignment.toml").write_text(assignment_text("vit-prenorm"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("stages").output == shipped
    assert "Norm before the MLP" in run("explain", "S16").output
    assert "report" not in run("explain", "S16").output


def test_the_sheet_has_its_own_numbers() -> None:
    lines = [line.split()[:2] for line in run("stages", "--labels", "sheet").output.splitlines()]
    assert ["S14", "attention_output"] in lines
    assert ["S15", "post_attention_norm"] in lines
    both = run("stages", "--assignment", "vit-debugging").output
    assert "S15 [S14]  attention_output" in both
    assert "S12        attention_scores" in both


def test_what_is_known_is_listed_and_each_of_it_explained() -> None:
    mistakes, variants = run("mistakes").output.splitlines(), run("variants").output.splitlines()
    assert "S12  major    scale-missing" in " ".join(mistakes)
    assert len(mistakes) > 150
    assert len(variants) > 20
    (only,) = [line for line in run("variants", "--stage", "S17").output.splitlines() if "relu" in line]
    assert run("explain", only.split()[1]).exit_code == 0


def test_a_shell_completes_what_can_be_explained() -> None:
    asked = {
        "_VITCHECK_COMPLETE": "bash_complete",
        "COMP_WORDS": "vitcheck explain scale-m",
        "COMP_CWORD": "2",
    }
    text = CliRunner(env=asked).invoke(main, prog_name="vitcheck", complete_var="_VITCHECK_COMPLETE").output
    assert "plain,scale-missing" in text


def test_a_stage_is_explained_for_each_architecture() -> None:
    text = run("explain", "final_sequence").output
    assert "(report, post-norm, clip): S22" in text
    assert "(pre-norm): LayerNorm(S22)" in text


def test_a_mistake_is_explained_with_what_it_is_confused_with() -> None:
    text = run("explain", "scale-by-head-dim").output
    assert "scale-by-head-dim (major error, S12 Attention scores)" in text
    assert "Try this: Measure the standard deviation of the scores" in text
    assert "Ask yourself: If you add up" in text
    assert "Other mistakes that give the same numbers: scale-applied-twice." in text
