"""What is asked of a grader to stand beside the others."""

from __future__ import annotations

import os
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

import torch

from .course.ten_checks import CHECKS

COURSE = Path(__file__).with_name("course")
NAMES = tuple(check.__name__ for check in CHECKS)


@dataclass(frozen=True)
class Command:
    """What an instructor types, and in which folder."""

    arguments: Sequence[str]
    folder: Path


class Grader(ABC):
    """A grader that is installed in an environment of its own below ``environments``.

    ``shares_work`` says whether it grades several submissions at once by itself.
    """

    name: ClassVar[str]
    requirements: ClassVar[tuple[str, ...]]  # the first is the grader itself
    shares_work: ClassVar[bool] = False

    def __init__(self, environments: Path) -> None:
        self.environment = environments / self.name.replace(" ", "-")

    def install(self, *, share_torch: bool) -> None:
        """Make the environment, unless it is there. Raises CalledProcessError where pip fails.

        With ``share_torch`` the torch of the running environment is lent to it, which saves gigabytes.
        """
        done = self.environment / "installed"
        if done.exists():
            return
        subprocess.run([sys.executable, "-m", "venv", self.environment], check=True)
        wanted = [*self.requirements, *([] if share_torch else [f"torch=={version('torch')}", "numpy"])]
        self._run("python", "-m", "pip", "install", "--quiet", *wanted)
        if share_torch:
            packages = self._run("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
            Path(packages.strip(), "shared_torch.pth").write_text(str(Path(torch.__file__).parents[1]))
        done.touch()

    def installed_version(self) -> str:
        code = f"from importlib.metadata import version; print(version('{self.requirements[0]}'))"
        return self._run("python", "-c", code).strip()

    def _run(self, program: str, *arguments: str) -> str:
        path = self.environment / "bin" / program
        return subprocess.run([path, *arguments], check=True, capture_output=True, text=True).stdout

    def surroundings(self) -> dict[str, str]:
        """The environment variables of its commands: its own programs first, and the ten checks."""
        path = f"{self.environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return os.environ | {"PATH": path, "PYTHONPATH": str(COURSE)}

    def lay_out(self, folder: Path, submissions: Mapping[str, str]) -> None:
        """Put into ``folder`` what the commands need: here a folder with ``vit.py`` for each submission."""
        for name, text in submissions.items():
            (folder / name).mkdir(parents=True)
            (folder / name / "vit.py").write_text(text, "utf-8")

    @abstractmethod
    def commands(self, folder: Path, names: Sequence[str], jobs: int) -> list[Command]:
        """What grades the submissions ``names``, one after the other."""

    @abstractmethod
    def passed(self, folder: Path, name: str) -> set[str]:
        """The checks that a submission passed, by what the grader left behind."""
