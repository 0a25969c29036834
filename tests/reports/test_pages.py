"""The pages as text: well-formed, self-contained, each link leads somewhere, no student writes markup."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from records import NAMES, record, snapshot
from samples import HOSTILE, a_class, all_passed, hostile, result, scaled_by_embed_dim, two_mistakes

from vitcheck.checks.record.adjustment import Adjustment
from vitcheck.checks.record.grade import decided
from vitcheck.checks.record.pairs import Pair
from vitcheck.checks.record.snapshot import PictureResult, Snapshot
from vitcheck.reports.pages.html import render_index, render_report, render_similar, render_snapshot
from vitcheck.reports.views.summaries import summaries
from vitcheck.reports.writer import write_class, write_submission

CELLS = {"td", "th", "dt", "dd", "p", "li", "h1", "h2", "h3"}
VOID = {"meta", "link", "br", "hr", "img", "input"}
PAGES = [
    *map(render_report, a_class()),
    *map(render_report, map(record, NAMES)),
    render_index(summaries(a_class())),
    render_index([]),
]
HOSTILE_TRACE = {
    name: value
    for name, value in Snapshot.of(hostile(), PictureResult(name=HOSTILE, width=1, height=1))
    if name not in ("run", "arrays")
}


class Page(HTMLParser):
    """What a page is made of; raises where a tag is closed that is not open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"
        if tag in CELLS:
            self.words.append(" ")

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & {*self.open}:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def values(self, attribute: str) -> list[str]:
        return [attributes[attribute] for _, attributes in self.tags if attribute in attributes]


def page(text: str) -> Page:
    read = Page(text)
    assert not read.open
    return read


@pytest.mark.parametrize("text", PAGES)
def test_every_tag_is_closed_and_every_id_is_single(text: str) -> None:
    ids = page(text).values("id")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("text", PAGES)
def test_every_link_within_the_page_resolves(text: str) -> None:
    read = page(text)
    anchors = {link[1:] for link in read.values("href") if link.startswith("#")}
    assert anchors
    assert anchors | set(read.values("aria-labelledby")) <= set(read.values("id"))


@pytest.mark.parametrize("text", PAGES)
def test_headings_skip_no_level(text: str) -> None:
    levels = [int(tag[1]) for tag, _ in page(text).tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("text", PAGES)
def test_nothing_but_our_script_runs_and_nothing_is_loaded(text: str) -> None:
    read = page(text)
    assert not {tag for tag, _ in read.tags} & {"iframe", "object", "embed", "form", "base"}
    names = [name for _, attributes in read.tags for name in attributes]
    assert not [name for name in names if name == "style" or name.startswith("on")]
    links = [urlsplit(link) for name in ("href", "src") for link in read.values(name)]
    assert {link.scheme for link in links} <= {"", "data"}
    assert not [link for link in links if link.netloc]
    policy = read.values("content")[0]
    assert policy.startswith(
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src"
    )
    assert "unsafe" not in policy
    inline = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", text, re.DOTALL)
    digests = [b64encode(sha256(one.encode()).digest()).decode() for one in inline]
    assert re.findall(r"'sha256-(.*?)'", policy) == digests


def test_only_pages_with_something_to_filter_or_to_read_have_a_script() -> None:
    drawn, tables = len(NAMES), 2
    plain = len(PAGES) - drawn - tables
    assert [text.count("<script") for text in PAGES] == [*[0] * plain, *[1] * drawn, 1, 0]


@pytest.mark.parametrize("text", PAGES)
def test_a_page_stays_below_a_megabyte(text: str) -> None:
    assert len(text.encode()) < 1_000_000


def test_links_between_pages_resolve(tmp_path: Path) -> None:
    results = [*a_class(), result("a b&c?d#e%20")]
    write_class(results, tmp_path)
    for one in results:
        if "\x00" not in one.submission:
            write_submission(one, tmp_path / one.submission)
    links = [link for link in page(render_index(summaries(results))).values("href") if "report.html" in link]
    assert len(links) > len(results)
    for link in links:
        path = tmp_path / unquote(urlsplit(link).path)
        if "\x00" not in str(path):
            assert urlsplit(link).fragment in {"", *page(path.read_text("utf-8")).values("id")}


@pytest.mark.parametrize(
    "text",
    [
        render_report(hostile()),
        render_index(summaries([hostile()])),
        render_snapshot(snapshot("traced").model_copy(update=HOSTILE_TRACE)),
        render_similar([Pair(HOSTILE, HOSTILE, (1, 1))], 2, {HOSTILE: HOSTILE}),
    ],
)
def test_what_a_student_writes_is_text(text: str) -> None:
    read = page(text)
    shown = "\\x1b[2J<script>alert(1)</script> {{ 7*7 }} \\u202eevil\\u200b"
    assert shown in read.text
    assert not set(text) & {"\x1b", "\x00", "\x07", "\u202e", "\u200b"}
    assert HOSTILE not in text


def test_the_report_says_what_is_wrong() -> None:
    text = page(render_report(scaled_by_embed_dim())).text
    for part in (
        "96.5 of 100 points",
        "1 to fix: S12",
        "S12 attention scores · vit_transformer.py, line 58 Scores divided by the square root of",
        "58 attn_scores = q @ k.transpose(-2, -1) / math.sqrt(self.embed_dim)",
        "Shape expected B 1 h 12 T 197 T 197",
        "3.1 (tolerance 1e-9)",
        "S12: yours, expected, and yours divided by what is expected, image 0, head 0, tokens 0-2",
        "Reproduce with vitcheck check vit_transformer.py --stage S12 --seed 7",
        "Failed at batch 2 embed_dim 24 heads 4 seed 7",
        "Where all blocks",
        "vitcheck explain scale-by-embed-dim",
        "Seed 7",
        "namespaces, seccomp, limits",
        "A loop over a data loader was not run. vit_transformer.py, line 141",
    ):
        assert part in text
    question, measured = text.index("Which two vectors"), text.index("Expected and got")
    assert text.index("attn_scores = q @ k") < question < measured < text.index("The pipeline")


@pytest.mark.parametrize("title", ["Scores divided by", "Your scores are 0.289 times", "Which two vectors"])
def test_a_finding_is_told_once(title: str) -> None:
    assert page(render_report(scaled_by_embed_dim())).text.count(title) == 1


def test_further_findings_have_a_line_each_with_its_line_of_code() -> None:
    text = page(render_report(record("two_mistakes"))).text
    assert "2 to fix: S13 · S19" in text
    assert "Also to fix Fix S13 first: the others may change with it. S19 " in text


def test_failed_stages_are_open_and_passed_ones_folded() -> None:
    details = [attributes for tag, attributes in page(render_report(two_mistakes())).tags if tag == "details"]
    stages = [attributes for attributes in details if attributes["class"].startswith("stage")]
    assert [number for number, attributes in enumerate(stages, 1) if "open" in attributes] == [2, 3, 18]
    assert len(stages) == 26


def test_runs_of_stages_that_stand_alike_are_folded_into_one_line() -> None:
    text = page(render_report(two_mistakes())).text
    assert "✓ S04 to S17 right" in text


def test_states_are_told_apart_without_colour() -> None:
    read = page(render_report(two_mistakes()))
    for sign, named in (
        ("✗S02", "S02 patches: wrong, B 1 × N 729 × C 3 × P 16 × P 16"),
        ("✓S04", "S04 patch embeddings: right, B 1 × N 196 × D 768"),
        ("?S21", "S21 block 2 output: not checked yet, B 1 × T 197 × D 768"),
    ):
        assert sign in read.text
        assert named in read.values("aria-label")
    implied = page(render_report(all_passed()))
    named = "S12 attention scores: right (inferred), B 1 × h 12 × T 197 × T 197"
    assert named in implied.values("aria-label")


def test_variants_say_whether_they_are_accepted_and_why() -> None:
    accepted, refused = (page(render_report(one)).text for one in (all_passed(), two_mistakes()))
    assert "gelu-tanh accepted GELU by its tanh approximation. The course names no form of GELU." in accepted
    assert "overlapping-patches not accepted" in refused


def test_the_same_numbers_may_have_other_explanations() -> None:
    text = page(render_report(two_mistakes())).text
    assert "May also be strided-pixel-patches" in text


def test_points_that_were_adjusted_count_and_the_reason_stands_beside_them() -> None:
    typo = Adjustment(delta=3.0, comment="<b>typo</b> on the sheet")
    report = page(render_report(decided(scaled_by_embed_dim(), typo))).text
    assert "99.5 of 100 points" in report
    assert "adjusted by +3: <b>typo</b> on the sheet" in report


@pytest.mark.parametrize(
    ("adjustment", "earned", "counts"),
    [
        (Adjustment(delta=-3), 1, 0),
        (Adjustment(delta=3), 99, 102),
        (Adjustment(override=0), 99, 0),
        (Adjustment(late_days=9), 99, 99),
    ],
)
def test_the_points_that_count(adjustment: Adjustment, earned: float, counts: float) -> None:
    assert adjustment.total(earned) == counts
