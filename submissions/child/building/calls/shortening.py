"""Child side: a model whose depth is written in its code, with fewer blocks.

What holds for three blocks holds for twelve, and a traced pass of twelve ViT-B blocks takes gigabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import nn

from .block_lists import CONTAINERS

BLOCKS = 3  # "every block reads the first input" shows at three, and no sooner


@dataclass(frozen=True)
class Shortening:
    """How blocks are left out: of lists of them, or where a ``number`` of the model says how many run.

    The number is an attribute of modules; ``unread`` are the parameters of the blocks that do not run then.
    As it is written, the model has as many ``blocks``: a list of twice as many holds halves of them.
    """

    blocks: int
    number: str = ""
    unread: frozenset[str] = frozenset()

    def depth(self, asked: int) -> int:
        """How many blocks are left where so many are asked for."""
        return BLOCKS if self.number else max(asked, BLOCKS)

    def shorten(self, model: nn.Module, depth: int) -> bool:
        """Keeps the first ``depth`` blocks. The answer is whether anything was left out."""
        if not self.number:
            return _cut(model, depth, self.blocks)
        _set(model, self.number)
        for name in self.unread:
            holder, _, held = name.rpartition(".")
            del model.get_submodule(holder)._parameters[held]
        return True


def _cut(model: nn.Module, depth: int, blocks: int) -> bool:
    """Keeps the first ``depth`` of every run of modules of one class that one container holds.

    A run is longer than ``BLOCKS``, however many are kept. What such a container holds is left as it is:
    blocks may hold a list of more heads. The answer is whether anything was left out.
    """
    names = _held_alike(model)
    parts = 2 if len(names) == 2 * blocks else 1
    if len(names) <= BLOCKS * parts:
        cut = [_cut(one, depth, blocks) for one in model.children()]
        return any(cut)
    held: Any = model
    for name in reversed(names[depth * parts :]):
        del held[name]
    return len(names) > depth * parts


def _held_alike(container: nn.Module) -> list[str] | list[int]:
    """By what it is asked for each of its modules, if all are of one class."""
    if not isinstance(container, CONTAINERS):
        return []
    alike = len({type(one) for one in container.children()}) == 1
    names = list(container) if isinstance(container, nn.ModuleDict) else list(range(len(container)))
    return names if alike else []


Change = Callable[[nn.Module], object]


def shortening(
    build: Callable[[], nn.Module], depth: int, read: Callable[[Change], frozenset[str]]
) -> Shortening | None:
    """How this model of ``depth`` blocks is shortened, if it can be.

    ``read`` tells which parameters a pass of the changed model reads, and raises where it fails.
    """
    lists = Shortening(depth)
    with suppress(Exception):  # it names a block that is left out, say
        if lists.shorten(build(), BLOCKS) and read(partial(lists.shorten, depth=BLOCKS)):
            return lists
    with suppress(Exception):
        return next(_by_number(build(), depth, read), None)
    return None


def _by_number(
    model: nn.Module, depth: int, read: Callable[[Change], frozenset[str]]
) -> Iterator[Shortening]:
    """Where fewer heads run, say, as many parameters are read as before."""
    names = {
        name
        for module in model.modules()
        for name, one in vars(module).items()
        if type(one) is int and one == depth > BLOCKS
    }
    every = read(lambda _: None) & {name for name, _ in model.named_parameters()} if names else frozenset()
    for name in sorted(names):
        with suppress(Exception):
            fewer = every & read(partial(_set, name=name))
            found = Shortening(depth, name, every - fewer)
            if 2 * len(fewer) < len(every) and read(partial(found.shorten, depth=BLOCKS)) >= fewer:
                yield found


def _set(model: nn.Module, name: str) -> None:
    for module in model.modules():
        if name in vars(module):
            setattr(module, name, BLOCKS)
