"""The arrays that were kept beside a result, by stage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load

Array = npt.NDArray[np.float64]
_WHOLE = ("pixels",)  # in all other arrays of a stage with heads, these come first


@dataclass(frozen=True)
class Kept:
    """What was kept of one stage: arrays by name, of ``image`` out of ``images``.

    ``block`` is 0 outside of the blocks, ``shape`` the one before large tensors were cut. Where there are
    heads, they begin with ``head``.
    """

    arrays: Mapping[str, Array]
    image: int
    images: int
    block: int
    shape: tuple[int, ...]
    head: int = 0

    @property
    def student(self) -> Array:
        return self.arrays["student"]

    @property
    def at_worst(self) -> Kept:
        """The head with the largest error alone, where there are heads and an error."""
        if self.student.ndim != 3 or "error" not in self.arrays:
            return self
        heads = len(self.student)
        errors = np.nan_to_num(self.arrays["error"], nan=np.inf).reshape(heads, -1)
        worst = int(errors.max(1).argmax())
        alone = {name: one if name in _WHOLE else one[[worst]] for name, one in self.arrays.items()}
        return replace(self, arrays=alone, head=worst)

    @property
    def is_cut(self) -> bool:
        return len(self.shape) > 0 and max(self.shape) > max(self.student.shape)


@dataclass(frozen=True)
class Arrays:
    """Of one submission; without any where none were kept."""

    stages: Mapping[str, Kept]

    @classmethod
    def read(cls, file: bytes | None) -> Arrays:
        """From the content of ``arrays.safetensors``. Raises safetensors.SafetensorError where it is none."""
        if file is None:
            return cls({})
        arrays = load(file)
        return cls({label: _kept(label, told, arrays) for label, told in _metadata(file).items()})


def _metadata(file: bytes) -> dict[str, dict[str, Any]]:
    length = int.from_bytes(file[:8], "little")  # safetensors reads metadata from paths alone
    told: dict[str, dict[str, Any]] = json.loads(json.loads(file[8 : 8 + length])["__metadata__"]["stages"])
    return told


def _kept(label: str, whole: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[np.float32]]) -> Kept:
    prefix = f"{label}/"
    mine = {
        name.removeprefix(prefix): one.astype(np.float64)  # in which no difference of two overflows
        for name, one in arrays.items()
        if name.startswith(prefix)
    }
    return Kept(mine, whole["image"], whole["images"], whole["block"], tuple(whole["shape"]))
