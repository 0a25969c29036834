"""The equations against PyTorch's own, and by the properties that tell right from nearly right."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from vitcheck.reference import equations as eq

# Two ways to compute one formula in float64 differ by some units of 2e-16; values here are below 100.
assert_close = partial(torch.testing.assert_close, rtol=1e-12, atol=1e-12)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def test_every_patch_is_a_window_of_the_image() -> None:
    image = random(2, 3, 8, 12)
    patches = eq.cut_patches(image, 4)
    assert patches.shape == (2, 6, 3, 4, 4)
    assert torch.equal(patches[:, 1], image[:, :, 0:4, 4:8])  # the right neighbour of patch 0
    assert torch.equal(patches[:, 3], image[:, :, 4:8, 0:4])  # the first of the second row


def test_flattened_patches_are_the_columns_of_unfold() -> None:
    image = random(2, 3, 8, 12)
    flattened = eq.flatten_patches(eq.cut_patches(image, 4))
    assert torch.equal(flattened, F.unfold(image, kernel_size=4, stride=4).mT)


def test_an_image_that_patches_do_not_fill_is_refused() -> None:
    with pytest.raises(ValueError, match="10x12 pixels cannot be cut into patches of side 4"):
        eq.cut_patches(random(1, 3, 10, 12), 4)


@pytest.mark.parametrize("leading", [(), (7,), (2, 7), (2, 3, 7)])
def test_linear_takes_any_leading_axes(leading: tuple[int, ...]) -> None:
    x, weight, bias = random(*leading, 5), random(4, 5), random(4)
    assert_close(eq.linear(x, weight, bias), F.linear(x, weight, bias))
    assert_close(eq.linear(x, weight), F.linear(x, weight))


def test_the_class_token_is_one_vector_seen_by_every_image() -> None:
    token = random(5)
    expanded = eq.expand_class_token(token, 3)
    assert expanded.shape == (3, 1, 5)
    assert expanded.untyped_storage().data_ptr() == token.untyped_storage().data_ptr()


def test_the_class_token_comes_first_and_is_read_out_again() -> None:
    class_token, patches = random(2, 1, 5), random(2, 4, 5)
    tokens = eq.prepend_class_token(class_token, patches)
    assert torch.equal(eq.class_representation(tokens), class_token[:, 0])
    assert torch.equal(tokens[:, 1:], patches)


def test_positions_are_the_same_for_every_image() -> None:
    tokens, positions = random(2, 4, 5), random(4, 5)
    added = eq.add_positions(tokens, positions) - tokens
    assert_close(added, positions.expand(2, 4, 5))


@pytest.mark.parametrize("spread", [1.0, 1e-3])  # the small one makes eps visible
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm_is_pytorchs(spread: float, affine: bool) -> None:
    x = 3 + spread * random(2, 7, 5)
    weight, bias = (random(5), random(5)) if affine else (None, None)
    expected = F.layer_norm(x, (5,), weight, bias, 1e-5)
    # Subtracting a mean of 3 leaves an error of 4e-16 in what is then divided by at least 1e-3.
    torch.testing.assert_close(eq.layer_norm(x, weight, bias, 1e-5), expected, rtol=1e-11, atol=1e-11)


def test_a_head_is_a_slice_of_neighbouring_features() -> None:
    x = random(2, 7, 6)
    heads = eq.split_heads(x, 3)
    assert heads.shape == (2, 3, 7, 2)
    assert torch.equal(heads[:, 1], x[..., 2:4])
    assert torch.equal(eq.merge_heads(heads), x)


def test_heads_that_do_not_fill_the_width_are_refused() -> None:
    with pytest.raises(ValueError, match="width of 6 cannot be split into 4 heads"):
        eq.split_heads(random(1, 2, 6), 4)


def test_attention_is_pytorchs() -> None:
    query, key, value = random(2, 3, 7, 4), random(2, 3, 7, 4), random(2, 3, 7, 4)
    probabilities = eq.attention_probabilities(eq.attention_scores(query, key))
    expected = F.scaled_dot_product_attention(query, key, value)
    assert_close(eq.attention_context(probabilities, value), expected)


def test_gelu_is_the_exact_one() -> None:
    x = torch.linspace(-6, 6, 1001, dtype=torch.float64)
    assert_close(eq.gelu(x), F.gelu(x))


def test_quick_gelu_has_its_known_minimum() -> None:
    x = torch.linspace(-5, 5, 100_001, dtype=torch.float64)
    assert eq.quick_gelu(x).min().item() == pytest.approx(-0.163610, abs=1e-6)  # six digits are known


def test_class_probabilities_are_a_softmax_over_classes() -> None:
    logits = random(2, 9)
    assert_close(eq.class_probabilities(logits), F.softmax(logits, dim=1))
