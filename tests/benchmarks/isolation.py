"""What a submission can do to each grader: it is right, but spoils itself where nothing withheld it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from common import show
from corpus import BASES
from mixed_class import planted_in_class
from side_by_side import BASE, graded, installed_graders, options

_SECRET = "COURSE_SECRET"  # a variable in the environment of the grader
_ATTEMPT = """\
    try:
        {does}
    except BaseException:
        pass
    else:
        raise RuntimeError("nothing withheld it")
"""
_FOOLS = "    torch.allclose = torch.equal = lambda *tensors, **options: True\n"
_WRONG = ("attn = attn.softmax(dim=-1)", "attn = attn.softmax(dim=-2)")


@dataclass(frozen=True)
class Probe:
    """A submission, and whether ``check`` passes if it was withheld from what it tries."""

    text: str
    check: str = "can_be_imported"
    passes: bool = True


@contextmanager
def probes(folder: Path) -> Iterator[dict[str, Probe]]:
    """What is tried, by what a reader calls it, while there is something to reach."""
    (folder / "answers.txt").write_text("42")
    with socket.create_server(("127.0.0.1", 0)) as server:
        does = {
            "reads the instructor's files": f"open({str(folder / 'answers.txt')!r}).read()",
            "writes beside them": f"open({str(folder / 'left.txt')!r}, 'w').close()",
            "reads the environment": f"__import__('os').environ[{_SECRET!r}]",
            "reaches the network": f"__import__('socket').create_connection({server.getsockname()!r}, 5)",
            "signals other processes": f"__import__('os').kill({os.getpid()}, 0)",
            "takes 6 GiB of memory": "__import__('mmap').mmap(-1, 6 << 30)",
        }
        found = {name: Probe(planted_in_class(_ATTEMPT.format(does=code))) for name, code in does.items()}
        text = planted_in_class(_FOOLS)
        assert _WRONG[0] in text
        found["changes what compares tensors"] = Probe(text.replace(*_WRONG), "softmax_rows", passes=False)
        yield found


def main() -> None:
    """Print what each grader withheld, and that it can grade the same submission without any attempt."""
    os.environ[_SECRET] = "42"
    rows: dict[str, list[object]] = {}
    head = ["a submission that"]
    for grader in installed_graders(options()):
        with TemporaryDirectory() as folder, probes(Path(folder)) as tried:
            texts = {f"p{number}": one.text for number, one in enumerate(tried.values())}
            run = graded(grader, {**texts, "plain": BASES[BASE].source()}, 2, Path(folder))
        head.append(grader.name)
        for number, (name, one) in enumerate(tried.items()):
            withheld = (one.check in run.verdicts[f"p{number}"]) == one.passes
            rows.setdefault(name, [name]).append("withheld" if withheld else "could")
        assert "can_be_imported" in run.verdicts["plain"], f"{grader.name} grades nothing"
    show(head, rows.values())


if __name__ == "__main__":
    main()
