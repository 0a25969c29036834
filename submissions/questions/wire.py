"""Frames between the grader and the child: a JSON header, and tensors as safetensors.

A frame is two little-endian 64-bit lengths, the header and the body. Where a tensor stands in what is sent,
the header has its name in the body. What is read is checked before anything is built from it, and is never
unpickled or evaluated. torch is imported late, so that the grader can start the zygote before its own import
of torch.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from ..limits import FrameLimits

if TYPE_CHECKING:
    import torch

Header = dict[str, Any]

_PREFIX = struct.Struct("<QQ")
_BODY_PREFIX = struct.Struct("<Q")
_NAMED = "$tensor"  # no name of Python's, so that no mapping of a student's names is mistaken for a tensor
_DIGITS = 24  # 64 bits take 20, a float64 written out 21
_LONG_NUMBER = re.compile(rb"[0-9]{%d}" % (_DIGITS + 1))
_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "BF16": "bfloat16",
    "F16": "float16",
    "I64": "int64",
    "I32": "int32",
    "U8": "uint8",
    "BOOL": "bool",
}


class ProtocolError(Exception):
    """What arrived is no frame, or one beyond the limits; the text says why."""


class Stream(Protocol):
    """One end of a connection, as frames need it."""

    def read(self, size: int) -> bytes:
        """Exactly ``size`` bytes; raises EOFError where the other end has hung up."""

    def write(self, data: bytes) -> None:
        """Send all of ``data``."""


def send(stream: Stream, header: Mapping[str, Any]) -> None:
    """Send one frame: plain data, in which dataclasses and tensors may stand.

    A dataclass arrives as a mapping, a tuple as a list. Lone surrogates in strings become question marks.
    Raises ValueError where there is no JSON for it (NaN and infinity have none) or a tensor has a dtype that
    frames do not carry.
    """
    for part in parts(header):
        stream.write(part)


def parts(header: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """One frame in two pieces, since the second may be gigabytes; raises as ``send`` does."""
    tensors: dict[str, torch.Tensor] = {}
    told = json.dumps(header, ensure_ascii=False, allow_nan=False, default=partial(_plain, tensors))
    text = told.encode("utf-8", "replace")
    body = _pack(tensors) if tensors else b""
    return _PREFIX.pack(len(text), len(body)) + text, body


def _plain(tensors: dict[str, torch.Tensor], value: Any) -> Header:
    if hasattr(value, "__dataclass_fields__"):
        return dict(vars(value))
    name = str(len(tensors))
    tensors[name] = value
    return {_NAMED: name}


def receive(stream: Stream, limits: FrameLimits) -> Header:
    """The next frame, with its tensors where they were when it was sent.

    Raises ProtocolError where it is none or beyond ``limits``, EOFError where the other end has hung up.
    """
    header_size, body_size = _PREFIX.unpack(stream.read(_PREFIX.size))
    _require(header_size <= limits.header_bytes, f"a header of {header_size} bytes")
    _require(body_size <= limits.body_bytes, f"{body_size} bytes of tensors, more than {limits.body_bytes}")
    text = stream.read(header_size)
    tensors = _unpack(stream.read(body_size), limits) if body_size else {}
    return _parse(text, tensors)


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ProtocolError(otherwise)


def _parse(text: bytes, tensors: Mapping[str, torch.Tensor]) -> Header:
    """The JSON object in ``text``: plain, finite and encodable. Checked as a whole, for headers are long."""
    parse_int = _short if _LONG_NUMBER.search(text) else None  # it may stand in a string, where it is fine
    try:
        value = json.loads(
            text.decode("utf-8"),
            parse_int=parse_int,
            parse_float=_finite,
            parse_constant=_refuse,
            object_hook=partial(_placed, tensors),
        )
        if b"\\u" in text:  # only an escape can make a lone surrogate, which no text file takes
            json.dumps(value, ensure_ascii=False, default=id).encode("utf-8")  # tensors have no text
    except (ValueError, RecursionError) as problem:
        raise ProtocolError(f"a header that is not plain JSON ({problem})") from None
    _require(isinstance(value, dict), "a header that is no JSON object")
    assert isinstance(value, dict)
    return value


def _placed(tensors: Mapping[str, torch.Tensor], value: Header) -> Any:
    """The tensor, if ``value`` names one; itself if not."""
    if _NAMED not in value:
        return value
    name = str(value[_NAMED])
    if name not in tensors:
        raise ValueError(f"no tensor {name!r:.40} is in the frame")
    return tensors[name]


def _short(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"a number of more than {_DIGITS} digits")
    return int(text)


def _finite(text: str) -> float:
    if not math.isfinite(float(text)):
        raise ValueError("a number beyond float64")
    return float(text)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _pack(tensors: Mapping[str, torch.Tensor]) -> bytes:
    import torch
    from safetensors.torch import save

    for tensor in tensors.values():
        if str(tensor.dtype).removeprefix("torch.") not in _DTYPES.values():
            raise ValueError(f"a tensor is {tensor.dtype}, which frames do not carry")
    several = len(tensors) > 1  # copies, since safetensors refuses views that share memory
    plain = {
        name: tensor.detach().to("cpu", copy=several, memory_format=torch.contiguous_format).contiguous()
        for name, tensor in tensors.items()
    }
    try:
        return save(plain)
    except BaseException as error:  # what is written in Rust panics, which is no Exception, without memory
        if type(error).__name__ == "PanicException":
            raise MemoryError(str(error)) from None
        raise


def _unpack(body: bytes, limits: FrameLimits) -> dict[str, torch.Tensor]:
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load

    for name, entry in _tensor_list(body, limits).items():
        _check_tensor(name, entry, limits)
    try:
        tensors = load(body)
    except (SafetensorError, RuntimeError, ValueError) as problem:
        raise ProtocolError(f"tensors that do not fit their description ({problem})") from None
    for name, tensor in tensors.items():
        if tensor.dtype == torch.bool and tensor.numel():
            _require(int(tensor.view(torch.uint8).max()) <= 1, f"tensor {name!r} of neither true nor false")
    return tensors


def _tensor_list(body: bytes, limits: FrameLimits) -> Header:
    _require(len(body) >= _BODY_PREFIX.size, "a body too short to hold tensors")
    (size,) = _BODY_PREFIX.unpack_from(body)
    _require(size <= min(limits.header_bytes, len(body)), f"a list of tensors of {size} bytes")
    listed = _parse(body[_BODY_PREFIX.size : _BODY_PREFIX.size + size], {})
    _require(len(listed) <= limits.tensors, f"{len(listed)} tensors, more than {limits.tensors}")
    return listed


def _check_tensor(name: str, entry: object, limits: FrameLimits) -> None:
    _require(len(name) <= limits.name_characters, f"a tensor name of {len(name)} characters")
    _require(
        isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"},
        f"tensor {name!r} without dtype, shape and data_offsets",
    )
    assert isinstance(entry, dict)
    dtype, shape = entry["dtype"], entry["shape"]
    _require(isinstance(dtype, str) and dtype in _DTYPES, f"tensor {name!r} of dtype {dtype!r:.40}")
    _require(
        isinstance(shape, list) and len(shape) <= limits.rank,
        f"tensor {name!r} of more than {limits.rank} axes",
    )
    for side in shape:
        _require(
            type(side) is int and 0 <= side <= limits.dimension,
            f"tensor {name!r} with an axis of {side!r:.40}",
        )
