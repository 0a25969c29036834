"""Every key of an assignment file, from the models that read it.

Run it to write docs/assignment.md anew: PYTHONPATH=tests python tests/checks/assignment_table.py
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from vitcheck.checks.assignment.asked_late import LatePolicy, LateStep
from vitcheck.checks.assignment.asked_model import AskedModel
from vitcheck.checks.assignment.asked_parts import AskedPart, ExercisePart
from vitcheck.checks.assignment.asked_points import MistakePoints, Points
from vitcheck.checks.assignment.asked_rules import Rules
from vitcheck.checks.assignment.asked_variants import Permission
from vitcheck.checks.assignment.asked_writing import WrittenPart, WrittenQuestion
from vitcheck.checks.assignment.assignment import Assignment
from vitcheck.checks.assignment.kinds import groups
from vitcheck.reference.components import COMPONENTS
from vitcheck.reference.exercises import EXERCISES
from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.limits import Limits

DOCUMENT = Path(__file__).parents[2] / "docs" / "assignment.md"
_HEAD = """# The assignment file

Every key, written from the models that read the file by `tests/checks/assignment_table.py`. A key that is not here is an error, with the line and what
is near. [For instructors](instructors.md) shows a short file, and `vitcheck init` writes one with a comment on everything.
"""
_TABLES: dict[str, tuple[str, type[BaseModel]]] = {
    "": ("At the top of the file", Assignment),
    "points": ("What checks are worth: [Points](points.md)", Points),
    "points.mistakes": ("A whole, of which mistakes take some", MistakePoints),
    "model": ("What need not be inferred", AskedModel),
    "rules": ("Rules about the code itself", Rules),
    "variants.ID": (
        'Whether one is accepted; `ID = "allow"`, `"forbid"` or `"ask"` says the same shortly',
        Permission,
    ),
    "components.NAME": ("A part that is asked for alone; a number is its points", AskedPart),
    "exercises.NAME": ("An exercise on a trained model; a number is its points", ExercisePart),
    "written": ("The report beside the code: [The written part](written.md)", WrittenPart),
    "written.questions.ID": ("A question", WrittenQuestion),
    "late": ("When work is due: [Late work](late.md)", LatePolicy),
    "late.steps": ("Each step", LateStep),
}
MEANING = {
    "name": "what results, the gradebook and commands call it",
    "title": "what students read",
    "architecture": "whose stages they are; others than the ViT come with packages",
    "architectures": "the kinds of blocks that are accepted: report, pre-norm, post-norm, clip; none where only parts are asked for",
    "stages": 'those asked for, such as `"S01-S08"`; all where it is left out',
    "labels": "the numberings in which marks may stand: report, sheet, own",
    "numbering": 'the course\'s own numbers of stages, such as `S14 = "attention_output"`; others are as in the table. `labels` calls it own',
    "examples": "how many models of random sizes each check runs on",
    "model": "a table of its own, below",
    "outputs": "what the model returns on request: patch-tokens, class-attention",
    "sizes": "the sizes that are asked for: a table, below",
    "variants": "a table of its own, below; `default` is for those that are not named",
    "points": "a table of its own, below",
    "for_students": "set in the handout's file: what is graded with it shows what students may see",
    "hints": "the lowest rung of hints that students see: where, question, try, explain",
    "visibility": "when students see how checks end, by group or check, or `default`: visible, after_due_date, after_published, hidden",
    "components": "tables of their own, below",
    "exercises": "tables of their own, below",
    "limits": "what one submission may use: a table, below",
    "rules": "a table of its own, below",
    "written": "a table of its own, below",
    "late": "a table of its own, below",
    "points.out_of": "all points together, those for answers in writing included: checks share what is left",
    "points.told_later": "set in the handout's file: what checks are worth that students do not see yet",
    "points.checks": "what single checks get of their group, by their ids",
    "points.parts": "points by part of the model, in place of its groups",
    "points.stages": "points by stage, in place of groups",
    "points.mistakes": "points that mistakes take, in place of groups: a table, below",
    "points.mistakes.of": "all points of the model",
    "points.mistakes.each": "what each mistake takes, in place of the three that follow",
    "points.mistakes.minor": "what a minor mistake takes; `vitcheck mistakes` lists how severe they are",
    "points.mistakes.major": "what a major mistake takes",
    "points.mistakes.critical": "what a critical mistake takes",
    "points.mistakes.at_most": "what all mistakes take together, at most",
    "model.name": "the class of the model, where it is not found or not the one meant",
    "model.arguments": 'what arguments of its constructor mean, such as `hidden = "mlp_dim"`, or are: `pool = "=None"`',
    "rules.breakpoints": "are comments asked for that mark the stages?",
    "rules.prints": "does the check look for print statements?",
    "rules.parameters": "is the number of parameters compared with the named size's?",
    "rules.library_model": 'may the model or a part of it be a library\'s? `"allow"`, or a table as for a variant',
    "variants.ID.allow": "is it accepted?",
    "variants.ID.asked": "is it asked for, so that the file to start from describes it?",
    "variants.ID.reason": "what the student reads",
    "components.NAME.points": "what it is worth",
    "components.NAME.name": "the class or function, where it is not found by what it does",
    "exercises.NAME.points": "what it is worth",
    "exercises.NAME.name": "the function, where it is not found by what it does",
    "exercises.NAME.fusion": "how heads are fused: mean or max; both are right where it is left out",
    "written.questions": "tables of their own, below",
    "written.questions.ID.text": "the question, by which it is found in the report",
    "written.questions.ID.rubric": "what a good answer says; students never get it",
    "written.questions.ID.stages": 'where the code shows the answer, such as `["S06"]`',
    "written.questions.ID.points": "what a person may give for it",
    "late.due": "a time with its zone, such as 2026-11-20T23:59:00+01:00",
    "late.grace_minutes": "within which late work is in time",
    "late.per_day": "percent for each day begun",
    "late.steps": "percent by hours, in place of per_day: tables, below",
    "late.at_most": "percent, at most",
    "late.of": "percent of the points possible or earned",
    "late.budget_days": "free for each student, over all assignments of a gradebook",
    "late.steps.hours": "for work that is later than so many hours",
    "late.steps.percent": "what is taken of it",
}


def document() -> str:
    """The whole page."""
    parts = [_HEAD]
    for table, (title, model) in _TABLES.items():
        heading = f"## [{table}]" if table else "## The file"
        parts.append(f"{heading}\n\n{title}.\n\n| key | | if left out | |\n| --- | --- | --- | --- |")
        parts[-1] += "".join(f"\n{_row(table, *one)}" for one in _fields(model)) + "\n"
    parts.append(
        f'## [sizes]\n\n`preset`, such as "B/16", and any of {_listed(Sizes.letters)}, which replace its own.\n'
    )
    limits = "".join(
        f"\n| `{name}` | {_shown(one.default)} |" for name, one in Limits.__dataclass_fields__.items()
    )
    parts.append(f"## [limits]\n\n| key | if left out |\n| --- | --- |{limits}\n")
    parts.append(f"## Names\n\nComponents: {_listed(COMPONENTS)}. Exercises: {_listed(EXERCISES)}.\n")
    return "\n".join(parts)


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        yield field.alias or name, field


def _row(table: str, name: str, field: FieldInfo) -> str:
    key = f"{table}.{name}" if table else name
    meaning = MEANING.get(key) or (groups().get(name, "") if table == "points" else "")
    if not meaning:
        raise KeyError(f"{key} has no meaning in assignment_table.py")
    default = "asked for" if field.is_required() else _shown(field.get_default(call_default_factory=True))
    return f"| `{name}` | {_kind(field.annotation)} | {default} | {meaning} |"


def _shown(default: object) -> str:
    if isinstance(default, (BaseModel, Limits)) or default in (None, (), {}, ""):
        return "–"
    if isinstance(default, tuple):
        return ", ".join(map(str, default))
    return (
        f"{default:_}" if isinstance(default, int) and not isinstance(default, bool) else str(default).lower()
    )


def _kind(annotation: object) -> str:
    """What stands there in TOML."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _kind(next(one for one in arguments if one is not type(None)))
    if origin is typing.Annotated:
        return _kind(arguments[0])
    if origin is typing.Literal:
        return " or ".join(f'`"{one}"`' for one in arguments)
    if origin is tuple:
        return "list"
    plain = {str: "text", bool: "true or false", int: "whole number", float: "number"}
    return plain.get(annotation, "time" if "date" in str(annotation).lower() else "table")  # type: ignore[call-overload,no-any-return] # a type, or none of these


def _listed(names: typing.Iterable[str]) -> str:
    return ", ".join(f"`{one}`" for one in names if one != "batch")


if __name__ == "__main__":
    DOCUMENT.write_text(document())
