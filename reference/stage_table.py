"""The one table of stages: what each of the 26 tensors is, in the assignment's own block. Imports no torch.

The numbers are labels and follow the debugging report; the keys are what the tensors mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .model_sizes import ModelSizes

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Stage:
    """One row of the table."""

    key: str
    label: str
    title: str
    axes: str  # letters of `Sizes.axes` separated by spaces, and 1
    predecessors: tuple[str, ...]  # keys of what it is computed from, parameters apart
    equation: str
    operation: str | None  # the function of `equations` that makes the tensor, as the last step
    invariants: tuple[str, ...]
    explanation: str
    part: str = ""  # of the model, as an assignment pays for it: patches, tokens, attention ...

    @property
    def function(self) -> Callable[..., Tensor] | None:
        """The last step of the equation; None where the tensor is handed on or comes out of whole blocks."""
        from . import equations  # here, so that the table can be listed without loading torch

        if self.operation is None:
            return None
        function: Callable[..., Tensor] = getattr(equations, self.operation)
        return function

    def shape(self, sizes: ModelSizes) -> tuple[int, ...]:
        """Return the size of every axis."""
        axes = sizes.axes | {"1": 1}
        return tuple(axes[letter] for letter in self.axes.split())


STAGES: tuple[Stage, ...] = (
    Stage(
        "image", "S01", "Input image", "B C H W",
        (), "(RGB pixels in [0, 1] - mean) / std, channel by channel", None,
        ("every value is finite", "undoing the normalisation gives the resized image back"),
        "What the model sees: a colour image, resized, scaled to [0, 1] and normalised with the mean and "
        "the standard deviation of ImageNet. Look at the range: a black pixel is about -2.1 in the red "
        "channel, a white one about 2.2, and channels come before rows and columns.",
        "patches",
    ),
    Stage(
        "patches", "S02", "Patches", "B N C P P",
        ("image",), "windows of P by P pixels of S01, stride P, row by row", "cut_patches",
        ("putting the patches back gives S01 exactly", "each pixel is in exactly one patch"),
        "The image cut into squares, which will be the words of the sentence that the transformer reads. "
        "Look at patch 0 as a picture: it is the upper left corner of the image, and patch 1 is its "
        "neighbour to the right.",
        "patches",
    ),
    Stage(
        "flattened_patches", "S03", "Flattened patches", "B N F",
        ("patches",), "S02, each patch as one row: channel by channel, row by row", "flatten_patches",
        ("the same numbers as S02, in the same order",),
        "Each patch as one row of values, because a linear layer reads rows. No value changes "
        "and none moves to another patch. Compare the first P numbers of a row with the first line of "
        "that patch's first channel.",
        "patches",
    ),
    Stage(
        "patch_embeddings", "S04", "Patch embeddings", "B N D",
        ("flattened_patches",), "S03 · Wᵀ + b", "linear",
        ("affine in S03", "the same linear layer for every patch: equal patches have equal rows"),
        "Every patch becomes a vector of the model's width, by one linear layer that all patches share. "
        "A convolution with kernel size and stride P computes the same. Change one "
        "pixel, and exactly one row should change.",
        "patches",
    ),
    Stage(
        "class_token", "S05", "Class token", "B 1 D",
        (), "one learned vector, repeated for every image", "expand_class_token",
        ("equal for every image", "does not depend on the input"),
        "A learned vector that belongs to no patch; attention will collect in it what is needed to "
        "predict the class. There is one, and it is the same for every image. If two images in a batch "
        "have different class tokens here, something depends on the position in the batch.",
        "tokens",
    ),
    Stage(
        "tokens", "S06", "Tokens with class token", "B T D",
        ("class_token", "patch_embeddings"), "S05 and S04 concatenated along T", "prepend_class_token",
        ("row 0 is S05", "rows 1 to N are S04"),
        "The class token joins the sequence in front of the patches, so there is one token more than "
        "there are patches. Only the token axis grows; batch and width stay as they were.",
        "tokens",
    ),
    Stage(
        "positioned_tokens", "S07", "Tokens with positions", "B T D",
        ("tokens",), "S06 + positions", "add_positions",
        ("S07 - S06 is the same for every image", "every token has a row of positions, the class token too"),
        "Attention does not know the order of its tokens, so each gets a learned vector added that says "
        "its place. Subtract S06 from S07: what is left is the table of positions, whatever the image "
        "is.",
        "tokens",
    ),
    Stage(
        "block_input", "S08", "Block input", "B T D",
        ("positioned_tokens",), "S07 in block 1; the previous block's output in the others", None,
        ("equal to what came before",),
        "The input of the transformer block. Nothing happens between the embedding and the first block, "
        "so it should be S07, number for number. It is also where the first residual connection starts.",
        "attention",
    ),
    Stage(
        "query", "S09", "Queries", "B h T d",
        ("block_input",), "LayerNorm₁(S08) · W_qᵀ + b_q, split into h heads", "split_heads",
        ("the heads partition the width", "a token's query depends on that token alone"),
        "What each token is looking for, once for every head. The width is split into h slices of d "
        "neighbouring features. Change one token of S08, and only that token's row may change, in all "
        "heads.",
        "attention",
    ),
    Stage(
        "key", "S10", "Keys", "B h T d",
        ("block_input",), "LayerNorm₁(S08) · W_kᵀ + b_k, split into h heads", "split_heads",
        ("the heads partition the width", "a token's key depends on that token alone"),
        "What each token can be matched by. It is computed from the same normalised tokens as the "
        "queries, with weights of its own. It needs the queries' width, because the two are multiplied.",
        "attention",
    ),
    Stage(
        "value", "S11", "Values", "B h T d",
        ("block_input",), "LayerNorm₁(S08) · W_vᵀ + b_v, split into h heads", "split_heads",
        ("the heads partition the width", "a token's value depends on that token alone"),
        "What each token passes on when another one attends to it. Queries and keys decide how much "
        "flows; the values are what flows. They too are computed from the normalised tokens.",
        "attention",
    ),
    Stage(
        "attention_scores", "S12", "Attention scores", "B h T T",
        ("query", "key"), "S09 · S10ᵀ / √d", "attention_scores",
        ("swapping two keys swaps two columns", "doubling the queries doubles the scores"),
        "How well each query matches each key: row i has one score for every token. The product of two "
        "random vectors grows with the width of a head; the division keeps the softmax from saturating. "
        "The matrix has as many rows and columns as the sequence has tokens, so it grows with its square.",
        "attention",
    ),
    Stage(
        "attention_probabilities", "S13", "Attention probabilities", "B h T T",
        ("attention_scores",), "softmax of S12 over the keys", "attention_probabilities",
        ("no value is negative", "every row sums to 1", "adding a number to a row of S12 changes nothing"),
        "The scores as weights: row i says how token i divides its attention among all tokens. "
        "Sum along the last axis and you should get ones everywhere; sums along any other axis can be "
        "anything.",
        "attention",
    ),
    Stage(
        "attention_context", "S14", "Context per head", "B h T d",
        ("attention_probabilities", "value"), "S13 · S11", "attention_context",
        ("each feature is between the smallest and the largest value of that feature",),
        "For every token, the average of all values, weighted by its row of probabilities. An average "
        "cannot leave the range of what is averaged, and where the probabilities are all equal it is "
        "their mean.",
        "attention",
    ),
    Stage(
        "attention_output", "S15", "Attention output", "B T D",
        ("attention_context",), "(heads of S14 concatenated) · W_oᵀ + b_o", "linear",
        ("permuting the heads together with the columns of W_o changes nothing",),
        "The heads of each token are concatenated to the full width again, and a linear layer mixes "
        "them. Before this layer the heads know nothing of each other. The shape is that of the block's "
        "input, so that the two can be added.",
        "attention",
    ),
    Stage(
        "post_attention_norm", "S16", "Residual and norm after attention", "B T D",
        ("block_input", "attention_output"), "LayerNorm₂(S08 + S15)", "layer_norm",
        ("before the affine part each token has mean 0 and biased variance 1",),
        "The attention output is added to the block's input, and each token is normalised. The sum "
        "starts from S08 itself, before its norm. The norm works on one token at a time, along its "
        "features.",
        "attention",
    ),
    Stage(
        "mlp_hidden", "S17", "MLP hidden layer", "B T M",
        ("post_attention_norm",), "GELU(S16 · W₁ᵀ + b₁)", "gelu",
        ("each token on its own", "no value is below -0.17"),
        "Each token by itself goes through a wider linear layer and GELU, a smooth form of ReLU. Its "
        "smallest value is about -0.17, at -0.75. Attention mixes tokens; here only features are mixed.",
        "mlp",
    ),
    Stage(
        "mlp_output", "S18", "MLP output", "B T D",
        ("mlp_hidden",), "S17 · W₂ᵀ + b₂", "linear",
        ("each token on its own", "affine in S17"),
        "A second linear layer brings each token back to the model's width. There is no activation after "
        "it, so positive and negative values of any size are normal.",
        "mlp",
    ),
    Stage(
        "post_mlp_norm", "S19", "Residual and norm after the MLP", "B T D",
        ("post_attention_norm", "mlp_output"), "LayerNorm₃(S16 + S18)", "layer_norm",
        ("before the affine part each token has mean 0 and biased variance 1",),
        "The MLP output is added to the MLP input, and each token is normalised once more. In this "
        "block the residual connection starts at S16, the normalised tokens, and not at the sum before.",
        "mlp",
    ),
    Stage(
        "block_output", "S20", "Block output", "B T D",
        ("post_mlp_norm",), "S19", None,
        ("the shape of S08", "equal to S19"),
        "The output of the first block. It has the shape of the block's input, so blocks can be stacked "
        "to any depth.",
        "blocks",
    ),
    Stage(
        "second_block_output", "S21", "Output of block 2", "B T D",
        ("block_output",), "block 2 of S20", None,
        ("the shape of S20", "block 2 has weights of its own"),
        "The second block does the same with its own weights, and reads the output of the first. If it "
        "equals S20, or what block 1 would give for S20, look at how the blocks are built and chained.",
        "blocks",
    ),
    Stage(
        "last_block_output", "S22", "Output of the last block", "B T D",
        ("second_block_output",), "blocks 3 to L, one after the other, of S21", None,
        ("the shape of S21", "every block takes part"),
        "The tokens after all blocks have run, one after the other. Leave one of them out as an "
        "experiment: if the values stay the same, it never took part.",
        "blocks",
    ),
    Stage(
        "final_sequence", "S23", "Final sequence", "B T D",
        ("last_block_output",), "S22", None,
        ("the class token comes first",),
        "The whole sequence as the head receives it: the class token in row 0, then the patches in "
        "their old order. By now every token has looked at all the others many times.",
        "head",
    ),
    Stage(
        "class_representation", "S24", "Class representation", "B D",
        ("final_sequence",), "row 0 of S23", "class_representation",
        ("the patches' rows of S23 do not enter",),
        "The class token alone, one vector for each image. Attention has collected in it what matters "
        "about the image. The token axis is gone, the batch axis stays.",
        "head",
    ),
    Stage(
        "logits", "S25", "Logits", "B K",
        ("class_representation",), "S24 · W_headᵀ + b_head", "linear",
        ("affine in S24", "not normalised: any sign, any sum"),
        "One number for each class, the larger the likelier. The cross-entropy loss takes them as they "
        "are, so nothing may come after the linear layer.",
        "head",
    ),
    Stage(
        "class_probabilities", "S26", "Class probabilities", "B K",
        ("logits",), "softmax of S25 over the classes", "class_probabilities",
        ("no value is negative", "every row sums to 1", "the largest is where S25 is largest"),
        "The logits as probabilities that sum to 1 for each image. The order of the classes does not "
        "change, so the predicted class is the same as in S25.",
        "head",
    ),
)  # fmt: skip
