"""Shapes as people write them: ``torch.Size([1, 197, 768])``, ``1x197x768``, ``(B, N+1, D)``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...reference.sizes import Sizes

_NAMES = {  # what a name may stand for, as letters of the stage table; one letter is told by its case
    **dict.fromkeys(("B", "b", "bs", "batch", "batch_size", "batchsize"), "B"),
    **dict.fromkeys(("patches", "num_patches", "n_patches", "#patches", "Np", "N_p"), "N"),
    **dict.fromkeys(("N", "n", "T", "S", "seq", "seq_len", "tokens", "num_tokens", "n_tokens"), "NT"),
    "L": "NTL",
    "C": "CDK",
    **dict.fromkeys(("c", "channels", "in_chans", "in_channels"), "C"),
    **dict.fromkeys(("D", "E", "dim", "d_model", "embed_dim", "embedding_dim", "emb", "emb_dim"), "D"),
    **dict.fromkeys(("hidden", "hidden_dim", "hidden_size"), "DM"),
    "H": "HhM",
    **dict.fromkeys(("h", "heads", "num_heads", "n_heads", "nh", "A"), "h"),
    **dict.fromkeys(("d", "d_h", "dh", "hd", "d_k", "dk", "d_v", "head_dim", "d_head", "Dh"), "d"),
    "W": "W",
    **dict.fromkeys(("P", "p", "patch", "patch_size"), "P"),
    **dict.fromkeys(("M", "mlp", "mlp_dim", "d_ff", "dff", "ff_dim", "hidden_features"), "M"),
    **dict.fromkeys(("K", "classes", "num_classes", "n_classes"), "K"),
    "F": "F",
}
# Everything is bounded: what is read here was written by others, and may be made to take for ever.
_SINGLE = r"(?:\d{1,7}(?!\d|[\d.]{0,9}\.\d)[A-Za-z]?|#?\s{0,3}[A-Za-z][A-Za-z_]{0,30})(?:\^2)?"
_AXIS = rf"{_SINGLE}(?:\s?[·*+/-]\s?{_SINGLE}){{0,4}}"
_LISTED = re.compile(rf"[(\[]\s*({_AXIS}(?:\s*,\s*{_AXIS}){{1,7}})\s*,?\s*[)\]]")
_FACTOR = rf"(?:{_SINGLE}(?:\s?[·+]\s?{_SINGLE}){{0,4}}|\({_AXIS}\))"
_CROSS = re.compile(r"\s{0,3}(?:×|\bx\b|\*)\s{0,3}")
_CROSSED = re.compile(rf"(?<![\w.·*]){_FACTOR}(?:{_CROSS.pattern}{_FACTOR}){{1,7}}")
_PLAIN = (  # what LaTeX, Markdown and editors put around and between axes
    (re.compile(r"\\(?:times|bigtimes)\b|[✕✖⨯⨉]|(?<=\d)\s?[xX](?=\s?\d)"), "×"),
    (re.compile(r"\\cdot\b|⋅"), "·"),
    (
        re.compile(
            r"\\(?:text|texttt|mathrm|mathit|mathbb|mathcal|operatorname)\b|\\left|\\right|\\[,;:! ()\[\]]"
        ),
        " ",
    ),
    (re.compile(r"(?<=[A-Z])\^(?=\{)|\\in\b"), " "),
    (re.compile(r"\\([_#])"), r"\1"),
    (re.compile(r"²"), "^2"),
    (re.compile(r"[{}$`]|\*\*"), ""),
    (re.compile(r"[\u00a0\u2009\u202f]"), " "),
)


@dataclass(frozen=True)
class Shape:
    """A shape that somebody wrote: its text, and what each axis may be; nothing known is an empty set."""

    text: str
    axes: tuple[frozenset[int], ...]
    listed: bool  # in brackets, as code shows shapes

    def fits(self, expected: Sequence[int], letters: Sequence[str]) -> bool:
        """Tell whether it is ``expected``, whose axes are called ``letters``, for any number of images."""
        pairs = zip(self.axes, expected, letters)
        return len(self.axes) == len(expected) and all(
            size in axis or (letter == "B" and _is_number(axis)) for axis, size, letter in pairs
        )


def _is_number(axis: frozenset[int]) -> bool:
    return len(axis) == 1 and min(axis) > 0


def shapes_in(text: str, sizes: Sizes) -> list[Shape]:
    """List the shapes in a text, in its order; letters are read as those of a model of ``sizes``."""
    plain = _plain(text)
    found = [(one.start(), _shape(one[0], one[1].split(","), sizes, True)) for one in _LISTED.finditer(plain)]
    without = _LISTED.sub(lambda one: one[0] if "×" in one[0] else " " * len(one[0]), plain)
    found += [
        (one.start(), _shape(one[0], _CROSS.split(one[0]), sizes, False))
        for one in _CROSSED.finditer(without)
    ]
    return [shape for _, shape in sorted(found, key=lambda one: one[0]) if shape is not None]


def _plain(text: str) -> str:
    for pattern, put in _PLAIN:
        text = pattern.sub(put, text)
    return text


def _shape(text: str, parts: Sequence[str], sizes: Sizes, listed: bool) -> Shape | None:
    """None where nothing says that it is a shape: it has no number, and a name that is no axis."""
    axes = tuple(frozenset(_sizes(part.strip(" ()"), sizes.axes)) for part in parts)
    numbers = any(part.strip(" ()").isdecimal() for part in parts)
    if not all(axes) and not (numbers and sum(map(bool, axes)) > 1):
        return None
    return Shape(" ".join(text.split()), axes, listed)


def _sizes(axis: str, letters: Mapping[str, int]) -> Iterator[int]:
    """What an axis may be: ``3``, ``N+1``, ``C·P·P``, ``4D``, ``P^2``."""
    sums = [_products(one, letters) for one in re.split(r"(?=[+-])", axis) if one.strip()]
    totals = {0}
    for one in sums:
        totals = {total + term for total in totals for term in one}
    yield from totals if sums else ()


def _products(term: str, letters: Mapping[str, int]) -> set[int]:
    sign = -1 if term.startswith("-") else 1
    found = {sign}
    for operator, factor in re.findall(r"([·*/]?)\s*([^·*/+-]+)", term):
        values = _values(factor.strip(), letters)
        found = {
            (one // value if operator == "/" and value else one * value) for one in found for value in values
        }
    return found


def _values(factor: str, letters: Mapping[str, int]) -> set[int]:
    name, _, power = factor.partition("^")
    number, name = re.match(r"(\d*)(.*)", name).groups()  # type: ignore[union-attr]  # it matches anything
    times = int(number or 1)
    if not name:
        return {times ** (2 if power else 1)}
    meanings = _NAMES.get(name.replace(" ", "")) or _NAMES.get(name.replace(" ", "").lower(), "")
    return {times * letters[letter] ** (2 if power else 1) for letter in meanings}
