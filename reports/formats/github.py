"""GitHub Actions: annotations of the diff, outputs of a step."""

from __future__ import annotations

from ...checks.record.grade import grade
from ...checks.record.result import Result
from ..words.standing import Standing, findings, standing
from ..words.text import points
from .repository import Repository

_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}  # in this order
_ESCAPED_IN_PROPERTIES = _ESCAPED | {":": "%3A", ",": "%2C"}


def workflow_commands(result: Result, repository: Repository) -> str:
    """A workflow command for everything wrong that has a line, and for the first thing wrong in any case.

    https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    found = list(findings(result))
    shown = [one for index, one in enumerate(found) if one.place or not index]
    return "".join(f"{_error(one, repository)}\n" for one in shown)


def _error(found: Standing, repository: Repository) -> str:
    properties = {"title": found.heading}
    message = [found.sentence, found.question]
    if found.place:
        spot = repository.spot(found.place)
        properties["file"] = spot.path
        if spot.line is None:
            message.append(found.place.short)
        else:
            properties["line"] = str(spot.line)
    listed = ",".join(f"{name}={_escape(text, _ESCAPED_IN_PROPERTIES)}" for name, text in properties.items())
    return f"::error {listed}::{_escape(chr(10).join(filter(None, message)), _ESCAPED)}"


def _escape(text: str, escapes: dict[str, str]) -> str:
    for character, escaped in escapes.items():
        text = text.replace(character, escaped)
    return text


def outputs(result: Result, _: Repository) -> str:
    """Lines for the file that ``GITHUB_OUTPUT`` names; no value holds a line end."""
    stands = standing(result)
    values = {
        "score": points(grade(result).earned),
        "possible": points(result.score.possible),
        "status": result.status.value,
        "first-stage": stands.label,
        "first-mistake": stands.mistake,
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())
