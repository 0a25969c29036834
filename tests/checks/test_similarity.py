"""Copies are pointed out whatever their names and order are; independent programs are not."""

from __future__ import annotations

import zipfile
from pathlib import Path

from copies import renamed, reordered
from corpus import BASES
from written_reports import notebook_of

from vitcheck.checks.record.pairs import SHARE
from vitcheck.checks.tools.similarity import program_text, read_programs, similar_pairs

REPORT = BASES["report"].source()


def independent() -> dict[str, str]:
    names = [name for name in BASES if name != "report"][:6]
    return {name: BASES[name].source() for name in names}


def pairs(texts: dict[str, str], base: str = "") -> list[tuple[str, str]]:
    return [(one.first, one.second) for one in similar_pairs(texts, base)]


def test_a_copy_is_found_among_independent_programs_whatever_was_changed() -> None:
    for copy in (REPORT, renamed(REPORT), reordered(REPORT, 1)):
        assert pairs({"ann": REPORT, "bob": copy, **independent()}) == [("ann", "bob")]


def test_the_most_alike_come_first_and_each_pair_once() -> None:
    half = "\n".join(REPORT.splitlines()[: len(REPORT.splitlines()) * 9 // 10]) + "\nrest = [1, 2, 3]\n" * 20
    found = similar_pairs({"ann": REPORT, "bob": half, "cleo": REPORT})
    assert {found[0].first, found[0].second} == {"ann", "cleo"}
    assert found[0].shares == (1.0, 1.0)
    assert len({frozenset((one.first, one.second)) for one in found}) == len(found)
    assert all(max(one.shares) >= SHARE for one in found)


def test_what_was_handed_out_counts_for_nothing() -> None:
    skeleton = "\n".join(REPORT.splitlines()[:80])
    ann, bob = (f"{skeleton}\n{independent()[name]}" for name in list(independent())[:2])
    assert pairs({"ann": skeleton, "bob": skeleton + "\nx = 1\n"}) == [("ann", "bob")]
    assert pairs({"ann": skeleton, "bob": skeleton + "\nx = 1\n"}, skeleton) == []
    assert pairs({"ann": ann, "bob": bob}, skeleton) == []


def test_shared_lines_are_marked_on_both_sides() -> None:
    own = "\n".join(f"def own_{n}(a, b):\n    return [a ** {n}, {{b: {n}}}]\n" for n in range(3))
    (pair,) = similar_pairs({"ann": REPORT, "bob": f"{own}\n{REPORT}"})
    first, second = pair.excerpts
    assert "\n".join(one.text for one in first) == REPORT
    code = [one for one in first if one.text.strip() and not one.text.strip().startswith("#")]
    assert sum(one.marked for one in code) > 0.9 * len(code)
    assert not any(one.marked for one in second[:8])
    assert [one.number for one in second[:3]] == [1, 2, 3]


def test_every_form_of_a_submission_is_compared_as_its_code(tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text(REPORT)
    (tmp_path / "folder" / "src").mkdir(parents=True)
    (tmp_path / "folder" / "src" / "vit.py").write_text(REPORT)
    (tmp_path / "book.ipynb").write_bytes(notebook_of(("markdown", "text"), ("code", REPORT)))
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("vit.py", REPORT)
    (tmp_path / "empty.py").write_text("")
    paths = {path.name: path for path in sorted(tmp_path.iterdir())}
    programs = read_programs(paths)
    assert programs.left_out == {"empty.py": "empty.py is empty"}
    assert len(pairs(dict(programs.texts))) == 6
    assert REPORT in program_text(tmp_path / "book.ipynb")


def test_a_program_too_long_to_be_one_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("x = 1\n" * 50_000)
    programs = read_programs({"ann": tmp_path / "long.py"})
    assert programs.left_out == {"ann": "its code has more than 200,000 characters"}
