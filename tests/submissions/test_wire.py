"""Frames: what goes in comes out, and nothing else gets in."""

from __future__ import annotations

import contextlib
import json
import struct
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from wired import encode

from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.errors import Frame
from vitcheck.submissions.limits import FrameLimits
from vitcheck.submissions.questions.wire import ProtocolError, receive, send

LIMITS = FrameLimits()


class Recorded:
    """A stream over bytes, which notes how much was asked for."""

    def __init__(self, data: bytes = b"") -> None:
        self._file = BytesIO(data)
        self.written = b""
        self.asked = 0

    def read(self, size: int) -> bytes:
        self.asked += size
        data = self._file.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def write(self, data: bytes) -> None:
        self.written += data


def there_and_back(header: Mapping[str, Any]) -> dict[str, Any]:
    stream = Recorded()
    send(stream, header)
    return receive(Recorded(stream.written), LIMITS)


def frame(header: bytes, body: bytes = b"") -> bytes:
    return struct.pack("<QQ", len(header), len(body)) + header + body


def body(listed: object, data: bytes = b"") -> bytes:
    text = json.dumps(listed).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype: str = "F32", shape: object = (1,), offsets: object = (0, 4)) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)
_PLAIN = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), _PLAIN, max_size=4))
def test_a_header_arrives_as_it_was_sent(header: dict[str, Any]) -> None:
    assert there_and_back(header) == header


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float64,
        torch.float32,
        torch.bfloat16,
        torch.float16,
        torch.int64,
        torch.int32,
        torch.uint8,
        torch.bool,
    ],
)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3, 4)])
def test_a_tensor_arrives_bit_by_bit(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    sent = (torch.randn(shape, dtype=torch.float64) * 3).to(dtype)
    arrived = there_and_back({"x": sent})["x"]
    assert arrived.dtype == dtype
    assert arrived.shape == sent.shape
    assert torch.equal(arrived, sent)


def test_not_a_number_and_infinity_survive_in_tensors() -> None:
    sent = torch.tensor([float("nan"), float("inf"), -0.0])
    arrived = there_and_back({"x": sent})["x"]
    assert torch.equal(arrived.view(torch.int32), sent.view(torch.int32))


def test_views_that_share_memory_arrive_apart() -> None:
    whole = torch.arange(12.0, requires_grad=True).reshape(3, 4)
    arrived = there_and_back({"whole": whole, "turned": whole.T, "spread": whole[:1].expand(5, 4)})
    assert torch.equal(arrived["turned"], whole.T)
    assert torch.equal(arrived["spread"], whole[:1].expand(5, 4))
    arrived["whole"].zero_()
    assert arrived["turned"].sum() == 66


def test_where_there_is_no_memory_for_a_frame_that_is_what_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):  # of code in Rust
        pass

    def save(_: object) -> bytes:
        raise PanicException("PyObject pointer is null")

    monkeypatch.setattr("safetensors.torch.save", save)
    with pytest.raises(MemoryError):
        there_and_back({"x": torch.ones(2)})


def test_tensors_stand_where_they_stood_in_whatever_is_sent() -> None:
    sent = {"rows": [{"x": torch.ones(2)}, torch.zeros(())], "frame": Frame("a.py", 3), "sizes": Sizes()}
    arrived = there_and_back(sent)
    assert torch.equal(arrived["rows"][0]["x"], torch.ones(2))
    assert torch.equal(arrived["rows"][1], torch.zeros(()))
    assert arrived["frame"] == ["a.py", 3]
    assert arrived["sizes"] == vars(Sizes())


def test_text_that_is_no_unicode_is_sent_with_question_marks() -> None:
    assert there_and_back({"message": "a\udc80b"}) == {"message": "a?b"}


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_header_with_no_json_number_is_not_sent(number: float) -> None:
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        encode({"x": number})


def test_a_tensor_of_a_dtype_that_frames_lack_is_not_sent() -> None:
    with pytest.raises(ValueError, match=r"a tensor is torch\.complex64, which frames do not carry"):
        encode({"x": torch.zeros(1, dtype=torch.complex64)})


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b"[]", "no JSON object"),
        (b"", "not plain JSON"),
        (b"{} {}", "not plain JSON"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "-Infinity"),
        (b'{"a": 1e999}', "beyond float64"),
        (b'{"a": %s}' % (b"9" * 5000), "a number of more than 24 digits"),
        (b'{"a": "\\ud800"}', "surrogates not allowed"),
        (b'{"\\udfff": 1}', "surrogates not allowed"),
        (b'{"a": "\xff"}', "can't decode byte 0xff"),
        (b'{"a": {"$tensor": "0"}}', "no tensor '0' is in the frame"),
        (b'{"a": {"$tensor": [[]]}}', "no tensor"),
        (b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "not plain JSON"),
    ],
)
def test_a_header_that_is_not_plain_json_is_refused(header: bytes, why: str) -> None:
    with pytest.raises(ProtocolError, match=why):
        receive(Recorded(frame(header)), LIMITS)


@pytest.mark.parametrize(
    ("sizes", "why"),
    [
        ((2**32, 0), "a header of 4294967296 bytes"),
        ((2**64 - 1, 0), "a header of"),
        ((2, 2**28 + 1), "268435457 bytes of tensors, more than 268435456"),
        ((2, 2**64 - 1), "bytes of tensors"),
    ],
)
def test_sizes_beyond_the_limits_are_refused_before_anything_is_read(
    sizes: tuple[int, int], why: str
) -> None:
    stream = Recorded(struct.pack("<QQ", *sizes) + b"{}" * 100)
    with pytest.raises(ProtocolError, match=why):
        receive(stream, LIMITS)
    assert stream.asked == 16


@pytest.mark.parametrize(
    ("tensors", "why"),
    [
        (b"1234567", "too short"),
        (struct.pack("<Q", 100) + b"{}", "a list of tensors of 100 bytes"),
        (struct.pack("<Q", 2**63) + b"{}", "a list of tensors of"),
        (body([]), "no JSON object"),
        (body({"x": [1]}), "tensor 'x' without dtype, shape and data_offsets"),
        (body({"__metadata__": {"format": "pt"}}), "tensor '__metadata__' without dtype"),
        (body({"x": entry(dtype="F8_E4M3", offsets=(0, 1))}, b"1"), "tensor 'x' of dtype 'F8_E4M3'"),
        (body({"x": entry(dtype="C64", offsets=(0, 8))}, b"12345678"), "tensor 'x' of dtype 'C64'"),
        (body({"x": {**entry(), "dtype": ["F32"]}}, b"1234"), "tensor 'x' of dtype"),
        (body({"x": entry(shape="1")}, b"1234"), "tensor 'x' of more than 8 axes"),
        (body({"x": entry(shape=[1] * 100)}, b"1234"), "tensor 'x' of more than 8 axes"),
        (body({"x": entry(shape=[2**40, 0], offsets=(0, 0))}), "tensor 'x' with an axis of 1099511627776"),
        (body({"x": entry(shape=[2**24] * 7 + [0], offsets=(0, 0))}), "do not fit"),
        (body({"x": entry(shape=[-1])}, b"1234"), "tensor 'x' with an axis of -1"),
        (body({"x": entry(shape=[True])}, b"1234"), "tensor 'x' with an axis of True"),
        (body({"x": entry(shape=[1.0])}, b"1234"), "tensor 'x' with an axis of 1.0"),
        (body({"x": entry(shape=[2])}, b"1234"), "do not fit"),
        (body({"x": entry(offsets=(0, 2**40))}, b"1234"), "do not fit"),
        (body({"x": entry(offsets=(-4, 0))}, b"1234"), "do not fit"),
        (body({"x": entry(), "y": entry()}, b"1234"), "do not fit"),
        (body({"x": entry()}, b"12345678"), "do not fit"),
        (body({"x": entry(dtype="BOOL", offsets=(0, 1))}, b"\x02"), "tensor 'x' of neither true nor false"),
        (body({"x" * 600: entry()}, b"1234"), "a tensor name of 600 characters"),
        (body({"\ud800": entry()}, b"1234"), "surrogates not allowed"),
        (
            body({str(i): entry(shape=[0], offsets=(0, 0)) for i in range(9000)}),
            "9000 tensors, more than 8192",
        ),
    ],
)
def test_tensors_that_break_a_rule_are_refused(tensors: bytes, why: str) -> None:
    with pytest.raises(ProtocolError, match=why):
        receive(Recorded(frame(b"{}", tensors)), LIMITS)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_rubbish_is_refused_or_read_and_never_anything_else(header: bytes, tensors: bytes) -> None:
    for text, rest in ((header, b""), (b"{}", tensors), (b"{}", struct.pack("<Q", len(tensors)) + tensors)):
        with contextlib.suppress(ProtocolError):
            receive(Recorded(frame(text, rest)), LIMITS)


def test_a_frame_that_stops_short_ends_the_connection() -> None:
    whole = encode({"a": 1, "x": torch.zeros(3)})
    for size in (0, 10, 20, len(whole) - 1):
        with pytest.raises(EOFError):
            receive(Recorded(whole[:size]), LIMITS)


def test_the_limit_on_tensors_is_the_callers() -> None:
    whole = encode({"x": torch.zeros(100)})
    with pytest.raises(ProtocolError, match="more than 100"):
        receive(Recorded(whole), FrameLimits(body_bytes=100))


def test_a_long_row_of_digits_in_a_text_is_no_long_number() -> None:
    header = {"text": f"PI = 3.{'14' * 40}"}
    assert receive(Recorded(frame(json.dumps(header).encode())), LIMITS) == header
