"""The known causes of an exception in the forward pass, told by what met in the call that failed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from ....submissions.errors import StudentCodeFailed
from ....submissions.host.trace import Reference
from ...locating.walk import Walk


@dataclass(frozen=True)
class Operand:
    """A tensor that the failing call was given."""

    name: str  # of the variable that held it, or ""
    shape: tuple[int, ...]
    stage: str | None  # key, if it is one
    parameter: str  # its name, if it is one
    reference: Reference


@dataclass(frozen=True)
class Facts:
    """What is known of a pass that ended in ``error`` while ``stage`` was computed."""

    walk: Walk
    error: StudentCodeFailed
    stage: str
    operands: tuple[Operand, ...]

    @property
    def op(self) -> str:
        """The call as the code writes it; "" where no call to torch raised."""
        failed = self.walk.trace.failed
        return "" if failed is None else failed.op

    @property
    def numbers(self) -> tuple[int, ...]:
        """Further arguments, such as an axis or the sizes that a view asks for."""
        failed = self.walk.trace.failed
        return () if failed is None else tuple(int(one) for one in failed.numbers)

    @property
    def joins(self) -> bool:
        return self.op in ("cat", "concat", "concatenate", "stack", "hstack", "vstack")

    @property
    def cuts(self) -> bool:
        return self.op in ("view", "reshape", "unflatten", "view_as", "reshape_as")


@dataclass(frozen=True)
class Cause:
    """An id of the catalogue, and the stage to blame."""

    id: str | None
    stage: str


def cause_of(facts: Facts) -> Cause | None:
    """The first known cause that fits."""
    return next(filter(None, (one(facts) for one in _CAUSES)), None)


def _pair_returned(facts: Facts) -> Cause | None:
    """A block's result met in the next block as a tuple."""
    message = facts.error.message
    if not re.search(r"\btuple\b", message) or "not callable" in message:
        return None
    return Cause("block-returns-tuple", "block_output") if facts.walk.blocks else None


def _nothing_returned(facts: Facts) -> Cause | None:
    """A block's result met in the next block as None."""
    missing = "NoneType" in facts.error.message
    return Cause(None, "block_output") if missing and 0 < facts.walk.blocks < facts.walk.sizes.depth else None


def _memory_not_straight(facts: Facts) -> Cause | None:
    if "view size is not compatible" not in facts.error.message:
        return None
    return Cause("view-on-noncontiguous", facts.stage)


def _patches_mapped(facts: Facts) -> Cause | None:
    """A map of the image or its patches, with S02 and S03 only implied by it."""
    before = facts.stage in ("patches", "flattened_patches")
    return Cause(None, "patch_embeddings") if before and facts.op in ("conv2d", "linear") else None


def _joined_on_images(facts: Facts) -> Cause | None:
    """The class token and the patches joined along the axis of images."""
    axis = facts.numbers[-1] if facts.numbers else 0
    along_images = (
        facts.joins and axis in (0, -3) and any(one.stage == "patch_embeddings" for one in facts.operands)
    )
    return Cause("cls-cat-on-batch-dim", "tokens") if along_images else None


def _token_of_other_batch(facts: Facts) -> Cause | None:
    """A class token for another number of images than there are."""
    B = facts.walk.sizes.batch
    for operand in facts.operands if facts.joins else ():
        trace = facts.walk.trace
        if operand.shape[0] == B or len(operand.shape) != 3 or trace.value(operand.reference).image:
            continue
        own = trace.value(operand.reference).shape[0]  # rows of what it is a view of
        if own > 1 and own == operand.shape[0]:
            return Cause("cls-per-batch-slot", "class_token")
        return Cause("batch-size-hard-coded" if operand.name else None, "class_token")
    return None


def _table_without_class_token(facts: Facts) -> Cause | None:
    """One row of positions fewer than there are tokens."""
    rows = [one.shape[-2] for one in facts.operands if len(one.shape) > 1 and not _of_image(facts, one)]
    tokens = facts.walk.sizes.tokens
    if (
        facts.op not in ("add", "__add__", "__radd__", "add_", "__iadd__")
        or facts.stage != "positioned_tokens"
    ):
        return None
    return Cause("pos-before-cls-row-mismatch" if rows == [tokens - 1] else None, "positioned_tokens")


def _of_image(facts: Facts, one: Operand) -> bool:
    return facts.walk.trace.value(one.reference).image


def _keys_reversed(facts: Facts) -> Cause | None:
    shapes = [one.shape for one in facts.operands]
    reversed_ = len(shapes) == 2 and len(shapes[0]) == 4 and shapes[1] == shapes[0][::-1]
    return Cause("all-axes-transposed", "attention_scores") if reversed_ else None


def _weights_merged(facts: Facts) -> Cause | None:
    """The probabilities where the context was due."""
    if facts.stage not in ("attention_context", "attention_output"):
        return None
    pairs = facts.walk.context.stages.get(("attention_probabilities", facts.walk.blocks + 1))
    merged = [one for one in facts.operands if pairs is not None and prod(one.shape) == pairs.numel()]
    leads = facts.cuts or facts.op == "linear"
    return Cause("weights-used-as-context", "attention_context") if merged and leads else None


def _heads_do_not_divide(facts: Facts) -> Cause | None:
    """A view by heads whose rounded width leaves features over."""
    width = facts.walk.sizes.embed_dim
    if not facts.cuts or not facts.operands or facts.stage not in ("query", "key", "value"):
        return None
    h, d = facts.numbers[-2:] if len(facts.numbers) > 2 else (1, 0)
    return Cause("head-dim-floor", "query") if h > 1 and width % h and d == width // h else None


def _view_of_other_batch(facts: Facts) -> Cause | None:
    """A view that would fit another number of images."""
    B, asked = facts.walk.sizes.batch, facts.numbers
    if not (facts.cuts and facts.operands and asked) or asked[0] in (B, -1) or asked[0] < 1 or -1 in asked:
        return None
    fits = prod(asked) // asked[0] * B == prod(facts.operands[0].shape)
    return Cause("batch-size-hard-coded", facts.stage) if fits else None


def _block_by_number(facts: Facts) -> Cause | None:
    if facts.op or facts.error.type != "IndexError" or "positioned_tokens" not in _reached(facts):
        return None
    out = "out of range" in facts.error.message
    every = facts.walk.blocks >= facts.walk.sizes.depth
    stage = "last_block_output" if every else facts.stage
    return Cause("hard-coded-first-blocks", stage) if out and facts.walk.blocks >= 1 else None


def _reached(facts: Facts) -> set[str]:
    return {step.key for step in facts.walk.steps}


def _image_without_batch(facts: Facts) -> Cause | None:
    """Nothing was embedded, and what was computed of the image has no axis of images."""
    given = facts.walk.context.image.shape
    if "patch_embeddings" in _reached(facts) or len(given) != 4:  # a part may be given tokens
        return None
    C, H, W = given[1:]
    alone = {(C, H, W), (1, C, H, W)}
    trace, batch = facts.walk.trace, facts.walk.sizes.batch
    read = [one.shape for record in trace.records for one in record.inputs if one.kind == "record"]
    if trace.failed is not None:
        read += [one.shape for _, one in (*trace.failed.inputs, *trace.failed.locals)]
    return Cause("missing-batch-axis", "patches") if batch > 1 and alone & set(read) else None


_CAUSES: tuple[Callable[[Facts], Cause | None], ...] = (
    _pair_returned,
    _nothing_returned,
    _memory_not_straight,
    _image_without_batch,
    _patches_mapped,
    _joined_on_images,
    _token_of_other_batch,
    _table_without_class_token,
    _keys_reversed,
    _weights_merged,
    _heads_do_not_divide,
    _view_of_other_batch,
    _block_by_number,
)
