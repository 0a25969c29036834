"""How long the GitHub action's own commands take, from an empty cache of packages and from a full one."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory

from common import show
from workflow_runner import ROOT, Runner

_OF_TORCH = ("torch", "functorch", "nvidia", "triton", "cuda")
_STEPS = ("Install vitcheck", "Grade", "Report")


def seconds(runner: Runner) -> list[float]:
    """Of each step."""
    taken = []
    for name in _STEPS:
        began = time.perf_counter()
        done = runner.step(name)
        if done.returncode:
            sys.exit(f"{name} failed:\n{done.stderr}")
        taken.append(time.perf_counter() - began)
    return taken


def size_of(folder: Path) -> int:
    """In MB."""
    printed = run(["du", "-sm", str(folder)], check=True, capture_output=True, text=True).stdout
    return int(printed.split()[0])


def size_without_torch(environment: Path) -> int:
    """In MB, of all packages but PyTorch and what it brings for accelerators."""
    (packages,) = environment.glob("lib/python*/site-packages")
    return sum(size_of(one) for one in packages.iterdir() if not one.name.lower().startswith(_OF_TORCH))


def main() -> None:
    """Print the seconds of each step, and the megabytes that are cached and installed."""
    parser = ArgumentParser()
    parser.add_argument("--torch-index", default="", help="as the input of the action")
    index = parser.parse_args().torch_index
    rows: list[tuple[object, ...]] = []
    with TemporaryDirectory() as folder:
        checkout = Path(folder, "checkout")
        clone = ["git", "clone", "--quiet", str(ROOT), str(checkout)]  # installing leaves files there
        run(clone, check=True)
        for cache in ("empty", "full"):
            place = Path(folder, cache)
            inputs = {"file": "hw3", "torch-index": index}
            runner = Runner(place, "scale_by_width.py", checkout, **inputs)
            packages = place / "temp" / "vitcheck-packages"
            packages.mkdir()
            if cache == "full":
                Path(folder, "empty", "temp", packages.name).replace(packages)
            taken = seconds(runner)
            share = f"{100 * taken[0] / sum(taken):.0f} %"
            installed = place / "temp" / "vitcheck"
            sizes = (size_of(packages), size_of(installed), size_without_torch(installed))
            rows.append((cache, *taken, share, *sizes))
    steps = (name.lower() for name in _STEPS)
    show(("cache", *steps, "share of installing", "cached, MB", "installed, MB", "without torch, MB"), rows)


if __name__ == "__main__":
    main()
