"""The tables of a gradebook, as ``migrations/`` makes them."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: F401 - SQLAlchemy looks up the types of Adjustment here
from datetime import datetime, timezone

from sqlalchemy import (
    JSON,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, composite, mapped_column, relationship

from ...record.adjustment import Adjustment

VERSION_TABLE = "vitcheck_version"  # which change of the tables was the last


class _Utc(TypeDecorator[datetime]):
    """A time with its zone, also where the database keeps none."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value and value.astimezone(timezone.utc)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value and value.replace(tzinfo=value.tzinfo or timezone.utc)


class Table(DeclarativeBase):
    """What the tables have in common."""

    type_annotation_map = {datetime: _Utc, float: Double}  # noqa: RUF012 - SQLAlchemy's own name for it, never changed


class GradingRun(Table):
    """One ``vitcheck grade``, however often it was interrupted; ``ended`` once all were graded."""

    __tablename__ = "runs"

    id: Mapped[int] = mapped_column(primary_key=True)
    started: Mapped[datetime]
    ended: Mapped[datetime | None]
    seed: Mapped[int]
    assignment: Mapped[str]
    assignment_digest: Mapped[str] = mapped_column(index=True)  # with the checks of the instructor's own
    judging_digest: Mapped[str | None] = mapped_column(index=True)  # of all in it but points and texts
    class_digest: Mapped[str]  # of all names and contents
    version: Mapped[str]  # of vitcheck and what it was extended by
    isolation: Mapped[str]  # as it was asked for
    forced: Mapped[bool]
    late: Mapped[str | None] = mapped_column(Text)  # the assignment's late policy, as JSON


class Attempt(Table):
    """A submission that was graded in a run. What its result says first stands in columns of its own."""

    __tablename__ = "attempts"
    __table_args__ = (UniqueConstraint("run_id", "submission", name="uq_attempts_run_submission"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    run: Mapped[GradingRun] = relationship(lazy="joined", innerjoin=True)
    submission: Mapped[str]
    content_digest: Mapped[str]
    at: Mapped[datetime]
    status: Mapped[str]
    earned: Mapped[float]
    possible: Mapped[float]
    result: Mapped[str] = mapped_column(Text, deferred=True)  # the record, 90 KB of JSON
    arrays: Mapped[bytes | None] = mapped_column(deferred=True)  # what its figures need, 25 KB


class Release(Table):
    """That students were given what they may see of an attempt, up to a moment of [visibility]."""

    __tablename__ = "releases"

    id: Mapped[int] = mapped_column(primary_key=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id"), index=True)
    up_to: Mapped[str]
    who: Mapped[str]
    at: Mapped[datetime]


class HandInTime(Table):
    """When a submission was handed in, as ``source`` says: the last row of a submission counts."""

    __tablename__ = "hand_in_times"

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment: Mapped[str] = mapped_column(index=True)
    submission: Mapped[str]
    submitted: Mapped[datetime]
    source: Mapped[str]
    who: Mapped[str]
    at: Mapped[datetime]


class Decision(Table):
    """An adjustment, all of it: the last one of a submission counts."""

    __tablename__ = "adjustments"
    __table_args__ = (Index("ix_adjustments_assignment_submission", "assignment", "submission"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment: Mapped[str]
    submission: Mapped[str]
    adjustment: Mapped[Adjustment] = composite(
        mapped_column("delta"),
        mapped_column("override"),
        mapped_column("comment", Text),
        mapped_column("extra_hours"),
        mapped_column("late_days"),
        mapped_column("marks", JSON),
    )
    content_digest: Mapped[str | None]  # of what it was decided about
    who: Mapped[str]
    at: Mapped[datetime]
