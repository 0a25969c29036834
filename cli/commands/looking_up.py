"""``vitcheck stages`` and ``vitcheck explain``: what there is to know, without a submission."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from vitcheck.options import load_for, own_assignment_option

if TYPE_CHECKING:
    from vitcheck.checks.architecture.catalogue import Mistake
    from vitcheck.checks.architecture.family import Family
    from vitcheck.reference.stages import Stage

Tables: TypeAlias = "Mapping[str, Iterable[Stage]]"  # the rows of each kind of block


def _family(ctx: click.Context, param: click.Parameter, value: str | None) -> Family | None:
    from vitcheck.checks.architecture.family import ArchitectureError, family

    try:
        return None if value is None else family(value)
    except ArchitectureError as error:
        raise click.BadParameter(str(error)) from None


architecture_option = click.option(
    "--architecture",
    "family",
    metavar="NAME",
    callback=_family,
    help="Whose stages and mistakes: those of another come with its package.  [default: the assignment's]",
)


def _tables(family: Family | None, assignment: str | None) -> tuple[Family, Tables]:
    """The architecture, and its tables as they are asked for; all of them where one is named."""
    if family is not None and assignment is not None:
        raise click.UsageError("--architecture and --assignment cannot both be given: an assignment has one")
    if family is not None:
        return family, family.blocks
    asked = load_for(Path.cwd(), assignment)
    kinds = asked.architectures or asked.family.blocks
    return asked.family, {
        kind: [one for one in asked.table_of(kind) if asked.asks(one.key)] for kind in kinds
    }


@click.command()
@click.option(
    "--labels",
    default="report",
    show_default=True,
    help="Whose numbering: the debugging report's, or the course sheet's, which is called sheet.",
)
@architecture_option
@own_assignment_option
def stages(labels: str, family: Family | None, assignment: str | None) -> None:
    """List the stages, with their axes and equations: those of the blocks that the assignment asks for.

    The assignment is the one in this folder or above it, where none is named.
    """
    family, tables = _tables(family, assignment)
    if labels not in family.label_sets:
        raise click.BadParameter(f"there is {', '.join(family.label_sets)}", param_hint="--labels")
    for label, keys in family.label_sets[labels].items():
        texts = _kinds_by_text(tables, keys, lambda one: (one.key, one.axes, one.equation))
        for (key, axes, equation), kinds in texts.items():
            told = f"  ({', '.join(kinds)})" if len(texts) > 1 else ""
            click.echo(f"{label}  {key:<24}{axes:<12}{equation}{told}")


def _kinds_by_text(
    tables: Tables, keys: Iterable[str], text: Callable[[Stage], tuple[str, str, str]]
) -> dict[tuple[str, str, str], list[str]]:
    """What is told of these stages, and the kinds of blocks of which it is true."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for kind, rows in tables.items():
        for row in (one for one in rows if one.key in keys):
            found.setdefault(text(row), []).append(kind)
    return found


@click.command()
@click.argument("name", metavar="ID")
@architecture_option
@own_assignment_option
def explain(name: str, family: Family | None, assignment: str | None) -> None:
    """Explain a stage or a mistake.

    ID is such as S12, attention_scores or scale-missing. A stage is told as it is in the blocks that the
    assignment asks for; that is the one in this folder or above it, where none is named.
    """
    family, tables = _tables(family, assignment)
    click.echo(_mistake(name, family) if name in family.mistakes else _stage(name, family, tables))


def _mistake(name: str, family: Family) -> str:
    known = family.mistake(name)
    parts = [
        f"{known.id} ({known.severity} {known.kind}, {_where(known, family)}): {known.title}",
        known.explanation,
        f"Try this: {known.experiment}",
        f"Ask yourself: {known.hint}",
    ]
    if known.confused_with:
        parts.append(f"Other mistakes that give the same numbers: {', '.join(known.confused_with)}.")
    return "\n\n".join(map(_wrapped, parts))


def _where(known: Mistake, family: Family) -> str:
    """The stage at which it is told, if it belongs to a single one."""
    if known.stage in family.by_key:
        row = family.by_key[known.stage]
        return f"{row.label} {row.title}"
    return "in an exercise" if known.stage == "exercise" else "in the model as a whole"


def _stage(name: str, family: Family, tables: Tables) -> str:
    """All that is said of it, block by block where they differ."""
    try:
        wanted = family.stage(name)
    except ValueError:
        raise click.BadParameter(_unknown(name, family), param_hint="ID") from None
    having = _kinds_by_text(tables, [wanted.key], lambda one: (one.title, one.equation, one.explanation))
    parts = [f"{wanted.label} {wanted.key}, axes {wanted.axes}"]
    for (title, equation, explanation), blocks in having.items():
        parts += [f"{title} ({', '.join(blocks)}): {equation}", explanation]
    return "\n\n".join(map(_wrapped, parts))


def _unknown(name: str, family: Family) -> str:
    known = [*family.mistakes, *family.by_key, *(one.label for one in family.stages)]
    near = get_close_matches(name, known)
    advice = f"did you mean {' or '.join(near)}?" if near else "see `vitcheck stages`, or the ids in a report"
    return f"{name!r} is not a stage or a known mistake; {advice}"


def _wrapped(text: str) -> str:
    return click.wrap_text(text, width=88)
