"""The tracer sees every value that a pass makes, however it is written, and the lines that made it."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from corpus import load_source
from torch import Tensor, nn
from tracing_helpers import trace_model

from vitcheck.submissions.errors import Frame
from vitcheck.submissions.host.trace import Trace
from vitcheck.submissions.questions.recording import Cure

F64 = torch.float64


def trace(forward: str, setup: str = "pass") -> Trace:
    """One pass of a model whose constructor and forward pass have these lines."""
    lines = "".join(f"\n        {line}" for line in forward.splitlines())
    text = (
        "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
        f"class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {setup}\n"
        f"    def forward(self, x):{lines}\n"
    )
    torch.set_default_dtype(F64)
    try:
        return trace_model(load_source(text, "net").Net(), image())
    finally:
        torch.set_default_dtype(torch.float32)


FIRST_LINE = 9  # of the forward pass above


def image() -> Tensor:
    return torch.arange(24, dtype=F64).view(2, 3, 4) / 7


def made(found: Trace, tensor: Tensor) -> bool:
    """Is there a record with these numbers, in any cut of the axes?"""
    there = [found.tensor(one.reference).flatten() for one in found.records if one.image]
    return any(
        one.numel() == tensor.numel() and torch.allclose(one, tensor.flatten(), rtol=1e-12, atol=1e-12)
        for one in there
    )


def test_library_calls_are_taken_apart() -> None:
    found = trace("return F.scaled_dot_product_attention(x, x, x)")
    scores = image() @ image().mT / 2
    assert made(found, scores.softmax(-1))
    assert made(found, scores.softmax(-1) @ image())


def test_a_library_layer_is_taken_apart_though_it_has_a_fused_path() -> None:
    setup = "self.layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()"
    found = trace("return self.layer(x)", setup)
    assert any("softmax" in one.op for one in found.records)
    assert any("relu" in one.op for one in found.records)


def test_what_is_written_in_place_is_a_value_of_its_own_and_the_one_before_stays() -> None:
    found = trace("y = 3 * x\ny += 1\ny.mul_(2)\nreturn y")
    for expected in (3 * image(), 3 * image() + 1, 6 * image() + 2):
        assert made(found, expected)
    assert torch.equal(found.tensor(found.outputs[0][1]), 6 * image() + 2)


def test_a_buffer_filled_slice_by_slice_is_known_whole() -> None:
    found = trace("out = x.new_zeros(2, 4, 4)\nout[:, 1:] = x\nout[:, 0] = 5.0\nreturn out")
    whole = torch.cat([torch.full((2, 1, 4), 5.0, dtype=F64), image()], 1)
    assert torch.equal(found.tensor(found.outputs[0][1]), whole)
    assert found.records[-1].image  # though only a number was written last


def test_what_is_written_into_an_output_argument_is_seen() -> None:
    found = trace("y = torch.empty_like(x)\ntorch.add(x, 1, out=y)\nreturn y")
    assert made(found, image() + 1)


def test_a_view_is_the_memory_of_what_it_looks_at() -> None:
    found = trace("y = 2 * x\nreturn y.transpose(1, 2)[:, 1:]")
    where = found.outputs[0][1]
    assert "mul" in found.value(where).op
    assert torch.equal(found.tensor(where), (2 * image()).mT[:, 1:])
    assert [one.op for one in found.records[1:]] == ["mul.Tensor"]


def test_memory_that_was_freed_is_not_taken_for_what_lies_there_later() -> None:
    found = trace("for i in range(50):\n    y = x * i\nreturn y")
    assert torch.equal(found.tensor(found.outputs[0][1]), 49 * image())
    assert made(found, 17 * image())


def test_parameters_are_leaves_with_their_names() -> None:
    setup = "self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4, bias=False)"
    found = trace("return self.b(self.a(x))", setup)
    assert [(one.name, one.kind) for one in found.leaves] == [
        ("a.weight", "parameter"),
        ("a.bias", "parameter"),
        ("b.weight", "parameter"),
    ]


def test_buffers_and_tensors_of_no_module_are_leaves_too() -> None:
    setup = "self.register_buffer('table', torch.ones(4)); self.plain = torch.full((4,), 2.0)"
    found = trace("return x * self.table + self.plain", setup)
    assert [(one.name, one.kind) for one in found.leaves] == [("table", "buffer"), ("", "tensor")]


def test_only_what_follows_from_the_image_depends_on_it() -> None:
    found = trace("y = torch.ones(4) * 3\nz = x + y\nreturn z, y")
    assert [(one.op.partition(".")[0], one.image) for one in found.records[1:]] == [
        ("ones", False),
        ("mul", False),
        ("add", True),
    ]


def test_the_line_is_the_students_and_the_callers_comes_behind_it() -> None:
    text = (
        "from torch import nn\n"
        "def double(x):\n"
        "    return x * 2\n"
        "class Net(nn.Module):\n"
        "    def forward(self, x):\n"
        "        y = double(x)\n"
        "        return nn.functional.relu(y)\n"
    )
    found = trace_model(load_source(text, "net").Net(), image())
    assert found.records[1].frames == (Frame("net.py", 3), Frame("net.py", 6))
    assert found.records[2].frames == (Frame("net.py", 7),)


def test_what_ran_before_an_exception_is_still_there() -> None:
    found = trace("y = x * 2\nz = y @ y\nreturn z")
    assert made(found, 2 * image())
    assert found.error is not None
    assert found.error.type == "RuntimeError"
    assert found.error.frames == (Frame("net.py", FIRST_LINE + 1),)


def test_infinite_numbers_in_the_code_do_not_spoil_the_reply() -> None:
    found = trace("mask = torch.ones(3, 4) == 0\nreturn x.masked_fill(mask, float('-inf')).clamp(max=9)")
    assert found.error is None
    assert all(abs(number) < 1e300 for one in found.records for number in one.scalars)


@pytest.mark.parametrize("same", [True, False])
def test_the_signature_tells_other_operations_apart(same: bool) -> None:
    one, other = trace("return x * 2 + 1"), trace("return x * 3 + 2" if same else "return x + 1 * 2")
    assert (one.signature == other.signature) is same


class Checkpointed(nn.Module):
    """Runs its layer under checkpointing."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4, dtype=F64)

    def forward(self, x: Tensor) -> Tensor:
        from torch.utils.checkpoint import checkpoint

        result: Tensor = checkpoint(self.layer, x, use_reentrant=False)
        return result


def test_what_runs_under_checkpointing_is_seen() -> None:
    model = Checkpointed()
    assert made(trace_model(model, image()), model.layer(image()).detach())


def test_the_call_that_failed_is_kept_with_its_tensors_and_their_names() -> None:
    seen = trace("wide = torch.cat([x, x], dim=-1)\nreturn torch.cat([wide, x], dim=0)")
    assert seen.error is not None
    assert seen.failed is not None
    assert (seen.failed.op, seen.failed.numbers) == ("cat", (0.0,))
    width = image().shape[-1]
    assert [(name, where.shape[-1]) for name, where in seen.failed.inputs] == [
        ("wide", 2 * width),
        ("x", width),
    ]
    torch.testing.assert_close(seen.tensor(seen.failed.inputs[1][1]), image())


def test_an_exception_outside_of_torch_leaves_what_its_line_had() -> None:
    seen = trace("y = x * 2\nreturn self.absent(y)")
    assert seen.failed is not None
    assert seen.failed.op == ""
    assert [name for name, _ in seen.failed.locals] == ["x", "y"]


def test_an_exception_that_the_code_catches_is_none() -> None:
    seen = trace("try:\n    x.view(1000)\nexcept RuntimeError:\n    pass\nreturn self.absent(x)")
    assert seen.failed is not None
    assert seen.failed.op == ""


def test_what_runs_after_other_numbers_are_put_in_reads_them() -> None:
    """Through a view, where it is written over, and by autograd's own calls; what was read before stays."""
    model = load_source(
        "import torch\nfrom torch import nn\n"
        "class Net(nn.Module):\n"
        "    def forward(self, x):\n"
        "        doubled = x * 2\n"
        "        before, row = doubled + 1, doubled[0]\n"
        "        doubled.mul_(10)\n"
        "        return before.clone(), row + 1, torch.exp(doubled)\n",
        "net",
    ).Net()
    plain = trace_model(model, image())
    (written,) = (one.number for one in plain.records if one.op.startswith("mul_"))
    values = torch.full((3, 4), 5.0, dtype=F64)
    cured = trace_model(model, image(), cures=[Cure(written, 12, (4, 1), values)])
    before, row, powers = (cured.tensor(where) for _, where in cured.outputs)
    assert torch.equal(before, image() * 2 + 1)
    assert torch.equal(row, image()[0] * 20 + 1)
    assert torch.equal(powers, torch.stack([(image()[0] * 20).exp(), values.exp()]))
    assert torch.equal(cured.records[written].cells[12:], values.reshape(-1))


def test_recording_loads_neither_torchs_compiler_nor_torchvision() -> None:
    program = (
        "import sys, torch\n"
        "import vitcheck.submissions.child.requests\n"
        "from vitcheck.submissions.child.tracing.tracing import Tracer\n"
        "model, image = torch.nn.LayerNorm(4), torch.rand(2, 4)\n"
        "with Tracer(model, image) as tracer:\n"
        "    model(image)\n"
        "assert len(tracer.records) > 1\n"
        "assert not {'torch._dynamo', 'torchvision'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)  # each takes every child about a second
