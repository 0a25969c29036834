"""Child side: what a script computes with NumPy, recorded like what it computes with torch.

NumPy computes as ever, by the student's own calls. Its arrays are of a class that lays a tensor over
the memory of each and tells the tracer of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import torch
from torch import Tensor

from ...errors import Frame
from ..tracing.tracing import flat, student_frames
from .script_tracing import LimitReached, ScriptTracer

_PRODUCTS = ("matmul", "dot", "einsum", "tensordot", "inner")
_METHODS = (  # by which an array computes without a function of NumPy's
    *("astype", "copy", "diagonal", "dot", "flatten", "ravel", "repeat", "reshape", "squeeze"),
    *("swapaxes", "take", "transpose", "view"),
)
_MAKES_TENSORS = ("from_numpy", "tensor", "as_tensor", "asarray", "FloatTensor", "DoubleTensor")
_DTYPES = (
    *("float64", "float32", "float16", "bool"),
    *("int64", "int32", "int16", "int8", "uint8"),
)
_DRAWS = (np.random.Generator, np.random.RandomState)
_from_numpy = torch.from_numpy


class _Written(NamedTuple):
    """What was written into an array and not told yet, with what was there, and the line that wrote last."""

    given: list[Tensor]
    frames: tuple[Frame, ...]


class SeenArray(np.ndarray[Any, Any]):
    """An array whose operations are told to ``tracer``.

    What is written into it is told when it is read next: a loop may write row by row, or number by number.
    """

    tracer: ScriptTracer
    memories: dict[int, Tensor]  # by the address at which the memory of an array begins
    written: dict[int, _Written]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        result = _computed(ufunc.__name__, getattr(ufunc, method), inputs, kwargs)
        mixed = any(isinstance(one, Tensor) for one in inputs)  # as torch would have it
        return as_tensor(result) if mixed and isinstance(result, np.ndarray) else result

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        return _computed(function.__name__, function, given, options)

    def __getitem__(self, index: Any) -> Any:
        found = _plain(self)[_plain(index)]
        return _seen(found, "index", _tensors((self, index))) if isinstance(found, np.ndarray) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        address = _address(_memory(self))
        pending = self.written.get(address) or _Written(_tensors((self,)), ())
        _plain(self)[_plain(index)] = _plain(value)
        pending.given.extend(_tensors((value,)))
        self.written[address] = pending._replace(frames=student_frames(sys._getframe()))

    @property
    def T(self) -> Any:  # noqa: N802  # NumPy's name
        return self.transpose()


def _method(name: str) -> Callable[..., Any]:
    compute = getattr(np.ndarray, name)

    def computing(*given: Any, **options: Any) -> Any:
        return _computed(name, compute, given, options)

    return computing


for _name in _METHODS:
    setattr(SeenArray, _name, _method(_name))


@contextmanager
def arrays_seen(tracer: ScriptTracer) -> Iterator[None]:
    """While it lasts, what is imported as NumPy makes such arrays, and torch makes them of its tensors."""
    SeenArray.tracer, SeenArray.memories, SeenArray.written = tracer, {}, {}
    with ExitStack() as stack:
        for name in _MAKES_TENSORS:
            stack.enter_context(mock.patch.object(torch, name, _to_tensor(getattr(torch, name))))
        stack.enter_context(mock.patch.object(Tensor, "numpy", _to_array(Tensor.numpy)))
        stack.enter_context(mock.patch.dict("sys.modules", {"numpy": _Numpy(np)}))
        try:
            yield
        finally:
            with suppress(LimitReached):
                for address in [*SeenArray.written]:
                    _tell_written(address)
            SeenArray.memories, SeenArray.written = {}, {}


def as_tensor(array: Any) -> Tensor:
    """A tensor over the memory of an array, or of a copy where torch has no such strides."""
    plain = _plain(array)
    memory = _memory(plain)
    address = _address(memory)
    known = SeenArray.memories.get(address)
    _tell_written(address)
    steps = [divmod(stride, plain.itemsize) for stride in plain.strides]
    start, part = divmod(_address(plain) - address, plain.itemsize)
    is_plain = not part and all(step >= 0 and not rest for step, rest in steps)
    if known is None or not is_plain or known.element_size() != plain.itemsize:
        return as_tensor(_seen(plain.copy(), "copy", [] if known is None else [known]))
    strides = [step for step, _ in steps]
    return known.as_strided(plain.shape, strides, int(known.storage_offset()) + start)


def _tell_written(address: int) -> None:
    if (one := SeenArray.written.pop(address, None)) is not None:
        SeenArray.tracer.tell("copy_", SeenArray.memories[address], one.given, one.frames)


def _computed(name: str, compute: Callable[..., Any], given: Any, options: Any) -> Any:
    """What NumPy computes of these, and in its own precision: scripts are run in float64."""
    before = _tensors((given, options))
    op = "mm" if name in _PRODUCTS else name
    result = compute(*_in_float64(_plain(given)), **_in_float64(_plain(options)))
    written = options.get("out")
    for out in written if isinstance(written, tuple) else (written,):
        if isinstance(out, SeenArray):
            SeenArray.tracer.tell(op, as_tensor(out), before)
            return out
    return _seen(result, op, before)


def _seen(result: Any, op: str, given: Sequence[Tensor] = ()) -> Any:
    """The same, as arrays that are seen; told to the tracer, also where they are views of others."""
    if type(result) in (list, tuple):
        return type(result)(_seen(one, op, given) for one in result)
    if isinstance(result, _DRAWS):
        return _Drawing(result)
    if not (isinstance(result, np.ndarray) and _can_be_told(result)):
        return result
    if _address(_memory(result)) not in SeenArray.memories:
        owner = result if result.flags.owndata and result.flags.writeable else np.array(result)
        SeenArray.memories[_address(owner)] = tensor = _from_numpy(owner)
        SeenArray.tracer.tell(op, tensor, given)
        return _as_seen(owner)
    as_tensor(result)
    return _as_seen(result)


class _Numpy(ModuleType):
    """NumPy, or a module of it, whose functions make arrays that are seen."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            return _Numpy(found)
        is_made = found is np.random.RandomState
        plain = isinstance(found, (type, np.ufunc)) and not is_made
        return found if plain or not callable(found) else _told(found)


class _Drawing:
    """A generator of random numbers, whose arrays are seen."""

    def __init__(self, generator: object) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._generator, name)
        return _told(found) if callable(found) else found


def _told(function: Callable[..., Any]) -> Callable[..., Any]:
    def telling(*given: Any, **options: Any) -> Any:
        result = function(*_in_float64(given), **_in_float64(options))
        if isinstance(result, SeenArray):  # which NumPy has asked for it already
            return result
        return _seen(result, function.__name__, _tensors((given, options)))

    return telling


def _to_tensor(make: Callable[..., Any]) -> Callable[..., Any]:
    """One of torch's functions that make a tensor of what it is given."""

    def making(data: Any = (), *given: Any, **options: Any) -> Any:
        if isinstance(data, (list, tuple)) and any(isinstance(one, SeenArray) for one in data):
            data = _computed("stack", np.stack, (data,), {})
        if not isinstance(data, SeenArray):
            return make(data, *given, **options)
        learns = options.pop("requires_grad", False)
        found = as_tensor(data)
        found = found.to(torch.float64) if data.dtype.kind == "f" else found
        found = found.to(*given, **options) if given or options else found
        return found.clone().requires_grad_() if learns else found

    return making


def _to_array(make: Callable[..., Any]) -> Callable[..., Any]:
    def making(tensor: Tensor, *given: Any, **options: Any) -> Any:
        array = make(tensor, *given, **options)
        SeenArray.memories.setdefault(_address(_memory(array)), tensor.detach())
        return _as_seen(array)

    return making


def _tensors(values: Any) -> list[Tensor]:
    """Those among what is computed with, and those of the arrays among them."""
    every = flat(values)
    arrays = (one for one in every if isinstance(one, np.ndarray) and _can_be_told(one))
    return [*(one for one in every if isinstance(one, Tensor)), *map(as_tensor, arrays)]


def _can_be_told(array: np.ndarray[Any, Any]) -> bool:
    """Does it hold numbers of a kind that torch knows, too?"""
    return bool(array.size) and array.dtype.isnative and array.dtype.name in _DTYPES


def _as_seen(array: Any) -> Any:
    return np.ndarray.view(array, SeenArray)


def _plain(value: Any) -> Any:
    """The same with NumPy's own arrays."""
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if type(value) is dict:
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, Tensor):
        return np.asarray(value.detach())
    return np.ndarray.view(value, np.ndarray) if isinstance(value, SeenArray) else value


def _in_float64(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_in_float64, value))
    if type(value) is dict:
        return {name: _in_float64(one) for name, one in value.items()}
    is_dtype = value is np.float32 or (isinstance(value, (str, np.dtype)) and value == "float32")
    return np.float64 if is_dtype else value


def _memory(array: Any) -> Any:
    """The array that the others are views of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])
