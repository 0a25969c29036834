"""Mistakes of the whole model in further styles: most leave every number as it is."""

from __future__ import annotations

from .mutant import Mutant, On

prenorm, fused, library = On("prenorm"), On("fused_sdpa"), On("library_mha")
separate, einsum, raw, sinusoidal = (
    On("separate_qkv"),
    On("einsum_style"),
    On("raw_parameters"),
    On("sinusoidal"),
)

_ATTEND = "x = x + self.attn(self.norm1(x))"
_EXPAND = "cls_tokens = self.cls_token.expand(B, -1, -1)"
_BATCH = "B = x.shape[0]"
_INIT = "nn.init.trunc_normal_(self.cls_token, std=0.02)"
_EACH_LINEAR = "\nfor m in self.modules():\n    if isinstance(m, nn.Linear):\n        "
_BLOCKS = "[Block(embed_dim, num_heads, mlp_ratio, drop_rate) for _ in range(depth)]"
_LOOP = "for blk in self.blocks:\n    x = blk(x)"


def _invisible(on: On, mistake: str, *edits: tuple[str, str], kind: str = "error") -> Mutant:
    return on(mistake, "", *edits, kind=kind, invisible=True)


_BATCHING = (
    _invisible(prenorm, "batch-size-hard-coded", (_EXPAND, "cls_tokens = self.cls_token.expand(2, -1, -1)")),
    _invisible(
        separate,
        "batch-size-hard-coded",
        ("view(x.shape[0], x.shape[1], self.embed_dim)", "view(2, -1, self.embed_dim)"),
    ),
    _invisible(
        einsum, "squeeze-drops-batch", ("x[:, 0], self.to_logits", "x[:, :1].squeeze(), self.to_logits")
    ),
    _invisible(
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
    _invisible(
        library,
        "dropout-sticky-after-eval",
        (
            "def forward(self, img):",
            "def eval(self):\n    for module in self.modules():\n        if isinstance(module, nn.Dropout):\n"
            "            module.p = 0.0\n        if isinstance(module, nn.MultiheadAttention):\n"
            "            module.dropout = 0.0\n    return super().eval()\n\ndef forward(self, img):",
        ),
    ),
    _invisible(
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
    _invisible(prenorm, "reseeds-in-forward", (_BATCH, _BATCH + "\ntorch.manual_seed(1)")),
    _invisible(
        separate,
        "reseeds-in-forward",
        ("patches = self.embedding(images)", "torch.manual_seed(42)\npatches = self.embedding(images)"),
    ),
    _invisible(prenorm, "rng-consumed-in-eval", (_BATCH, _BATCH + "\nnoise = torch.randn(3)")),
)

_PLACES = (
    _invisible(fused, "tensor-made-on-cpu", ("self.cls.expand(len(x), -1, -1)", "torch.zeros(len(x), 1, 1) + self.cls")),
    _invisible(raw, "tensor-made-on-cpu", ("a = F.softmax(q @ k.transpose(2, 3)", "mask = torch.zeros(x.shape[1], x.shape[1])\na = F.softmax(mask + q @ k.transpose(2, 3)")),
    _invisible(
        On("clip_style"), "tensor-made-on-cpu", ("dtype=x.dtype, device=x.device", "dtype=x.dtype")
    ),
    On("clip_style")(
        "parameter-then-converted", "S05", ("nn.Parameter(scale * torch.randn(width))", "scale * nn.Parameter(torch.randn(width))"), accepted=("cls-not-parameter",)
    ),
    einsum(
        "parameter-then-converted",
        "S07",
        ("nn.Parameter(torch.randn((image_size // patch_size) ** 2 + 1, dim))", "nn.Parameter(torch.randn((image_size // patch_size) ** 2 + 1, dim)).mul(0.5)"),
        accepted=("pos-not-parameter",),
    ),
    _invisible(prenorm, "dtype-promoted", ("x = self.proj(x)\nreturn", "x = self.proj(x) * torch.ones(1, device=x.device)\nreturn")),
    _invisible(fused, "dtype-promoted", ("return self.head(self.ln_f(x)[:, 0])", "return self.head(self.ln_f(x)[:, 0]) * torch.ones(1, device=x.device)")),
)  # fmt: skip

_FRESH = (
    _invisible(prenorm, "init-constant-or-zero", (_INIT, _INIT + _EACH_LINEAR + "nn.init.constant_(m.weight, 0.02)")),
    _invisible(raw, "init-constant-or-zero", ("torch.randn(*shape) * 0.02", "torch.full(shape, 0.02)")),
    _invisible(sinusoidal, "init-constant-or-zero", ("self.wv = nn.Linear(dim, dim)", "self.wv = nn.Linear(dim, dim)\nnn.init.zeros_(self.wq.weight)")),
    _invisible(prenorm, "init-std-too-large", (_INIT, _INIT + _EACH_LINEAR + "nn.init.normal_(m.weight)"), kind="variant"),
    _invisible(raw, "init-std-too-large", ("torch.randn(*shape) * 0.02", "torch.randn(*shape)"), kind="variant"),
    _invisible(prenorm, "zero-init-head", (_INIT, _INIT + "\nnn.init.zeros_(self.head.weight)"), kind="variant"),
    _invisible(prenorm, "pos-init-too-large", ("nn.init.trunc_normal_(self.pos_embed, std=0.02)", "nn.init.normal_(self.pos_embed)"), kind="variant"),
    _invisible(
        prenorm,
        "blocks-identical-init",
        ("import torch\n", "import copy\n\nimport torch\n"),
        (f"nn.ModuleList({_BLOCKS})", "nn.ModuleList(copy.deepcopy(Block(embed_dim, num_heads, mlp_ratio, drop_rate)) for _ in range(depth))\nself.blocks = nn.ModuleList(copy.deepcopy(self.blocks[0]) for _ in range(depth))"),
    ),
    _invisible(
        raw,
        "blocks-identical-init",
        ("self.layers = nn.ModuleList([Layer(width, n_heads, hidden) for _ in range(n_layers)])", "self.layers = nn.ModuleList([Layer(width, n_heads, hidden) for _ in range(n_layers)])\nfor layer in self.layers:\n    layer.load_state_dict(self.layers[0].state_dict())"),
    ),
    prenorm(
        "mutable-default-module",
        "S17",
        ("def __init__(self, dim, hidden_dim, drop=0.0):", "def __init__(self, dim, hidden_dim, drop=0.0, act=nn.PReLU()):"),
        ("self.act = nn.GELU()", "self.act = act"),
    ),
    On("report")(
        "mutable-default-module",
        "S17",
        ("mlp_ratio=MLP_RATIO):", "mlp_ratio=MLP_RATIO, act=nn.PReLU()):"),
        ("self.act = nn.GELU()", "self.act = act"),
    ),
)  # fmt: skip

_GRADIENTS = (
    _invisible(prenorm, "path-detached", (_ATTEND, "x = x + self.attn(self.norm1(x)).detach()")),
    _invisible(einsum, "path-detached", ("x = attn(ln1(x)) + x", "x = attn(ln1(x)).data + x")),
    _invisible(library, "path-detached", ("x = attended + x", "x = attended.detach() + x")),
    _invisible(sinusoidal, "no-grad-in-blocks", ("x = self.blocks(x)", "with torch.no_grad():\n    x = self.blocks(x)")),
    _invisible(prenorm, "no-grad-in-blocks", ("def forward(self, x):\nB, N, C", "@torch.no_grad()\ndef forward(self, x):\n    B, N, C")),
    _invisible(prenorm, "unused-parameter", ("self.norm2 = ", "self.norm3 = nn.LayerNorm(dim)\nself.norm2 = ")),
    _invisible(library, "unused-parameter", ("self.norm_2 = ", "self.extra = nn.Linear(d_model, d_model)\nself.norm_2 = ")),
    _invisible(prenorm, "requires-grad-off", (_INIT, _INIT + "\nself.pos_embed.requires_grad_(False)")),
    _invisible(prenorm, "cls-detached", (_EXPAND, "cls_tokens = self.cls_token.data.expand(B, -1, -1)")),
)  # fmt: skip

_STATE = (
    prenorm("input-mutated-in-place", "S01", (_BATCH, _BATCH + "\nx -= 0.5")),
    einsum("input-mutated-in-place", "S01", ("p = self.p\n", "p = self.p\nimg[:, 0] *= 2\n")),
    fused("input-mutated-in-place", "S01", ("x = self.patchify(x)", "x = self.patchify(x.div_(0.5))")),
    prenorm(
        "state-leak",
        "S23",
        ("x = self.norm(x)\nreturn x[:, 0]", "x = 0.9 * x + 0.1 * getattr(self, 'last', x)\nself.last = x.detach()\nx = self.norm(x)\nreturn x[:, 0]"),
    ),
    prenorm("params-created-in-forward", "S15", ("x = self.proj(x)\nreturn", "x = nn.Linear(C, C)(x)\nreturn")),
    _invisible(
        sinusoidal,
        "keeps-graph-in-maps",
        ("self.heads = heads", "self.heads = heads\nself.maps = []"),
        ("return self.wo(", "self.maps.append(score)\nreturn self.wo("),
    ),
)  # fmt: skip

_CALLS = (
    separate(
        "result-discarded",
        "S15",
        ("context = context.permute(0, 2, 1, 3).contiguous()", "context.permute(0, 2, 1, 3)"),
        accepted=("heads-merged-without-transpose",),
    ),
    _invisible(
        einsum,
        "view-on-noncontiguous",
        ("patches = img.view(b, c, H // p, p, W // p, p)", "patches = img.view(b * c, H // p, p, W // p, p).unflatten(0, (b, c))"),
    ),
    _invisible(prenorm, "repeat-instead-of-expand", (_EXPAND, "cls_tokens = self.cls_token.repeat(B, 1, 1)"), kind="variant"),
    _invisible(separate, "loop-over-batch", ("context = torch.matmul(weights, v)", "context = torch.stack([w @ one for w, one in zip(weights, v)])"), kind="variant"),
    _invisible(separate, "loop-over-tokens", ("context = torch.matmul(weights, v)", "context = torch.stack([(w[..., None] * v).sum(2) for w in weights.unbind(2)], 2)"), kind="variant"),
    _invisible(separate, "loop-over-heads", ("context = torch.matmul(weights, v)", "context = torch.stack([w @ one for w, one in zip(weights.unbind(1), v.unbind(1))], 1)"), kind="variant"),
)  # fmt: skip

_SIZES = (
    _invisible(
        prenorm,
        "hard-coded-first-blocks",
        (_LOOP, "x = self.blocks[1](self.blocks[0](x))\nfor blk in self.blocks[2:]:\n    x = blk(x)"),
    ),
    _invisible(
        separate,
        "head-dim-floor",
        ("return x.view(", "return x[..., : self.num_heads * self.head_dim].view("),
        (
            "self.out = nn.Linear(embed_dim, embed_dim)",
            "self.out = nn.Linear(num_heads * self.head_dim, embed_dim)",
        ),
        ("x.shape[1], self.embed_dim)", "x.shape[1], -1)"),
    ),
    _invisible(
        prenorm,
        "head-dim-floor",
        (
            "qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)",
            "d = C // self.num_heads\nused = self.qkv(x).unflatten(-1, (3, C))[..., : self.num_heads * d]\n"
            "qkv = used.reshape(B, N, 3, self.num_heads, d).permute(2, 0, 3, 1, 4)",
        ),
        (
            ".reshape(B, N, C)",
            ".reshape(B, N, -1)\nx = nn.functional.pad(x, (0, C - x.shape[-1]))",
        ),
    ),
)

CROSSCUTTING = _BATCHING + _MODES + _PLACES + _FRESH + _GRADIENTS + _STATE + _CALLS + _SIZES
