"""Child side: what is asked and answered, as the wire carries it."""

from __future__ import annotations

from typing import Any

from torch import Tensor

Header = dict[str, Any]
Tensors = dict[str, Tensor]
Reply = tuple[Header, Tensors]
