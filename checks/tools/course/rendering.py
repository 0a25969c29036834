"""The templates of a course's files. They are texts for people and programs: nothing is escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


def render(template: str, **values: object) -> str:
    """Fill in the template of that name, with one line end at its end."""
    return _environment().get_template(f"{template}.jinja").render(values).rstrip("\n") + "\n"


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("vitcheck.checks.tools.course", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
