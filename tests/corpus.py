"""Correct implementations as real students write them, and how to build each at any size.

The files lie in ``bases/``; the wrong ones that are made from them are in ``mutants/``.
"""

from __future__ import annotations

import linecache
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType

import torch
from builders import BUILDERS, Build
from torch import Tensor, nn

from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.child.uncompiled import ignore_compiler

BASES_FOLDER = Path(__file__).with_name("bases")
_EVERY_SIZE = frozenset(field.name for field in fields(Sizes)) - {"batch"}

ignore_compiler()  # as for a submission


@dataclass(frozen=True)
class Base:
    """A correct implementation.

    ``rectangular`` says whether it takes images that are not square; ``controls`` are the sizes that
    ``build`` sets.
    """

    name: str
    file: Path
    family: str  # report | pre-norm | clip
    build: Build
    rectangular: bool = False
    controls: frozenset[str] = _EVERY_SIZE

    def source(self) -> str:
        return self.file.read_text(encoding="utf-8")


def load_source(text: str, name: str) -> ModuleType:
    """Execute ``text`` as a module, as if it stood in ``<submission>/<name>.py``."""
    module = ModuleType(name)
    linecache.cache[f"<submission>/{name}.py"] = (
        len(text),
        None,
        text.splitlines(keepends=True),
        f"<submission>/{name}.py",
    )
    # dont_inherit: the __future__ import above is this file's, not the student's
    exec(compile(text, f"<submission>/{name}.py", "exec", dont_inherit=True), vars(module))
    return module


def load_base(name: str) -> ModuleType:
    return load_source(BASES[name].source(), name)


def scores(output: object) -> Tensor:
    """Pick the class scores out of what a base returns: alone, first in a tuple, or called ``logits``."""
    if isinstance(output, Mapping):
        output = output["logits"]
    output = getattr(output, "logits", output)
    if isinstance(output, tuple):
        output = output[0]
    assert isinstance(output, Tensor)
    return output


def randomise(model: nn.Module, seed: int = 0) -> None:
    """Give every parameter values that depend on ``seed``, its name and its shape alone.

    Weights have a variance of about 1/fan-in, norm weights lie around 1, class token and positions are
    standard normal, so that no mistake hides behind zeros and ones.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            generator = torch.Generator().manual_seed(zlib.crc32(f"{seed} {name}".encode()))
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(_scaled(name, noise))


def _scaled(name: str, noise: Tensor) -> Tensor:
    if noise.ndim == 1:
        is_norm_weight = name.endswith(("weight", "gamma", "_g"))
        return float(is_norm_weight) + 0.3 * noise
    if any(word in name for word in ("cls", "class_", "pos", "token", "table")):
        return noise
    return noise / math.sqrt(noise[0].numel())


_FAMILIES = {
    "report": "report",
    "report_monolith": "report",
    "constants_only": "report",
    "report_cache": "report",
    "report_functions": "report",
    "clip_style": "clip",
    "clip_explicit": "clip",
}
_RECTANGULAR = ("report", "prenorm", "einops_style", "interleaved_qkv", "heads_in_batch", "tuple_sizes")

BASES: dict[str, Base] = {
    name: Base(
        name,
        BASES_FOLDER / f"{name}.py",
        _FAMILIES.get(name, "pre-norm"),
        build,
        rectangular=name in _RECTANGULAR,
    )
    for name, build in BUILDERS.items()
}


def edited(text: str, edits: Iterable[tuple[str, str]]) -> str:
    """The text with the first of each edit, which is there once, replaced by the second."""
    for old, new in edits:
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    return text
