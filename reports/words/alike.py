"""Names that people take for one another, though they are different ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from ...submissions.reading.unseen import is_unseen

# letters of other alphabets, and the Latin one that each looks like
_CYRILLIC = ("авеорсухѕіјһԁԛԝӏкмнтАВЕКМНОРСТУХЅІЈԌԚԜ", "abeopcyxsijhdqwlkmhtABEKMHOPCTYXSIJGQW")
_GREEK = ("αειοκνρτυχγϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeiokvptuxycjABEZHIKMNOPTYX")
_ARMENIAN = ("օոսհցզԼՍՕ", "onuhgqLUO")
_OTHERS = ("ıɑɡǀ‐‒–—―−’‘ʼ′", "iagl------''''")
_LETTERS = {
    ord(other): latin
    for others, alike in (_CYRILLIC, _GREEK, _ARMENIAN, _OTHERS)
    for other, latin in zip(others, alike, strict=True)
}
_STROKES = str.maketrans("I1|0", "lllO")


def skeleton(name: str) -> str:
    """What is left of how ``name`` looks: the same for names that are hard to tell apart."""
    plain = unicodedata.normalize("NFKC", name).translate(_LETTERS).translate(_STROKES).casefold()
    seen = "".join(one for one in plain if not is_unseen(one))
    return " ".join(seen.split()).replace("rn", "m")


def alike(names: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Those of the different ``names`` that look like others, each with all that look so, in order."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(skeleton(name), []).append(name)
    return {name: tuple(group) for group in groups.values() if len(group) > 1 for name in group}


def spelled_out(name: str) -> str:
    r"""``name`` with each character that is not ASCII as its number, such as ``\u0430nn``."""
    return name.encode("ascii", "backslashreplace").decode()
