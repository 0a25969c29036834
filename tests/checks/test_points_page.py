"""docs/points.md says what submissions get."""

from __future__ import annotations

from points_table import DOCUMENT, SCHEMES, graded, row

from vitcheck.submissions.host.process import Zygote

_SOME = frozenset({"right", "softmax over the queries", "crash in the softmax (S13)", "nothing written"})


def test_the_page_shows_each_way_to_pay() -> None:
    text = DOCUMENT.read_text()
    assert all(f"```toml\n{one}```" in text for one in SCHEMES.values())


def test_typical_submissions_get_what_the_page_says(zygote: Zygote) -> None:
    """Some of them: .ci/update grades them all."""
    rows = DOCUMENT.read_text().splitlines()
    found = graded(zygote, _SOME)
    assert len(found) == len(_SOME)
    assert [one for one in (row(*item) for item in found.items()) if one not in rows] == []
