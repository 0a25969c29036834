"""A pass of which only shapes matter: no arithmetic to speak of, and the same shapes."""

from __future__ import annotations

import pytest
import torch
from corpus import BASES, load_base
from examining import examine
from torch import nn
from tracing_helpers import sizes_of

from vitcheck.submissions.child.tracing.shapes_alone import ShapesAlone
from vitcheck.submissions.child.tracing.tracing import Tracer

Row = tuple[str, tuple[int, ...], tuple[int, ...], list[object]]

LOOKS_AT_NUMBERS = (
    "B = img.size(0)\n",
    "B = img.size(0)\n        assert self.head.weight.std() > 0 and (img @ img.mT).std() > 0\n",
)


def records(base: str) -> list[Row]:
    """What a pass of a base records, built in this process."""
    sizes = sizes_of(base)
    model = BASES[base].build(load_base(base), sizes).eval()
    image = torch.rand(sizes.batch, sizes.channels, sizes.height, sizes.width)
    with Tracer(model, image, keep_cells=False) as tracer:
        model(image)
    return [(one.op, one.shape, one.strides, [*one.inputs]) for one in tracer.records]


@pytest.mark.parametrize("base", ["report", "einsum_style", "unfold_style", "library_mha", "weight_normed"])
def test_the_operations_and_layouts_are_those_of_a_real_pass(base: str) -> None:
    real = records(base)
    with ShapesAlone():
        assert records(base) == real


def test_weights_are_not_drawn_and_products_not_computed() -> None:
    with ShapesAlone():
        linear = nn.Linear(3, 5)
        number = torch.randn((), dtype=torch.float64)
        product = torch.ones(2, 3) @ torch.ones(3, 4)
    assert not linear.weight.any()
    assert (number.shape, number.dtype) == ((), torch.float64)
    assert product.shape == (2, 4)
    assert not product.any()


@pytest.mark.parametrize(
    ("left", "right", "bias"),
    [
        (torch.ones(2, 3), torch.ones(4, 5), torch.ones(5)),
        (torch.ones(2, 3), torch.ones(3, 5), torch.ones(4)),
        (torch.ones(2, 3), torch.ones(3, 5).double(), torch.ones(5)),
    ],
)
def test_what_cannot_be_multiplied_raises_as_always(
    left: torch.Tensor, right: torch.Tensor, bias: torch.Tensor
) -> None:
    with ShapesAlone(), pytest.raises(RuntimeError):
        torch.addmm(bias, left, right)


def test_code_that_looks_at_numbers_gets_real_ones() -> None:
    examination = examine("report", LOOKS_AT_NUMBERS)
    trace = examination.session.trace(examination.first_draw.sizes, 0)
    assert trace.error is None
    assert len(trace.records) > 50
