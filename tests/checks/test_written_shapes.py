"""Shapes are read in the forms that people write, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from vitcheck.checks.written.stated_shapes import shapes_in
from vitcheck.reference.sizes import preset
from vitcheck.reference.stages import stage

SIZES = preset("B/16")


@pytest.mark.parametrize(
    "text",
    [
        "(1, 197, 768)",
        "[1,197,768]",
        "torch.Size([1, 197, 768])",
        "Tensor(1, 197, 768)",
        "{Size: 3} (1, 197, 768)",
        "(8, 197, 768) for a batch of 8",
        "(1,\n197, 768)",
        "1 × 197 × 768",
        "1x197x768",
        "1 X 197 X 768",
        "1 * 197 * 768",
        r"\(1 \times 197 \times 768\)",
        r"$x_\text{pos} \in \mathbb{R}^{1 \times 197 \times 768}$",
        "`(1, 197, 768)`",
        "**1 × 197 × 768**",
        "B x N x D",
        "(B, N+1, D)",
        "(B, T, D)",
        "(batch_size, seq_len, embed_dim)",
        "(1, 1+196, 768)",
        "(1, 197, 12·64)",
        "(1, 197, 12*64)",
    ],
)
def test_the_shape_of_the_tokens_is_read(text: str) -> None:
    (shape,) = shapes_in(text, SIZES)
    tokens = stage("S06")
    assert shape.fits(tokens.shape(SIZES), tokens.axes.split())


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("S02", r"$(B, \#\text{patches}, C, 16, 16)$"),
        ("S02", "(B, N, C, P, P)"),
        ("S03", "(B, N, C*P*P)"),
        ("S03", "(B, N, P²·C)"),
        ("S09", "(B, num_heads, N, head_dim)"),
        ("S12", "B × h × N × N"),
        ("S17", "(B, N, 4D)"),
        ("S17", "(1, 197, 3072)"),
        ("S25", "(B, num_classes)"),
        ("S26", "1×1000"),
    ],
)
def test_letters_are_those_of_the_stage(label: str, text: str) -> None:
    row = stage(label)
    assert any(one.fits(row.shape(SIZES), row.axes.split()) for one in shapes_in(text, SIZES))


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("S06", "(1, 196, 768)"),
        ("S06", "(B, T, M)"),
        ("S06", "(197, 768)"),
        ("S12", "(1, 12, 197, 64)"),
        ("S12", "(B, h, T, d)"),
        ("S25", "(B, D)"),
        ("S05", "(1, 2, 768)"),
    ],
)
def test_another_shape_does_not_fit(label: str, text: str) -> None:
    row = stage(label)
    (shape,) = shapes_in(text, SIZES)
    assert not shape.fits(row.shape(SIZES), row.axes.split())


@pytest.mark.parametrize(
    "text",
    [
        "tensor([[0.3839, -0.3620, 0.3796]])",
        "(0.5, 0.5, 0.5)",
        "queries, keys and values (Q, K, V)",
        "f(x, y)",
        "the [CLS] token",
        "version 1.2 x 3.4",
        "PyTorch (2.1, CUDA 12)",
        "see (Dosovitskiy et al., 2020)",
    ],
)
def test_what_is_no_shape_is_none(text: str) -> None:
    assert shapes_in(text, SIZES) == []


@pytest.mark.timeout(60)  # a reading that is not in proportion to the text takes years
@pytest.mark.parametrize("piece", ["1", "1,", "(1,", "[a*", "1x", "a+", "((", "1 × ", "# ", "9.", "\\times "])
def test_text_that_is_made_to_take_for_ever_holds_no_shape_of_a_stage(piece: str) -> None:
    tokens = stage("S06")
    shapes = shapes_in(piece * 20_000, SIZES)
    assert not any(one.fits(tokens.shape(SIZES), tokens.axes.split()) for one in shapes)
