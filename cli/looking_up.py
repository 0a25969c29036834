"""``vitcheck stages`` and ``vitcheck explain``: what there is to know, without a submission."""

from __future__ import annotations

from difflib import get_close_matches

import click


@click.command()
@click.option(
    "--labels",
    type=click.Choice(["report", "sheet"]),
    default="report",
    show_default=True,
    help="Whose numbering: the debugging report's, or the course sheet's.",
)
def stages(labels: str) -> None:
    """List the stages, with their axes and equations."""
    from vitcheck.reference.stages import LABEL_SETS, stage

    rows = [(label, stage(key)) for label, keys in LABEL_SETS[labels].items() for key in keys]
    for label, one in rows:
        click.echo(f"{label}  {one.key:<24}{one.axes:<12}{one.equation}")


@click.command()
@click.argument("name", metavar="ID")
def explain(name: str) -> None:
    """Explain a stage or a mistake.

    ID is such as S12, attention_scores or scale-missing.
    """
    from vitcheck.checks.catalogue import mistakes

    click.echo(_mistake(name) if name in mistakes() else _stage(name))


def _mistake(name: str) -> str:
    from vitcheck.checks.catalogue import mistake

    known = mistake(name)
    parts = [f"{known.id} ({known.kind}, at {known.stage}): {known.title}", known.explanation, known.hint]
    if known.confused_with:
        parts.append(f"The same numbers come from {', '.join(known.confused_with)}.")
    return "\n\n".join(map(_wrapped, parts))


def _stage(name: str) -> str:
    """All that is said of it, architecture by architecture where they differ."""
    from vitcheck.reference.stages import ARCHITECTURES, stage

    try:
        wanted = stage(name)
    except ValueError:
        raise click.BadParameter(_unknown(name), param_hint="ID") from None
    having = {
        (one.title, one.equation, one.explanation): [
            architecture for architecture, rows in ARCHITECTURES.items() if one in rows
        ]
        for rows in ARCHITECTURES.values()
        for one in rows
        if one.key == wanted.key
    }
    parts = [f"{wanted.label} {wanted.key}, axes {wanted.axes}"]
    for (title, equation, explanation), architectures in having.items():
        parts += [f"{title} ({', '.join(architectures)}): {equation}", explanation]
    return "\n\n".join(map(_wrapped, parts))


def _unknown(name: str) -> str:
    from vitcheck.checks.catalogue import mistakes
    from vitcheck.reference.stages import STAGES

    known = [*mistakes(), *(one.key for one in STAGES), *(one.label for one in STAGES)]
    near = get_close_matches(name, known)
    advice = f"did you mean {' or '.join(near)}?" if near else "see `vitcheck stages`, or the ids in a report"
    return f"{name!r} is no stage and no known mistake; {advice}"


def _wrapped(text: str) -> str:
    return click.wrap_text(text, width=88)
