"""How the texts of the catalogue and of reports are written: short, plain, in the field's own words."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from vitcheck.checks.architecture.catalogue import Mistake, mistakes, read_mistakes
from vitcheck.checks.architecture.family import family
from vitcheck.checks.rules.declaring import checks_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
GPT = ROOT / "docs" / "gpt" / "vitcheck_gpt" / "mistakes.toml"
KNOWN = (*mistakes().values(), *read_mistakes(GPT.read_text("utf-8")).values())
WORDS = tomllib.loads((ROOT / "reports" / "words" / "words.toml").read_text("utf-8"))

# How long hint, explanation and experiment are together: less leaves something out, more is not read.
FEWEST, MOST = 50, 160
GRADE = 9.0  # of a school: English is not everybody's first language

# What nobody else calls so, with the field's word; and German idiom in English.
BANNED = {
    r"highway|skip around": "residual connection",
    r"(?<!residual )\bstreams?\b": "residual stream",
    r"company": "the rest of the batch",
    r"re-?cut|cutting (the )?(same )?memory": "reshape",
    r"change(d)? places|wrong way round": "transpose, swap",
    r"linear maps?\b": "linear layer",
    r"\bgates?\b|gated": "activation",
    r"squashed|squeezed": "resized",
    r"walked": "numbered",
    r"put out|puts out": "returned",
    r"\b(lies?|lay|lying)\b": "is",
    r"\b(stands?|stood)\b": "is, means",
    r"hands? (over|on|back)|handed (over|on|back)": "pass, return",
    r"(?<!there )\b(is|are) no (?!longer)": "is not a",
    r"way back": "backward pass",
    r"marks?\b(?! (comment|sheet))": "points; comment",
    r"follows from (the|what)": "is computed from",
    r"in the place of|in place of": "instead of",
    r"unless told otherwise|other than asked": "by default",
    r"taken? home": "pass on",
    r"accelerator": "GPU",
    r"evaluation mode|training mode": "eval mode, train mode",
}
# As the first word, what tells of something that is not named: a sentence without its subject.
NO_SUBJECT = re.compile(
    r"^(Is|Are|Has|Have|Keeps?|Equals?|Holds?|Gives?|Does|Stays?|Can|Was|Were)\b(?!.*\?$)"
)


def catalogue_texts() -> Iterator[tuple[str, str]]:
    for known in KNOWN:
        for field in ("title", "hint", "explanation", "experiment"):
            yield f"{known.id}.{field}", getattr(known, field)


def report_texts(table: Mapping[str, Any] = WORDS, prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, text in table.items():
        if isinstance(text, str):
            yield prefix + key, re.sub(r"{\w+}", "…", text)  # what the program puts in is not words
        else:
            yield from report_texts(text, f"{prefix}{key}.")


def check_texts() -> Iterator[tuple[str, str]]:
    for check in checks_of(family("vit")):
        yield f"{check.id}.title", check.title
        yield f"{check.id}.failing", check.failing


def banned_in(text: str) -> list[str]:
    """Each banned word of the text, with what to say instead."""
    found = ((re.search(words, text, re.IGNORECASE), better) for words, better in BANNED.items())
    return [f"{one[0]!r}: say {better}" for one, better in found if one]


def syllables(word: str) -> int:
    """Groups of vowels, but for an e at the end that nobody speaks."""
    groups = len(re.findall(r"[aeiouy]+", word))
    silent = re.search(r"[^aeiouyl]e$|[^aeioutd]ed$|[^aeiouscxzgh]es$", word)
    return max(groups - bool(silent and groups > 1), 1)


def school_grade(text: str) -> float:
    """The Flesch-Kincaid grade: the years of school after which one reads it with ease."""
    words = re.findall(r"[a-z0-9.'-]*[a-z0-9]", text.lower())
    sentences = len(re.findall(r"[.?!](?= |$)", text))
    spoken = sum(map(syllables, words))
    return 0.39 * len(words) / sentences + 11.8 * spoken / len(words) - 15.59


def length(known: Mistake) -> int:
    return len(f"{known.hint} {known.explanation} {known.experiment}".split())


def test_texts_of_a_mistake_are_neither_short_nor_long() -> None:
    assert {one.id: length(one) for one in KNOWN if not FEWEST <= length(one) <= MOST} == {}


def test_every_mistake_has_something_to_try() -> None:
    assert [one.id for one in KNOWN if len(one.experiment.split()) < 7] == []
    assert [one.id for one in KNOWN if not one.experiment.endswith((".", "?"))] == []


def test_explanations_are_easy_to_read() -> None:
    grades = {one.id: school_grade(f"{one.explanation} {one.experiment}") for one in KNOWN}
    assert {id: round(grade, 1) for id, grade in grades.items() if grade > GRADE} == {}


def test_words_are_those_of_the_field() -> None:
    texts = {**dict(catalogue_texts()), **dict(report_texts()), **dict(check_texts())}
    assert {name: banned for name, text in texts.items() if (banned := banned_in(text))} == {}


def test_logits_are_never_called_scores() -> None:
    of_the_model = re.compile(
        r"(head|model|class|image)('s|s)? scores|scores of (a|the|each) (class|image)", re.I
    )
    texts = [*catalogue_texts(), *report_texts(), *check_texts()]
    assert [name for name, text in texts if of_the_model.search(text)] == []


def test_headings_have_a_subject() -> None:
    headings = [(name, text) for name, text in report_texts() if name.endswith((".title", ".heading"))]
    headings += [(f"{one.id}.title", one.title) for one in KNOWN]
    assert {name: text for name, text in headings if NO_SUBJECT.search(text[:1].upper() + text[1:])} == {}


def test_every_check_has_a_heading_for_where_it_fails() -> None:
    """Of a stage it stands behind the stage's name; of the whole model it is a sentence of its own."""
    checks = checks_of(family("vit"))
    assert [
        one.id for one in checks if not one.failing or one.failing.rstrip(".") == one.title.rstrip(".")
    ] == []
    whole = {one.id: one.failing for one in checks if one.stage is None}
    assert {id: text for id, text in whole.items() if NO_SUBJECT.search(text) or not text[0].isupper()} == {}


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("The cat sat on the mat.", -1.4),
        ("Sum the last axis. Each sum should be 1.", -1.3),
        ("Normalisation necessitates considerable computational resources.", 37),
    ],
)
def test_the_grade_of_a_text(text: str, grade: float) -> None:
    assert school_grade(text) == pytest.approx(grade, abs=2.5)


@pytest.mark.parametrize(
    "text",
    [
        "Should the highway around attention pass through a norm?",
        "The stream doubles with every block.",
        "What is the answer when the batch is in other company?",
        "S99 is no stage.",
        "4.108 lies outside of the range.",
    ],
)
def test_private_words_and_idiom_are_found(text: str) -> None:
    assert banned_in(text) != []


def test_a_heading_without_a_subject_is_found() -> None:
    assert NO_SUBJECT.search("Is marked where a local variable holds it.")
    assert not NO_SUBJECT.search("Rows of the attention sum to 1")
