"""Packing: what is read again at another place is the same, and is known to be."""

from __future__ import annotations

import os
import pickle
import zipfile
from pathlib import Path

import pytest

from vitcheck.submissions.errors import NotLoaded, Refused
from vitcheck.submissions.reading import archives
from vitcheck.submissions.reading.packing import HandIn, pack, pack_folder, pack_of_class
from vitcheck.submissions.reading.source import read_source

EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"


def folder(path: Path, **texts: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (path / f"{name}.py").write_text(text)
    return path


@pytest.mark.parametrize("name", ["script.py", "notebook.ipynb", "package", "archive.zip"])
def test_what_is_unpacked_reads_like_the_original(name: str) -> None:
    handed = pickle.loads(pickle.dumps(pack(EXAMPLES / name)))
    with handed.unpacked() as path:
        assert read_source(path) == read_source(EXAMPLES / name)
    assert not path.parent.exists()


def test_with_a_file_comes_what_it_imports_of_its_authors_own(tmp_path: Path) -> None:
    root = folder(tmp_path / "hw", unused="x = 1", helpers="import os, torch")
    folder(root / "parts", attention="from .norms import Norm", norms="x = 1", other="x = 1")
    main = folder(root, vit="import torch\nimport helpers\nfrom parts.attention import Attention") / "vit.py"
    handed = pack(main)
    assert handed.is_folder
    assert set(handed.files) == {"vit.py", "helpers.py", "parts/attention.py", "parts/norms.py"}
    assert set(pack_of_class(main).files) == {"vit.py"}  # what lies beside it there is another's work


def test_modules_may_lie_above_the_file_that_imports_them(tmp_path: Path) -> None:
    folder(tmp_path / "models", layers="x = 1")
    main = folder(tmp_path / "models", vit="from models.layers import x") / "vit.py"
    with pack(main).unpacked() as path:
        assert set(read_source(path).files) == {"models/vit.py", "models/layers.py"}


@pytest.mark.parametrize("code", ["import torch, json", "from nothing_there import x", "import (", ""])
def test_a_file_that_imports_nothing_of_its_own_is_alone(tmp_path: Path, code: str) -> None:
    folder(tmp_path, other="x = 1")
    handed = pack(folder(tmp_path, vit=code) / "vit.py")
    assert not handed.is_folder
    assert set(handed.files) == {"vit.py"}


def test_a_folder_with_an_archive_and_no_code_is_packed_with_it(tmp_path: Path) -> None:
    folder(tmp_path / "Ann_12")
    with zipfile.ZipFile(tmp_path / "Ann_12" / "hw.zip", "w") as archive:
        archive.writestr("hw/vit.py", "x = 1")
    with pack(tmp_path / "Ann_12").unpacked() as path:
        assert read_source(path).files == {"vit.py": b"x = 1"}


def test_what_is_never_read_is_not_packed_and_links_are_not_followed(tmp_path: Path) -> None:
    path = folder(tmp_path / "ann", vit="x = 1")
    (path / "weights.pth").write_bytes(bytes(9))
    with zipfile.ZipFile(path / "data.zip", "w") as archive:
        archive.writestr("photo.png", bytes(9))
    os.symlink("/etc/passwd", path / "secret.py")
    os.symlink("/etc", path / "secrets")
    assert pack(path).files == {"vit.py": b"x = 1"}


def test_the_digest_is_of_names_and_bytes_and_not_of_times_or_places(tmp_path: Path) -> None:
    first = folder(tmp_path / "1" / "ann", a="x = 1", b="y = 2")
    second = folder(tmp_path / "2" / "ann", b="y = 2", a="x = 1")
    os.utime(second / "a.py", (0, 0))
    assert pack(first).digest == pack(second).digest
    others = [
        folder(tmp_path / "3" / "ann", a="x = 1", b="y = 3"),
        folder(tmp_path / "4" / "ann", a="x = 1", c="y = 2"),
        folder(tmp_path / "5" / "ann", a="x = 1y = 2", b=""),
        folder(tmp_path / "6" / "ben", a="x = 1", b="y = 2"),
    ]
    assert len({pack(one).digest for one in [first, *others]}) == 5


def test_names_that_are_no_text_become_text(tmp_path: Path) -> None:
    path = folder(tmp_path / os.fsdecode(b"caf\xe9"))
    (path / os.fsdecode(b"v\xff.py")).write_text("x = 1")
    handed = pack(path)
    assert handed.name == r"caf\xe9"
    with handed.unpacked() as unpacked:
        assert os.listdir(unpacked) == [r"v\xff.py"]


def test_too_much_is_refused_when_it_is_unpacked_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "TOTAL_BYTES", 8)
    with zipfile.ZipFile(tmp_path / "bob.zip", "w") as archive:
        archive.writestr("vit.py", "x = 1")
    handed: HandIn = pickle.loads(pickle.dumps(pack(tmp_path / "bob.zip")))
    assert handed.files == {}
    with pytest.raises(Refused, match=r"bob\.zip is larger than"), handed.unpacked():
        pass


def test_what_has_gone_is_not_loaded(tmp_path: Path) -> None:
    with (
        pytest.raises(NotLoaded, match=r"gone\.py cannot be read: No such file"),
        pack(tmp_path / "gone.py").unpacked(),
    ):
        pass


def test_a_folder_of_checks_is_packed_whole(tmp_path: Path) -> None:
    path = folder(tmp_path / "own" / "deep", test_it="")
    (path / "expected.npz").write_bytes(bytes(9))
    assert set(pack_folder(tmp_path / "own").files) == {"deep/test_it.py", "deep/expected.npz"}
