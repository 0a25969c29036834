"""Mistakes inside attention: S09 to S15."""

from __future__ import annotations

from .mutant import On

report, prenorm, separate = On("report"), On("prenorm"), On("separate_qkv")
heads = On("per_head_modules")
fused, library, encoder = On("fused_sdpa"), On("library_mha"), On("library_encoder")

_QKV = """\
qkv = self.qkv(x_norm).reshape(B, T, 3, self.num_heads, self.head_dim)
qkv = qkv.permute(2, 0, 3, 1, 4)
"""
_UNPACK = "q, k, v = qkv[0], qkv[1], qkv[2]"
_PACKED = "self.qkv = nn.Linear(dim, 3 * dim)"

_ONE_HEAD = "self.q(hidden_state), self.k(hidden_state), self.v(hidden_state)"

_PROJECTIONS = (
    heads(
        "query-equals-key",
        "S10",
        (_ONE_HEAD, "self.q(hidden_state), self.q(hidden_state), self.v(hidden_state)"),
    ),
    heads(
        "keys-reused-as-values",
        "S11",
        (_ONE_HEAD, "self.q(hidden_state), self.k(hidden_state), self.k(hidden_state)"),
    ),
    report("norm1-skipped", "S09", ("self.qkv(x_norm)", "self.qkv(x_in)"), accepted=("post-norm-block",)),
    prenorm("norm1-skipped", "S09", ("self.attn(self.norm1(x))", "self.attn(x)")),
    separate(
        "norm-only-on-query",
        "S10",
        ("def forward(self, x):\nq = self", "def forward(self, x, context):\n    q = self"),
        ("self.key(x)", "self.key(context)"),
        ("self.value(x)", "self.value(context)"),
        ("self.attention(self.ln1(x))", "self.attention(self.ln1(x), x)"),
    ),
    library(
        "norm-only-on-query",
        "S10",
        ("self.attention(normed, normed, normed)", "self.attention(normed, x, x)"),
    ),
    *(
        separate(
            "norm-left-out-of-one",
            label,
            ("def forward(self, x):\nq = self", "def forward(self, x, context):\n    q = self"),
            (f"self.{name}(x)", f"self.{name}(context)"),
            ("self.attention(self.ln1(x))", "self.attention(self.ln1(x), x)"),
        )
        for label, name in (("S09", "query"), ("S10", "key"), ("S11", "value"))
    ),
    library(
        "norm-left-out-of-one",
        "S11",
        ("self.attention(normed, normed, normed)", "self.attention(normed, normed, x)"),
    ),
    report(
        "heads-split-without-transpose",
        "S09",
        (
            _QKV + _UNPACK,
            "qkv = self.qkv(x_norm).chunk(3, dim=-1)\n"
            "q, k, v = [t.reshape(B, self.num_heads, T, self.head_dim) for t in qkv]",
        ),
    ),
    prenorm(  # the roles cut together with heads and tokens
        "heads-split-without-transpose",
        "S09",
        (
            "reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)",
            "reshape(B, 3, self.num_heads, N, C // self.num_heads).transpose(0, 1)",
        ),
    ),
    separate(
        "heads-split-without-transpose",
        "S09",
        (
            "x.view(batch, tokens, self.num_heads, self.head_dim).permute(0, 2, 1, 3)",
            "x.view(batch, self.num_heads, tokens, self.head_dim)",
        ),
    ),
    report(
        "qkv-interleaved-layout",
        "S09",
        (
            _QKV,
            "qkv = self.qkv(x_norm).reshape(B, T, self.num_heads, 3, self.head_dim)\n"
            "qkv = qkv.permute(3, 0, 2, 1, 4)\n",
        ),
        kind="layout",
    ),
    report("qkv-order-swapped", "S09", (_UNPACK, "v, q, k = qkv[0], qkv[1], qkv[2]"), kind="layout"),
    prenorm(
        "qkv-order-swapped", "S09", ("q, k, v = qkv.unbind(0)", "k, v, q = qkv.unbind(0)"), kind="layout"
    ),
    report(
        "heads-share-projection",
        "S09",
        (_PACKED, "self.qkv = nn.Linear(self.head_dim, 3 * self.head_dim)"),
        (
            _QKV,
            "slices = x_norm.reshape(B, T, self.num_heads, self.head_dim)\n"
            "qkv = self.qkv(slices).reshape(B, T, self.num_heads, 3, self.head_dim)\n"
            "qkv = qkv.permute(3, 0, 2, 1, 4)\n",
        ),
    ),
    separate(
        "heads-share-projection",
        "S09",
        (
            "self.query = nn.Linear(embed_dim, embed_dim)",
            "self.query = nn.Linear(self.head_dim, self.head_dim)",
        ),
        ("self.key = nn.Linear(embed_dim, embed_dim)", "self.key = nn.Linear(self.head_dim, self.head_dim)"),
        (
            "self.value = nn.Linear(embed_dim, embed_dim)",
            "self.value = nn.Linear(self.head_dim, self.head_dim)",
        ),
        ("self.split_heads(self.query(x))", "self.query(self.split_heads(x))"),
        ("self.split_heads(self.key(x))", "self.key(self.split_heads(x))"),
        ("self.split_heads(self.value(x))", "self.value(self.split_heads(x))"),
    ),
    report(
        "num-heads-ignored",
        "S09",
        ("self.num_heads = num_heads", "self.num_heads = 1"),
        ("self.head_dim = dim // num_heads", "self.head_dim = dim"),
    ),
    library(
        "num-heads-ignored",
        "S09",
        ("nn.MultiheadAttention(d_model, n_heads,", "nn.MultiheadAttention(d_model, 1,"),
    ),
    report(
        "only-first-head-used",
        "S09",
        (_UNPACK, "q, k, v = (t[:, :1].expand(-1, self.num_heads, -1, -1) for t in qkv)"),
    ),
    report(
        "qkv-bias-missing", "S09", (_PACKED, "self.qkv = nn.Linear(dim, 3 * dim, bias=False)"), kind="variant"
    ),
    prenorm("qkv-bias-missing", "S09", ("qkv_bias=True", "qkv_bias=False"), kind="variant"),
    prenorm(
        "projected-twice",
        "S09",
        (
            "nn.Linear(dim, dim * 3, bias=qkv_bias)",
            "nn.Sequential(nn.Linear(dim, dim), nn.Linear(dim, dim * 3))",
        ),
        kind="variant",
    ),
    report("query-equals-key", "S10", (_UNPACK, "q, k, v = qkv[0], qkv[0], qkv[2]")),
    separate("query-equals-key", "S10", ("self.split_heads(self.key(x))", "self.split_heads(self.query(x))")),
    separate("query-equals-key", "S09", ("self.split_heads(self.query(x))", "self.split_heads(self.key(x))")),
    separate(
        "query-equals-value", "S09", ("self.split_heads(self.query(x))", "self.split_heads(self.value(x))")
    ),
    separate(
        "query-equals-value", "S11", ("self.split_heads(self.value(x))", "self.split_heads(self.query(x))")
    ),
    separate(
        "keys-reused-as-values", "S10", ("self.split_heads(self.key(x))", "self.split_heads(self.value(x))")
    ),
    report(
        "keys-reused-as-values",
        "S11",
        (_UNPACK, "q, k, v = qkv[0], qkv[1], qkv[1]"),
        accepted=("context-uses-keys",),
        elsewhere=("S14",),  # the same numbers as P·K
    ),
    separate("keys-reused-as-values", "S11", ("v = self.split_heads(self.value(x))", "v = k")),
    report(
        "values-not-projected",
        "S11",
        (
            _UNPACK,
            "q, k = qkv[0], qkv[1]\nv = x_norm.reshape(B, T, self.num_heads, self.head_dim).transpose(1, 2)",
        ),
    ),
    separate("values-not-projected", "S11", ("self.split_heads(self.value(x))", "self.split_heads(x)")),
)

_SCORES = "attn_scores = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)"
_MASK = "torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device), diagonal=1)"
_HALF_SCALED = ("scale-by-head-dim", "scale-applied-twice")

_SCALING = (
    report("scale-missing", "S12", (" / math.sqrt(self.head_dim)", "")),
    prenorm("scale-missing", "S12", (" * self.scale", "")),
    separate("scale-missing", "S12", (" / math.sqrt(self.head_dim)", "")),
    fused("scale-missing", "S12", ("(q, k, v, dropout_p", "(q, k, v, scale=1.0, dropout_p")),
    report("scale-by-embed-dim", "S12", ("math.sqrt(self.head_dim)", "math.sqrt(self.dim)")),
    prenorm("scale-by-embed-dim", "S12", ("head_dim**-0.5", "dim**-0.5")),
    fused("scale-by-embed-dim", "S12", ("(q, k, v, dropout_p", "(q, k, v, scale=C**-0.5, dropout_p")),
    report("scale-by-head-dim", "S12", ("math.sqrt(self.head_dim)", "self.head_dim"), accepted=_HALF_SCALED),
    prenorm("scale-by-head-dim", "S12", ("head_dim**-0.5", "1 / head_dim"), accepted=_HALF_SCALED),
    report("scale-multiplied", "S12", ("/ math.sqrt(self.head_dim)", "* math.sqrt(self.head_dim)")),
    prenorm("scale-multiplied", "S12", ("* self.scale", "/ self.scale")),
    report(
        "scale-applied-twice",
        "S12",
        (_SCORES, "q_scaled = q * self.head_dim**-0.5\n" + _SCORES.replace("(q @", "(q_scaled @")),
        accepted=_HALF_SCALED,
    ),
    fused(
        "scale-applied-twice",
        "S12",
        ("y = F.scaled", "q = q * (C // self.n_head) ** -0.5\ny = F.scaled"),
        accepted=_HALF_SCALED,
    ),
    report("scale-by-num-heads", "S12", ("math.sqrt(self.head_dim)", "math.sqrt(self.num_heads)")),
    prenorm("scale-by-num-heads", "S12", ("head_dim**-0.5", "num_heads**-0.5")),
)

_COMPARISONS = (
    report(
        "kq-transposed",
        "S12",
        ("(q @ k.transpose(-2, -1))", "(k @ q.transpose(-2, -1))"),
        accepted=("qkv-order-swapped",),
        elsewhere=("S09",),  # the same numbers as an exchanged order of the packed thirds
    ),
    separate(
        "kq-transposed",
        "S12",
        ("torch.matmul(q, k.transpose(-1, -2))", "torch.matmul(k, q.transpose(-1, -2))"),
        accepted=("qkv-order-swapped",),
    ),
    report(
        "attention-over-heads-axis",
        "S12",
        ("qkv.permute(2, 0, 3, 1, 4)", "qkv.permute(2, 0, 1, 3, 4)"),
        ("attn_ctx.transpose(1, 2).reshape(B, T, D)", "attn_ctx.reshape(B, T, D)"),
    ),
    report(
        "causal-mask-added",
        "S12",
        (_SCORES, f"{_SCORES}\nattn_scores = attn_scores.masked_fill({_MASK}, -1e9)"),
    ),
    prenorm(
        "causal-mask-added",
        "S12",
        (
            "attn = (q @ k.transpose(-2, -1)) * self.scale",
            "attn = (q @ k.transpose(-2, -1)) * self.scale\n"
            "mask = torch.tril(torch.ones(N, N, device=x.device))\n"
            'attn = attn.masked_fill(mask == 0, float("-inf"))',
        ),
    ),
    fused("causal-mask-added", "S12", ("(q, k, v, dropout_p", "(q, k, v, is_causal=True, dropout_p")),
    library(
        "causal-mask-added",
        "S12",
        (
            "attended, _ = self.attention(normed, normed, normed)",
            "T = x.shape[1]\n"
            f"mask = {_MASK}\n"
            "attended, _ = self.attention(normed, normed, normed, attn_mask=mask)",
        ),
    ),
    report("all-axes-transposed", "S12", ("k.transpose(-2, -1)", "k.permute(3, 2, 1, 0)"), crashes=True),
    library("attention-over-batch-axis", "S12", (", batch_first=True", "")),
    encoder("attention-over-batch-axis", "S12", ("batch_first=True,\n", "")),
    report("stage-made-up", "S12", (_SCORES, "attn_scores = torch.randn(B, self.num_heads, T, T)")),
    report(
        "stage-made-up",
        "S09",
        (_UNPACK, _UNPACK + "\nq = torch.randn(B, self.num_heads, T, self.head_dim)"),
    ),
)

_SOFTMAX = "attn_probs = attn_scores.softmax(dim=-1)"

_PROBABILITIES = (
    report("softmax-over-queries", "S13", ("attn_scores.softmax(dim=-1)", "attn_scores.softmax(dim=-2)")),
    prenorm("softmax-over-queries", "S13", ("attn.softmax(dim=-1)", "attn.softmax(dim=-2)")),
    report("softmax-over-heads", "S13", ("attn_scores.softmax(dim=-1)", "attn_scores.softmax(dim=1)")),
    prenorm("softmax-over-heads", "S13", ("attn.softmax(dim=-1)", "attn.softmax(dim=1)")),
    report("softmax-over-batch", "S13", ("attn_scores.softmax(dim=-1)", "attn_scores.softmax(dim=0)")),
    prenorm("softmax-over-batch", "S13", ("attn.softmax(dim=-1)", "attn.softmax(dim=0)")),
    report(
        "softmax-over-flattened",
        "S13",
        (_SOFTMAX, "attn_probs = attn_scores.flatten(2).softmax(dim=-1).view_as(attn_scores)"),
    ),
    report("softmax-missing", "S13", (_SOFTMAX, "attn_probs = attn_scores")),
    prenorm("softmax-missing", "S13", ("attn = attn.softmax(dim=-1)\n", "")),
    report(
        "result-discarded",
        "S13",
        (_SOFTMAX, "attn_scores.softmax(dim=-1)\nattn_probs = attn_scores"),
        accepted=("softmax-missing",),
    ),
    report("softmax-twice", "S13", (_SOFTMAX, _SOFTMAX + ".softmax(dim=-1)")),
    prenorm(
        "softmax-twice", "S13", ("attn = attn.softmax(dim=-1)", "attn = attn.softmax(dim=-1).softmax(dim=-1)")
    ),
    report("scale-after-softmax", "S13", (_SOFTMAX, _SOFTMAX + " / math.sqrt(self.head_dim)")),
    prenorm(
        "scale-after-softmax",
        "S12",
        (" * self.scale", ""),
        ("attn.softmax(dim=-1)", "attn.softmax(dim=-1) * self.scale"),
        accepted=("scale-missing",),
    ),
    report("sigmoid-instead-of-softmax", "S13", (_SOFTMAX, "attn_probs = torch.sigmoid(attn_scores)")),
    On("handwritten_norm")(
        "naive-exp-overflow", "S13", ("x = x - x.amax(dim=-1, keepdim=True)\n", ""), invisible=True
    ),
)

_CONCAT = "attn_concat = attn_ctx.transpose(1, 2).reshape(B, T, D)"
_OUT = "attn_out = self.proj(attn_concat)"

_CONTEXT = (
    report("probs-transposed", "S14", ("attn_probs @ v", "attn_probs.transpose(-2, -1) @ v")),
    prenorm("probs-transposed", "S14", ("(attn @ v)", "(attn.transpose(-2, -1) @ v)")),
    report("own-value-kept", "S14", ("attn_probs @ v", "attn_probs.sum(dim=-1, keepdim=True) * v")),
    prenorm("own-value-kept", "S14", ("(attn @ v)", "torch.einsum('bhij,bhid->bhid', attn, v)")),
    report(
        "context-uses-keys", "S14", ("attn_probs @ v", "attn_probs @ k"), accepted=("keys-reused-as-values",)
    ),
    prenorm("context-uses-keys", "S14", ("(attn @ v)", "(attn @ q)")),
    report(
        "weights-used-as-context",
        "S14",
        ("attn_ctx = attn_probs @ v", "attn_ctx = attn_probs"),
        crashes=True,
    ),
    report("heads-merged-without-transpose", "S15", (_CONCAT, "attn_concat = attn_ctx.reshape(B, T, D)")),
    prenorm("heads-merged-without-transpose", "S15", ("(attn @ v).transpose(1, 2)", "(attn @ v)")),
    fused(
        "heads-merged-without-transpose", "S15", ("y = y.transpose(1, 2).contiguous()", "y = y.contiguous()")
    ),
    report(
        "heads-interleaved-on-merge",
        "S15",
        (_CONCAT, "attn_concat = attn_ctx.permute(0, 2, 3, 1).reshape(B, T, D)"),
        kind="layout",
    ),
    report(
        "heads-averaged",
        "S15",
        (_CONCAT, "attn_concat = attn_ctx.mean(dim=1)"),
        ("self.proj = nn.Linear(dim, dim)", "self.proj = nn.Linear(self.head_dim, dim)"),
    ),
    report("output-projection-missing", "S15", (_OUT, "attn_out = attn_concat")),
    prenorm("output-projection-missing", "S15", (".reshape(B, N, C)\nx = self.proj(x)", ".reshape(B, N, C)")),
    separate("output-projection-missing", "S15", ("return self.out(context)", "return context")),
    report("activation-after-out-proj", "S15", (_OUT, "attn_out = torch.relu(self.proj(attn_concat))")),
    prenorm("activation-after-out-proj", "S15", ("return self.proj_drop(x)", "return torch.relu(x)")),
    report(
        "probs-averaged-over-heads",
        "S13",
        ("attn_scores.softmax(dim=-1)", "attn_scores.softmax(dim=-1).mean(dim=1, keepdim=True)"),
    ),
    separate(
        "probs-averaged-over-heads",
        "S13",
        ("torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=-1).mean(1, keepdim=True)"),
    ),
    report(
        "view-on-noncontiguous",
        "S15",
        (_CONCAT, "attn_concat = attn_ctx.transpose(1, 2).view(B, T, D)"),
        crashes=True,
    ),
)

ATTENTION = _PROJECTIONS + _SCALING + _COMPARISONS + _PROBABILITIES + _CONTEXT
