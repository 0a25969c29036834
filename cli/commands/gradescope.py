"""``vitcheck gradescope``: the archive that Gradescope grades with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from vitcheck.options import assignment_option, checks_option, load

_EXECUTABLE = 0o755 << 16  # as archives keep it


@click.group()
def gradescope() -> None:
    """Grade on Gradescope."""


@gradescope.command()
@assignment_option
@checks_option
@click.option(
    "--torch-index",
    metavar="URL",
    help="A package index to look at as well, such as PyTorch's of builds without CUDA.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("autograder.zip"),
    show_default=True,
    help="The archive.",
)
def build(assignment: str, checks: Path | None, torch_index: str | None, out: Path) -> None:
    """Make the archive to upload as the autograder of a programming assignment.

    It holds the assignment, your checks, and this version of vitcheck, which pip builds from where it was
    installed from. It needs at least Ubuntu 22.04 as its base image.
    """
    asked = load(assignment)
    with TemporaryDirectory() as folder:
        wheel = _wheel(Path(folder))
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in _members(assignment, checks, torch_index, wheel):
                member = zipfile.ZipInfo(name)
                member.external_attr = _EXECUTABLE
                archive.writestr(member, content)
    click.echo(f"{out} grades {asked.name}. The assignment on Gradescope is worth {asked.possible:g} points")


def _members(
    assignment: str, checks: Path | None, torch_index: str | None, wheel: Path
) -> Iterator[tuple[str, bytes]]:
    """What is in the archive, by path."""
    from vitcheck.checks.assignment.assignment import assignment_text
    from vitcheck.submissions.reading.packing import pack_folder

    for template in files("vitcheck").joinpath("autograder").iterdir():
        yield template.name, template.read_bytes()
    yield "assignment.toml", assignment_text(assignment).encode()
    yield wheel.name, wheel.read_bytes()
    index = f"--extra-index-url {torch_index}\n" if torch_index else ""
    yield "requirements.txt", f"{index}./{wheel.name}\n".encode()
    if checks:
        yield from ((f"checks/{path}", content) for path, content in pack_folder(checks).files.items())


def _wheel(folder: Path) -> Path:
    """Have pip build this version of vitcheck; a checkout that it is built from stays as it is."""
    (folder / "built.cfg").write_text(f"[build]\nbuild_base={folder}\n[egg_info]\negg_base={folder}\n")
    environment = os.environ | {"DIST_EXTRA_CONFIG": str(folder / "built.cfg")}  # setuptools reads it
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    # in a folder of ours: what lies where this command is run is not imported by pip
    done = subprocess.run([*build, _origin()], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise click.ClickException(f"pip could not build vitcheck from {_origin()}:\n{done.stderr.strip()}")
    (wheel,) = folder.glob("*.whl")
    return wheel


def _origin() -> str:
    """Where this vitcheck was installed from, as pip notes it: a folder, a repository, or else an index."""
    installed = distribution("vitcheck")
    noted = installed.read_text("direct_url.json")
    if noted is None:
        return f"vitcheck=={installed.version}"
    origin = json.loads(noted)
    if vcs := origin.get("vcs_info"):
        return f"vitcheck @ {vcs['vcs']}+{origin['url']}@{vcs['commit_id']}"
    return f"vitcheck @ {origin['url']}"
