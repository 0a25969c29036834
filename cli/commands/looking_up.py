"""``vitcheck stages``, ``mistakes``, ``variants``, ``explain``: what there is to know of no submission."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click
from click.shell_completion import CompletionItem

from vitcheck.options import load_for, own_assignment_option

if TYPE_CHECKING:
    from vitcheck.checks.architecture.catalogue import Mistake
    from vitcheck.checks.architecture.family import Family
    from vitcheck.reference.stages import Stage

_LABEL = 9  # characters of a label with another one

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
    metavar="NAME",
    help="Whose numbering: the debugging report's, or the course sheet's, which is called sheet."
    "  [default: those of the assignment, the first one first]",
)
@architecture_option
@own_assignment_option
def stages(labels: str | None, family: Family | None, assignment: str | None) -> None:
    """List the stages, with their axes and equations: those of the blocks that the assignment asks for.

    The assignment is the one in this folder or above it, where none is named. Where it accepts two
    numberings, a label of the second one stands in brackets where it is another.
    """
    sets = _label_sets(labels, family, assignment)
    family, tables = _tables(family, assignment)
    if unknown := [one for one in sets if one not in family.label_sets]:
        raise click.BadParameter(
            f"{unknown[0]} is none: there is {', '.join(family.label_sets)}", param_hint="--labels"
        )
    first, *others = (family.label_sets[one] for one in sets)
    for label, keys in first.items():
        texts = _kinds_by_text(tables, keys, lambda one: (one.key, one.axes, one.equation))
        for (key, axes, equation), kinds in texts.items():
            told = f"  ({', '.join(kinds)})" if len(texts) > 1 else ""
            also = {other for known in others for other, of in known.items() if key in of and other != label}
            marked = f"{label} [{', '.join(sorted(also))}]" if also else label
            click.echo(f"{marked:<{_LABEL if others else len(label)}}  {key:<24}{axes:<12}{equation}{told}")


def _label_sets(labels: str | None, family: Family | None, assignment: str | None) -> list[str]:
    if labels is not None:
        return [labels]
    return [next(iter(family.label_sets))] if family else [*load_for(Path.cwd(), assignment).labels]


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
@architecture_option
@own_assignment_option
@click.option("--stage", metavar="STAGE", help="Of this stage alone, such as S12.")
def mistakes(family: Family | None, assignment: str | None, stage: str | None) -> None:
    """List the mistakes that are known, with how severe they are and where they are told.

    `vitcheck explain ID` says more of one.
    """
    _list_known(_tables(family, assignment)[0], stage, {"error"})


@click.command()
@architecture_option
@own_assignment_option
@click.option("--stage", metavar="STAGE", help="Of this stage alone, such as S12.")
def variants(family: Family | None, assignment: str | None, stage: str | None) -> None:
    """List the variants that are known: what is right in some courses, or another order of the same numbers.

    An assignment accepts one or does not, under [variants].
    """
    _list_known(_tables(family, assignment)[0], stage, {"variant", "layout"})


def _list_known(family: Family, stage: str | None, kinds: Collection[str]) -> None:
    wanted = [*family.mistakes.values()]
    if stage is not None:
        try:
            key = family.stage(stage).key
        except ValueError:
            raise click.BadParameter(_unknown(stage, family), param_hint="--stage") from None
        wanted = [one for one in wanted if one.stage == key]
    for one in (one for one in wanted if one.kind in kinds):
        label = family.by_key[one.stage].label if one.stage in family.by_key else "–"
        severity = f"{one.severity:<9}" if one.kind == "error" else ""
        click.echo(f"{label:<4} {severity}{one.id:<38} {one.title}")


def _ids(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """What a shell offers: mistakes, variants and stages of the architecture that ships."""
    from vitcheck.checks.architecture.family import family

    known = family("vit")
    return [CompletionItem(one) for one in (*known.mistakes, *known.by_key) if one.startswith(begun)]


@click.command()
@click.argument("name", metavar="ID", shell_complete=_ids)
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
    advice = f"did you mean {' or '.join(near)}?" if near else "see `vitcheck stages` and `vitcheck mistakes`"
    return f"{name!r} is not a stage or a known mistake; {advice}"


def _wrapped(text: str) -> str:
    return click.wrap_text(text, width=88)
