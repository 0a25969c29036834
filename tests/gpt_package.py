"""The package of docs/gpt, which adds an architecture, installed as a reader would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import copytree

PACKAGE = Path(__file__).parents[1] / "docs" / "gpt"


def installed(folder: Path) -> Path:
    """Install it into a folder in ``folder``; whoever has that on their search path has the architecture."""
    source, site = folder / "gpt", folder / "site"
    copytree(PACKAGE, source)  # pip builds within it
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, "--target", site, source], check=True)
    return site
