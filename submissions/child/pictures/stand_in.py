"""In the place of any model, one whose scores are known, and that keeps what it is given."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from ....reference.imagenet import IMAGENET_MEAN, IMAGENET_STD
from ...questions.own_functions import scores_for

_LABEL = "class "
_MOST_LABELS = 1_000


class Told:
    """A configuration in which names of labels, of a number of classes, a side and colours are known."""

    def __init__(self, side: int, classes: int, labels: list[str]) -> None:
        self._known = {
            r"label|names|^classes$": labels,
            r"class": classes,
            r"mean": IMAGENET_MEAN,
            r"std": IMAGENET_STD,
            r"size|side|img|image|res": side,
        }

    def __getattr__(self, name: str) -> object:
        found = (value for pattern, value in vars(self)["_known"].items() if re.search(pattern, name))
        for value in found:
            return value
        raise AttributeError(name)


class StandIn(nn.Module):
    """Gives ``scores_for`` whatever images it is given; in the place of a transform it prepares a picture."""

    def __init__(self, side: int, classes: int) -> None:
        super().__init__()
        self.side = side
        self.classes = classes
        self.labels = [f"{_LABEL}{number}" for number in range(min(classes, _MOST_LABELS))]
        self.config = self.cfg = self.args = self.hparams = Told(side, classes, self.labels)
        self.weight = nn.Parameter(torch.zeros(1))  # whoever asks for the device of the first finds one
        self.given: list[Tensor] = []
        self.in_train_mode = False  # when it was called
        self.was_a_transform = False

    def forward(self, given: Any, *_: object, **__: object) -> Tensor:
        if isinstance(given, Image.Image):
            self.was_a_transform = True
            return self._prepared(given)
        if not isinstance(given, Tensor) or given.dim() != 4:
            raise ValueError("images of four axes were expected")
        self.given.append(given.detach().clone())
        self.in_train_mode |= self.training
        return scores_for(len(given), self.classes).float()

    def __getattr__(self, name: str) -> Any:
        """A size that the model keeps, as in its configuration."""
        known = vars(self).get("config")
        if known is None or name.startswith("_") or name in self._parameters:
            return super().__getattr__(name)
        return getattr(known, name)

    def load_state_dict(self, *_: object, **__: object) -> None:
        """Whatever weights they are, its scores stay."""

    def forget(self) -> None:
        """As if nothing had been given yet, in the mode of a model that was just made."""
        self.given.clear()
        self.in_train_mode = self.was_a_transform = False
        self.train()

    def _prepared(self, picture: Image.Image) -> Tensor:
        pixels = np.array(picture.convert("RGB").resize((self.side, self.side)), np.float32) / 255
        return torch.from_numpy(((pixels - IMAGENET_MEAN) / IMAGENET_STD).astype(np.float32)).permute(2, 0, 1)
