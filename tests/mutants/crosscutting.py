"""Mistakes of the whole model in further styles: most leave every number as it is."""

from __future__ import annotations

from .fresh import FRESH
from .mutant import On, invisible

prenorm = On("prenorm")
fused = On("fused_sdpa")
library = On("library_mha")
separate = On("separate_qkv")
einsum = On("einsum_style")
raw = On("raw_parameters")
sinusoidal = On("sinusoidal")

_ATTEND = "x = x + self.attn(self.norm1(x))"
_EXPAND = "cls_tokens = self.cls_token.expand(B, -1, -1)"
_BATCH = "B = x.shape[0]"
_INIT = "nn.init.trunc_normal_(self.cls_token, std=0.02)"


_BATCHING = (
    invisible(prenorm, "batch-size-hard-coded", (_EXPAND, "cls_tokens = self.cls_token.expand(2, -1, -1)")),
    invisible(
        separate,
        "batch-size-hard-coded",
        ("view(x.shape[0], x.shape[1], self.embed_dim)", "view(2, -1, self.embed_dim)"),
    ),
    invisible(
        einsum, "squeeze-drops-batch", ("x[:, 0], self.to_logits", "x[:, :1].squeeze(), self.to_logits")
    ),
    invisible(
        fused,
        "squeeze-drops-batch",
        ("self.head(self.ln_f(x)[:, 0])", "self.head(self.ln_f(x[:, :1]).squeeze())"),
    ),
)

_MODES = (
    On("dropout_everywhere")(
        "functional-dropout-always-on",
        "S13",
        ("F.dropout(attn, self.dropout, training=self.training)", "F.dropout(attn, self.dropout)"),
    ),
    prenorm("dropout-built-in-forward", "S15", ("return self.proj_drop(x)", "return nn.Dropout(0.1)(x)")),
    invisible(
        library,
        "dropout-sticky-after-eval",
        (
            "def forward(self, img):",
            "def eval(self):\n    for module in self.modules():\n        if isinstance(module, nn.Dropout):\n"
            "            module.p = 0.0\n        if isinstance(module, nn.MultiheadAttention):\n"
            "            module.dropout = 0.0\n    return super().eval()\n\ndef forward(self, img):",
        ),
    ),
    invisible(
        On("dropout_everywhere"),
        "dropout-sticky-after-eval",
        (
            "def forward(self, x):\nx = self.patch_dropout",
            "def train(self, mode=True):\n    for module in [] if mode else self.modules():\n"
            "        for name in ('p', 'dropout'):\n            if hasattr(module, name):\n"
            "                setattr(module, name, 0.0)\n    return super().train(mode)\n\n"
            "def forward(self, x):\n    x = self.patch_dropout",
        ),
    ),
    invisible(prenorm, "reseeds-in-forward", (_BATCH, _BATCH + "\ntorch.manual_seed(1)")),
    invisible(
        separate,
        "reseeds-in-forward",
        ("patches = self.embedding(images)", "torch.manual_seed(42)\npatches = self.embedding(images)"),
    ),
    invisible(prenorm, "rng-consumed-in-eval", (_BATCH, _BATCH + "\nnoise = torch.randn(3)")),
)

_PLACES = (
    invisible(
        fused,
        "tensor-made-on-cpu",
        ("self.cls.expand(len(x), -1, -1)", "torch.zeros(len(x), 1, 1) + self.cls"),
    ),
    invisible(
        raw,
        "tensor-made-on-cpu",
        (
            "a = F.softmax(q @ k.transpose(2, 3)",
            "mask = torch.zeros(x.shape[1], x.shape[1])\na = F.softmax(mask + q @ k.transpose(2, 3)",
        ),
    ),
    invisible(On("clip_style"), "tensor-made-on-cpu", ("dtype=x.dtype, device=x.device", "dtype=x.dtype")),
    On("clip_style")(
        "parameter-then-converted",
        "S05",
        ("nn.Parameter(scale * torch.randn(width))", "scale * nn.Parameter(torch.randn(width))"),
        accepted=("cls-not-parameter",),
    ),
    einsum(
        "parameter-then-converted",
        "S07",
        (
            "nn.Parameter(torch.randn((image_size // patch_size) ** 2 + 1, dim))",
            "nn.Parameter(torch.randn((image_size // patch_size) ** 2 + 1, dim)).mul(0.5)",
        ),
        accepted=("pos-not-parameter",),
    ),
    On("handwritten_norm")(
        "weight-not-parameter",
        "",
        ("self.gamma = nn.Parameter(torch.ones(dim))", "self.gamma = torch.ones(dim)"),
    ),
    On("handwritten_norm")(
        "weight-not-parameter",
        "",
        ("self.beta = nn.Parameter(torch.zeros(dim))", "self.beta = torch.zeros(dim)"),
    ),
    invisible(
        prenorm,
        "dtype-promoted",
        ("x = self.proj(x)\nreturn", "x = self.proj(x) * torch.ones(1, device=x.device)\nreturn"),
    ),
    invisible(
        fused,
        "dtype-promoted",
        (
            "return self.head(self.ln_f(x)[:, 0])",
            "return self.head(self.ln_f(x)[:, 0]) * torch.ones(1, device=x.device)",
        ),
    ),
)

_GRADIENTS = (
    invisible(prenorm, "nothing-returned", ("return self.head(x)", "logits = self.head(x)")),
    invisible(prenorm, "path-detached", (_ATTEND, "x = x + self.attn(self.norm1(x)).detach()")),
    invisible(einsum, "path-detached", ("x = attn(ln1(x)) + x", "x = attn(ln1(x)).data + x")),
    invisible(library, "path-detached", ("x = attended + x", "x = attended.detach() + x")),
    invisible(
        sinusoidal,
        "no-grad-in-blocks",
        ("x = self.blocks(x)", "with torch.no_grad():\n    x = self.blocks(x)"),
    ),
    invisible(
        prenorm,
        "no-grad-in-blocks",
        ("def forward(self, x):\nB, N, C", "@torch.no_grad()\ndef forward(self, x):\n    B, N, C"),
    ),
    invisible(
        prenorm, "unused-parameter", ("self.norm2 = ", "self.norm3 = nn.LayerNorm(dim)\nself.norm2 = ")
    ),
    invisible(
        library,
        "unused-parameter",
        ("self.norm_2 = ", "self.extra = nn.Linear(d_model, d_model)\nself.norm_2 = "),
    ),
    invisible(prenorm, "requires-grad-off", (_INIT, _INIT + "\nself.pos_embed.requires_grad_(False)")),
    invisible(prenorm, "cls-detached", (_EXPAND, "cls_tokens = self.cls_token.data.expand(B, -1, -1)")),
)

_STATE = (
    prenorm("input-mutated-in-place", "S01", (_BATCH, _BATCH + "\nx -= 0.5")),
    einsum("input-mutated-in-place", "S01", ("p = self.p\n", "p = self.p\nimg[:, 0] *= 2\n")),
    fused("input-mutated-in-place", "S01", ("x = self.patchify(x)", "x = self.patchify(x.div_(0.5))")),
    prenorm(
        "state-leak",
        "S23",
        (
            "x = self.norm(x)\nreturn x[:, 0]",
            "x = 0.9 * x + 0.1 * getattr(self, 'last', x)\nself.last = x.detach()\n"
            "x = self.norm(x)\nreturn x[:, 0]",
        ),
    ),
    prenorm(
        "params-created-in-forward", "S15", ("x = self.proj(x)\nreturn", "x = nn.Linear(C, C)(x)\nreturn")
    ),
    invisible(
        sinusoidal,
        "keeps-graph-in-maps",
        ("self.heads = heads", "self.heads = heads\nself.maps = []"),
        ("return self.wo(", "self.maps.append(score)\nreturn self.wo("),
    ),
)

_CALLS = (
    separate(
        "result-discarded",
        "S15",
        ("context = context.permute(0, 2, 1, 3).contiguous()", "context.permute(0, 2, 1, 3)"),
        accepted=("heads-merged-without-transpose",),
    ),
    invisible(
        einsum,
        "view-on-noncontiguous",
        (
            "patches = img.view(b, c, H // p, p, W // p, p)",
            "patches = img.view(b * c, H // p, p, W // p, p).unflatten(0, (b, c))",
        ),
    ),
    invisible(
        prenorm,
        "repeat-instead-of-expand",
        (_EXPAND, "cls_tokens = self.cls_token.repeat(B, 1, 1)"),
        kind="variant",
    ),
    invisible(
        separate,
        "loop-over-batch",
        (
            "context = torch.matmul(weights, v)",
            "context = torch.stack([w @ one for w, one in zip(weights, v)])",
        ),
        kind="variant",
    ),
    invisible(
        separate,
        "loop-over-tokens",
        (
            "context = torch.matmul(weights, v)",
            "context = torch.stack([(w[..., None] * v).sum(2) for w in weights.unbind(2)], 2)",
        ),
        kind="variant",
    ),
    invisible(
        separate,
        "loop-over-heads",
        (
            "context = torch.matmul(weights, v)",
            "context = torch.stack([w @ one for w, one in zip(weights.unbind(1), v.unbind(1))], 1)",
        ),
        kind="variant",
    ),
)

CROSSCUTTING = _BATCHING + _MODES + _PLACES + _GRADIENTS + _STATE + _CALLS + FRESH
