"""The stages by key, by label and by architecture. Imports no torch."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from .stage_table import STAGES, Stage

__all__ = ["ARCHITECTURES", "LABEL_SETS", "STAGES", "Stage", "stage", "stages_of"]

_BY_ID = {one.key: one for one in STAGES} | {one.label.lower(): one for one in STAGES}


def stage(id: str) -> Stage:
    """Return the stage with this key or label, in any case of letters.

    Raises ValueError, with the names that are near, where there is none.
    """
    if found := _BY_ID.get(id.lower()):
        return found
    keys = [one.key for one in STAGES]  # a number that is near is no help
    near = get_close_matches(id.lower(), keys, n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else "stages are S01 to S26, or keys such as query"
    raise ValueError(f"there is no stage {id!r}; {advice}")


LABEL_SETS: dict[str, dict[str, tuple[str, ...]]] = {
    "report": {one.label: (one.key,) for one in STAGES},
}
LABEL_SETS["sheet"] = LABEL_SETS["report"] | {
    "S14": ("attention_context", "attention_output"),  # "after concatenation": both are handed in
    "S15": ("post_attention_norm",),  # S16, the "feed-forward input", is the same tensor
}


_PRE_NORM_BLOCK = (
    replace(
        stage("post_attention_norm"),
        title="Norm before the MLP",
        explanation="The attention output is added to the block's input, and the MLP reads a norm of this "
        "sum. The sum starts from S08 itself, before its norm, and the residual connection goes on "
        "without this one. The norm works on one token at a time, along its features.",
    ),
    replace(
        stage("post_mlp_norm"),
        title="Residual after the MLP",
        predecessors=("block_input", "attention_output", "mlp_output"),
        equation="S08 + S15 + S18",
        operation="mlp_sum",
        invariants=("subtracting S15 and S18 gives S08 back",),
        explanation="The MLP output is added to the sum that the norm before it reads, not to the "
        "normalised tokens. So the block's input reaches its output through additions alone, without a "
        "norm after them.",
    ),
)
_PRE_NORM = (
    *_PRE_NORM_BLOCK,
    replace(
        stage("final_sequence"),
        equation="LayerNorm(S22)",
        operation="layer_norm",
        invariants=("before the affine part each token has mean 0 and biased variance 1",),
        explanation="The whole sequence after one more norm, which the blocks of this architecture leave "
        "to the end. The class token is in row 0, then come the patches in their old order.",
    ),
)
_POST_NORM = (
    replace(
        stage("query"),
        equation="S08 · W_qᵀ + b_q, split into h heads",
        explanation="What each token is looking for, once for every head. It is computed from the block's "
        "input as it is: in this architecture the norms come after the sums. The width is split into h "
        "slices of d neighbouring features. Change one token of S08, and only that token's row may change, "
        "in all heads.",
    ),
    replace(
        stage("key"),
        equation="S08 · W_kᵀ + b_k, split into h heads",
        explanation="What each token can be matched by. It is computed from the same tokens as the "
        "queries, with weights of its own. It needs the queries' width, because the two are multiplied.",
    ),
    replace(
        stage("value"),
        equation="S08 · W_vᵀ + b_v, split into h heads",
        explanation="What each token passes on when another one attends to it. Queries and keys decide how "
        "much flows; the values are what flows. They too are computed from the block's input.",
    ),
    replace(stage("post_attention_norm"), equation="LayerNorm₁(S08 + S15)"),
    replace(stage("post_mlp_norm"), equation="LayerNorm₂(S16 + S18)"),
)
_CLIP = (
    *_PRE_NORM_BLOCK,
    replace(stage("patch_embeddings"), equation="S03 · Wᵀ", invariants=("linear in S03: zeros give zeros",)),
    replace(
        stage("block_input"),
        equation="LayerNorm(S07) in block 1; the previous block's output in the others",
        operation="layer_norm",
        invariants=("before the affine part each token has mean 0 and biased variance 1",),
        explanation="The input of the transformer block. This architecture normalises the tokens once before "
        "the first block. It is also where the first residual connection starts.",
    ),
    replace(
        stage("mlp_hidden"),
        equation="QuickGELU(S16 · W₁ᵀ + b₁)",
        operation="quick_gelu",
        explanation="Each token by itself goes through a wider linear layer and QuickGELU, x · "
        "sigmoid(1.702 x). Its smallest value is about -0.16. Attention mixes tokens; here only features "
        "are mixed.",
    ),
    replace(
        stage("class_representation"),
        equation="LayerNorm(row 0 of S23)",
        operation="layer_norm",
        explanation="The class token alone, one vector for each image, after a norm of its own. The "
        "token axis is gone, the batch axis stays.",
    ),
    replace(
        stage("logits"),
        title="Projected class feature",
        equation="S24 · W, without bias",
        invariants=("linear in S24: zeros give zeros",),
        explanation="The class token in the space that images and texts share, by a projection without "
        "bias. It is a feature and not a score, so no softmax follows.",
    ),
)


def _with(rows: tuple[Stage, ...], without: str | None = None) -> tuple[Stage, ...]:
    changed = {row.key: row for row in rows}
    return tuple(changed.get(one.key, one) for one in STAGES if one.key != without)


ARCHITECTURES: dict[str, tuple[Stage, ...]] = {  # the stages that each has, with its own equations
    "report": STAGES,
    "pre-norm": _with(_PRE_NORM),
    "post-norm": _with(_POST_NORM),
    "clip": _with(_CLIP, without="class_probabilities"),
}


def stages_of(architecture: str) -> tuple[Stage, ...]:
    """Return the stages that this architecture has, each with the equation that it has there.

    Raises ValueError for an unknown architecture.
    """
    if architecture not in ARCHITECTURES:
        raise ValueError(f"there is no architecture {architecture!r}; there are {', '.join(ARCHITECTURES)}")
    return ARCHITECTURES[architecture]
