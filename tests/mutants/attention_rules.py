"""Mistakes from the patches to the attention output: S02 to S15, in that order."""

from __future__ import annotations

from .rule import FOLDED, PACKED, REPORT, Rule, all_but

_HALF_SCALED = ("scale-by-head-dim", "scale-applied-twice")
_SAME_AS_KEYS = ("context-uses-keys", "keys-reused-as-values")

_PATCHES = (
    Rule("patch-columns-first", "S02", "cut", "X.permute(0, 4, 2, 1, 3, 5)", kind="layout"),
    Rule("patch-columns-first", "S02", "windows", "X.permute(0, 3, 2, 1, 4, 5)", kind="layout"),
    Rule(
        "patch-pixels-transposed",
        "S02",
        "cut",
        "X.permute(0, 2, 4, 1, 5, 3)",
        kind="layout",
        elsewhere=("S03",),
    ),
    Rule(
        "patch-pixels-transposed",
        "S02",
        "windows",
        "X.permute(0, 2, 3, 1, 5, 4)",
        kind="layout",
        elsewhere=("S03",),
    ),
    Rule("flatten-channel-last", "S03", "cut", "X.permute(0, 2, 4, 3, 5, 1)", kind="variant"),
    Rule(
        "flatten-channel-last",
        "S03",
        "windows",
        "X.permute(0, 2, 3, 4, 5, 1)",
        kind="variant",
        for_=all_but("report"),
    ),
    Rule("patch-view-whole-image", "S02", "cut", "X", for_=("constants_only", "vector_tokens")),
    Rule(
        "conv-reshape-not-transpose",
        "S04",
        "convolved",
        "(maps := Z).reshape(len(maps), -1, maps.shape[1])",
    ),
    Rule(
        "conv-tokens-column-major",
        "S04",
        "convolved",
        "Z.transpose(2, 3).flatten(2).transpose(1, 2)",
        kind="layout",
        accepted=("patch-columns-first",),
        elsewhere=("S02",),
    ),
    Rule("activation-after-projection", "S04", "convolved", "W.relu()", kind="variant"),
    Rule("projection-bias-missing", "S04", "convolution", "Z, bias=False", "Z", kind="variant"),
)

_TOKENS = (
    Rule(
        "cls-mean-of-patches",
        "S05",
        "concatenation",
        "E.mean(1, keepdim=True)",
        "T",
        kind="variant",
        for_=all_but("sequence_first", "vector_tokens"),
    ),
    Rule("cls-appended-last", "S06", "concatenation", "torch.cat([E, T], A)"),
    Rule("pos-missing", "S07", "positions", "Z", accepted=("block-reads-stale-tokens",), elsewhere=("S08",)),
    Rule("pos-multiplied", "S07", "positions", "Z * R"),
    Rule("pos-added-twice", "S07", "positions", "Z + R + R"),
    Rule("pos-added-twice", "S07", "positions", "2 * R", "R", where="table"),
    Rule("pos-added-twice", "S07", "positions in place", "Z += R\nZ += R"),
    *(
        Rule(id, "S07", place, template, "R", kind, for_=all_but("sequence_first"))
        for place in ("positions", "positions in place")
        for id, template, kind in (
            ("pos-off-by-one", "R.roll(1, -2)", "error"),
            ("pos-single-vector", "R[..., :1, :]", "error"),
            ("cls-without-position", "nn.functional.pad(R[..., 1:, :], (0, 0, 1, 0))", "variant"),
        )
    ),
)

_PROJECTIONS = (
    Rule("norm1-skipped", "S09", "norm1", "I", for_=all_but(*REPORT)),
    Rule("norm1-skipped", "S09", "norm1", "I", accepted=("post-norm-block",), for_=REPORT),
    Rule("qkv-bias-missing", "S09", "packed map", "C, bias=False", "C", kind="variant"),
    Rule("qkv-order-swapped", "S09", "unpack", "v, q, k = E", kind="layout", for_=PACKED),
    Rule(
        "heads-split-without-transpose",
        "S09",
        "split",
        "Y.reshape(A, C, B, E)",
        for_=all_but("heads_in_batch", "interleaved_qkv", "unfold_style"),
    ),
    Rule("query-equals-key", "S10", "product", "Q", "K", for_=all_but("scaled_query")),
)

_SCORES = (
    Rule("scale-missing", "S12", "scores", "P"),
    Rule("scale-by-embed-dim", "S12", "scores", "P / (D) ** 0.5"),
    Rule("scale-by-head-dim", "S12", "scores", "P / Q.shape[-1]", accepted=_HALF_SCALED),
    Rule("scale-multiplied", "S12", "scores", "P * Q.shape[-1] ** 0.5"),
    Rule("scale-by-num-heads", "S12", "scores", "P / H ** 0.5"),
    Rule("scale-applied-twice", "S12", "scores", "W / Q.shape[-1] ** 0.5", accepted=_HALF_SCALED),
    Rule("causal-mask-added", "S12", "softmax", "S.masked_fill(torch.ones_like(S).triu(1) > 0, -1e9)", "S"),
)

_PROBABILITIES = (
    Rule("softmax-over-queries", "S13", "softmax", "S.softmax(-2)"),
    Rule("softmax-over-heads", "S13", "softmax", "S.softmax(1)", for_=all_but(*FOLDED)),
    Rule(
        "softmax-over-batch",
        "S13",
        "softmax",
        "S.softmax(0)",
        for_=all_but("sequence_first", "heads_in_batch", "functional_dict"),
    ),
    Rule("softmax-over-flattened", "S13", "softmax", "S.flatten(-2).softmax(-1).view_as(S)"),
    Rule("softmax-missing", "S13", "softmax", "S"),
    Rule("softmax-twice", "S13", "softmax", "W.softmax(-1)"),
    Rule("sigmoid-instead-of-softmax", "S13", "softmax", "S.sigmoid()"),
    Rule("scale-after-softmax", "S13", "softmax", "W / Q.shape[-1] ** 0.5"),
    Rule(
        "only-first-head-used",
        "S13",
        "softmax",
        "S[:, :1].softmax(-1).expand_as(S)",
        elsewhere=("S12",),
        for_=all_but(*FOLDED),
    ),
)

_CONTEXT = (
    Rule("probs-transposed", "S14", "context", "S.mT", "S"),
    Rule(
        "context-uses-keys",
        "S14",
        "context",
        "K",
        "V",
        accepted=_SAME_AS_KEYS,
        elsewhere=("S11",),
        for_=all_but("vector_tokens"),
    ),
    Rule("heads-merged-without-transpose", "S15", "merge", "C.flatten(1).unflatten(1, (-1, D))"),
    Rule("heads-interleaved-on-merge", "S15", "merge", "C.permute(0, 2, 3, 1).flatten(2)", kind="layout"),
    Rule("output-projection-missing", "S15", "output", "Y"),
    Rule("activation-after-out-proj", "S15", "output", "torch.relu(W)"),
)

ATTENTION_RULES = (*_PATCHES, *_TOKENS, *_PROJECTIONS, *_SCORES, *_PROBABILITIES, *_CONTEXT)
