"""Mistakes that make a forward pass raise: where each sits, its id if it has one, and what must be said."""

from __future__ import annotations

from dataclasses import dataclass

from .mutant import Edit


@dataclass(frozen=True)
class Crashing:
    """``stage`` is the label to blame; ``id`` is None where the catalogue has none."""

    base: str
    stage: str
    id: str | None
    says: str
    edits: tuple[Edit, ...]

    @property
    def name(self) -> str:
        return f"{self.base}-{self.stage}-{self.says}"


def _on(base: str, stage: str, id: str | None, says: str, *edits: Edit) -> Crashing:
    return Crashing(base, stage, id, says, edits)


_CAT = "x_tokens = torch.cat([cls_tok, x_embed], dim=1)"
_EXPAND = "cls_tok = self.cls_token.expand(B, -1, -1)"
_POS = "x_pos = x_tokens + self.pos_embed"
_TABLE = "self.pos_embed = nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))"
_SCORES = "attn_scores = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)"
_CONCAT = "attn_concat = attn_ctx.transpose(1, 2).reshape(B, T, D)"
_QKV = "qkv = self.qkv(x_norm).reshape(B, T, 3, self.num_heads, self.head_dim)"
_CONV = "nn.Conv2d(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)"
_BRANCH = "x = x + self.attn(self.norm1(x))"

CRASHING: tuple[Crashing, ...] = (
    # patches and their embeddings
    _on("prenorm", "S04", None, "channels", (_CONV, _CONV.replace("in_chans", "1", 1))),
    _on(
        "prenorm",
        "S02",
        "missing-batch-axis",
        "2 and 24",
        ("x = self.proj(x)\nx = x.flatten", "x = self.proj(x[0])\nx = x.flatten"),
    ),
    _on(
        "report", "S02", "missing-batch-axis", "unpack", ("self.patch_embed(img)", "self.patch_embed(img[0])")
    ),
    _on(
        "report",
        "S04",
        None,
        "features",
        (
            "nn.Linear(in_channels * patch_size * patch_size, embed_dim)",
            "nn.Linear(patch_size * patch_size, embed_dim)",
        ),
    ),
    _on("report", "S02", None, "`patch_size`", ("P = self.patch_size", "P = self.patchsize")),
    _on(
        "report",
        "S04",
        None,
        "features",
        ("patch_embed = self.proj(patches_flat)", "patch_embed = self.proj(patches_flat.mT)"),
    ),
    _on(
        "report",
        "S04",
        None,
        "proj",
        ("patch_embed = self.proj(patches_flat)", "patch_embed = self.projj(patches_flat)"),
    ),
    # the class token
    _on(
        "report",
        "S05",
        "batch-size-hard-coded",
        "along axis 0 they have 1 and 2",
        (_EXPAND, "cls_tok = self.cls_token.expand(1, -1, -1)"),
    ),
    _on(
        "report",
        "S05",
        None,
        "along axis 0 they have 1 and 2",
        (_CAT, "x_tokens = torch.cat([self.cls_token, x_embed], dim=1)"),
    ),
    _on(
        "report",
        "S05",
        "batch-size-hard-coded",
        "along axis 0 they have 4 and 2",
        (_EXPAND, "cls_tok = self.cls_token.expand(4, -1, -1)"),
    ),
    _on(
        "report",
        "S05",
        "cls-per-batch-slot",
        "along axis 0 they have 5 and 2",
        (_EXPAND, "cls_tok = self.cls_token"),
        (
            "self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))",
            "self.cls_token = nn.Parameter(torch.zeros(5, 1, embed_dim))",
        ),
    ),
    _on(
        "report",
        "S05",
        None,
        "can only change axes of size 1",
        (_EXPAND, "cls_tok = self.cls_token.expand(B, -1)"),
    ),
    _on(
        "report",
        "S06",
        "cls-cat-on-batch-dim",
        "concatenated along axis 0",
        (_CAT, "x_tokens = torch.cat([cls_tok, x_embed], dim=0)"),
    ),
    _on(
        "prenorm",
        "S06",
        "cls-cat-on-batch-dim",
        "concatenated along axis 0",
        ("torch.cat((cls_tokens, x), dim=1)", "torch.cat((cls_tokens, x), dim=0)"),
    ),
    _on(
        "report",
        "S06",
        None,
        "concatenated along axis 2",
        (_CAT, "x_tokens = torch.cat([cls_tok, x_embed], dim=-1)"),
    ),
    _on("report", "S05", None, "cls_token", (_EXPAND, "cls_tok = self.class_tokn.expand(B, -1, -1)")),
    # positions
    _on(
        "report",
        "S07",
        "pos-before-cls-row-mismatch",
        "7 and 6",
        (_TABLE, _TABLE.replace("num_patches + 1", "num_patches")),
    ),
    _on(
        "prenorm",
        "S07",
        "pos-before-cls-row-mismatch",
        "7 and 6",
        ("torch.zeros(1, num_patches + 1, embed_dim)", "torch.zeros(1, num_patches, embed_dim)"),
    ),
    _on("report", "S07", None, "7 and 9", (_TABLE, _TABLE.replace("num_patches + 1", "num_patches + 3"))),
    _on("report", "S07", None, "pos_embed", (_POS, "x_pos = x_tokens + self.pos_embeding")),
    # projections
    _on(
        "report",
        "S09",
        None,
        "values",
        (_QKV, "qkv = self.qkv(x_norm).reshape(B, T, 4, self.num_heads, self.head_dim)"),
    ),
    _on(
        "report",
        "S09",
        "head-dim-floor",
        "values",
        ("self.num_heads = num_heads", "self.num_heads = 5"),
        ("self.head_dim = dim // num_heads", "self.head_dim = dim // 5"),
    ),
    _on("report", "S09", None, "norm1", ("x_norm = self.norm1(x_in)", "x_norm = self.norm(x_in)")),
    _on(
        "report",
        "S09",
        None,
        "norm was built for",
        ("self.norm1 = nn.LayerNorm(dim)", "self.norm1 = nn.LayerNorm(dim + 1)"),
    ),
    _on(
        "report",
        "S09",
        None,
        "features",
        ("self.qkv = nn.Linear(dim, 3 * dim)", "self.qkv = nn.Linear(4 * dim, 3 * dim)"),
    ),
    _on(
        "report",
        "S09",
        "batch-size-hard-coded",
        "values",
        (_QKV, "qkv = self.qkv(x_norm).reshape(1, T, 3, self.num_heads, self.head_dim)"),
    ),
    _on(
        "separate_qkv",
        "S09",
        None,
        "values",
        ("self.head_dim = embed_dim // num_heads", "self.head_dim = embed_dim // num_heads + 1"),
    ),
    # attention
    _on(
        "report",
        "S12",
        None,
        "last axis of the first factor has size 8",
        (_SCORES, "attn_scores = (q @ k) / math.sqrt(self.head_dim)"),
    ),
    _on(
        "prenorm",
        "S12",
        None,
        "last axis of the first factor has size 8",
        ("(q @ k.transpose(-2, -1)) * self.scale", "(q @ k) * self.scale"),
    ),
    _on(
        "report",
        "S12",
        "all-axes-transposed",
        "must be",
        (_SCORES, "attn_scores = (q @ k.permute(3, 2, 1, 0)) / math.sqrt(self.head_dim)"),
    ),
    _on("report", "S12", None, "math", ("import math\n", "")),
    _on(
        "report",
        "S13",
        None,
        "4 axes",
        ("attn_probs = attn_scores.softmax(dim=-1)", "attn_probs = attn_scores.softmax(dim=4)"),
    ),
    _on(
        "report",
        "S14",
        "weights-used-as-context",
        "values",
        ("attn_ctx = attn_probs @ v", "attn_ctx = attn_probs"),
    ),
    _on(
        "report",
        "S14",
        None,
        "last axis of the first factor has size 7",
        ("attn_ctx = attn_probs @ v", "attn_ctx = attn_probs @ v.transpose(-2, -1)"),
    ),
    _on(
        "report",
        "S15",
        "view-on-noncontiguous",
        "reshape copies",
        (_CONCAT, "attn_concat = attn_ctx.transpose(1, 2).view(B, T, D)"),
    ),
    _on(
        "separate_qkv",
        "S15",
        "view-on-noncontiguous",
        "reshape copies",
        ("context = context.permute(0, 2, 1, 3).contiguous()", "context = context.permute(0, 2, 1, 3)"),
    ),
    _on(
        "report",
        "S15",
        None,
        "features",
        ("self.proj = nn.Linear(dim, dim)\nself.norm2", "self.proj = nn.Linear(2 * dim, dim)\nself.norm2"),
    ),
    _on(
        "library_mha",
        "S16",
        None,
        "tuple",
        (
            "attended, _ = self.attention(normed, normed, normed)",
            "attended = self.attention(normed, normed, normed)",
        ),
    ),
    # residuals and the MLP
    _on(
        "report",
        "S15",
        None,
        "24 and 48",
        ("self.proj = nn.Linear(dim, dim)\nself.norm2", "self.proj = nn.Linear(dim, 2 * dim)\nself.norm2"),
    ),
    _on(
        "report",
        "S16",
        None,
        "x_after_attn",
        ("x_post_attn_norm = self.norm2(x_after_attn)", "x_post_attn_norm = self.norm2(x_after_atn)"),
    ),
    _on(
        "report",
        "S17",
        None,
        "features",
        (
            "self.fc1 = nn.Linear(dim, int(dim * mlp_ratio))",
            "self.fc1 = nn.Linear(2 * dim, int(dim * mlp_ratio))",
        ),
    ),
    _on(
        "report",
        "S18",
        None,
        "features",
        ("self.fc2 = nn.Linear(int(dim * mlp_ratio), dim)", "self.fc2 = nn.Linear(dim, dim)"),
    ),
    _on(
        "prenorm",
        "S18",
        None,
        "features",
        ("self.fc2 = nn.Linear(hidden_dim, dim)", "self.fc2 = nn.Linear(hidden_dim * 2, dim)"),
    ),
    _on(
        "report",
        "S19",
        None,
        "sizes must be equal or 1",
        ("x_after_mlp = ff_in + ff_out", "x_after_mlp = ff_in + ff_hidden"),
    ),
    _on(
        "report",
        "S19",
        None,
        "norm3",
        ("x_post_mlp_norm = self.norm3(x_after_mlp)", "x_post_mlp_norm = self.norm4(x_after_mlp)"),
    ),
    # blocks and the readout
    _on(
        "report", "S20", "block-returns-tuple", "tuple", ("return block_out", "return block_out, attn_probs")
    ),
    _on(
        "prenorm",
        "S20",
        "block-returns-tuple",
        "tuple",
        ("x = x + self.mlp(self.norm2(x))\nreturn x", "x = x + self.mlp(self.norm2(x))\nreturn x, None"),
    ),
    _on(
        "separate_qkv",
        "S20",
        "block-returns-tuple",
        "tuple",
        ("return identity + out", "return identity + out, out"),
    ),
    _on("report", "S20", None, "None", ("return block_out", "")),
    _on(
        "report",
        "S22",
        "hard-coded-first-blocks",
        "range",
        ("x_last = x", "x_last = self.blocks[len(self.blocks)](x)"),
    ),
    _on("report", "S25", None, "features", ("logits = self.head(cls_rep)", "logits = self.head(cls_rep.T)")),
    _on("report", "S25", None, "head", ("logits = self.head(cls_rep)", "logits = self.haed(cls_rep)")),
    _on(
        "prenorm",
        "S25",
        None,
        "features",
        (
            "self.head = nn.Linear(embed_dim, num_classes)",
            "self.head = nn.Linear(2 * embed_dim, num_classes)",
        ),
    ),
    _on(
        "prenorm",
        "S23",
        None,
        "norm",
        ("x = self.norm(x)\nreturn x[:, 0]", "x = self.nrom(x)\nreturn x[:, 0]"),
    ),
    _on("report", "S24", None, "out of bounds", ("cls_rep = final_seq[:, 0]", "cls_rep = final_seq[:, 400]")),
    _on("report", "S26", None, "2 axes", ("probs = logits.softmax(dim=-1)", "probs = logits.softmax(dim=2)")),
)
