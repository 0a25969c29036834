"""What many of a class import is imported once for all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vitcheck.submissions.host.popular import popular_packages

COUNT = """
import importlib, importlib.util, psutil, sys
import torch
from vitcheck.submissions.host.popular import _SLOW
torch.set_num_threads(1)
for name in filter(importlib.util.find_spec, _SLOW):
    importlib.import_module(name)
    assert psutil.Process().num_threads() == 1, name
"""


def write(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return [folder / f"{name}.py" for name in texts]


def test_packages_of_many_submissions_are_warmed(tmp_path: Path) -> None:
    both = "import torch\nfrom einops import rearrange\nimport torchvision.transforms as T\n"
    ann, bob, cleo, dan, eve = write(
        tmp_path, ann=both, bob=both, cleo="import torchvision", dan="import torch", eve="import ("
    )
    assert popular_packages([ann, eve]) == ("torchvision", "einops")
    assert popular_packages([ann, bob, cleo, *[dan] * 42]) == ("torchvision",)
    assert popular_packages([ann, *[dan] * 42]) == ()


def test_only_what_is_known_and_installed_is_warmed(tmp_path: Path) -> None:
    paths = write(tmp_path, ann="import antigravity, os, transformers_of_mine, einops")
    assert popular_packages(paths) == ("einops",)


def test_a_large_class_is_sampled_and_an_empty_one_has_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write(tmp_path, **{f"s{number}": "import einops" for number in range(10)})
    monkeypatch.setattr("vitcheck.submissions.host.popular._SAMPLE", 3)
    assert popular_packages(paths * 100) == ("einops",)
    assert popular_packages([]) == ()


def test_none_of_them_starts_a_thread() -> None:
    subprocess.run([sys.executable, "-c", COUNT], env={"OMP_NUM_THREADS": "1"}, check=True)
