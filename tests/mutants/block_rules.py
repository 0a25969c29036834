"""Mistakes from the norms of a block to the logits: S16 to S25 (S09 for the first norm)."""

from __future__ import annotations

from .rule import FREE, REPORT, Rule, all_but
from .styles import STYLES

_BLIND = ("every-block-reads-first-input", "block-result-discarded")


def _by_hand(statistics: str) -> str:
    """A norm's equation with the centred values and what they are divided by."""
    return f"({statistics}) * L.weight + L.bias"


def _moments(axes: str) -> str:
    return (
        f"(I - I.mean({axes}, keepdim=True)) / (I.var({axes}, keepdim=True, unbiased=False) + L.eps).sqrt()"
    )


_NORMS = tuple(
    Rule(
        id,
        stage,
        place,
        _by_hand(template).replace("L", letter),
        kind=kind,
        where=place,
        for_=all_but("handwritten_norm", "sequence_first", "clip_style", *excepted),
    )
    for stage, place, letter, excepted in (("S09", "norm1", "N", ()), ("S16", "norm2", "L", ("report",)))
    for id, template, kind in (
        ("layernorm-over-tokens", _moments("1"), "error"),
        ("layernorm-over-batch", _moments("0"), "error"),
        (
            "layernorm-unbiased-variance",
            "(I - I.mean(-1, keepdim=True)) / (I.var(-1, keepdim=True) + L.eps).sqrt()",
            "error",
        ),
        (
            "layernorm-no-sqrt",
            "(I - I.mean(-1, keepdim=True)) / (I.var(-1, keepdim=True, unbiased=False) + L.eps)",
            "error",
        ),
    )
)

_EVERY_NORM = tuple(
    Rule(id, "S09", "every norm", template, kind="variant", for_=FREE - {"library_encoder"})
    for id, template in (
        ("layernorm-eps-1e-5", "nn.LayerNorm(A, eps=1e-3)"),
        ("layernorm-no-affine", "nn.LayerNorm(A, elementwise_affine=False)"),
        ("rmsnorm-instead-of-layernorm", "nn.RMSNorm(A, eps=1e-6)"),
    )
)

_RESIDUALS = (
    *(
        Rule("residual-attn-missing", "S16", "attention sum", "O", accepted=accepted, for_=bases)
        for accepted, bases in (((), all_but(*REPORT)), (("mlp-reads-attn-output",), REPORT))
    ),
    Rule("residual-doubled", "S16", "attention sum", "2 * I + O", where="attention"),
    Rule("residual-multiplied", "S16", "attention sum", "I * O", where="attention"),
    Rule("residual-self-add", "S16", "attention sum", "2 * O", where="attention"),
    Rule("residual-from-normed-attn", "S16", "attention sum", "N(I) + O"),
    Rule("norm2-skipped", "S16", "norm2", "I"),
    Rule("norm1-reused-for-norm2", "S16", "norm2", "N(I)"),
    Rule(
        "residual-mlp-missing", "S19", "mlp sum", "O", accepted=("block-returns-branch",), elsewhere=("S20",)
    ),
    Rule("residual-doubled", "S19", "mlp sum", "2 * I + O", where="mlp"),
    Rule("residual-multiplied", "S19", "mlp sum", "I * O", where="mlp"),
    Rule("residual-self-add", "S19", "mlp sum", "2 * O", where="mlp"),
    Rule("residual-mlp-from-normed", "S19", "mlp sum", "L(I) + O", for_=all_but(*REPORT)),
)

_MLP = (
    *(
        Rule(id, "S17", place, template, kind=kind, for_=FREE)
        for id, module, call, kind in (
            ("activation-missing", "nn.Identity()", "Y", "error"),
            ("relu-instead-of-gelu", "nn.ReLU()", "torch.relu(Y)", "variant"),
            ("silu-instead-of-gelu", "nn.SiLU()", "nn.functional.silu(Y)", "variant"),
            (
                "gelu-tanh",
                'nn.GELU(approximate="tanh")',
                'nn.functional.gelu(Y, approximate="tanh")',
                "variant",
            ),
        )
        for place, template in (("activation", module), ("activation call", call))
    ),
    Rule(
        "activation-after-fc2",
        "S17",
        "mlp",
        "nn.Sequential(A, B, nn.GELU())",
        accepted=("activation-missing",),
    ),
    Rule(
        "activation-after-fc2",
        "S17",
        "mlp call",
        "nn.functional.gelu(G(Y))",
        accepted=("activation-missing",),
    ),
    Rule("extra-activation-after-fc2", "S18", "mlp", "nn.Sequential(A, nn.GELU(), B, nn.GELU())"),
    Rule("extra-activation-after-fc2", "S18", "mlp call", "nn.functional.gelu(W)"),
)

_DEPTH = (
    Rule(
        "every-block-reads-first-input",
        "S21",
        "loop",
        "first = X\nfor J in L:\n    X = J(first)",
        accepted=_BLIND,
    ),
    Rule("block-result-discarded", "S21", "loop", "for J in L:\n    J(X)", accepted=_BLIND),
    Rule(
        "block-result-discarded",
        "S22",  # the blocks are right among themselves, and what comes after reads S07
        "stack step",
        "L(X)",
        accepted=(*_BLIND, "readout-before-encoder"),
        elsewhere=("S21", "S23", "S24"),
    ),
    Rule("depth-off-by-one", "S22", "loop", "L[:-1]", "L"),
    Rule(
        "depth-off-by-one",
        "S22",
        "stack",
        "L[:-1]",
        "L",
        for_=all_but("library_encoder", "channel_last_patches"),
    ),
    Rule("blocks-share-one-instance", "S21", "blocks", "([C] * M)", kind="variant"),
    Rule("blocks-in-python-list", "", "block list", "[C for _ in range(M)]"),
)

_READOUT = (
    Rule("final-norm-missing", "S23", "final norm", "Y", for_=all_but("clip_style")),
    *(
        Rule(id, stage, "readout", template, kind=kind, accepted=accepted, for_=bases)
        for id, stage, template, kind, accepted, bases in (
            ("readout-last-token", "S24", "Z[:, -1]", "error", (), STYLES),
            ("readout-batch-index", "S24", "Z[0]", "error", ("permute-discarded",), STYLES),
            ("mean-pool-patches", "S24", "Z[:, 1:].mean(1)", "variant", (), STYLES),
            ("mean-pool-includes-cls", "S24", "Z.mean(1)", "variant", (), STYLES),
            ("head-on-all-tokens", "S25", "Z", "error", (), all_but("einsum_style")),
        )
    ),
    *(
        Rule(id, "S25", "logits", template, "L", kind, for_=FREE - REPORT | {"constants_only"})
        for id, template, kind in (
            ("relu-on-logits", "torch.relu(L)", "error"),
            ("log-softmax-in-logits", "L.log_softmax(-1)", "variant"),
        )
    ),
)

BLOCK_RULES = (*_NORMS, *_EVERY_NORM, *_RESIDUALS, *_MLP, *_DEPTH, *_READOUT)
