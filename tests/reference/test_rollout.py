"""The equations of reading a trained ViT, against independent computation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from vitcheck.reference import rollout as eq

B, L, h, T = 2, 3, 4, 7
EXACT = 1e-12  # sums of a few float64 numbers near one


def attention(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).softmax(-1)


def close(a: Tensor, b: object) -> bool:
    return bool(np.allclose(a.numpy(), np.asarray(b), rtol=0.0, atol=EXACT))


@pytest.mark.parametrize(("fusion", "expected"), [("mean", np.mean), ("max", np.max)])
def test_heads_are_fused_entry_by_entry(fusion: str, expected: object) -> None:
    maps = attention(B, h, T, T)
    fused = eq.fuse_heads(maps, fusion)  # type: ignore[arg-type]  # one of the two
    assert close(fused, expected(maps.numpy(), axis=1))  # type: ignore[operator]  # a function of numpy


def test_rows_of_a_processed_map_sum_to_1_and_keep_a_half_of_themselves() -> None:
    one = eq.processed_map(attention(B, h, T, T))
    assert close(one.sum(-1), np.ones((B, T)))
    assert bool((one.diagonal(dim1=-2, dim2=-1) >= 0.5).all())


def test_the_residual_may_have_another_share() -> None:
    maps = attention(B, T, T)
    assert close(eq.mix_residual(maps, 0.9), 0.9 * maps.numpy() + 0.1 * np.eye(T))


def test_the_rollout_counts_paths_through_all_layers() -> None:
    """Entry (i, j) is the sum over all paths from i through one token a layer to j."""
    maps = [attention(T, T, seed=seed) for seed in range(L)]
    paths = np.zeros((T, T))
    for i, a, b, j in np.ndindex(T, T, T, T):
        paths[i, j] += float(maps[2][i, a] * maps[1][a, b] * maps[0][b, j])
    assert close(eq.attention_rollout(maps), paths)


def test_a_token_that_no_layer_moves_stays_where_it_is() -> None:
    maps = [attention(B, T, T, seed=seed) for seed in range(L)]
    for one in maps:
        one[:, 3] = torch.eye(T, dtype=torch.float64)[3]
    assert close(eq.attention_rollout(maps)[:, 3], np.eye(T)[[3, 3]])


def test_the_class_token_map_lies_as_the_patches_lie() -> None:
    rollout = torch.zeros(1, 7, 7, dtype=torch.float64)
    rollout[0, 0] = torch.arange(7)
    assert eq.class_token_map(rollout, (2, 3)).tolist() == [[[1, 2, 3], [4, 5, 6]]]


def test_a_map_is_stretched_with_pixel_centres() -> None:
    """Two patches of four pixels: the centres lie between pixels 1 and 2, and 5 and 6."""
    (row,) = eq.resize_map(torch.tensor([[[0.0, 8.0]]], dtype=torch.float64), (1, 8)).tolist()[0]
    assert row == [0, 0, 1, 3, 5, 7, 8, 8]


def test_positions_are_compared_by_their_angle() -> None:
    generator = torch.Generator().manual_seed(1)
    positions = torch.randn(6, 5, generator=generator, dtype=torch.float64)
    similarity = eq.position_similarity(positions, (2, 3))
    for i, j in np.ndindex(6, 6):
        a, b = positions[i].numpy(), positions[j].numpy()
        expected = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
        assert float(similarity[i // 3, i % 3, j // 3, j % 3]) == pytest.approx(expected, abs=EXACT)


def test_principal_components_are_eigenvectors_of_the_covariance() -> None:
    generator = torch.Generator().manual_seed(2)
    weight = torch.randn(40, 3, 2, 2, generator=generator, dtype=torch.float64)
    found = eq.filter_components(weight, 5).flatten(1).numpy()
    covariance = np.cov(weight.flatten(1).numpy(), rowvar=False)
    variances = np.linalg.eigvalsh(covariance)[::-1]
    for direction, variance in zip(found, variances):
        assert np.allclose(covariance @ direction, variance * direction, rtol=0.0, atol=1e-10)
        assert np.linalg.norm(direction) == pytest.approx(1.0)
