"""Child side: what a pass has made that ends before it returns anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ..tracing.results import is_array, results_in
from ..tracing.tracing import tensors_in
from .function_names import LETTING_GO, name_of

_MOST = 64  # tensors that nothing was computed with: what a loop throws away comes first, and is left out


class BegunPass:
    """A model that returns what it returns, and what it has computed and not yet computed with.

    What is only looked at, by its shape, its type or whether it is finite, say, or let go of, is still to be
    computed with. Calling it raises what the model raises where nothing was computed before that.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model

    def __call__(self, image: Tensor, **options: Any) -> list[Tensor]:
        mode = _Unread()
        try:
            with mode:
                returned = [one for _, one in results_in(self._model(image, **options)).tensors]
        except Exception:
            if not mode.tensors:
                raise
            return mode.tensors
        return [*returned, *(one for one in mode.tensors if all(one is not each for each in returned))]


def _is_computed(one: Tensor) -> bool:
    """Does it hold numbers, and outside of the function that made it, too? Those of ``vmap`` do not."""
    return one.is_floating_point() and one.numel() > 0 and is_array(one)


class _Unread(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self._unread: dict[int, Tensor] = {}  # by address, in order
        self._let_go: dict[int, tuple[Tensor, list[Tensor]]] = {}  # with what it was, which it keeps alive

    @property
    def tensors(self) -> list[Tensor]:
        return [*self._unread.values()][-_MOST:]

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        made = [] if "empty" in name_of(func) else [one for one in tensors_in(result) if _is_computed(one)]
        given = tensors_in((args, kwargs)) if made else []
        if name_of(func) in LETTING_GO:
            self._let_go |= {id(one): (one, given) for one in made}
        else:
            for one in given:
                self._read(one)
            self._unread |= {id(one): one for one in made}
        return result

    def _read(self, tensor: Tensor) -> None:
        self._unread.pop(id(tensor), None)
        _, sources = self._let_go.pop(id(tensor), (tensor, []))
        for one in sources:
            self._read(one)
