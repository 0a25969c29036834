"""How encoder blocks are wired: from what each of their tensors is computed, in every kind of block."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ....reference import equations as eq
from ..catalogued import Equation
from ..forms import (
    ACTIVATIONS,
    ATTENTION_SUMS,
    CONTEXTS,
    MERGES,
    MLP_SUMS,
    PARALLEL_SUMS,
    PROBABILITIES,
    SCORES,
    WHOLE_ATTENTION,
    Form,
)
from ..walk import Walk
from .operators import FormRow, LinearRow, Moved, NormRow, OpenRow, SameRow, found_here, never, width
from .projecting import ProjectionsRow
from .rows import Row


def _scale(walk: Walk, form: Form) -> str | None:
    """A division by the width of a head is two by its root where one of them is seen apart."""
    if form.id != "scale-by-head-dim":
        return form.id
    query, key = walk.context.stage("query", walk.number), walk.context.stage("key", walk.number)
    root = math.sqrt(query.shape[-1])
    apart = (query / root, key / root, eq.attention_scores(query, key))
    return "scale-applied-twice" if any(walk.places.find(one) for one in apart) else form.id


def _several(walk: Walk, form: Form) -> bool:
    """Over one head or one image alone, attention over heads or images gives the value itself."""
    B, heads, *_ = walk.context.stage("query", walk.number).shape
    return form not in _WHOLE or min(B, heads) > 1


_MISSING = Form(lambda x: x, "activation-missing")
_RELU = ((Form(lambda x: x.relu()), "activation-after-out-proj"),)
_EXTRA = tuple((form, "extra-activation-after-fc2") for form in ACTIVATIONS)
_WHOLE = tuple(
    Form(lambda p, q, k, v, one=form: one.function(q, k, v), form.id, form.blame) for form in WHOLE_ATTENTION
)

SCALE_MOVED = Moved(
    "attention_scores",
    "attention_probabilities",
    "scale-missing",
    "scale-after-softmax",
    "scale-after-softmax",
)
_ACTIVATION_MOVED = Moved(
    "mlp_hidden", "mlp_output", "activation-missing", "extra-activation-after-fc2", "activation-after-fc2"
)


def _after_what_is_seen(walk: Walk) -> bool:
    """Not all of attention may be unseen."""
    return any(step.found is not None for step in walk.steps[-2:])


def _context(forms: tuple[Form, ...]) -> FormRow:
    return FormRow(
        key="attention_context",
        reads=("attention_probabilities", "query", "key", "value"),
        forms=forms,
        needs=_several,
        implied=_after_what_is_seen,
        commits=True,
    )


_PROBABILITIES = FormRow(
    key="attention_probabilities",
    reads=("attention_scores", "query"),
    forms=PROBABILITIES,
    unseen=True,  # zeros and ones alone are not to be found
    moved=(SCALE_MOVED,),
)


def attention(
    probabilities: tuple[Row, ...] = (_PROBABILITIES,), whole: tuple[Form, ...] = _WHOLE
) -> tuple[Row, ...]:
    """From what the projections read to S15.

    ``probabilities`` are the rows from the scores on; ``whole`` is attention over wrong axes.
    """
    return (
        ProjectionsRow(key="query", reads=("normed_input",)),
        FormRow(key="attention_scores", reads=("query", "key"), forms=SCORES, named=_scale),
        *probabilities,
        _context((*CONTEXTS, *whole)),
        FormRow(
            key="merged_heads",
            stage="attention_output",
            part="Before its projection",
            reads=("attention_context",),
            forms=MERGES,
        ),
        LinearRow(
            key="attention_output",
            reads=("merged_heads",),
            role="out",
            outputs=width,
            missing="output-projection-missing",
            activated=_RELU,
            added_to=("block_input",),
        ),
    )


_MIXED = "mlp-mixes-tokens"
MLP: tuple[Row, ...] = (
    LinearRow(
        key="mlp_inner",
        stage="mlp_hidden",
        part="Before its activation",
        reads=("post_attention_norm",),
        role="fc1",
        along_tokens=_MIXED,
    ),
    FormRow(
        key="mlp_hidden",
        reads=("mlp_inner",),
        forms=(*ACTIVATIONS, _MISSING),
        implied=never,
        commits=True,
    ),
    LinearRow(
        key="mlp_output",
        reads=("mlp_hidden",),
        role="fc2",
        outputs=width,
        activated=_EXTRA,
        moved="activation-missing",
        added_to=("attention_sum", "post_attention_norm"),
        along_tokens=_MIXED,
    ),
)
_READ = "The input of the projections is not LayerNorm(S08):"
_FIRST_NORM = NormRow(
    key="normed_input",
    stage="query",
    part=_READ,
    reads=("block_input",),
    role="norm1",
    skipped="norm1-skipped",
)


def _sum(key: str, stage: str, reads: tuple[str, ...], forms: tuple[Form, ...]) -> FormRow:
    """What a norm, or the next stage, reads."""
    return FormRow(
        key=key,
        stage=stage,
        part="Before its norm",
        reads=reads,
        forms=forms,
        implied=never,
        needs=_does_something,
    )


def _does_something(walk: Walk, form: Form) -> bool:
    """A block without attention that drops what the MLP gives would be no block at all."""
    return form.id != "mlp-result-dropped" or not found_here(walk, "attention-left-out")


def _attention_sum(branch: str) -> FormRow:
    return _sum(
        *("attention_sum", "post_attention_norm"),
        reads=("block_input", "normed_input", branch),
        forms=ATTENTION_SUMS,
    )


_SUM = _attention_sum("attention_output")
_SECOND_NORM = NormRow(
    key="post_attention_norm",
    reads=("attention_sum",),
    role="norm2",
    skipped="norm2-skipped",
    others=(("block_input", "mlp-reads-block-input"), ("attention_output", "mlp-reads-attn-output")),
)


def _mlp_sum(right: Equation, elsewhere: str, branch: str = "mlp_output") -> FormRow:
    """``elsewhere`` is the id of the right one in blocks where another is right."""
    return _sum(
        *("mlp_sum", "post_mlp_norm"),
        reads=("block_input", "attention_sum", "post_attention_norm", branch),
        forms=(Form(right), *(one for one in MLP_SUMS if one.id != elsewhere)),
    )


_RAW_SUM = _mlp_sum(eq.mlp_sum, "residual-mlp-from-raw-sum")
_NORMED_SUM = _mlp_sum(eq.report_mlp_sum, "residual-mlp-from-normed")
_CLOSING_NORM = NormRow(key="post_mlp_norm", reads=("mlp_sum",), role="norm3")
_OUTPUT = SameRow(
    key="block_output", reads=("post_mlp_norm",), others=(("mlp_output", "block-returns-branch"),)
)


@dataclass(frozen=True)
class BlockKind:
    """One kind of block."""

    name: str
    rows: tuple[Row, ...]
    foreign: str  # the id of using it where another kind is asked for
    normed: bool = False  # is what a block gives the output of a norm?
    price: float = 0.0  # by how much it is less likely than others before anything is known
    like: str = ""  # a mistake in another kind that gives the same numbers, and leaves a parameter over
    moved: tuple[Moved, ...] = (SCALE_MOVED, _ACTIVATION_MOVED)
    without: str = ""  # what it lacks of that kind


_PLAIN_INPUT = SameRow(
    key="normed_input", stage="query", part="The input of the projections:", reads=("block_input",)
)
_BESIDE = NormRow(key="post_attention_norm", reads=("block_input",), role="norm2", skipped="norm2-skipped")
# an MLP of the block's input tells nothing of the kind of block: attention may have been left out
_MLP_BESIDE = tuple(replace(row, commits=False) for row in MLP)
_PARALLEL_SUM = _sum(
    *("mlp_sum", "post_mlp_norm"),
    reads=("block_input", "attention_output", "mlp_output"),
    forms=PARALLEL_SUMS,
)
_NO_CLOSING_NORM = OpenRow(
    key="post_mlp_norm", reads=("mlp_sum",), role="norm3", normed="final-norm-inside-loop"
)

_NORMED_ATTENTION = NormRow(
    key="normed_attention",
    stage="post_attention_norm",
    part="What is added to the block's input:",
    reads=("attention_output",),
    role="norm_after_attention",
)
_NORMED_MLP = NormRow(
    key="normed_mlp",
    stage="post_mlp_norm",
    part="What is added to the sum after attention:",
    reads=("mlp_output",),
    role="norm_after_mlp",
)


def _around_branches(first: Row, second: Row) -> tuple[Row, ...]:
    """What attention and the MLP give is normed, then added; what they read is made by these rows."""
    attended = (*attention(), _NORMED_ATTENTION, _attention_sum("normed_attention"))
    fed = (*MLP, _NORMED_MLP, _mlp_sum(eq.mlp_sum, "residual-mlp-from-raw-sum", "normed_mlp"))
    return first, *attended, second, *fed, _NO_CLOSING_NORM, _OUTPUT


def pre_norm(attention: tuple[Row, ...], moved: tuple[Moved, ...] = ()) -> BlockKind:
    """The block of most Transformers since GPT-2, around any ``attention``."""
    rows = (_FIRST_NORM, *attention, _SUM, _SECOND_NORM, *MLP, _RAW_SUM, _NO_CLOSING_NORM, _OUTPUT)
    return BlockKind("pre-norm", rows, "pre-norm-block", moved=(SCALE_MOVED, *moved, _ACTIVATION_MOVED))


_CLOSED = (*attention(), _SUM, _SECOND_NORM, *MLP, _NORMED_SUM, _CLOSING_NORM, _OUTPUT)
KINDS = (
    pre_norm(attention()),
    BlockKind("report", (_FIRST_NORM, *_CLOSED), "report-hybrid-block", normed=True),
    # Vaswani et al. 2017, section 3.1
    BlockKind(
        "post-norm",
        (_PLAIN_INPUT, *_CLOSED),
        "post-norm-block",
        normed=True,
        price=1.2,
        like="norm1-skipped",
    ),
    BlockKind(  # Wang and Komatsuzaki 2021, GPT-J-6B; Dehghani et al. 2023, arXiv:2302.05442, section 2
        "parallel",
        (_FIRST_NORM, *attention(), _BESIDE, *_MLP_BESIDE, _PARALLEL_SUM, _NO_CLOSING_NORM, _OUTPUT),
        "parallel-block",
        price=1.2,
    ),
    BlockKind(  # Ding et al. 2021, arXiv:2105.13290, section 2.4
        "sandwich", _around_branches(_FIRST_NORM, _SECOND_NORM), "sandwich-norm-block", price=1.2
    ),
    BlockKind(  # Liu et al. 2022, arXiv:2111.09883, section 3.2
        "res-post-norm",
        _around_branches(
            _PLAIN_INPUT, SameRow(key="post_attention_norm", reads=("attention_sum",), handed_on=0.0)
        ),
        "res-post-norm-block",
        price=1.2,
        like="norm1-skipped",
    ),
)
