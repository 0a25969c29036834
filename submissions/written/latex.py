"""LaTeX as passages. It is parsed and never run: no file that it names is opened, no macro is expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pylatexenc.latexwalker import (
    LatexCharsNode,
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexMathNode,
    LatexNode,
    LatexSpecialsNode,
    LatexWalker,
)

from .passages import Passage, PassageKind, row

_HEADINGS = {"chapter": 1, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4, "title": 1}
_TABLES = ("tabular", "tabularx", "tabular*", "longtable", "array")
_SILENT = {
    *("input", "include", "usepackage", "documentclass", "label", "ref", "cite", "vspace", "hspace"),
    *("hline", "toprule", "midrule", "bottomrule", "centering", "newpage", "clearpage", "pagestyle"),
    *("bibliography", "bibliographystyle", "lstinputlisting", "verbatiminput", "setlength"),
}
_SIGNS = {"times": " × ", "cdot": " · ", "in": " ∈ ", "textbackslash": "\\", "ldots": "…", "dots": "…"}
_BREAKS = {"\\", "item", "par", "caption", "newline"}  # each begins a passage of its own
_CODE = re.compile(  # the parser knows verbatim text by one name
    r"\\begin\{(?P<name>lstlisting|minted|Verbatim|python|alltt)\}(?:\[[^\]\n]*\])?(?:\{[^}\n]*\})?"
    r"(?P<body>.*?)\\end\{(?P=name)\}",
    re.DOTALL,
)
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*|\x00")
_BREAK, _PICTURE, _CELL, _ROW = "\x00", "\x01", "\x02", "\x03"


def passages(content: bytes) -> Iterator[Passage]:
    """Read a file; bytes that are no UTF-8 are replaced."""
    text = content.decode("utf-8-sig", "replace")
    text = re.sub("[\x00-\x03]", "", text)  # which mark what was found below
    text = _CODE.sub(lambda one: rf"\begin{{verbatim}}{one['body']}\end{{verbatim}}", text)
    nodes, _, _ = LatexWalker(text).get_latex_nodes()
    yield from _passages(nodes)


def _passages(nodes: Sequence[LatexNode | None]) -> Iterator[Passage]:
    """Headings, environments and the text between them."""
    between: list[LatexNode] = []
    for node in nodes:
        apart = None if node is None else _apart(node)
        if apart is None:
            between += [node] if node is not None else []
            continue
        yield from _paragraphs(_text(between))
        between = []
        yield from apart
    yield from _paragraphs(_text(between))


def _apart(node: LatexNode) -> Iterator[Passage] | None:
    """The passages of a node that is no part of a paragraph."""
    if isinstance(node, LatexMacroNode) and node.macroname in _HEADINGS:
        text = " ".join(_text(_arguments(node)[-1:]).split())  # before it, a star or a short form
        return iter([Passage(PassageKind.HEADING, text, _HEADINGS[node.macroname])])
    if isinstance(node, LatexEnvironmentNode):
        return _environment(node)
    return None


def _environment(node: LatexEnvironmentNode) -> Iterator[Passage]:
    if node.environmentname == "verbatim":
        yield Passage(PassageKind.CODE, _text(_arguments(node)).strip("\n"))
    elif node.environmentname in _TABLES:
        for line in _text(node.nodelist, table=True).split(_ROW):
            if line.strip():
                yield row(line.split(_CELL))
    else:
        yield from _passages(node.nodelist)


def _paragraphs(text: str) -> Iterator[Passage]:
    for paragraph in _PARAGRAPH.split(text):
        before, picture, after = paragraph.partition(_PICTURE)
        if picture:
            yield Passage(PassageKind.PICTURE, "")
        if plain := " ".join((before + after.replace(_PICTURE, "")).split()):
            yield Passage(PassageKind.TEXT, plain)


def _arguments(node: LatexMacroNode | LatexEnvironmentNode) -> Sequence[LatexNode]:
    found = node.nodeargd.argnlist if node.nodeargd else None
    return [one for one in found or () if one is not None]


def _text(nodes: Sequence[LatexNode], *, table: bool = False) -> str:
    return "".join(_text_of(one, table) for one in nodes if one is not None)


def _text_of(node: LatexNode, table: bool) -> str:
    if isinstance(node, LatexCharsNode):
        return str(node.chars)
    if isinstance(node, LatexSpecialsNode):
        return {"&": _CELL if table else "&", "~": " ", "--": "–", "---": "—"}.get(
            node.specials_chars, str(node.specials_chars)
        )
    if isinstance(node, (LatexGroupNode, LatexMathNode)):
        return _text(node.nodelist, table=table)
    if isinstance(node, LatexEnvironmentNode):
        return _text(node.nodelist, table=table)
    return _macro(node, table) if isinstance(node, LatexMacroNode) else ""


def _macro(node: LatexMacroNode, table: bool) -> str:
    name = node.macroname
    if name == "includegraphics":
        return _PICTURE
    if name in _SILENT:
        return ""
    if name in _BREAKS:
        return _ROW if table and name == "\\" else _BREAK + _text(_arguments(node), table=table)
    if len(name) == 1 and not name.isalpha():  # \_ and \#, and the spaces of mathematics
        return name if name in "_#&%$" else " "
    return _SIGNS.get(name) or _text(_arguments(node), table=table) + node.macro_post_space
