"""The ten checks as an instructor writes them for vitcheck: of stages that are found, by whatever name."""

from __future__ import annotations

import torch
from torch import Tensor

from vitcheck.checks.examining.examination import Examination


def _stage(examination: Examination, key: str) -> Tensor:
    seen = examination.examples[0].first(key)
    assert seen is not None, f"{key} was not found"
    return seen.student


def test_can_be_imported(examination: Examination) -> None:
    """Every statement is executed."""
    assert not examination.session.left


def test_has_the_class(examination: Examination) -> None:
    """There is a model."""
    assert not examination.session.is_script


def test_output_shape(examination: Examination) -> None:
    """Each image has a score for each class."""
    sizes = examination.first_draw.sizes
    (one,) = examination.forward(examination.first_draw).passes
    assert one.tensors[0].shape == (sizes.batch, sizes.classes)


def test_parameter_count(examination: Examination) -> None:
    """At the assignment's size there are as many parameters as the sheet says."""
    assert examination.session.parameter_count(examination.assignment.full) == 114_250


def test_patch_embedding_shape(examination: Examination) -> None:
    """Each patch is a token."""
    sizes = examination.first_draw.sizes
    tokens = (sizes.batch, sizes.patches, sizes.embed_dim)
    assert _stage(examination, "patch_embeddings").shape == tokens


def test_class_token(examination: Examination) -> None:
    """The blocks read a class token and the patches."""
    sizes = examination.first_draw.sizes
    assert _stage(examination, "class_token").shape[-1] == sizes.embed_dim
    assert _stage(examination, "block_input").shape == (sizes.batch, sizes.tokens, sizes.embed_dim)


def test_softmax_rows(examination: Examination) -> None:
    """Attention probabilities sum to 1 over the keys."""
    rows = _stage(examination, "attention_probabilities").sum(-1)
    assert torch.allclose(rows, torch.ones_like(rows), rtol=0, atol=1e-9)


def test_deterministic(examination: Examination) -> None:
    """Two passes in eval mode give the same scores."""
    image = examination.first_draw.image
    first, second = examination.forward(examination.first_draw, [image, image]).passes
    assert torch.equal(first.tensors[0], second.tensors[0])


def test_batch_independence(examination: Examination) -> None:
    """The scores of an image are the same when it is alone."""
    image = examination.first_draw.image
    whole, alone = examination.forward(examination.first_draw, [image, image[1:2]]).passes
    assert torch.allclose(whole.tensors[0][1:2], alone.tensors[0], rtol=0, atol=1e-9)


def test_gradients(examination: Examination) -> None:
    """A gradient reaches every parameter."""
    gradients = examination.forward(examination.first_draw, backward=True).gradients
    assert gradients
    assert all(one.largest > 0 for one in gradients.values())
