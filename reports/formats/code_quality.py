"""GitLab's Code Quality report: what is shown beside the lines of a merge request."""

from __future__ import annotations

import hashlib
import json

from ...checks.record.result import Result
from ..words.standing import Standing, findings
from .repository import Repository


def code_quality(result: Result, repository: Repository) -> str:
    """The JSON array of everything wrong that has a place; https://docs.gitlab.com/ci/testing/code_quality/."""
    issues = [_issue(one, repository) for one in findings(result)]
    return json.dumps([one for one in issues if one], indent=1, ensure_ascii=False) + "\n"


def _issue(found: Standing, repository: Repository) -> dict[str, object] | None:
    if found.place is None:
        return None
    spot = repository.spot(found.place)
    code = [line.text for line in found.place.marked]  # a fingerprint outlives lines that are put in above
    return {
        "description": f"{found.heading}. {found.sentence} {found.question}".strip(),
        "check_name": found.brief,
        "fingerprint": hashlib.sha256("\0".join([found.brief, spot.path, *code]).encode()).hexdigest(),
        "severity": "blocker" if found.tone == "stopped" else "major",
        "location": {"path": spot.path, "lines": {"begin": spot.line or 1}},
    }
