"""How many heads a model has where its code does not say so by a known name: as many as attend in a pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ..tracing.dispatch_mode import Mode
from .blueprint import Builder
from .probing import BuildAttempt, as_given

_aten = torch.ops.aten
_NORMALISED = (_aten._softmax.default, _aten._safe_softmax.default, _aten.exp.default)
_FUSED = "aten::_scaled_dot_product"


class _Attended(Mode):  # type: ignore[no-untyped-call]  # torch's base class has no annotations
    """Counts the attention probabilities of a pass, by how many tokens are attended to."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: Counter[int] = Counter()

    def run(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if func in _NORMALISED and args[0].dim() > 1:
            self.numbers[args[0].shape[-1]] += args[0].numel()
        elif func.name().startswith(_FUSED):
            queries, keys = args[0].shape[:-1], args[1].shape[-2]
            self.numbers[keys] += queries.numel() * keys
        return func(*args, **kwargs)


def attending_heads(builder: Builder, attempt: BuildAttempt) -> int:
    """Of each image, block and token as many as probabilities for each token; 0 where that is no number."""
    sizes: Any = attempt.sizes
    try:
        model = builder.build_to_try(attempt.assignment, sizes).eval()
        with torch.no_grad(), _Attended() as attended:
            model(as_given(sizes.input(0), torch.get_default_dtype()))
    except (Exception, SystemExit):
        return 0
    of_one = sizes.batch * (attempt.seen.get("depth") or sizes.depth)
    for tokens in (sizes.tokens, sizes.tokens - 1):  # with a class token, or without
        heads, rest = divmod(attended.numbers[tokens], of_one * tokens**2)
        if heads and not rest and sizes.embed_dim % heads == 0:
            return int(heads)
    return 0
