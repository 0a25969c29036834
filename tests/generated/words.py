"""What people call things: sizes, variables, layers and classes, in the words of several languages."""

from __future__ import annotations

from pathlib import Path

from .drawing import Choices

LANGUAGES = (
    "english",
    "short",
    "letter",
    "german",
    "spanish",
    "portuguese",
    "french",
    "italian",
    "turkish",
    "pinyin",
)
_ENGLISH_OFTEN = 14  # of so many draws and one for each other language

# In words.txt stand variables, layers and classes, each a concept with its words: those of variables in the
# languages above, a bar between languages.
_CONCEPTS = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").split("\n\n")
_CHAIN = frozenset(("x", "seq", "embedded", "with_cls", "positioned", "encoded", "pooled", "logits"))

# whoever says `key` for one says `query` for the other
_ALIKE = {
    concept: concepts[0]
    for concepts in (
        ("q", "k", "v"),
        ("wq", "wk", "wv"),
        ("norm1", "norm2", "norm3", "norm1_after", "norm2_after"),
        ("scale1", "scale2"),
        ("fc1", "fc2"),
        ("h_", "w_"),
    )
    for concept in concepts
}

_KEPT = ("patch", "heads", "depth")  # sizes that an object may store


def _table(text: str) -> dict[str, list[str]]:
    rows = (line.split(": ", 1) for line in text.strip().splitlines())
    return {concept: words.split(" | ") for concept, words in rows}


_POOLS = tuple(_table(part) for part in _CONCEPTS)
_TAKEN = frozenset(
    ("self", "torch", "nn", "F", "math", "np", "rearrange", "einsum", "repeat", "Rearrange", "plt")
)


class Names:
    """The names of one program: ``names.dim`` is what it calls the width.

    No two variables share a name, no two layers, no two classes.
    """

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._given: list[dict[str, str]] = [{} for _ in _POOLS]
        ticket = choices.below(_ENGLISH_OFTEN + len(LANGUAGES))
        self.language = LANGUAGES[max(0, ticket - _ENGLISH_OFTEN)]
        self._firsts: dict[str, int] = {}  # the place of the word that was drawn, by concept
        self._reused = choices.once_in(2)  # one name for the tokens, from the first step to the last

    def __getattr__(self, concept: str) -> str:
        if self._reused and concept in _CHAIN:
            concept = "chain"
        for pool, given in zip(_POOLS, self._given):
            if concept in pool:
                if concept not in given:
                    used = {*given.values(), *self._stored(), *self._other_case()}
                    given[concept] = self._free(concept, self._words(pool[concept]), used)
                return given[concept]
        raise AttributeError(concept)

    def _stored(self) -> set[str]:
        """What the objects of the program have as attributes already."""
        variables, layers, _ = self._given
        return {*layers.values(), *(variables[size] for size in _KEPT if size in variables)}

    def _other_case(self) -> set[str]:
        """A constant is a size in upper case, and may not be called as a class is."""
        variables, _, classes = self._given
        return {
            *(one.upper() for one in variables.values()),
            *(one.lower() for one in classes.values() if one.isupper()),
        }

    def _words(self, languages: list[str]) -> list[str]:
        return languages[LANGUAGES.index(self.language) if len(languages) > 1 else 0].split()

    def _free(self, concept: str, words: list[str], given: set[str]) -> str:
        alike = _ALIKE.get(concept, concept)
        if alike not in self._firsts:
            self._firsts[alike] = self._choices.below(len(words))
        first = self._firsts[alike] % len(words)
        for word in (
            *words[first:],
            *words[:first],
            *(f"{word}_{number}" for number in (2, 3) for word in words),
        ):
            if word not in _TAKEN and word not in given:
                return word
        raise ValueError(f"the words are used up: {words}")
