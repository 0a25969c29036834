"""A snapshot as its page shows it: the answer key, or the same of one student's code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ...checks.record.snapshot import QuestionResult, Snapshot
from ..words.assigned import assigned
from ..words.standing import pass_findings
from ..words.text import NAME_LIMIT, clean, one_line
from ..words.wording import say, speaking_of
from .pass_view import PassView, pass_view
from .stage_views import StageView


@dataclass(frozen=True)
class QuestionView:
    """A question of the assignment, what a good answer says, and the stages at which to look for it."""

    text: str
    rubric: str
    stages: tuple[StageView, ...]


@dataclass(frozen=True)
class SnapshotView:
    """Everything on the page, in its order."""

    title: str
    assignment: str
    lead: str
    seen: PassView
    questions: tuple[QuestionView, ...]


@contextmanager
def wording_of(snapshot: Snapshot) -> Iterator[None]:
    """Within it, the interface speaks of a picture, and of the reference where it is the reference's."""
    with speaking_of(*(("reference",) if snapshot.submission is None else ()), "picture"):
        yield


def snapshot_view(snapshot: Snapshot) -> SnapshotView:
    """All text in it is cleaned."""
    seen = pass_view(snapshot, next(pass_findings(snapshot), None))
    return SnapshotView(
        title=one_line(snapshot.submission or say("snapshot.reference"), NAME_LIMIT),
        assignment=assigned(snapshot),
        lead=_lead(snapshot),
        seen=seen,
        questions=_questions(snapshot.questions, seen.stages),
    )


def _lead(snapshot: Snapshot) -> str:
    """What was shown to which model."""
    picture, run = snapshot.picture, snapshot.run
    name = one_line(picture.name, NAME_LIMIT)
    sentences = [say("snapshot.picture", name=name, width=picture.width, height=picture.height)]
    if snapshot.stages:
        sentences.append(say("snapshot.sizes", seed=run.seed, **run.sizes))
        sentences += [] if snapshot.submission is None else [say("snapshot.judged")]
    return " ".join(sentences)


def _questions(asked: list[QuestionResult], stages: tuple[StageView, ...]) -> tuple[QuestionView, ...]:
    return tuple(
        QuestionView(clean(one.text), clean(one.rubric), tuple(at for at in stages if at.label in one.stages))
        for one in asked
    )
