"""``vitcheck similar``: submissions that a person may want to look at side by side."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from vitcheck.handed_in import Handed, handed_in
from vitcheck.options import OUTPUT, PATH, existing
from vitcheck.pseudonyms import pseudonyms_option


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=PATH, callback=existing)
@click.option("--out", type=OUTPUT, help="Write a page with both programs of each pair side by side there.")
@click.option("--json", type=OUTPUT, help="Write the list there, as data.")
@click.option(
    "--base", type=PATH, callback=existing, help="The skeleton that was handed out, which counts for nothing."
)
@pseudonyms_option
def similar(
    paths: tuple[Path, ...], out: Path | None, json: Path | None, base: Path | None, pseudonyms: Path | None
) -> None:
    """List pairs of submissions that are alike, for a person to look at.

    Every file, folder or archive directly inside each PATH is a submission, and batches are read as by
    `vitcheck grade`. That two are alike is no proof of
    anything, and changes no grade.
    """
    if find_spec("copydetect") is None:
        raise click.UsageError("to compare programs, install copydetect: pip install 'vitcheck[similarity]'")
    from vitcheck.checks.record.pairs import SHARE
    from vitcheck.checks.tools.similarity import read_programs, similar_pairs
    from vitcheck.reports.pages.html import render_similar
    from vitcheck.reports.views.similar_view import percent, similar_json
    from vitcheck.reports.words.text import NAME_LIMIT, one_line
    from vitcheck.reports.writer import write_whole

    class_ = handed_in(paths, Path("grades"), pseudonyms)
    programs = read_programs({name: _place(name, one) for name, one in class_.items()})
    pairs = similar_pairs(programs.texts, _skeleton(base))
    for name, why in programs.left_out.items():
        click.echo(one_line(f"not compared: {name}: {why}"), err=True)
    for pair in pairs:
        first, second = one_line(pair.first, NAME_LIMIT), one_line(pair.second, NAME_LIMIT)
        click.echo(f"{percent(pair.shares[0]):>6} {first}  {percent(pair.shares[1]):>6} {second}")
    what = (pairs, len(programs.texts), programs.left_out)
    if out:
        write_whole(out, render_similar(*what).encode())
    if json:
        write_whole(json, similar_json(*what).encode())
    click.echo(
        f"{len(pairs)} pairs of {len(programs.texts)} submissions share {percent(SHARE)} or more of one."
        " This list is for a person to review; it does not affect points."
    )


def _place(name: str, one: Handed) -> Path:
    """Where it lies; under a pseudonym a copy that is called so."""
    if one.pseudonyms is None or (handed := one.packed(name)).problem is not None:
        return one.path
    return click.get_current_context().with_resource(handed.unpacked())


def _skeleton(base: Path | None) -> str:
    from vitcheck.checks.tools.similarity import program_text
    from vitcheck.submissions.errors import SubmissionError

    try:
        return program_text(base) if base else ""
    except SubmissionError as error:
        raise click.BadParameter(error.reason, param_hint="--base") from None
