"""Mistakes that nobody has listed: where each sits, and the relation that must be measured there."""

from __future__ import annotations

from dataclasses import dataclass

from .mutant import Edit


@dataclass(frozen=True)
class Unlisted:
    """A mistake without an id: ``stage`` is the label to blame, ``says`` a part of what is said of it."""

    base: str
    stage: str
    says: str
    edits: tuple[Edit, ...]

    @property
    def name(self) -> str:
        return f"{self.base}-{self.stage}-{self.says}"


def _on(base: str, stage: str, says: str, *edits: Edit) -> Unlisted:
    return Unlisted(base, stage, says, edits)


_SOFTMAX = "attn_probs = attn_scores.softmax(dim=-1)"
_SCORES = "attn_scores = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)"
_CUT = "patches4d = windows.permute(0, 2, 3, 1, 4, 5).reshape(B, gh * gw, C, P, P)"
_EMBED = "patch_embed = self.proj(patches_flat)"
_CAT = "x_tokens = torch.cat([cls_tok, x_embed], dim=1)"
_POS = "x_pos = x_tokens + self.pos_embed"
_CTX = "attn_ctx = attn_probs @ v"
_OUT = "attn_out = self.proj(attn_concat)"
_SUM = "x_after_attn = x_in + attn_out"
_NORM2 = "x_post_attn_norm = self.norm2(x_after_attn)"
_HIDDEN = "ff_hidden = self.act(self.fc1(ff_in))"
_FF = "ff_out = self.fc2(ff_hidden)"
_SUM2 = "x_after_mlp = ff_in + ff_out"
_NORM3 = "x_post_mlp_norm = self.norm3(x_after_mlp)"
_ROW = "cls_rep = final_seq[:, 0]"
_LOGITS = "logits = self.head(cls_rep)"


def _then(line: str, more: str) -> Edit:
    return line, f"{line}\n{more}"


UNLISTED: tuple[Unlisted, ...] = (
    # patches and their embeddings
    _on("report", "S02", "0.5 times", _then(_CUT, "patches4d = patches4d * 0.5")),
    _on(
        "report",
        "S02",
        "in patch 1 only, where it is 0 everywhere",
        _then(_CUT, "patches4d = patches4d.clone()\npatches4d[:, 1] = 0"),
    ),
    _on("report", "S02", "patches in reverse order", _then(_CUT, "patches4d = patches4d.flip(1)")),
    _on("report", "S02", "clamped", _then(_CUT, "patches4d = patches4d.clamp(-1, 1)")),
    _on("report", "S04", "plus 0.25 everywhere", _then(_EMBED, "patch_embed = patch_embed + 0.25")),
    _on("report", "S04", "square", _then(_EMBED, "patch_embed = patch_embed.pow(2)")),
    _on(
        "report",
        "S04",
        "scaled to length 1",
        _then(_EMBED, "patch_embed = nn.functional.normalize(patch_embed, dim=-1)"),
    ),
    _on(
        "report",
        "S04",
        "mixes images",
        _then(_EMBED, "patch_embed = patch_embed - 0.5 * patch_embed.mean(0, keepdim=True)"),
    ),
    _on(
        "prenorm",
        "S04",
        "moved by 1",
        ("x = x.flatten(2).transpose(1, 2)", "x = x.flatten(2).transpose(1, 2).roll(1, 1)"),
    ),
    _on(
        "prenorm",
        "S04",
        "cos of",
        ("x = x.flatten(2).transpose(1, 2)", "x = torch.cos(x.flatten(2).transpose(1, 2))"),
    ),
    _on(
        "einops_style",
        "S04",
        "0.1 times",
        ("x = self.to_patch_embedding(img)", "x = self.to_patch_embedding(img) * 0.1"),
    ),
    # tokens and positions
    _on(
        "report",
        "S06",
        "token 0 only",
        _then(_CAT, "x_tokens = torch.cat([x_tokens[:, :1] * 3, x_tokens[:, 1:]], dim=1)"),
    ),
    _on(
        "report",
        "S06",
        "with its tokens",
        _then(_CAT, "x_tokens = x_tokens[:, [0, 2, 1, *range(3, x_tokens.shape[1])]]"),
    ),
    _on(
        "report",
        "S07",
        "no simple relation",
        (_POS, "x_pos = x_tokens + self.pos_embed * 0.5 * x_tokens.mean(-1, keepdim=True)"),
    ),
    _on("report", "S07", "2 times", _then(_POS, "x_pos = x_pos * 2")),
    _on("report", "S07", "rounded to 0 decimals", _then(_POS, "x_pos = x_pos.round()")),
    _on(
        "prenorm",
        "S07",
        "+ 0.5 × S06",
        ("x = self.pos_drop(x + self.pos_embed)", "x = self.pos_drop(1.5 * x + self.pos_embed)"),
    ),
    # what the projections read
    _on("report", "S09", "1.1 times", ("x_norm = self.norm1(x_in)", "x_norm = self.norm1(x_in) * 1.1")),
    _on("report", "S09", "clamped", ("x_norm = self.norm1(x_in)", "x_norm = self.norm1(x_in).clamp(-1, 1)")),
    _on(
        "prenorm",
        "S09",
        "the size without the sign",
        ("self.attn(self.norm1(x))", "self.attn(self.norm1(x.abs()))"),
    ),
    _on(
        "report",
        "S09",
        "3 times",
        ("q, k, v = qkv[0], qkv[1], qkv[2]", "q, k, v = qkv[0] * 3 + 0.1, qkv[1], qkv[2]"),
    ),
    # attention
    _on("report", "S13", "1.37 times", (_SOFTMAX, _SOFTMAX + " * 1.37")),
    _on(
        "report",
        "S13",
        "to the power 2",
        (_SOFTMAX, _SOFTMAX + "\nattn_probs = attn_probs.pow(2) / attn_probs.pow(2).sum(-1, keepdim=True)"),
    ),
    _on("report", "S12", "clamped", _then(_SCORES, "attn_scores = attn_scores.clamp(-0.5, 0.5)")),
    _on(
        "prenorm",
        "S12",
        "plus",
        ("attn = attn.softmax(dim=-1)", "attn = (attn + torch.eye(N)).softmax(dim=-1)"),
    ),
    _on("report", "S13", "0 in", (_SOFTMAX, _SOFTMAX + "\nattn_probs = attn_probs * (attn_probs > 0.1)")),
    _on("report", "S14", "0.8 times", (_CTX, _CTX + " * 0.8")),
    _on("report", "S14", "heads", (_CTX, "attn_ctx = (attn_probs @ v).flip(1)")),
    _on("report", "S14", "S11", (_CTX, "attn_ctx = attn_probs @ v + v")),
    _on(
        "separate_qkv",
        "S12",
        "clamped",
        ("weights = torch.softmax(scores, dim=-1)", "weights = torch.softmax(scores.clamp(-1, 1), dim=-1)"),
    ),
    # attention's output, the residual and its norm
    _on("report", "S15", "clamped", _then(_OUT, "attn_out = attn_out.clamp(-0.5, 0.5)")),
    _on("report", "S15", "tanh", _then(_OUT, "attn_out = torch.tanh(attn_out)")),
    _on(
        "prenorm",
        "S12",
        "times",
        ("* self.scale", "/ math.sqrt(k.shape[2])"),
        ("import torch\n", "import math\n\nimport torch\n"),
    ),
    _on("report", "S16", "0.5 × S15", (_SUM, "x_after_attn = x_in + 0.5 * attn_out")),
    _on("report", "S16", "- S15", (_SUM, "x_after_attn = x_in - attn_out")),
    _on(
        "prenorm",
        "S16",
        "0.3 × S15",
        ("x = x + self.attn(self.norm1(x))", "x = x + 0.3 * self.attn(self.norm1(x))"),
    ),
    _on("report", "S16", "1.2 times", _then(_NORM2, "x_post_attn_norm = x_post_attn_norm * 1.2")),
    _on("report", "S16", "tokens", _then(_NORM2, "x_post_attn_norm = x_post_attn_norm.roll(1, 1)")),
    _on(
        "separate_qkv",
        "S16",
        "0.5 × S15",
        ("x = identity + out\nidentity = x", "x = identity + out * 0.5\nidentity = x"),
    ),
    # the MLP
    _on("report", "S17", "no simple relation", (_HIDDEN, "ff_hidden = torch.tanh(self.fc1(ff_in))")),
    _on("report", "S17", "0.9 times", _then(_HIDDEN, "ff_hidden = ff_hidden * 0.9")),
    _on("prenorm", "S17", "no simple relation", ("self.act = nn.GELU()", "self.act = nn.Hardtanh()")),
    _on("einops_style", "S17", "no simple relation", ("nn.GELU()", "nn.LeakyReLU(0.2)")),
    _on("report", "S18", "clamped", _then(_FF, "ff_out = ff_out.clamp(-0.3, 0.3)")),
    _on(
        "report",
        "S18",
        "2 times what the equation gives in the others",
        _then(_FF, "ff_out = ff_out * (ff_out > 0)\nff_out = ff_out * 2"),
    ),
    # the second residual and its norm
    _on("report", "S19", "0.5 × S18", (_SUM2, "x_after_mlp = ff_in + 0.5 * ff_out")),
    _on("report", "S19", "S15", (_SUM2, "x_after_mlp = ff_in + ff_out + attn_out")),
    _on(
        "prenorm",
        "S19",
        "0.5 × S18",
        ("x = x + self.mlp(self.norm2(x))", "x = x + 0.5 * self.mlp(self.norm2(x))"),
    ),
    _on("report", "S20", "1.1 times", _then(_NORM3, "x_post_mlp_norm = x_post_mlp_norm * 1.1")),
    _on(
        "prenorm",
        "S20",
        "1.1 times",
        ("x = x + self.mlp(self.norm2(x))\nreturn x", "x = x + self.mlp(self.norm2(x))\nreturn x * 1.1"),
    ),
    _on("einops_style", "S19", "what the equation gives + S18", ("x = ff(x) + x", "x = 2 * ff(x) + x")),
    # the readout
    _on("report", "S22", "0.5 times", ("final_seq = x_last", "final_seq = x_last * 0.5")),
    _on("report", "S24", "token 0 + token 1 of S23", (_ROW, "cls_rep = final_seq[:, 0] + final_seq[:, 1]")),
    _on("prenorm", "S24", "token 2 of S23", ("return x[:, 0]", "return x[:, 2]")),
    _on("prenorm", "S24", "7 vectors for 2 images", ("return x[:, 0]", "return x.mean(0)")),
    _on("report", "S24", "tanh", (_ROW, "cls_rep = torch.tanh(final_seq[:, 0])")),
    _on("report", "S24", "the smallest value of all tokens", (_ROW, "cls_rep = final_seq.min(dim=1).values")),
    _on("report", "S25", "2 times", _then(_LOGITS, "logits = logits * 2")),
    _on("prenorm", "S25", "0.1 times", ("return self.head(x)", "return self.head(x) * 0.1")),
    _on("prenorm", "S25", "tanh", ("return self.head(x)", "return torch.tanh(self.head(x))")),
)


# No simple relation fits these: what they depend on is all that can be measured.
DEPENDENT: tuple[Unlisted, ...] = (
    _on(
        "report",
        "S13",
        "Image 1 changes here when only image 0 changes.",
        (_SOFTMAX, _SOFTMAX + " * torch.sigmoid(attn_scores.mean(0))"),
    ),
    _on(
        "report",
        "S17",
        "Image 1 changes here when only image 0 changes.",
        _then(_HIDDEN, "ff_hidden = ff_hidden * torch.sigmoid(ff_hidden[:1])"),
    ),
    _on(
        "report",
        "S15",
        "Image 0 changes here when all images but image 0 change.",
        _then(_OUT, "attn_out = attn_out * torch.tanh(attn_out[-1:])"),
    ),
    _on(
        "report",
        "S04",
        "Patch 2 changes here when only patch 1 changes",
        _then(_EMBED, "patch_embed = patch_embed * torch.tanh(patch_embed.roll(1, 1))"),
    ),
    _on(
        "report",
        "S12",
        "Query 0 with key 0 changes here when only patch 1 changes",
        _then(_SCORES, "attn_scores = attn_scores * torch.sigmoid(attn_scores.mean(-1, keepdim=True))"),
    ),
    _on(
        "prenorm",
        "S17",
        "Token 0 changes here when only patch 1 changes (with the output projection of attention at 0).",
        ("x = self.act(x)", "x = self.act(x)\nx = x * x.mean(1, keepdim=True)"),
    ),
    _on(
        "report",
        "S24",
        "It changes here when all patches but patch 1 change",
        (_ROW, "cls_rep = torch.tanh(final_seq[:, 0] * final_seq[:, 1])"),
    ),
    _on(
        "report",
        "S06",
        "Token 2 stays the same here when only patch 1 changes",
        _then(_EMBED, "patch_embed = patch_embed.cos() ** 3\npatch_embed[:, 1] = 0.5"),
    ),
)
