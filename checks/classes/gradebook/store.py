"""A gradebook: runs are begun and ended, attempts recorded, results found again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import ColumnElement, Engine, Select, and_, delete, func, or_, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from typing_extensions import Self

from ...record.adjustment import UNADJUSTED, Adjustment
from ...record.result import Result, Status
from .gradebook_error import GradebookError
from .tables import Attempt, Decision, GradingRun, HandInTime, Release
from .work import Entry, Work

Event = Attempt | Decision | HandInTime | Release  # of the history of a submission


class Gradebook:
    """An open gradebook. Several processes may use one at a time.

    Each method is a transaction of its own, and raises GradebookError where the database cannot do it. As a
    context manager it is closed at the end.
    """

    def __init__(self, engine: Engine, place: str) -> None:
        self.place = place
        self._reading = engine
        self._writing = engine.execution_options(writes=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reading.dispose()

    def begin(self, work: Work, seed: int) -> GradingRun:
        """Continue the unfinished run of the same work, or else begin one, with ``seed`` if any will do."""
        with self._session(self._writing) as session:
            unfinished = select(GradingRun).where(
                *_same_verdicts(work),
                GradingRun.assignment_digest == work.assignment_digest,
                GradingRun.ended.is_(None),
                GradingRun.class_digest == work.class_digest,
                GradingRun.forced == work.forced,
            )
            run = session.scalar(unfinished.order_by(GradingRun.id.desc()).limit(1))
            if run is None:
                run = GradingRun(
                    started=_now(),
                    seed=seed if work.seed is None else work.seed,
                    assignment=work.assignment,
                    assignment_digest=work.assignment_digest,
                    judging_digest=work.judging_digest,
                    class_digest=work.class_digest,
                    version=work.version,
                    isolation=work.isolation,
                    forced=work.forced,
                    late=work.late,
                )
                session.add(run)
            return run

    def finished(self, work: Work, run: GradingRun | None = None) -> dict[str, int]:
        """The attempts, by submission, that need not be made again: unchanged work, or work of this ``run``.

        Their points may be those of an earlier version of the assignment. What ran out of time in an earlier
        run, or a check of it, is tried again, maybe on a faster machine.
        """
        found = select(Attempt.submission, Attempt.content_digest, Attempt.id).join(GradingRun)
        in_time: ColumnElement[bool] = Attempt.result.not_like(f'%"{Status.TIMED_OUT.value}"%')
        of_run = GradingRun.id == (run.id if run else None)
        if work.retry:
            in_time = and_(in_time, Attempt.status != Status.OUT_OF_MEMORY.value)
        found = found.where(*_same_verdicts(work), or_(in_time, of_run)).order_by(Attempt.id)
        if work.forced:
            found = found.where(of_run)
        with self._session(self._reading) as session:
            rows = session.execute(found)
            return {name: id for name, content, id in rows if work.contents.get(name) == content}

    def record(self, run: GradingRun, content_digest: str, result: Result) -> int:
        """Keep a result, and return which attempt it is; what the run already has of the submission stays."""
        name = result.submission
        with self._session(self._writing) as session:
            kept = session.scalar(
                select(Attempt.id).where(Attempt.run_id == run.id, Attempt.submission == name)
            )
            if kept is not None:
                return kept
            attempt = Attempt(
                run_id=run.id,
                submission=name,
                content_digest=content_digest,
                at=_now(),
                status=result.status.value,
                earned=result.score.earned,
                possible=result.score.possible,
                result=result.to_json(),
                arrays=result.arrays,
            )
            session.add(attempt)
            session.flush()
            return attempt.id

    def end(self, run: GradingRun) -> None:
        """Note that all of the run is graded, so that the same command begins another."""
        with self._session(self._writing) as session:
            session.get_one(GradingRun, run.id).ended = _now()

    def result(self, attempt: int) -> Result:
        """The record of an attempt."""
        with self._session(self._reading) as session:
            found = select(Attempt.result, Attempt.arrays).where(Attempt.id == attempt)
            return Result.from_json(*session.execute(found).one())

    def entries(self, assignment: str | None = None) -> list[Entry]:
        """The last attempt of each submission, by assignment and name."""
        last = (
            select(func.max(Attempt.id)).join(GradingRun).group_by(GradingRun.assignment, Attempt.submission)
        )
        if assignment is not None:
            last = last.where(GradingRun.assignment == assignment)
        with self._session(self._reading) as session:
            attempts = session.scalars(select(Attempt).where(Attempt.id.in_(last))).all()
        decided = {name: self.decisions(name) for name in {one.run.assignment for one in attempts}}
        ordered = sorted(attempts, key=lambda one: (one.run.assignment, one.submission.casefold()))
        return [Entry(one, decided[one.run.assignment].get(one.submission)) for one in ordered]

    def release(self, attempt: Attempt, up_to: str, who: str) -> None:
        """Note that the student was given what may be seen of it."""
        with self._session(self._writing) as session:
            session.add(Release(attempt_id=attempt.id, up_to=up_to, who=who, at=_now()))

    def set_times(self, assignment: str, times: Mapping[str, datetime], source: str, who: str) -> None:
        """Note when submissions were handed in, as ``source`` says."""
        about = {"assignment": assignment, "source": source, "who": who, "at": _now()}
        with self._session(self._writing) as session:
            session.add_all(
                HandInTime(submission=name, submitted=one, **about) for name, one in times.items()
            )

    def late_policy(self, assignment: str) -> str | None:
        """That of the assignment as it was graded by last, as JSON."""
        runs = select(GradingRun.late).where(GradingRun.assignment == assignment)
        with self._session(self._reading) as session:
            return session.scalar(runs.order_by(GradingRun.id.desc()).limit(1))

    def times(self, assignment: str) -> dict[str, datetime]:
        """When submissions were handed in, of those of which this was noted."""
        query = select(HandInTime).where(HandInTime.assignment == assignment).order_by(HandInTime.id)
        with self._session(self._reading) as session:
            return {one.submission: one.submitted for one in session.scalars(query)}

    def late_days_used(self, besides: str) -> dict[str, int]:
        """The late days that were taken in other assignments than this one, by submission."""
        last = select(func.max(Decision.id)).group_by(Decision.assignment, Decision.submission)
        query = select(Decision).where(Decision.id.in_(last), Decision.assignment != besides)
        used: dict[str, int] = {}
        with self._session(self._reading) as session:
            for one in session.scalars(query):
                used[one.submission] = used.get(one.submission, 0) + one.adjustment.late_days
        return used

    def remove(self, assignment: str, submission: str) -> None:
        """Forget the submission: its attempts, what was decided, and that it was released."""
        with self._session(self._writing) as session:
            runs = select(GradingRun.id).where(GradingRun.assignment == assignment)
            mine = [Attempt.run_id.in_(runs), Attempt.submission == submission]
            session.execute(delete(Release).where(Release.attempt_id.in_(select(Attempt.id).where(*mine))))
            session.execute(delete(Attempt).where(*mine))
            about = [Decision.assignment == assignment, Decision.submission == submission]
            session.execute(delete(Decision).where(*about))
            told = [HandInTime.assignment == assignment, HandInTime.submission == submission]
            session.execute(delete(HandInTime).where(*told))

    def clear(self) -> None:
        """Leave no copy of what was removed in the database's files."""
        connection = self._reading.raw_connection()  # outside of any transaction
        try:
            if self._reading.dialect.name == "sqlite":
                connection.cursor().execute("VACUUM")
                connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            elif connection.driver_connection is not None:
                connection.driver_connection.autocommit = True
                connection.cursor().execute("VACUUM FULL attempts, adjustments, releases, hand_in_times")
        finally:
            connection.invalidate()

    def history(self, assignment: str, submission: str) -> list[Event]:
        """All that happened to the submission, the oldest first."""
        attempts = (
            select(Attempt)
            .join(GradingRun)
            .where(GradingRun.assignment == assignment, Attempt.submission == submission)
        )
        with self._session(self._reading) as session:
            graded = session.scalars(attempts).all()
            times = select(HandInTime).where(
                HandInTime.assignment == assignment, HandInTime.submission == submission
            )
            released = select(Release).where(Release.attempt_id.in_([one.id for one in graded]))
            decided = _decisions(assignment, submission)
            rows: list[Event] = [*graded, *session.scalars(decided), *session.scalars(released)]
            rows += session.scalars(times).all()
        return sorted(rows, key=lambda one: one.at)

    def decisions(self, assignment: str) -> dict[str, Decision]:
        """What counts, by submission."""
        with self._session(self._reading) as session:
            return {one.submission: one for one in session.scalars(_decisions(assignment))}

    def adjust(self, assignment: str, submission: str, who: str, **changes: Any) -> Adjustment:
        """Change fields of what counts, and return it as it now is; the rest stays.

        It is about the content that was graded last.
        """
        with self._session(self._writing) as session:
            earlier = session.scalars(_decisions(assignment, submission)).all()
            adjustment = replace(earlier[-1].adjustment if earlier else UNADJUSTED, **changes)
            contents = select(Attempt.content_digest).join(GradingRun)
            mine = contents.where(GradingRun.assignment == assignment, Attempt.submission == submission)
            session.add(
                Decision(
                    assignment=assignment,
                    submission=submission,
                    adjustment=adjustment,
                    content_digest=session.scalar(mine.order_by(Attempt.id.desc()).limit(1)),
                    who=who,
                    at=_now(),
                )
            )
            return adjustment

    @contextmanager
    def _session(self, engine: Engine) -> Iterator[Session]:
        try:
            with Session(engine, expire_on_commit=False) as session, session.begin():
                yield session
        except DBAPIError as error:
            raise GradebookError(f"the gradebook {self.place} failed: {error.orig}") from error


def _same_verdicts(work: Work) -> list[ColumnElement[bool]]:
    """What holds of the runs whose checks would end the same."""
    same = [
        GradingRun.judging_digest == work.judging_digest,
        GradingRun.version == work.version,
        GradingRun.isolation == work.isolation,
    ]
    return same if work.seed is None else [*same, GradingRun.seed == work.seed]


def _decisions(assignment: str, submission: str | None = None) -> Select[Decision]:
    """Select those of a submission, or of all, the last one last."""
    query = select(Decision).where(Decision.assignment == assignment).order_by(Decision.id)
    return query if submission is None else query.where(Decision.submission == submission)


def _now() -> datetime:
    return datetime.now(timezone.utc)
