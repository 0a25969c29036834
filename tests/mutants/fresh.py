"""Mistakes in how a model is made: first weights, shared instances, sizes that it was not tried at."""

from __future__ import annotations

from .mutant import On, invisible

prenorm = On("prenorm")
separate = On("separate_qkv")
raw = On("raw_parameters")
sinusoidal = On("sinusoidal")

_INIT = "nn.init.trunc_normal_(self.cls_token, std=0.02)"
_EACH_LINEAR = "\nfor m in self.modules():\n    if isinstance(m, nn.Linear):\n        "
_BLOCKS = "[Block(embed_dim, num_heads, mlp_ratio, drop_rate) for _ in range(depth)]"
_LOOP = "for blk in self.blocks:\n    x = blk(x)"

_FRESH = (
    invisible(
        prenorm, "init-constant-or-zero", (_INIT, _INIT + _EACH_LINEAR + "nn.init.constant_(m.weight, 0.02)")
    ),
    invisible(raw, "init-constant-or-zero", ("torch.randn(*shape) * 0.02", "torch.full(shape, 0.02)")),
    invisible(
        sinusoidal,
        "init-constant-or-zero",
        ("self.wv = nn.Linear(dim, dim)", "self.wv = nn.Linear(dim, dim)\nnn.init.zeros_(self.wq.weight)"),
    ),
    invisible(  # a helper that clears every vector clears the scales of norms as well
        prenorm,
        "init-constant-or-zero",
        (_INIT, _INIT + "\nfor p in self.parameters():\n    if p.dim() == 1:\n        nn.init.zeros_(p)"),
    ),
    invisible(prenorm, "init-constant-or-zero", (_INIT, _INIT + "\nnn.init.zeros_(self.norm.weight)")),
    invisible(
        prenorm,
        "init-spread-given-as-mean",
        (_INIT, _INIT + _EACH_LINEAR + "nn.init.trunc_normal_(m.weight, 0.02)"),
    ),
    invisible(
        sinusoidal,
        "init-spread-given-as-mean",
        ("self.wv = nn.Linear(dim, dim)", "self.wv = nn.Linear(dim, dim)\nself.wv.weight.data.normal_(0.02)"),
    ),
    invisible(
        prenorm,
        "init-std-too-large",
        (_INIT, _INIT + _EACH_LINEAR + "nn.init.normal_(m.weight)"),
        kind="variant",
    ),
    invisible(
        raw, "init-std-too-large", ("torch.randn(*shape) * 0.02", "torch.randn(*shape)"), kind="variant"
    ),
    invisible(
        prenorm, "zero-init-head", (_INIT, _INIT + "\nnn.init.zeros_(self.head.weight)"), kind="variant"
    ),
    invisible(
        prenorm,
        "pos-init-too-large",
        ("nn.init.trunc_normal_(self.pos_embed, std=0.02)", "nn.init.normal_(self.pos_embed)"),
        kind="variant",
    ),
    invisible(
        prenorm,
        "blocks-identical-init",
        ("import torch\n", "import copy\n\nimport torch\n"),
        (
            f"nn.ModuleList({_BLOCKS})",
            "nn.ModuleList()\nblock = Block(embed_dim, num_heads, mlp_ratio, drop_rate)\n"
            "self.blocks.extend(copy.deepcopy(block) for _ in range(depth))",
        ),
        kind="variant",
    ),
    invisible(
        raw,
        "blocks-identical-init",
        (
            "self.norm = nn.LayerNorm(width)\nself.w_head",
            "for layer in self.layers:\n    layer.load_state_dict(self.layers[0].state_dict())\n"
            "self.norm = nn.LayerNorm(width)\nself.w_head",
        ),
        kind="variant",
    ),
    prenorm(
        "mutable-default-module",
        "S17",
        (
            "def __init__(self, dim, hidden_dim, drop=0.0):",
            "def __init__(self, dim, hidden_dim, drop=0.0, act=nn.PReLU()):",
        ),
        ("self.act = nn.GELU()", "self.act = act"),
    ),
    On("report")(
        "mutable-default-module",
        "S17",
        ("mlp_ratio=MLP_RATIO):", "mlp_ratio=MLP_RATIO, act=nn.PReLU()):"),
        ("self.act = nn.GELU()", "self.act = act"),
    ),
)

_SIZES = (
    invisible(
        prenorm,
        "hard-coded-first-blocks",
        (_LOOP, "x = self.blocks[1](self.blocks[0](x))\nfor blk in self.blocks[2:]:\n    x = blk(x)"),
    ),
    invisible(
        separate,
        "head-dim-floor",
        ("return x.view(", "return x[..., : self.num_heads * self.head_dim].view("),
        (
            "self.out = nn.Linear(embed_dim, embed_dim)",
            "self.out = nn.Linear(num_heads * self.head_dim, embed_dim)",
        ),
        ("x.shape[1], self.embed_dim)", "x.shape[1], -1)"),
    ),
    invisible(
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

FRESH = _FRESH + _SIZES
