"""What is installed is what stands in the repository, all of it and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SETTINGS = PROJECT["tool"]["setuptools"]
TOPS = ("checks", "cli", "reference", "reports", "submissions")
NOT_SHIPPED = tuple((ROOT / "submissions").glob("examples*"))  # written as students write; read by the tests


def package(folder: Path) -> str:
    """What the code in a folder is imported as: `cli` is the package that holds the others."""
    return ".".join(("vitcheck", *folder.relative_to(ROOT).parts)).replace("vitcheck.cli", "vitcheck")


FOLDERS = {
    package(file.parent): file.parent
    for top in TOPS
    for file in (ROOT / top).rglob("*.py")
    if not any(map(file.is_relative_to, NOT_SHIPPED))
}


def contents(package: str, folder: Path) -> dict[str, Path]:
    """Every file of a package that has to be installed, by its path below the package."""
    patterns = ("*.py", *SETTINGS["package-data"].get(package, ()))
    found = [file for pattern in patterns for file in folder.glob(pattern)]
    return {file.relative_to(folder).as_posix(): file for file in found}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, so that a build leaves nothing here and finds nothing of an earlier one."""
    copy = tmp_path_factory.mktemp("copy")
    for folder in TOPS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs" / "man", copy / "docs" / "man")
    for file in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, copy)
    return copy


def built(source: Path, folder: Path) -> zipfile.ZipFile:
    """The wheel of a folder or a source distribution."""
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", str(source)]
    subprocess.run([*build, "--wheel-dir", str(folder)], check=True)
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel)


@pytest.fixture(scope="module")
def wheel(copied: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return built(copied, tmp_path_factory.mktemp("wheel"))


def test_the_tests_run_against_what_stands_here() -> None:
    stale = []
    for package, folder in FOLDERS.items():
        installed = files(package)
        here = {below: file.read_bytes() for below, file in contents(package, folder).items()}
        there = {one.name for one in installed.iterdir() if one.name.endswith(".py")}
        stale += [f"{package}: {name}" for name in there - here.keys()]
        stale += [
            f"{package}: {below}"
            for below, content in here.items()
            if not (one := installed / below).is_file() or one.read_bytes() != content
        ]
    assert stale == [], "these differ from what is installed: run pip install again"


def test_the_wheel_brings_the_manual_pages(wheel: zipfile.ZipFile) -> None:
    pages = {Path(name).name for name in wheel.namelist() if ".data/data/share/man/man1/" in name}
    assert pages == {page.name for page in (ROOT / "docs" / "man").iterdir()}


def test_the_wheel_holds_the_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    shipped = {name for name in wheel.namelist() if ".dist-info/" not in name and ".data/" not in name}
    assert shipped == {
        f"{package.replace('.', '/')}/{below}"
        for package, folder in FOLDERS.items()
        for below in contents(package, folder)
    }
    assert shipped >= {
        "vitcheck/py.typed",
        "vitcheck/checks/tools/course/templates/skeleton.jinja",
        "vitcheck/checks/mistakes/01_image.toml",
        "vitcheck/checks/assignments/vit-debugging.toml",
        "vitcheck/reports/pages/templates/report.html",
    }


def test_the_wheel_installs_one_name_one_command_and_one_plugin(wheel: zipfile.ZipFile) -> None:
    (info,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    assert wheel.read(f"{info}/top_level.txt").decode().split() == ["vitcheck"]
    entries = wheel.read(f"{info}/entry_points.txt").decode()
    assert "vitcheck = vitcheck.__main__:main" in entries
    assert "[pytest11]\nvitcheck = vitcheck.pytest_plugin" in entries


def test_no_folder_of_ours_is_imported_by_its_bare_name() -> None:
    ours = {
        name for name, one in sys.modules.items() if str(getattr(one, "__file__", "")).startswith(str(ROOT))
    }
    assert ours.isdisjoint(TOPS)


def test_the_source_distribution_makes_the_same_wheel(
    copied: Path, wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    """It is what systems install that build everything themselves."""
    build = f"import setuptools.build_meta as build; build.build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=copied, check=True, capture_output=True)
    (source,) = tmp_path.glob("*.tar.gz")
    again = built(source, tmp_path)
    same = {name for name in wheel.namelist() if not name.endswith("/RECORD")}
    assert {name for name in again.namelist() if not name.endswith("/RECORD")} == same
    assert all(again.read(name) == wheel.read(name) for name in same)


def test_the_changelog_begins_with_this_version_or_what_comes_after_it() -> None:
    titles = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert PROJECT["project"]["version"] in titles[:2]
    assert titles[0] in ("Unreleased", PROJECT["project"]["version"])


def test_no_floor_is_above_what_colab_has_preinstalled() -> None:
    """Installing vitcheck there changes none of its packages."""
    lines = (ROOT / "tests" / "colab.txt").read_text().splitlines()
    there = {canonicalize_name(name): version for name, _, version in (one.partition("==") for one in lines)}
    asked = [Requirement(one) for one in PROJECT["project"]["dependencies"]]
    known = [one for one in asked if canonicalize_name(one.name) in there]
    assert len(known) > 15
    assert [str(one) for one in known if there[canonicalize_name(one.name)] not in one.specifier] == []
