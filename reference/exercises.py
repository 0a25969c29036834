"""The exercises on a trained ViT; their equations are in ``rollout``. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Exercise:
    """One function that students write."""

    key: str
    title: str
    takes: str  # its positional arguments, in words
    gives: str


EXERCISES: dict[str, Exercise] = {
    one.key: one
    for one in (
        Exercise(
            "get_attention", "Attention maps of every layer", "a model and a batch of images",
            "for each layer a map B T T: heads fused, residual mixed in, rows that sum to 1",
        ),
        Exercise(
            "fuse_heads", "Fusing the heads", "attention probabilities B h T T", "one map B T T of all heads"
        ),
        Exercise(
            "mix_residual", "Mixing in the residual", "a map B T T",
            "a half of it and a half of the identity, B T T",
        ),
        Exercise("normalise_rows", "Normalising the rows", "a map B T T", "the map with rows that sum to 1"),
        Exercise(
            "attention_rollout", "Attention rollout", "the maps of all layers, the first layer first",
            "their product B T T, each layer from the left",
        ),
        Exercise(
            "class_token_map", "What the class token attends to",
            "a rollout B T T, and the image or its size",
            "the class token's row over the patches, stretched bilinearly to B H W",
        ),
        Exercise(
            "position_similarity", "Similarity of positions", "position embeddings 1 T D, class token first",
            "the cosine of each patch's to each other's, gh gw gh gw or N N",
        ),
        Exercise(
            "filter_components", "Principal components of the patch filters", "the weight D C P P",
            "the first 28 principal components of the D filters, 28 C P P",
        ),
    )
}  # fmt: skip
