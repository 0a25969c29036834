"""Mistakes in the residuals, norms and MLP of a block: S16 to S20 (S09 for a norm by hand)."""

from __future__ import annotations

from .mutant import Mutant, On

report, prenorm, handwritten = On("report"), On("prenorm"), On("handwritten_norm")

_SUM = "x_after_attn = x_in + attn_out"
_FIRST = "x = x + self.attn(self.norm1(x))"
_SECOND = "x = x + self.mlp(self.norm2(x))"

_RESIDUAL = (
    report(
        "residual-attn-missing", "S16", (_SUM, "x_after_attn = attn_out"), accepted=("mlp-reads-attn-output",)
    ),
    prenorm("residual-attn-missing", "S16", (_FIRST, "x = self.attn(self.norm1(x))")),
    report("residual-self-add", "S16", (_SUM, "x_after_attn = attn_out + attn_out")),
    prenorm("attention-left-out", "S16", (_FIRST, "attn_out = self.attn(self.norm1(x))"), where="dropped"),
    prenorm(
        "attention-left-out", "S16", (_FIRST, "x = x + 0 * self.attn(self.norm1(x))"), where="times nothing"
    ),
    prenorm("attention-left-out", "S09", (_FIRST, "pass")),
    prenorm("residual-self-add", "S16", (_FIRST, "x = self.attn(self.norm1(x))\nx = x + x")),
    report("residual-from-normed-attn", "S16", (_SUM, "x_after_attn = x_norm + attn_out")),
    prenorm("residual-from-normed-attn", "S16", (_FIRST, "x = self.norm1(x)\nx = x + self.attn(x)")),
    report("residual-doubled", "S16", (_SUM, "x_after_attn = x_in + attn_out + x_in")),
    prenorm("residual-doubled", "S16", (_FIRST, "x = 2 * x + self.attn(self.norm1(x))")),
    report("residual-multiplied", "S16", (_SUM, "x_after_attn = x_in * attn_out")),
    prenorm("residual-multiplied", "S16", (_FIRST, "x = x * self.attn(self.norm1(x))")),
    report("residual-in-place", "S16", (_SUM, "x_in += attn_out\nx_after_attn = x_in"), invisible=True),
    prenorm("residual-in-place", "S16", (_FIRST, "x += self.attn(self.norm1(x))"), invisible=True),
)

_NORM = "x_post_attn_norm = self.norm2(x_after_attn)"


def _norm2(mistake: str, standardised: str, kind: str = "error", **statistics: str) -> Mutant:
    """Write norm2 of the report's block out by hand, with a mistake in it."""
    defaults = {
        "mean": "x_after_attn.mean(-1, keepdim=True)",
        "var": "x_after_attn.var(-1, keepdim=True, unbiased=False)",
    }
    lines = [f"{name} = {value}" for name, value in (defaults | statistics).items()]
    lines.append(f"x_hat = {standardised}")
    lines.append("x_post_attn_norm = x_hat * self.norm2.weight + self.norm2.bias")
    return report(mistake, "S16", (_NORM, "\n".join(lines)), kind=kind)


def _over(dims: str) -> dict[str, str]:
    return {
        "mean": f"x_after_attn.mean({dims}, keepdim=True)",
        "var": f"x_after_attn.var({dims}, keepdim=True, unbiased=False)",
    }


_STANDARDISED = "(x_after_attn - mean) / torch.sqrt(var + 1e-5)"

_NORM_IN_REPORT = (
    _norm2("layernorm-over-tokens-and-features", _STANDARDISED, **_over("(1, 2)")),
    _norm2("layernorm-over-tokens", _STANDARDISED, **_over("1")),
    _norm2("layernorm-over-batch", _STANDARDISED, **_over("0")),
    _norm2("layernorm-unbiased-variance", _STANDARDISED, var="x_after_attn.var(-1, keepdim=True)"),
    _norm2("layernorm-eps-outside-sqrt", "(x_after_attn - mean) / (torch.sqrt(var) + 1e-5)"),
    _norm2("layernorm-no-sqrt", "(x_after_attn - mean) / (var + 1e-5)"),
    _norm2(
        "rmsnorm-instead-of-layernorm",
        "x_after_attn * torch.rsqrt(x_after_attn.pow(2).mean(-1, keepdim=True) + 1e-5)",
        kind="variant",
    ),
    report(
        "batchnorm-instead-of-layernorm",
        "S16",
        ("self.norm2 = nn.LayerNorm(dim)", "self.norm2 = nn.BatchNorm1d(dim)"),
        ("self.norm2(x_after_attn)", "self.norm2(x_after_attn.transpose(1, 2)).transpose(1, 2)"),
    ),
    report(
        "layernorm-eps-1e-5",
        "S16",
        ("self.norm2 = nn.LayerNorm(dim)", "self.norm2 = nn.LayerNorm(dim, eps=1e-12)"),
        kind="variant",
    ),
    report(
        "layernorm-eps-too-large",
        "S16",
        ("self.norm2 = nn.LayerNorm(dim)", "self.norm2 = nn.LayerNorm(dim, eps=0.1)"),
    ),
    report(
        "layernorm-no-affine",
        "S16",
        ("self.norm2 = nn.LayerNorm(dim)", "self.norm2 = nn.LayerNorm(dim, elementwise_affine=False)"),
        kind="variant",
    ),
    report("norm1-reused-for-norm2", "S16", ("self.norm2(x_after_attn)", "self.norm1(x_after_attn)")),
    prenorm("norm1-reused-for-norm2", "S16", ("self.mlp(self.norm2(x))", "self.mlp(self.norm1(x))")),
    report("norm-reused-after-mlp", "S19", ("self.norm3(x_after_mlp)", "self.norm2(x_after_mlp)")),
    report("norm-reused-after-mlp", "S19", ("self.norm3(x_after_mlp)", "self.norm1(x_after_mlp)")),
    prenorm("mlp-result-dropped", "S19", ("x = x + self.mlp(self.norm2(x))", "self.mlp(self.norm2(x))")),
    report("norm2-skipped", "S16", (_NORM, "x_post_attn_norm = x_after_attn")),
    prenorm("norm2-skipped", "S16", ("self.mlp(self.norm2(x))", "self.mlp(x)")),
)

_MEAN = "mean = x.mean(dim=-1, keepdim=True)"
_VAR = "var = x.var(dim=-1, keepdim=True, unbiased=False)"
_ROOT = "torch.sqrt(var + self.eps)"

_NORM_BY_HAND = (
    handwritten(
        "layernorm-over-tokens-and-features",
        "S09",
        (_MEAN, _MEAN.replace("-1", "(1, 2)")),
        (_VAR, _VAR.replace("-1", "(1, 2)")),
    ),
    handwritten(
        "layernorm-over-tokens", "S09", (_MEAN, _MEAN.replace("-1", "1")), (_VAR, _VAR.replace("-1", "1"))
    ),
    handwritten(
        "layernorm-over-batch", "S09", (_MEAN, _MEAN.replace("-1", "0")), (_VAR, _VAR.replace("-1", "0"))
    ),
    handwritten("layernorm-unbiased-variance", "S09", (", unbiased=False", "")),
    handwritten("layernorm-eps-outside-sqrt", "S09", (_ROOT, "(torch.sqrt(var) + self.eps)")),
    handwritten("layernorm-no-sqrt", "S09", (_ROOT, "(var + self.eps)")),
    handwritten(
        "layernorm-no-affine",
        "S09",
        ("return self.gamma * x_hat + self.beta", "return x_hat"),
        kind="variant",
    ),
    handwritten(
        "rmsnorm-instead-of-layernorm",
        "S09",
        (_MEAN, "mean = 0.0"),
        (_VAR, "var = x.pow(2).mean(dim=-1, keepdim=True)"),
        kind="variant",
    ),
    prenorm(
        "layernorm-eps-1e-5",
        "S09",
        ("self.norm1 = nn.LayerNorm(dim, eps=1e-6)", "self.norm1 = nn.LayerNorm(dim)"),
        ("self.norm2 = nn.LayerNorm(dim, eps=1e-6)", "self.norm2 = nn.LayerNorm(dim)"),
        ("self.norm = nn.LayerNorm(embed_dim, eps=1e-6)", "self.norm = nn.LayerNorm(embed_dim)"),
        kind="variant",
    ),
)

_MLP_INPUT = (
    report("mlp-reads-block-input", "S16", (_NORM, "x_post_attn_norm = self.norm2(x_in)")),
    prenorm(
        "mlp-reads-block-input",
        "S16",
        (f"{_FIRST}\n{_SECOND}", "x = x + self.attn(self.norm1(x)) + self.mlp(self.norm2(x))"),
    ),
    prenorm(
        "mlp-reads-attn-output",
        "S16",
        (
            f"{_FIRST}\n{_SECOND}",
            "attn_out = self.attn(self.norm1(x))\nx = x + attn_out\nx = x + self.mlp(self.norm2(attn_out))",
        ),
    ),
)

_GELU = "self.act = nn.GELU()"
_HIDDEN = "ff_hidden = self.act(self.fc1(ff_in))"
_FC1 = "self.fc1 = nn.Linear(dim, int(dim * mlp_ratio))"
_FC2 = "self.fc2 = nn.Linear(int(dim * mlp_ratio), dim)"

_MLP = (
    report("activation-missing", "S17", (_HIDDEN, "ff_hidden = self.fc1(ff_in)")),
    prenorm("activation-missing", "S17", ("x = self.act(x)\n", "")),
    report("relu-instead-of-gelu", "S17", (_GELU, "self.act = nn.ReLU()"), kind="variant"),
    prenorm("relu-instead-of-gelu", "S17", (_GELU, "self.act = nn.ReLU()"), kind="variant"),
    On("library_encoder")("relu-instead-of-gelu", "S17", ('activation="gelu",\n', ""), kind="variant"),
    report("silu-instead-of-gelu", "S17", (_GELU, "self.act = nn.SiLU()"), kind="variant"),
    report(
        "quick-gelu",
        "S17",
        (_HIDDEN, "ff_hidden = self.fc1(ff_in)\nff_hidden = ff_hidden * torch.sigmoid(1.702 * ff_hidden)"),
        kind="variant",
    ),
    report("gelu-tanh", "S17", (_GELU, 'self.act = nn.GELU(approximate="tanh")'), kind="variant"),
    handwritten("gelu-formula-wrong", "S17", ("torch.erf(x / math.sqrt(2.0))", "torch.erf(x)")),
    handwritten(
        "gelu-tanh",
        "S17",
        (
            "torch.erf(x / math.sqrt(2.0))",
            "torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))",
        ),
        kind="variant",
    ),
    prenorm("mlp-left-out", "S17", (_SECOND, "x = self.norm2(x)"), where="normed"),
    prenorm("mlp-result-dropped", "S19", (_SECOND, "y = x + self.mlp(self.norm2(x))"), where="other name"),
    prenorm("mlp-left-out", "S17", (_SECOND, "pass")),
    report(
        "mlp-ratio-wrong",
        "S17",
        (_FC1, "self.fc1 = nn.Linear(dim, dim)"),
        (_FC2, "self.fc2 = nn.Linear(dim, dim)"),
    ),
    report(
        "mlp-mixes-tokens",
        "S17",
        ("mlp_ratio=MLP_RATIO):", "mlp_ratio=MLP_RATIO, num_tokens=197):"),
        (_FC1, "self.fc1 = nn.Linear(num_tokens, int(dim * mlp_ratio))"),
        (_FC2, "self.fc2 = nn.Linear(int(dim * mlp_ratio), num_tokens)"),
        (_HIDDEN, "ff_hidden = self.act(self.fc1(ff_in.transpose(1, 2)))"),
        ("ff_out = self.fc2(ff_hidden)", "ff_out = self.fc2(ff_hidden).transpose(1, 2)"),
        (
            "EncoderBlock(embed_dim, num_heads, mlp_ratio)",
            "EncoderBlock(embed_dim, num_heads, mlp_ratio, num_patches + 1)",
        ),
    ),
    report(
        "activation-after-fc2",
        "S17",
        (_HIDDEN, "ff_hidden = self.fc1(ff_in)"),
        ("ff_out = self.fc2(ff_hidden)", "ff_out = self.act(self.fc2(ff_hidden))"),
        accepted=("activation-missing",),
    ),
    report("extra-activation-after-fc2", "S18", ("self.fc2(ff_hidden)", "self.act(self.fc2(ff_hidden))")),
    prenorm("extra-activation-after-fc2", "S18", ("x = self.fc2(x)", "x = self.act(self.fc2(x))")),
)

_MLP_SUM = "x_after_mlp = ff_in + ff_out"
_MLP_NORM = "x_post_mlp_norm = self.norm3(x_after_mlp)"

_BLOCK_OUTPUT = (
    report("residual-mlp-missing", "S19", (_MLP_SUM, "x_after_mlp = ff_out")),
    prenorm("residual-mlp-missing", "S19", (_SECOND, "x = self.mlp(self.norm2(x))")),
    prenorm("residual-mlp-from-normed", "S19", (_SECOND, "x = self.norm2(x)\nx = x + self.mlp(x)")),
    report("residual-mlp-from-block-input", "S19", (_MLP_SUM, "x_after_mlp = x_in + ff_out")),
    prenorm(
        "residual-mlp-from-block-input",
        "S19",
        (f"{_FIRST}\n{_SECOND}", "y = x + self.attn(self.norm1(x))\nx = x + self.mlp(self.norm2(y))"),
    ),
    report("residual-self-add", "S19", (_MLP_SUM, "x_after_mlp = ff_out + ff_out")),
    report("residual-doubled", "S19", (_MLP_SUM, "x_after_mlp = ff_in + ff_out + ff_in")),
    prenorm("residual-doubled", "S19", (_SECOND, "x = x + x + self.mlp(self.norm2(x))")),
    report("residual-multiplied", "S19", (_MLP_SUM, "x_after_mlp = ff_in * ff_out")),
    report(
        "residual-mlp-from-raw-sum", "S19", (_MLP_SUM, "x_after_mlp = x_after_attn + ff_out"), kind="variant"
    ),
    report(
        "pre-norm-block",
        "S19",
        (_MLP_SUM, "x_after_mlp = x_after_attn + ff_out"),
        (_MLP_NORM, "x_post_mlp_norm = x_after_mlp"),
        kind="variant",
    ),
    prenorm(
        "report-hybrid-block",
        "S19",
        (
            "self.norm2 = nn.LayerNorm(dim, eps=1e-6)",
            "self.norm2 = nn.LayerNorm(dim)\nself.norm3 = nn.LayerNorm(dim)",
        ),
        (
            f"{_FIRST}\n{_SECOND}",
            "x = self.norm2(x + self.attn(self.norm1(x)))\nx = self.norm3(x + self.mlp(x))",
        ),
        kind="variant",
    ),
    prenorm(
        "post-norm-block",
        "S09",
        (f"{_FIRST}\n{_SECOND}", "x = self.norm1(x + self.attn(x))\nx = self.norm2(x + self.mlp(x))"),
        accepted=("norm1-skipped",),
        kind="variant",
    ),
    On("library_encoder")(
        "post-norm-block", "S09", ("norm_first=True,\n", ""), accepted=("norm1-skipped",), kind="variant"
    ),
    prenorm(
        "parallel-block",
        "S16",
        (f"{_FIRST}\n{_SECOND}", "x = x + self.attn(self.norm1(x)) + self.mlp(self.norm2(x))"),
        kind="variant",
    ),
    prenorm(
        "sandwich-norm-block",
        "S16",
        (
            "self.norm2 = nn.LayerNorm(dim, eps=1e-6)",
            "self.norm2 = nn.LayerNorm(dim, eps=1e-6)\nself.norm3 = nn.LayerNorm(dim, eps=1e-6)\n"
            "self.norm4 = nn.LayerNorm(dim, eps=1e-6)",
        ),
        (
            f"{_FIRST}\n{_SECOND}",
            "x = x + self.norm3(self.attn(self.norm1(x)))\nx = x + self.norm4(self.mlp(self.norm2(x)))",
        ),
        kind="variant",
    ),
    prenorm(
        "res-post-norm-block",
        "S09",
        (f"{_FIRST}\n{_SECOND}", "x = x + self.norm1(self.attn(x))\nx = x + self.norm2(self.mlp(x))"),
        accepted=("norm1-skipped",),
        kind="variant",
    ),
    report("block-returns-branch", "S20", ("block_out = x_post_mlp_norm", "block_out = ff_out")),
    prenorm(
        "block-returns-branch",
        "S20",
        (_SECOND + "\nreturn x", "branch = self.mlp(self.norm2(x))\nx = x + branch\nreturn branch"),
    ),
    report("block-returns-tuple", "S20", ("return block_out", "return block_out, attn_probs"), crashes=True),
)

BLOCK = _RESIDUAL + _NORM_IN_REPORT + _NORM_BY_HAND + _MLP_INPUT + _MLP + _BLOCK_OUTPUT
