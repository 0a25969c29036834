"""The assignment that is graded by, in words."""

from __future__ import annotations

from ...checks.record.result import Asked
from ...checks.record.snapshot import Record
from .text import NAME_LIMIT, one_line
from .wording import say


def assigned(record: Record) -> str:
    """As ``asked_text``; of a record that was written before it held all of it, the name alone."""
    return asked_text(record.asked) if record.asked else one_line(record.assignment, NAME_LIMIT)


def asked_text(asked: Asked) -> str:
    """Such as "assignment.toml (A small ViT; blocks: pre-norm)"."""
    name, title = one_line(asked.known_as, NAME_LIMIT), one_line(asked.title, NAME_LIMIT)
    kinds = one_line(", ".join(asked.architectures), NAME_LIMIT)
    return say("assigned.blocks" if kinds else "assigned.parts", name=name, title=title, kinds=kinds)
