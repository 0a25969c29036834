"""``vitcheck stages`` and ``vitcheck explain``: what there is to know, without a submission."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vitcheck.checks.architecture.family import Family


def _family(ctx: click.Context, param: click.Parameter, value: str) -> Family:
    from vitcheck.checks.architecture.family import ArchitectureError, family

    try:
        return family(value)
    except ArchitectureError as error:
        raise click.BadParameter(str(error)) from None


architecture_option = click.option(
    "--architecture",
    "family",
    metavar="NAME",
    default="vit",
    show_default=True,
    callback=_family,
    help="Whose stages and mistakes: those of another come with its package.",
)


@click.command()
@click.option(
    "--labels",
    default="report",
    show_default=True,
    help="Whose numbering: the debugging report's, or the course sheet's, which is called sheet.",
)
@architecture_option
def stages(labels: str, family: Family) -> None:
    """List the stages, with their axes and equations."""
    if labels not in family.label_sets:
        raise click.BadParameter(f"there is {', '.join(family.label_sets)}", param_hint="--labels")
    rows = [(label, family.stage(key)) for label, keys in family.label_sets[labels].items() for key in keys]
    for label, one in rows:
        click.echo(f"{label}  {one.key:<24}{one.axes:<12}{one.equation}")


@click.command()
@click.argument("name", metavar="ID")
@architecture_option
def explain(name: str, family: Family) -> None:
    """Explain a stage or a mistake.

    ID is such as S12, attention_scores or scale-missing.
    """
    click.echo(_mistake(name, family) if name in family.mistakes else _stage(name, family))


def _mistake(name: str, family: Family) -> str:
    known = family.mistake(name)
    parts = [f"{known.id} ({known.kind}, at {known.stage}): {known.title}", known.explanation, known.hint]
    if known.confused_with:
        parts.append(f"The same numbers come from {', '.join(known.confused_with)}.")
    return "\n\n".join(map(_wrapped, parts))


def _stage(name: str, family: Family) -> str:
    """All that is said of it, block by block where they differ."""
    try:
        wanted = family.stage(name)
    except ValueError:
        raise click.BadParameter(_unknown(name, family), param_hint="ID") from None
    having = {
        (one.title, one.equation, one.explanation): [
            block for block, rows in family.blocks.items() if one in rows
        ]
        for rows in family.blocks.values()
        for one in rows
        if one.key == wanted.key
    }
    parts = [f"{wanted.label} {wanted.key}, axes {wanted.axes}"]
    for (title, equation, explanation), blocks in having.items():
        parts += [f"{title} ({', '.join(blocks)}): {equation}", explanation]
    return "\n\n".join(map(_wrapped, parts))


def _unknown(name: str, family: Family) -> str:
    known = [*family.mistakes, *family.by_key, *(one.label for one in family.stages)]
    near = get_close_matches(name, known)
    advice = f"did you mean {' or '.join(near)}?" if near else "see `vitcheck stages`, or the ids in a report"
    return f"{name!r} is no stage and no known mistake; {advice}"


def _wrapped(text: str) -> str:
    return click.wrap_text(text, width=88)
