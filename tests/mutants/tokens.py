"""Mistakes from the image to the first block: S02 to S08."""

from __future__ import annotations

from .mutant import On

report, prenorm = On("report"), On("prenorm")

_CUT = "patches4d = windows.permute(0, 2, 3, 1, 4, 5).reshape(B, gh * gw, C, P, P)"
_WINDOWS = "windows = img.unfold(2, P, P).unfold(3, P, P)  # (B, C, gh, gw, P, P)"
_FLATTEN = "patches_flat = patches4d.reshape(B, gh * gw, C * P * P)"
_PROJECT = "patch_embed = self.proj(patches_flat)"
_LINEAR = "self.proj = nn.Linear(in_channels * patch_size * patch_size, embed_dim)"
_COUNT = "num_patches = (height // patch_size) * (width // patch_size)"
_CONV = "self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)"
_TOKENS = "x = x.flatten(2).transpose(1, 2)"
_EMBED = "self.patch_embed = PatchEmbedding(in_channels, patch_size, embed_dim)"

_PATCHES = (
    report("patch-view-whole-image", "S02", (_CUT, "patches4d = img.reshape(B, gh * gw, C, P, P)")),
    report("unfold-view-no-permute", "S02", (_CUT, "patches4d = windows.reshape(B, gh * gw, C, P, P)")),
    report(
        "patch-axes-mixed",
        "S02",
        (
            _CUT,
            "windows = img.reshape(B, C, gh, P, gw, P).permute(0, 2, 3, 4, 5, 1)\n"
            "patches4d = windows.reshape(B, gh * gw, C, P, P)",
        ),
    ),
    report(
        "patch-columns-first",
        "S02",
        ("permute(0, 2, 3, 1, 4, 5)", "permute(0, 3, 2, 1, 4, 5)"),
        kind="layout",
    ),
    report(
        "patch-pixels-transposed",
        "S02",
        ("permute(0, 2, 3, 1, 4, 5)", "permute(0, 2, 3, 1, 5, 4)"),
        kind="layout",
        elsewhere=("S03",),  # seen once patches are flattened
    ),
    report(
        "strided-pixel-patches",
        "S02",
        (_WINDOWS, "windows = img.reshape(B, C, P, gh, P, gw).permute(0, 1, 3, 5, 2, 4)"),
    ),
    On("einops_style")(
        "strided-pixel-patches",
        "S02",
        ("b c (h p1) (w p2) -> b (h w) (c p1 p2)", "b c (p1 h) (p2 w) -> b (h w) (c p1 p2)"),
    ),
    report(
        "overlapping-patches",
        "S02",
        ("gh, gw = H // P, W // P", "step = P // 2\ngh, gw = (H - P) // step + 1, (W - P) // step + 1"),
        ("img.unfold(2, P, P).unfold(3, P, P)", "img.unfold(2, P, step).unfold(3, P, step)"),
        (
            _COUNT,
            "step = patch_size // 2\n"
            "num_patches = ((height - patch_size) // step + 1) * ((width - patch_size) // step + 1)",
        ),
        kind="variant",
    ),
    report(
        "patch-stride-missing",
        "S02",
        ("gh, gw = H // P, W // P", "gh, gw = H - P + 1, W - P + 1"),
        ("img.unfold(2, P, P).unfold(3, P, P)", "img.unfold(2, P, 1).unfold(3, P, 1)"),
        (_COUNT, "num_patches = (height - patch_size + 1) * (width - patch_size + 1)"),
    ),
    report(
        "grid-dims-swapped",
        "S02",
        (_WINDOWS, "windows = img.reshape(B, C, gw, P, gh, P).permute(0, 1, 2, 4, 3, 5)"),
    ),
    report(
        "flatten-channel-last",
        "S03",
        (_FLATTEN, "patches_flat = patches4d.permute(0, 1, 3, 4, 2).reshape(B, gh * gw, P * P * C)"),
        kind="variant",
    ),
    report(
        "unfold-reshape-not-transpose",
        "S03",
        (
            _FLATTEN,
            "columns = patches4d.flatten(2).transpose(1, 2)\npatches_flat = columns.reshape(B, gh * gw, -1)",
        ),
    ),
    On("unfold_style")(
        "unfold-reshape-not-transpose",
        "S03",
        ("columns.transpose(1, 2)", "columns.reshape(x.shape[0], -1, columns.shape[1])"),
    ),
    prenorm("conv-reshape-not-transpose", "S04", (_TOKENS, "x = x.reshape(x.shape[0], -1, x.shape[1])")),
    On("separate_qkv")(
        "conv-reshape-not-transpose",
        "S04",
        (
            "patches.flatten(start_dim=2).permute(0, 2, 1)",
            "patches.view(images.shape[0], -1, self.class_token.shape[2])",
        ),
    ),
    prenorm(
        "conv-tokens-column-major",
        "S04",
        (_TOKENS, "x = x.transpose(2, 3).flatten(2).transpose(1, 2)"),
        kind="layout",
        accepted=("patch-columns-first",),
    ),
    report(
        "activation-after-projection",
        "S04",
        (_PROJECT, "patch_embed = torch.relu(self.proj(patches_flat))"),
        kind="variant",
    ),
    prenorm(
        "activation-after-projection",
        "S04",
        (_TOKENS, "x = nn.functional.gelu(x.flatten(2).transpose(1, 2))"),
        kind="variant",
    ),
    report(
        "embeddings-scaled",
        "S04",
        (_PROJECT, "patch_embed = self.proj(patches_flat) * self.proj.out_features ** 0.5"),
        kind="variant",
    ),
    prenorm(
        "embeddings-scaled",
        "S04",
        (_TOKENS, "x = x.flatten(2).transpose(1, 2)\nx = x.size(2) ** 0.5 * x"),
        kind="variant",
    ),
    report(
        "norm-after-projection",
        "S04",
        (_LINEAR, _LINEAR + "\nself.norm = nn.LayerNorm(embed_dim)"),
        (_PROJECT, "patch_embed = self.norm(self.proj(patches_flat))"),
        kind="variant",
    ),
    report(
        "projection-per-position",
        "S04",
        (
            "embed_dim=EMBED_DIM):\nsuper().__init__()\nself.patch_size",
            "embed_dim=EMBED_DIM, num_patches=196):\n    super().__init__()\n    self.patch_size",
        ),
        (
            _LINEAR,
            "features = in_channels * patch_size * patch_size\n"
            "self.proj = nn.Parameter(torch.randn(num_patches, features, embed_dim))",
        ),
        (_PROJECT, 'patch_embed = torch.einsum("bnf,nfd->bnd", patches_flat, self.proj)'),
        (_EMBED, "self.patch_embed = PatchEmbedding(in_channels, patch_size, embed_dim, num_patches)"),
    ),
    report("projection-bias-missing", "S04", (_LINEAR, _LINEAR[:-1] + ", bias=False)"), kind="variant"),
    prenorm(
        "image-scaled-in-model", "S02", ("self.patch_embed(x)", "self.patch_embed(2 * x - 1)"), kind="variant"
    ),
    prenorm("projection-bias-missing", "S04", (_CONV, _CONV[:-1] + ", bias=False)"), kind="variant"),
)

_CLS = "self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))"
_POS = "self.pos_embed = nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))"
_EXPAND = "cls_tok = self.cls_token.expand(B, -1, -1)"
_CAT = "x_tokens = torch.cat([cls_tok, x_embed], dim=1)"
_ADD = "x_pos = x_tokens + self.pos_embed"
_NO_EXTRA_ROW = ("num_patches + 1, embed_dim", "num_patches, embed_dim")

_CLASS_TOKEN = (
    report("cls-not-parameter", "S05", (_CLS, "self.cls_token = torch.zeros(1, 1, embed_dim)")),
    report(
        "parameter-then-converted",
        "S05",
        (_CLS, "self.cls_token = 0.02 * nn.Parameter(torch.randn(1, 1, embed_dim))"),
        ("nn.init.trunc_normal_(self.cls_token, std=0.02)\n", ""),
        accepted=("cls-not-parameter",),
    ),
    report(
        "cls-per-batch-slot",
        "S05",
        (_CLS, "self.cls_token = nn.Parameter(torch.zeros(8, 1, embed_dim))"),
        (_EXPAND, "cls_tok = self.cls_token[:B]"),
    ),
    report("cls-random-each-forward", "S05", (_EXPAND, "cls_tok = torch.randn(B, 1, x_embed.size(-1))")),
    report(
        "cls-mean-of-patches",
        "S05",
        (_CLS + "\n", ""),
        ("nn.init.trunc_normal_(self.cls_token, std=0.02)\n", ""),
        (_EXPAND, "cls_tok = x_embed.mean(dim=1, keepdim=True)"),
        kind="variant",
    ),
    report(
        "cls-detached",
        "S05",
        (_EXPAND, "cls_tok = self.cls_token.detach().expand(B, -1, -1)"),
        invisible=True,
    ),
    report(
        "cls-missing",
        "S06",
        (_CAT, "x_tokens = x_embed"),
        _NO_EXTRA_ROW,
        kind="variant",
        accepted=("readout-of-some-patches",),  # row 0 is read as before
    ),
    report(
        "cls-overwrites-first-patch",
        "S06",
        (
            _CAT,
            "x_tokens = torch.cat([x_embed, torch.zeros_like(cls_tok)], dim=1)\nx_tokens[:, :1] = cls_tok",
        ),
    ),
    report("cls-appended-last", "S06", (_CAT, "x_tokens = torch.cat([x_embed, cls_tok], dim=1)")),
    prenorm(
        "cls-appended-last", "S06", ("torch.cat((cls_tokens, x), dim=1)", "torch.cat((x, cls_tokens), dim=1)")
    ),
    report("cls-added-not-concatenated", "S06", (_CAT, "x_tokens = x_embed + cls_tok"), _NO_EXTRA_ROW),
    report(
        "cls-cat-on-batch-dim", "S06", (_CAT, "x_tokens = torch.cat([cls_tok, x_embed], dim=0)"), crashes=True
    ),
    report(
        "cls-overwrites-first-patch",
        "S06",
        (_CAT, "x_tokens = x_embed.clone()\nx_tokens[:, :1] = cls_tok"),
        _NO_EXTRA_ROW,
    ),
)

_POSITIONS = (
    report("pos-missing", "S07", (_ADD, "x_pos = x_tokens"), accepted=("block-reads-stale-tokens",)),
    prenorm(
        "pos-missing",
        "S07",
        ("x = self.pos_drop(x + self.pos_embed)", "x = self.pos_drop(x)"),
        accepted=("block-reads-stale-tokens",),
    ),
    report("pos-not-parameter", "S07", (_POS, "self.pos_embed = torch.zeros(1, num_patches + 1, embed_dim)")),
    report(
        "pos-batch-shaped",
        "S07",
        (_POS, "self.pos_embed = nn.Parameter(torch.zeros(8, 1, embed_dim))"),
        (_ADD, "x_pos = x_tokens + self.pos_embed[:B]"),
    ),
    report(
        "pos-one-number-a-token",
        "S07",
        (_POS, "self.pos_embed = nn.Parameter(torch.zeros(1, num_patches + 1, 1))"),
    ),
    report("pos-single-vector", "S07", (_POS, "self.pos_embed = nn.Parameter(torch.zeros(1, 1, embed_dim))")),
    report(
        "cls-without-position",
        "S07",
        (_CAT, "x_embed = x_embed + self.pos_embed\n" + _CAT),
        (_ADD, "x_pos = x_tokens"),
        _NO_EXTRA_ROW,
        kind="variant",
    ),
    On("sequence_first")(
        "cls-without-position",
        "S07",
        (
            "x + self.positional_embedding.unsqueeze(1)",
            "x + nn.functional.pad(self.positional_embedding[1:], (0, 0, 1, 0)).unsqueeze(1)",
        ),
        kind="variant",
    ),
    On("sinusoidal")(
        "cls-without-position",
        "S07",
        (
            'self.register_buffer("pe", sinusoid_table(n_positions, dim))',
            "table = sinusoid_table(n_positions - 1, dim)\n"
            'self.register_buffer("pe", nn.functional.pad(table, (0, 0, 1, 0)))',
        ),
        kind="variant",
    ),
    On("vector_tokens")(
        "class-token-last",
        "S06",
        ("torch.cat([first, patches], dim=1)", "torch.cat([patches, first], dim=1)"),
        ("self.norm(x[:, 0])", "self.norm(x[:, -1])"),
        where="keeping its position",
        kind="variant",
    ),
    On("vector_tokens")(
        "cls-without-position", "S07", ("(self.cls + self.pos[0])", "self.cls"), kind="variant"
    ),
    prenorm(
        "cls-without-position",
        "S07",
        (
            "x = self.pos_drop(x + self.pos_embed)",
            "x[:, 1:] = x[:, 1:] + self.pos_embed[:, 1:]\nx = self.pos_drop(x)",
        ),
        kind="variant",
    ),
    report("pos-off-by-one", "S07", (_ADD, "x_pos = x_tokens + torch.roll(self.pos_embed, 1, dims=1)")),
    report(
        "pos-before-cls-row-mismatch",
        "S07",
        (_ADD, "x_pos = x_tokens + torch.cat([self.pos_embed[:, :1], self.pos_embed], dim=1)"),
        _NO_EXTRA_ROW,
    ),
    report("pos-multiplied", "S07", (_ADD, "x_pos = x_tokens * self.pos_embed")),
    report(
        "pos-concatenated",
        "S07",
        (_ADD, "x_pos = torch.cat([x_tokens, self.pos_embed.expand(B, -1, -1)], dim=-1)"),
        ("EncoderBlock(embed_dim, num_heads", "EncoderBlock(2 * embed_dim, num_heads"),
        ("self.head = nn.Linear(embed_dim", "self.head = nn.Linear(2 * embed_dim"),
        kind="variant",
    ),
    report("pos-added-twice", "S07", (_ADD, _ADD + "\nx_pos = x_pos + self.pos_embed")),
    prenorm(  # to the patches, before there is a class token, and to all
        "pos-added-twice",
        "S07",
        ("torch.cat((cls_tokens, x), dim=1)", "torch.cat((cls_tokens, x + self.pos_embed[:, 1:]), dim=1)"),
    ),
    report(
        "pos-every-block",
        "S21",
        ("x = block(x)", "if i > 0:\n    x = x + self.pos_embed\nx = block(x)"),
        kind="variant",
    ),
    prenorm(
        "pos-every-block",
        "S21",
        ("x = self.pos_drop(x + self.pos_embed)", "x = self.pos_drop(x)"),
        ("x = blk(x)", "x = blk(x + self.pos_embed)"),
        kind="variant",
    ),
    On("sinusoidal")("sinusoid-wrong-frequencies", "S07", ("math.log(10000.0)", "math.log(1000.0)")),
    On("sinusoidal")("sinusoid-wrong-frequencies", "S07", ("/ dim))", "/ dim * 2))")),
    On("sinusoidal")(
        "sinusoid-wrong-frequencies",
        "S07",
        (
            "table[:, 1::2] = torch.cos(position * div_term)",
            "cos_term = torch.exp(torch.arange(1, dim, 2) * (-math.log(10000.0) / dim))\n"
            "table[:, 1::2] = torch.cos(position * cos_term)",
        ),
    ),
    On("sinusoidal")(
        "sinusoid-halves-layout",
        "S07",
        ("table[:, 0::2]", "table[:, : dim // 2]"),
        ("table[:, 1::2]", "table[:, dim // 2 :]"),
        kind="variant",
    ),
)

_BLOCK_INPUT = (
    report("block-reads-stale-tokens", "S08", ("x = x_pos\n", "x = x_tokens\n"), accepted=("pos-missing",)),
    report(
        "extra-norm-before-encoder",
        "S08",
        (_POS, _POS + "\nself.norm_pre = nn.LayerNorm(embed_dim)"),
        ("x = x_pos\n", "x = self.norm_pre(x_pos)\n"),
        kind="variant",
    ),
    prenorm(
        "extra-norm-before-encoder",
        "S08",
        ("self.pos_drop = nn.Dropout(drop_rate)", "self.pos_drop = nn.LayerNorm(embed_dim, eps=1e-6)"),
        kind="variant",
    ),
    On("clip_style")("pre-encoder-norm-missing", "S08", ("x = self.ln_pre(x)\n", "")),
)

TOKENS = _PATCHES + _CLASS_TOKEN + _POSITIONS + _BLOCK_INPUT
