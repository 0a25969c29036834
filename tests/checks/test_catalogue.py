"""The catalogue: complete, well formed, and written so that a hint never gives the answer away."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from vitcheck.checks.architecture.catalogue import EQUATIONS, Mistake, mistake, mistakes, read_mistakes
from vitcheck.reference import equations
from vitcheck.reference.stages import STAGES

ROOT = Path(__file__).parents[2]
KNOWN = tuple(mistakes().values())


def test_all_mistakes_are_there() -> None:
    assert len(KNOWN) >= 253


def test_every_stage_has_its_mistakes_and_the_model_as_a_whole() -> None:
    assert {known.stage for known in KNOWN} == {"model", "exercise", *(stage.key for stage in STAGES)}


def test_kinds_are_known() -> None:
    assert {known.kind for known in KNOWN} == set(get_args(get_type_hints(Mistake)["kind"]))


def test_titles_are_short_phrases() -> None:
    assert [known.id for known in KNOWN if len(known.title) > 100 or known.title.endswith((".", "?"))] == []


def test_hints_are_questions_that_name_operations_and_hold_no_code() -> None:
    assert [known.id for known in KNOWN if not known.hint.endswith("?")] == []
    assert [known.id for known in KNOWN if re.search(r"[=(\[]|\w_\w", known.hint)] == []


def test_explanations_have_one_to_four_sentences() -> None:
    sentences = {known.id: len(re.findall(r"[.?!](?= |$)", known.explanation)) for known in KNOWN}
    assert {name: count for name, count in sentences.items() if not 1 <= count <= 4} == {}


def test_explanations_hold_no_code_and_no_line_breaks() -> None:
    assert [known.id for known in KNOWN if re.search(r"[=`_\n]|\w\(", known.explanation)] == []


def test_confusion_is_mutual() -> None:
    pairs = {(known.id, other) for known in KNOWN for other in known.confused_with}
    assert {(other, name) for name, other in pairs} == pairs
    assert [name for name, other in pairs if name == other or other not in mistakes()] == []


@pytest.mark.parametrize("field", ["title", "hint", "explanation"])
def test_no_two_mistakes_are_described_alike(field: str) -> None:
    assert len({getattr(known, field) for known in KNOWN}) == len(KNOWN)


def test_a_mistake_by_its_id() -> None:
    twice = mistake("scale-applied-twice")
    assert (twice.stage, twice.kind, twice.confused_with) == (
        "attention_scores",
        "error",
        ("scale-by-head-dim",),
    )


def test_an_unknown_id_names_near_ones() -> None:
    with pytest.raises(ValueError, match="'scale-mising' is not a known mistake; did you mean scale-missing"):
        mistake("scale-mising")


def test_an_id_near_to_none_says_what_ids_look_like() -> None:
    with pytest.raises(ValueError, match="'42' is not a known mistake; ids are words such as scale-missing"):
        mistake("42")


def test_reading_the_catalogue_imports_no_torch() -> None:
    code = "import sys; from vitcheck.checks.architecture.catalogue import mistakes; mistakes();"
    code += "sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_every_equation_that_an_entry_may_give_is_looked_for() -> None:
    files = (ROOT / "checks" / "locating" / "forms.py", ROOT / "checks" / "vit" / "token_forms.py")
    asked = [
        name for file in files for name in re.findall(r'from_catalogue\("(\w+)"', file.read_text("utf-8"))
    ]
    assert sorted(asked) == sorted(EQUATIONS)
    assert all(callable(getattr(equations, name)) for name in EQUATIONS)


def test_an_equation_that_nothing_looks_for_is_refused() -> None:
    with pytest.raises(TypeError, match="odd has an equation linear, which is not one of"):
        read_mistakes(
            '[odd]\nstage = "logits"\nkind = "error"\ntitle = "a"\nhint = "b?"\nexplanation = "c"\n'
            'experiment = "d"\n'
            'equation.linear = "x"\n'
        )
