"""How encoder blocks are wired: from what each of their tensors is computed, in every kind of block."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....reference import equations as eq
from ..catalogued import Equation
from ..forms import ATTENTION_SUMS, MLP_SUMS, PARALLEL_SUMS, Form
from ..walk import Walk
from .branches import ACTIVATION_MOVED, MLP, SCALE_MOVED, attention
from .operators import FormRow, Moved, NormRow, OpenRow, SameRow, ScaledRow, found_here, never
from .rows import Row

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
    moved: tuple[Moved, ...] = (SCALE_MOVED, ACTIVATION_MOVED)
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

_NORMED = (
    NormRow(
        key="attention_branch",
        stage="post_attention_norm",
        part="What is added to the block's input:",
        reads=("attention_output",),
        role="norm_after_attention",
    ),
    NormRow(
        key="mlp_branch",
        stage="post_mlp_norm",
        part="What is added to the sum after attention:",
        reads=("mlp_output",),
        role="norm_after_mlp",
    ),
)
_SCALED = (
    ScaledRow(key="attention_branch", stage="post_attention_norm", reads=("attention_output",)),
    ScaledRow(key="mlp_branch", stage="post_mlp_norm", reads=("mlp_output",)),
)


def _with_branches(branches: tuple[Row, Row], first: Row, second: Row) -> tuple[Row, ...]:
    """What these make of attention and the MLP is added; what those read is made by the two others."""
    attended = (*attention(), branches[0], _attention_sum("attention_branch"))
    fed = (*MLP, branches[1], _mlp_sum(eq.mlp_sum, "residual-mlp-from-raw-sum", "mlp_branch"))
    return first, *attended, second, *fed, _NO_CLOSING_NORM, _OUTPUT


def pre_norm(attention: tuple[Row, ...], moved: tuple[Moved, ...] = ()) -> BlockKind:
    """The block of most Transformers since GPT-2, around any ``attention``."""
    rows = (_FIRST_NORM, *attention, _SUM, _SECOND_NORM, *MLP, _RAW_SUM, _NO_CLOSING_NORM, _OUTPUT)
    return BlockKind("pre-norm", rows, "pre-norm-block", moved=(SCALE_MOVED, *moved, ACTIVATION_MOVED))


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
        "sandwich",
        _with_branches(_NORMED, _FIRST_NORM, _SECOND_NORM),
        "sandwich-norm-block",
        price=1.2,
    ),
    BlockKind(  # Touvron et al. 2021, arXiv:2103.17239, section 2
        "layer-scale",
        _with_branches(_SCALED, _FIRST_NORM, _SECOND_NORM),
        "layer-scale-block",
        price=1.2,
    ),
    BlockKind(  # Liu et al. 2022, arXiv:2111.09883, section 3.2
        "res-post-norm",
        _with_branches(
            _NORMED,
            _PLAIN_INPUT,
            SameRow(key="post_attention_norm", reads=("attention_sum",), handed_on=0.0),
        ),
        "res-post-norm-block",
        price=1.2,
        like="norm1-skipped",
    ),
)
