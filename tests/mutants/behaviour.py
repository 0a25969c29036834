"""Mistakes of batching, modes, devices, gradients, state and speed."""

from __future__ import annotations

from .mutant import On

report = On("report")

_EXPAND = "cls_tok = self.cls_token.expand(B, -1, -1)"
_SOFTMAX = "attn_probs = attn_scores.softmax(dim=-1)"
_SCORES = "attn_scores = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)"
_CONTEXT = "attn_ctx = attn_probs @ v"
_POS = "self.pos_embed = nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))"
_IMAGE = "B = img.size(0)"

_MODE = (
    report(
        "functional-dropout-always-on",
        "S13",
        (_SOFTMAX, _SOFTMAX + "\nattn_probs = nn.functional.dropout(attn_probs, 0.1)"),
    ),
    report(
        "dropout-built-in-forward", "S13", (_SOFTMAX, _SOFTMAX + "\nattn_probs = nn.Dropout(0.1)(attn_probs)")
    ),
    On("fused_sdpa")(
        "sdpa-dropout-in-eval", "S13", ("dropout_p=self.dropout if self.training else 0.0", "dropout_p=0.1")
    ),
    report("reseeds-in-forward", "", (_IMAGE, _IMAGE + "\ntorch.manual_seed(0)"), invisible=True),
    report(
        "rng-consumed-in-eval",
        "",
        (_IMAGE, _IMAGE + "\nimg = img + 0.0 * torch.rand_like(img)"),
        invisible=True,
    ),
)

_BATCH_AND_DEVICE = (
    report(
        "batch-size-hard-coded", "S05", (_EXPAND, "cls_tok = self.cls_token.expand(1, -1, -1)"), crashes=True
    ),
    report(
        "tensor-made-on-cpu",
        "S05",
        (_EXPAND, "cls_tok = self.cls_token + torch.zeros(B, 1, 1)"),
        invisible=True,
    ),
    On("sinusoidal")(
        "buffer-not-registered",
        "S07",
        (
            'self.register_buffer("pe", sinusoid_table(n_positions, dim))',
            "self.pe = sinusoid_table(n_positions, dim)",
        ),
        invisible=True,
    ),
)

_GRADIENT = (
    report("path-detached", "S16", ("x_in + attn_out", "x_in + attn_out.detach()"), invisible=True),
    report(
        "no-grad-in-blocks",
        "S20",
        ("x = block(x)", "with torch.no_grad():\n    x = block(x)"),
        invisible=True,
    ),
    report(
        "unused-parameter",
        "",
        ("self.norm3 = nn.LayerNorm(dim)", "self.norm3 = nn.LayerNorm(dim)\nself.norm4 = nn.LayerNorm(dim)"),
        invisible=True,
    ),
    report("requires-grad-off", "S07", (_POS, _POS[:-1] + ", requires_grad=False)"), invisible=True),
)

_STATE = (
    report("input-mutated-in-place", "S01", (_IMAGE, _IMAGE + "\nimg.mul_(2).sub_(1)")),
    report(
        "state-leak",
        "S22",
        (
            "x_last = x\n",
            'x_last = 0.9 * x + 0.1 * getattr(self, "x_before", x)\nself.x_before = x.detach()\n',
        ),
    ),
    report("params-created-in-forward", "S15", ("self.proj(attn_concat)", "nn.Linear(D, D)(attn_concat)")),
    report(
        "keeps-graph-in-maps",
        "S13",
        ("self.norm3 = nn.LayerNorm(dim)", "self.norm3 = nn.LayerNorm(dim)\nself.attention_maps = []"),
        (_SOFTMAX, _SOFTMAX + "\nself.attention_maps.append(attn_probs)"),
        invisible=True,
    ),
)

_SPEED = (
    report(
        "loop-over-tokens",
        "S12",
        (
            _SCORES,
            "rows = [(q[:, :, i, None] * k).sum(-1) for i in range(T)]\n"
            "attn_scores = torch.stack(rows, dim=2) / math.sqrt(self.head_dim)",
        ),
        kind="variant",
        invisible=True,
    ),
    report(
        "loop-over-batch",
        "S14",
        (_CONTEXT, "attn_ctx = torch.stack([attn_probs[b] @ v[b] for b in range(B)])"),
        kind="variant",
        invisible=True,
    ),
    report(
        "loop-over-heads",
        "S14",
        (
            _CONTEXT,
            "attn_ctx = torch.stack([attn_probs[:, h] @ v[:, h] for h in range(self.num_heads)], dim=1)",
        ),
        kind="variant",
        invisible=True,
    ),
    On("library_mha")(
        "norm-computed-thrice",
        "S09",
        ("normed = self.norm_1(x)\n", ""),
        (
            "self.attention(normed, normed, normed)",
            "self.attention(self.norm_1(x), self.norm_1(x), self.norm_1(x))",
        ),
        kind="variant",
        invisible=True,
    ),
    report(
        "repeat-instead-of-expand",
        "S05",
        (_EXPAND, "cls_tok = self.cls_token.repeat(B, 1, 1)"),
        kind="variant",
        invisible=True,
    ),
)

BEHAVIOUR = _MODE + _BATCH_AND_DEVICE + _GRADIENT + _STATE + _SPEED
