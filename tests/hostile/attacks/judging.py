"""Attacks on who judges: what takes for ever, or all memory, to look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from corpus import BASES

from .attack import PARTS, Attack, Expected
from .handing_in import Handed

_CODE = BASES["report"].source()
_RIGHT = Expected(least=100, most=100)
_WINDOW = "torch.zeros(1, dtype=img.dtype).expand(10_000, 10_000)"
_WORDS = " ".join(f"{'abcdefghi' * 40}{number}" for number in range(300))
_HANDLERS = """
import sys
handlers = sys.modules["vitcheck.submissions.child.requests"].HANDLERS
sizes = handlers["sizes"]
"""


def _written(name: str, text: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    return make


def _reported(text: str) -> Callable[[Path], Path]:
    """Right code with a report beside it."""

    def make(folder: Path) -> Path:
        (folder / "work").mkdir()
        (folder / "work" / "vit.py").write_text(_CODE, encoding="utf-8")
        (folder / "work" / "README.md").write_text(text, encoding="utf-8")
        return folder / "work"

    return make


JUDGING = (
    Attack(
        "a parameter's name without end",
        Expected("refused", "characters are in one name"),
        init="self.register_parameter('1' * 10_000, nn.Parameter(torch.zeros(1)))",
        forward="img = img + getattr(self, '1' * 10_000) * 0",
    ),
    Attack(
        "a text without end",
        Expected("refused", "at most 20000 characters"),
        init="self.register_parameter('1' * 30_000, nn.Parameter(torch.zeros(1)))",
        forward="img = img + getattr(self, '1' * 30_000) * 0",
    ),
    Attack(
        "overlapping windows of a hundred million numbers",
        Expected("refused", "numbers are in one view"),
        answer=f"if B > 1: return {{f'S{{number:02}}': {_WINDOW} for number in range(40)}}",
    ),
    Attack(
        "an unknown name without end",
        Expected(failed=frozenset({"S02"}), most=PARTS),
        top=f"long = 'abcdefghi' * 1_100\nwords = '{_WORDS}'",
        forward="if torch.is_grad_enabled(): raise NameError(f\"name '{long}' is not defined\")",
    ),
    Attack(
        "images of which nobody has memory",
        Expected("refused", "numbers at a time"),
        body=f"{_HANDLERS}\n"
        "handlers['sizes'] = lambda header: "
        "[dict(one, height=61_440, width=61_440, patch=61_440) for one in header['wanted']]",
    ),
    Attack(
        "more tokens than anybody compares",
        Expected("refused", "tokens of width"),
        body=f"{_HANDLERS}\n"
        "handlers['sizes'] = lambda header: "
        "[dict(one, height=6_144, width=6_144, patch=16) for one in header['wanted']]",
    ),
)

HANDED_TO_JUDGE = (
    Handed(
        "a line of blanks in code that is no Python",
        Expected("not_loaded", "syntax error"),
        _written("vit.py", f"{_CODE}\n)\n{' ' * 250_000}?\n"),
    ),
    Handed(
        "thousands of magics",
        _RIGHT,
        _written("vit.py", "%matplotlib inline\n" * 4_000 + _CODE),
    ),
    Handed(
        "thousands of magics inside of a string",
        Expected("not_loaded"),
        _written("vit.py", f'{_CODE}\n"""\n' + "%matplotlib inline\n" * 6_000),
    ),
    Handed("a paragraph of commas", _RIGHT, _reported("," * 2_000)),
    Handed(
        "code of commas in a report",
        _RIGHT,
        _reported(f"## S02\n\n```\n{',' * 20_000}\nx{' ' * 20_000}!\n```\n"),
    ),
    Handed(
        "a label behind blanks without end", _RIGHT, _reported(f"## {'1.' * 9_000}\n\n{'(1, ' * 9_000}\n")
    ),
)
