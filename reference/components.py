"""The single components that a course may ask for: what each takes and gives. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass

from .model_sizes import ModelSizes


@dataclass(frozen=True)
class Component:
    """One component, written as a class or as a function."""

    key: str
    title: str
    input: str  # axes, as in the table of stages
    output: str
    stages: tuple[str, ...]  # keys of what it computes, in order
    sizes: tuple[str, ...]  # that it may ask for, the likeliest first
    parameters: str | None = None  # how many it has, in letters such as "2 D"; None where courses differ
    also: tuple[str, ...] = ()  # keys of what it may compute beside them
    inputs: int = 1  # of these axes; of several it is traced with all in a stack
    is_of_one_head: bool = False  # it is traced side by side with as many as there are heads

    def input_shape(self, sizes: ModelSizes) -> tuple[int, ...]:
        """Return the size of every axis of what it is traced with."""
        one = _shape(self.input, sizes)
        return (self.inputs, *one) if self.inputs > 1 else one

    def output_shape(self, sizes: ModelSizes) -> tuple[int, ...]:
        """Return the size of every axis of what the trace of it gives."""
        return _shape("B h T d" if self.is_of_one_head else self.output, sizes)

    def parameter_count(self, sizes: ModelSizes) -> int | None:
        """Return how many trainable numbers it has."""
        if self.parameters is None:
            return None
        factor, _, letter = self.parameters.partition(" ")
        return int(factor) * (sizes.axes[letter] if letter else 1)


def _shape(axes: str, sizes: ModelSizes) -> tuple[int, ...]:
    return tuple(sizes.axes[letter] for letter in axes.split())


_ATTENTION = (
    "query", "key", "value",
    "attention_scores", "attention_probabilities", "attention_context", "attention_output",
)  # fmt: skip
_MLP = ("mlp_hidden", "mlp_output")
_BLOCK = ("block_input", *_ATTENTION, "post_attention_norm", *_MLP, "post_mlp_norm", "block_output")
_HEAD = ("class_representation", "logits")
_BEHIND_BLOCKS = ("second_block_output", "last_block_output", "final_sequence", *_HEAD)
_PATCHES = ("patches", "flattened_patches", "patch_embeddings")
_TOKENS = ("class_token", "tokens", "positioned_tokens")
_OF_IMAGE = ("image", "patch", "channels")

COMPONENTS: dict[str, Component] = {
    one.key: one
    for one in (
        Component(
            "patch_embedding", "Patch embedding", "B C H W", "B N D",
            _PATCHES,
            ("image", "patch", "channels", "embed_dim", "patches"),
        ),
        Component(
            "class_token", "Class token", "B N D", "B T D",
            ("class_token", "tokens"), ("embed_dim", "patches", "tokens"), also=("positioned_tokens",),
        ),
        Component(
            "positions", "Positions", "B T D", "B T D",
            ("positioned_tokens",), ("patches", "embed_dim", "tokens"),
        ),
        Component(
            "layer_norm", "LayerNorm with scale and shift", "B T D", "B T D",
            ("post_attention_norm",), ("embed_dim",), "2 D",
        ),
        Component(
            "layer_norm_plain", "LayerNorm without scale and shift", "B T D", "B T D",
            ("post_attention_norm",), ("embed_dim",), "0",
        ),
        Component(
            "attention", "Multi-head self-attention", "B T D", "B T D",
            _ATTENTION, ("embed_dim", "heads"),
        ),
        Component(
            "attention_head", "One attention head", "B T D", "B T d",
            _ATTENTION[:-1], ("embed_dim", "head_dim", "heads"), is_of_one_head=True,
        ),
        Component(
            "dot_product_attention", "Scaled dot-product attention", "B h T d", "B h T d",
            _ATTENTION[3:-1], ("head_dim", "heads"), "0", inputs=3,
        ),
        Component("mlp", "MLP", "B T D", "B T D", _MLP, ("embed_dim", "mlp_dim")),
        Component(
            "block", "Encoder block", "B T D", "B T D",
            _BLOCK,
            ("embed_dim", "heads", "mlp_dim"),
        ),
        Component(
            "encoder", "Stack of encoder blocks", "B T D", "B T D",
            (*_BLOCK, "second_block_output", "last_block_output"),
            ("embed_dim", "heads", "mlp_dim", "depth"), also=("final_sequence",),
        ),
        Component(
            "encoder_and_head", "Encoder with its classification head", "B T D", "B K",
            (*_BLOCK, *_BEHIND_BLOCKS),
            ("embed_dim", "heads", "mlp_dim", "depth", "classes", *_OF_IMAGE),
            also=("class_probabilities",),
        ),
        Component(
            "model_of_patches", "Model of embedded patches", "B N D", "B K",
            (*_TOKENS, *_BLOCK, *_BEHIND_BLOCKS),
            ("embed_dim", "heads", "mlp_dim", "depth", "classes", *_OF_IMAGE),
            also=("class_probabilities",),
        ),
        Component(
            "head", "Classification head of all tokens", "B T D", "B K",
            _HEAD,
            ("embed_dim", "classes", "tokens"), also=("final_sequence", "class_probabilities"),
        ),
        Component(
            "classifier", "Classification head of one vector", "B D", "B K",
            ("logits",), ("embed_dim", "classes"), also=("class_probabilities",),
        ),
        Component(
            "patches", "Patches in rows", "B C H W", "B N F",
            ("patches", "flattened_patches"), ("patch", "image", "channels", "patches"), "0",
        ),
        Component(
            "embedding", "Embedding of an image", "B C H W", "B T D",
            (*_PATCHES, *_TOKENS), ("image", "patch", "channels", "embed_dim", "patches", "tokens"),
        ),
    )
}  # fmt: skip
