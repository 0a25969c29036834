"""Graders that run checks on a file: each submission in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from .grader import COURSE, NAMES, Command, Grader


class Pytest(Grader):
    """One pytest for each submission, begun in its folder."""

    name = "pytest"
    requirements = ("pytest",)

    def lay_out(self, folder: Path, submissions: Mapping[str, str]) -> None:
        super().lay_out(folder, submissions)
        tests = [f"def test_{name}():\n    ten_checks.{name}()\n" for name in NAMES]
        (folder / "test_vit.py").write_text("\n\n".join(["import ten_checks\n", *tests]))

    def commands(self, folder: Path, names: Sequence[str], jobs: int) -> list[Command]:
        options = ("-q", "-p", "no:cacheprovider", "--junitxml=result.xml", "../test_vit.py")
        return [Command(("python", "-m", "pytest", *options), folder / name) for name in names]

    def surroundings(self) -> dict[str, str]:
        """Plugins that came with a lent torch are not pytest's own."""
        return super().surroundings() | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def passed(self, folder: Path, name: str) -> set[str]:
        cases = ElementTree.parse(folder / name / "result.xml").iter("testcase")
        return {str(one.get("name")).removeprefix("test_") for one in cases if not len(one)}


class Gradescope(Grader):
    """The test runner that Gradescope's own platform starts in a container, here without one."""

    name = "gradescope-utils"
    requirements = ("gradescope-utils",)

    def lay_out(self, folder: Path, submissions: Mapping[str, str]) -> None:
        super().lay_out(folder, submissions)
        tests = "".join(_GRADESCOPE_TEST.format(name=name) for name in NAMES)
        (folder / "run_tests.py").write_text(_GRADESCOPE + tests + _GRADESCOPE_MAIN)

    def commands(self, folder: Path, names: Sequence[str], jobs: int) -> list[Command]:
        return [Command(("python", "../run_tests.py"), folder / name) for name in names]

    def passed(self, folder: Path, name: str) -> set[str]:
        tests = json.loads((folder / name / "results.json").read_text())["tests"]
        return {one["number"] for one in tests if one["score"] == one["max_score"]}


_GRADESCOPE = """\
import sys
import unittest

from gradescope_utils.autograder_utils.decorators import number, weight
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner

sys.path.insert(0, "")
import ten_checks


class Ten(unittest.TestCase):
"""
_GRADESCOPE_TEST = """
    @weight(1)
    @number("{name}")
    def test_{name}(self):
        ten_checks.{name}()
"""
_GRADESCOPE_MAIN = """

if __name__ == "__main__":
    with open("results.json", "w") as file:
        JSONTestRunner(stream=file).run(unittest.defaultTestLoader.loadTestsFromTestCase(Ten))
"""


class Check50(Grader):
    """Checks are functions; it runs them in a pool of processes, as many as there are cores."""

    name = "check50"
    requirements = ("check50",)

    def lay_out(self, folder: Path, submissions: Mapping[str, str]) -> None:
        super().lay_out(folder, submissions)
        checks = folder / "checks"
        checks.mkdir()
        tests = [
            f'@check50.check()\ndef {name}():\n    """{name}"""\n    ten_checks.{name}()\n' for name in NAMES
        ]
        begin = f"import sys\n\nimport check50\n\nsys.path[:0] = ['', {str(COURSE)!r}]\nimport ten_checks\n"
        (checks / "__init__.py").write_text("\n\n".join([begin, *tests]))
        (checks / ".cs50.yaml").write_text("check50:\n  checks: __init__.py\n")

    def commands(self, folder: Path, names: Sequence[str], jobs: int) -> list[Command]:
        options = ("--dev", "--output", "json", "--output-file", "result.json", "../checks")
        return [Command(("check50", *options), folder / name) for name in names]

    def passed(self, folder: Path, name: str) -> set[str]:
        results = json.loads((folder / name / "result.json").read_text())["results"]
        return {one["name"] for one in results if one["passed"]}
