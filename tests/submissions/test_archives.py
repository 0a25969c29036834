"""Archives: what is read, and what is refused before it can do harm."""

import io
import stat
import tarfile
import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from vitcheck.submissions.errors import NotLoaded, Refused
from vitcheck.submissions.reading import archives
from vitcheck.submissions.reading.archives import unpack


def anything(name: str, size: int) -> bool:
    return True


def make_zip(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def make_tar(path: Path, members: Mapping[str, bytes | tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w:" if path.suffix == ".tar" else "w:gz") as archive:
        for name, content in members.items():
            info = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.name = name
            if isinstance(content, bytes):
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return path


def special(kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo("x.py")
    info.type, info.linkname = kind, "/etc/passwd"
    return info


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz", ".tgz"])
def test_every_kind_gives_its_files(tmp_path: Path, suffix: str) -> None:
    make = make_zip if suffix == ".zip" else make_tar
    path = make(tmp_path / f"a{suffix}", {"./vit.py": b"x = 1", "sub/b.py": b"", "big.bin": bytes(9)})
    assert unpack(path, lambda name, size: size < 9) == {"vit.py": b"x = 1", "sub/b.py": b""}


def test_folders_are_no_files_and_backslashes_are_slashes(tmp_path: Path) -> None:
    assert unpack(make_zip(tmp_path / "a.zip", {"dir/": b"", "dir\\vit.py": b"1"}), anything) == {
        "dir/vit.py": b"1"
    }


@pytest.mark.parametrize("name", ["/etc/x.py", "../x.py", "a/../../x.py", "C:\\x.py", "..\\x.py"])
def test_a_path_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    for path in (make_zip(tmp_path / "a.zip", {name: b""}), make_tar(tmp_path / "a.tar", {name: b""})):
        with pytest.raises(Refused, match="a path outside of it"):
            unpack(path, anything)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused_in_a_tar(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(Refused, match=r"'x.py' in the archive a.tar is a link or device"):
        unpack(make_tar(tmp_path / "a.tar", {"x.py": special(kind)}), anything)


def test_links_are_refused_in_a_zip_unless_nobody_wants_them(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("venv/python")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/usr/bin/python")
    with pytest.raises(Refused, match="is a link or device"):
        unpack(tmp_path / "a.zip", anything)
    assert unpack(tmp_path / "a.zip", lambda name, size: not name.startswith("venv")) == {}


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "bomb.zip", {"x.py": bytes(50 * 2**20)})
    tracemalloc.start()
    with pytest.raises(Refused, match=r"bomb.zip unpacks to more than"):
        unpack(path, anything)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * 2**20


def test_a_tar_bomb_is_refused_even_where_its_member_is_not_wanted(tmp_path: Path) -> None:
    path = make_tar(tmp_path / "bomb.tar.gz", {"x.bin": bytes(50 * 2**20)})
    with pytest.raises(Refused, match=r"bomb.tar.gz unpacks to more than"):
        unpack(path, lambda name, size: False)


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_sizes_add_up(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "TOTAL_BYTES", 10_000)
    members = {f"{index}.py": bytes(range(256)) * 20 for index in range(2)}
    path = make_zip(tmp_path / "a.zip", members) if kind == "zip" else make_tar(tmp_path / "a.tar", members)
    with pytest.raises(Refused, match="unpacks to more than"):
        unpack(path, anything)


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_too_many_members_are_refused(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MEMBERS", 3)
    members = {f"{index}.py": b"" for index in range(4)}
    path = make_zip(tmp_path / "a.zip", members) if kind == "zip" else make_tar(tmp_path / "a.tar", members)
    with pytest.raises(Refused, match="has more than 3 members"):
        unpack(path, anything)


def test_an_encrypted_zip_is_said_to_be_so(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"x.py": b"x = 1"})
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1  # the flag that says "encrypted"
    path.write_bytes(content)
    with pytest.raises(NotLoaded, match="is encrypted; hand it in without a password"):
        unpack(path, anything)


def test_a_compression_that_takes_any_memory_is_not_tried(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x.py", b"x = 1")
    with pytest.raises(NotLoaded, match="has an unusual compression; make a plain zip"):
        unpack(tmp_path / "a.zip", anything)


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz"])
@pytest.mark.parametrize("content", [b"", b"no archive at all", b"\x1f\x8b\x08junk"])
def test_a_broken_archive_is_said_to_be_so(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(NotLoaded, match=f"the archive {name} is broken"):
        unpack(tmp_path / name, anything)


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_an_archive_cut_short_is_broken(tmp_path: Path, name: str) -> None:
    members = {"x.py": bytes(range(256)) * 100}
    path = make_zip(tmp_path / name, members) if name == "a.zip" else make_tar(tmp_path / name, members)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(NotLoaded, match="is broken"):
        unpack(path, anything)
