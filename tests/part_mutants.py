"""Mistakes planted in single components and in exercises: one edit, and the id that it must be given."""

from __future__ import annotations

from dataclasses import dataclass

from submitting import Edit


@dataclass(frozen=True)
class Planted:
    """``key`` is the component or exercise, ``id`` what is to be said of it; None where no id is known."""

    sample: str
    key: str
    id: str | None
    edits: tuple[Edit, ...]
    fusion: str | None = None

    def __str__(self) -> str:
        return f"{self.sample}-{self.key}-{self.id}"


def _planted(sample: str, key: str, id: str | None, *edits: Edit, fusion: str | None = None) -> Planted:
    return Planted(sample, key, id, edits, fusion)


_SCORES = "scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)"
_SOFTMAX = "probs = scores.softmax(dim=-1)"
_MERGE = "context = (probs @ v).transpose(1, 2).reshape(B, T, D)"

COMPONENTS = (
    _planted(
        "classes",
        "patch_embedding",
        "conv-reshape-not-transpose",
        (
            "x = x.flatten(2)\n        return x.transpose(1, 2)",
            "return x.reshape(x.shape[0], -1, x.shape[1])",
        ),
    ),
    _planted("classes", "patch_embedding", None, ("return x.transpose(1, 2)", "return x")),
    _planted(
        "classes",
        "patch_embedding",
        "activation-after-projection",
        ("x = self.proj(x)\n", "x = torch.relu(self.proj(x))\n"),
    ),
    _planted(
        "functions",
        "patch_embedding",
        "unfold-view-no-permute",
        ("patches = patches.permute(0, 2, 3, 1, 4, 5).reshape", "patches = patches.reshape"),
    ),
    _planted("classes", "class_token", "cls-appended-last", ("[cls, x]", "[x, cls]")),
    _planted(
        "classes",
        "class_token",
        "cls-overwrites-first-patch",
        ("torch.cat([cls, x], dim=1)", "torch.cat([cls, x[:, 1:]], dim=1)"),
    ),
    _planted(
        "functions",
        "class_token",
        "cls-appended-last",
        ("[cls_token.expand(x.size(0), 1, x.size(2)), x]", "[x, cls_token.expand(x.size(0), 1, x.size(2))]"),
    ),
    _planted(
        "classes",
        "class_token",
        "cls-not-parameter",
        ("nn.Parameter(torch.zeros(1, 1, embed_dim))", "torch.zeros(1, 1, embed_dim)"),
    ),
    _planted(
        "classes", "positions", "pos-multiplied", ("return x + self.pos_embed", "return x * self.pos_embed")
    ),
    _planted(
        "classes",
        "positions",
        "pos-added-twice",
        ("return x + self.pos_embed", "return x + self.pos_embed + self.pos_embed"),
    ),
    _planted("classes", "positions", "pos-missing", ("return x + self.pos_embed", "return x")),
    _planted(
        "classes",
        "positions",
        "pos-off-by-one",
        ("return x + self.pos_embed", "return x + self.pos_embed.roll(1, 1)"),
    ),
    _planted(
        "hardcoded",
        "positions",
        "sinusoid-wrong-frequencies",
        ("-math.log(10000.0)", "-math.log(1000.0)"),
    ),
    _planted("classes", "layer_norm", "layernorm-unbiased-variance", ("unbiased=False", "unbiased=True")),
    _planted(
        "functions",
        "layer_norm",
        "layernorm-eps-outside-sqrt",
        (
            "torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False) + eps)",
            "torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False)) + eps",
        ),
    ),
    _planted(
        "classes", "layer_norm", "layernorm-no-sqrt", ("/ torch.sqrt(var + self.eps)", "/ (var + self.eps)")
    ),
    _planted(
        "hardcoded",
        "layer_norm",
        "layernorm-over-tokens",
        ("mu = x.mean(dim=2, keepdim=True)", "mu = x.mean(dim=1, keepdim=True)"),
        ("(centred**2).mean(dim=2, keepdim=True)", "(centred**2).mean(dim=1, keepdim=True)"),
    ),
    _planted(
        "classes",
        "layer_norm",
        "layernorm-no-affine",
        ("self.weight = nn.Parameter(torch.ones(n_features))", "self.weight = 1.0"),
        ("self.bias = nn.Parameter(torch.zeros(n_features))", "self.bias = 0.0"),
    ),
    _planted(
        "classes",
        "layer_norm",
        None,
        ("self.bias = nn.Parameter(torch.zeros(n_features))", "self.bias = 0.0"),
    ),
    _planted(
        "hardcoded",
        "layer_norm_plain",
        "layernorm-unbiased-variance",
        ("x.var(-1, unbiased=False, keepdim=True)", "x.var(-1, keepdim=True)"),
    ),
    _planted("classes", "attention", "scale-missing", (_SCORES, "scores = q @ k.transpose(-2, -1)")),
    _planted("classes", "attention", "scale-by-embed-dim", ("math.sqrt(self.head_dim)", "math.sqrt(D)")),
    _planted(
        "functions",
        "attention",
        "scale-by-head-dim",
        ("(D // num_heads) ** -0.5", "(D // num_heads) ** -1.0"),
    ),
    _planted("classes", "attention", "softmax-over-queries", (_SOFTMAX, "probs = scores.softmax(dim=-2)")),
    _planted(
        "functions",
        "attention",
        "softmax-over-heads",
        ("F.softmax(scores, dim=-1)", "F.softmax(scores, dim=1)"),
    ),
    _planted("classes", "attention", "softmax-missing", (_SOFTMAX, "probs = scores")),
    _planted("classes", "attention", "context-uses-keys", ("(probs @ v)", "(probs @ k)")),
    _planted("classes", "attention", "probs-transposed", ("(probs @ v)", "(probs.mT @ v)")),
    _planted(
        "classes",
        "attention",
        "heads-merged-without-transpose",
        (_MERGE, "context = (probs @ v).reshape(B, T, D)"),
    ),
    _planted(
        "classes", "attention", "output-projection-missing", ("return self.out(context)", "return context")
    ),
    _planted(
        "classes",
        "attention",
        "residual-inside-component",
        ("return self.out(context)", "return x + self.out(context)"),
    ),
    _planted("library", "attention", "attention-over-batch-axis", (", batch_first=True", "")),
    _planted("hardcoded", "attention", "scale-missing", ("size**-0.5", "1.0")),
    _planted("classes", "mlp", "activation-missing", ("nn.functional.gelu(self.fc1(x))", "self.fc1(x)")),
    _planted("classes", "mlp", "relu-instead-of-gelu", ("nn.functional.gelu(", "torch.relu(")),
    _planted(
        "functions",
        "mlp",
        "extra-activation-after-fc2",
        ("return F.gelu(x @ w1 + b1) @ w2 + b2", "return F.gelu(F.gelu(x @ w1 + b1) @ w2 + b2)"),
    ),
    _planted(
        "hardcoded",
        "mlp",
        "residual-inside-component",
        ("return self.down(x)", "return self.down(x) + skip"),
        ("        x = self.up(x)", "        skip = x\n        x = self.up(x)"),
    ),
    _planted("classes", "block", "residual-attn-missing", ("x = x + self.attn", "x = self.attn")),
    _planted("classes", "block", "residual-mlp-missing", ("return x + self.mlp", "return self.mlp")),
    _planted("classes", "block", "norm2-skipped", ("self.mlp(self.norm2(x))", "self.mlp(x)")),
    _planted("classes", "block", "norm1-skipped", ("self.attn(self.norm1(x))", "self.attn(x)")),
    _planted(
        "hardcoded",
        "block",
        "residual-from-normed-attn",
        (
            "attended, _ = self.msa(self.ln1(x))",
            "x = self.ln1(x)\n        attended, _ = self.msa(x)",
        ),
    ),
    _planted(
        "library", "block", "norm1-reused-for-norm2", ("self.norm2(x + self.attn", "self.norm1(x + self.attn")
    ),
)

_MEAN = "fused = attn.mean(dim=1)"
_MIX = "fused = 0.5 * fused + 0.5 * eye"
_RESIZE = 'F.interpolate(grid, size=image.shape[-2:], mode="bilinear", align_corners=False)'
_ROLL = "rollout = attention @ rollout"

EXERCISES = (
    _planted("rollout_course", "get_attention", "heads-summed", (_MEAN, "fused = attn.sum(dim=1)")),
    _planted(
        "rollout_course",
        "get_attention",
        "heads-fused-by-max",
        (_MEAN, "fused = attn.amax(dim=1)"),
        fusion="mean",
    ),
    _planted("rollout_course", "get_attention", "heads-fused-by-mean", fusion="max"),
    _planted("rollout_course", "get_attention", "heads-only-first", (_MEAN, "fused = attn[:, 0]")),
    _planted("rollout_course", "get_attention", "heads-not-fused", (_MEAN, "fused = attn")),
    _planted("rollout_course", "get_attention", "rollout-residual-missing", (_MIX, "pass")),
    _planted(
        "rollout_course", "get_attention", "rollout-residual-of-ones", (_MIX, "fused = 0.5 * fused + 0.5")
    ),
    _planted(
        "rollout_course",
        "get_attention",
        "rollout-residual-not-halved",
        (_MIX, "fused = fused + eye"),
        ("fused / fused.sum(dim=-1, keepdim=True)", "fused"),
    ),
    _planted(
        "rollout_numpy",
        "get_attention",
        "rollout-rows-not-normalised",
        ("a = fused + torch", "a = 0.5 * fused + 0.5 * torch"),
        ("a / a.sum(-1)[..., None]", "a"),
    ),
    _planted(
        "rollout_course",
        "get_attention",
        "rollout-columns-normalised",
        ("fused.sum(dim=-1, keepdim=True)", "fused.sum(dim=-2, keepdim=True)"),
    ),
    _planted(
        "rollout_pieces",
        "get_attention",
        "maps-layers-reversed",
        ("for layer in model.layers]", "for layer in reversed(model.layers)]"),
    ),
    _planted(
        "rollout_course", "get_attention", "maps-of-one-layer", ("return processed", "return processed[-1]")
    ),
    _planted(
        "rollout_course",
        "attention_rollout",
        "rollout-order-reversed",
        (_ROLL, "rollout = rollout @ attention"),
    ),
    _planted(
        "rollout_course",
        "attention_rollout",
        "rollout-sum-of-layers",
        (_ROLL, "rollout = rollout + attention"),
        ("return rollout / rollout.sum(dim=-1, keepdim=True)", "return rollout"),
    ),
    _planted(
        "rollout_course",
        "attention_rollout",
        "rollout-mean-of-layers",
        (_ROLL, "rollout = rollout + attention"),
    ),
    _planted(
        "rollout_course",
        "attention_rollout",
        "rollout-elementwise-product",
        (_ROLL, "rollout = rollout * attention"),
        ("return rollout / rollout.sum(dim=-1, keepdim=True)", "return rollout"),
    ),
    _planted(
        "rollout_course",
        "attention_rollout",
        "rollout-skips-layers",
        ("attention_maps[1:]", "attention_maps[1:-1]"),
    ),
    _planted(
        "rollout_course",
        "attention_rollout",
        "rollout-counts-first-layer-twice",
        ("attention_maps[1:]", "attention_maps"),
    ),
    _planted("rollout_course", "attention_rollout", "rollout-one-layer-only", (_ROLL, "rollout = attention")),
    _planted(
        "rollout_course",
        "attention_rollout",
        "rollout-columns-normalised",
        ("rollout.sum(dim=-1, keepdim=True)", "rollout.sum(dim=-2, keepdim=True)"),
    ),
    _planted(
        "rollout_pieces",
        "attention_rollout",
        "rollout-residual-missing",
        ("normalize_rows(add_residual(fused)) @ result", "normalize_rows(fused) @ result"),
    ),
    _planted(
        "rollout_pieces",
        "attention_rollout",
        "rollout-order-reversed",
        ("normalize_rows(add_residual(fused)) @ result", "result @ normalize_rows(add_residual(fused))"),
    ),
    _planted("rollout_pieces", "fuse_heads", "heads-summed", ("attention.mean(1) if", "attention.sum(1) if")),
    _planted(
        "rollout_pieces",
        "fuse_heads",
        "heads-fused-over-wrong-axis",
        ("attention.mean(1) if", "attention.mean(2) if"),
    ),
    _planted(
        "rollout_pieces",
        "mix_residual",
        "rollout-residual-of-ones",
        ("torch.eye(attention.shape[-1])", "torch.ones(attention.shape[-1])"),
    ),
    _planted(
        "rollout_pieces",
        "normalise_rows",
        "rollout-columns-normalised",
        (
            "attention / attention.sum(dim=-1, keepdim=True)",
            "attention / attention.sum(dim=-2, keepdim=True)",
        ),
    ),
    _planted(
        "rollout_pieces",
        "normalise_rows",
        "rollout-rows-softmaxed",
        ("attention / attention.sum(dim=-1, keepdim=True)", "attention.softmax(dim=-1)"),
    ),
    _planted(
        "rollout_course",
        "class_token_map",
        "class-column-instead-of-row",
        ("rollout[:, 0, 1:]", "rollout[:, 1:, 0]"),
    ),
    _planted(
        "rollout_course",
        "class_token_map",
        "class-token-not-dropped",
        ("rollout[:, 0, 1:]", "rollout[:, 0, :-1]"),
    ),
    _planted(
        "rollout_course",
        "class_token_map",
        "map-of-all-tokens",
        ("rollout[:, 0, 1:]", "rollout.mean(1)[:, 1:]"),
    ),
    _planted(
        "rollout_course",
        "class_token_map",
        "map-grid-transposed",
        ("row.reshape(-1, 1, side, side)", "row.reshape(-1, 1, side, side).mT"),
    ),
    _planted(
        "rollout_course",
        "class_token_map",
        "resize-sizes-swapped",
        ("size=image.shape[-2:]", "size=(image.shape[-1], image.shape[-2])"),
    ),
    _planted(
        "rollout_course",
        "class_token_map",
        "resize-not-bilinear",
        (_RESIZE, "F.interpolate(grid, size=image.shape[-2:])"),
    ),
    _planted("rollout_course", "class_token_map", "resize-missing", (_RESIZE, "grid")),
    _planted(
        "rollout_course",
        "position_similarity",
        "similarity-not-normalised",
        ("F.normalize(patches, dim=-1)", "patches"),
    ),
    _planted(
        "rollout_course",
        "position_similarity",
        "similarity-with-class-token",
        ("pos_embed[0, 1:]", "pos_embed[0]"),
        (".reshape(side, side, side, side)", ""),
    ),
    _planted(
        "rollout_course",
        "position_similarity",
        "similarity-drops-last-token",
        ("pos_embed[0, 1:]", "pos_embed[0, :-1]"),
    ),
    _planted(
        "rollout_course",
        "position_similarity",
        "similarity-grid-transposed",
        (".reshape(side, side, side, side)", ".reshape(side, side, side, side).permute(1, 0, 3, 2)"),
    ),
    _planted(
        "rollout_course",
        "position_similarity",
        "similarity-of-features",
        ("unit @ unit.T).reshape(side, side, side, side)", "unit.T @ unit)"),
        ("F.normalize(patches, dim=-1)", "F.normalize(patches, dim=0)"),
    ),
    _planted("rollout_pieces", "filter_components", "filters-not-centred", ("flat - flat.mean(0)", "flat")),
    _planted(
        "rollout_numpy",
        "filter_components",
        "filters-centred-one-by-one",
        ("flat - flat.mean(axis=0)", "flat - flat.mean(axis=1, keepdims=True)"),
    ),
    _planted("rollout_numpy", "filter_components", "filters-smallest-components", ("[::-1][:28]", "[:28]")),
    _planted("rollout_pieces", "filter_components", "filters-smallest-components", ("vh[:n]", "vh[-n:]")),
    _planted("rollout_numpy", "filter_components", "filters-wrong-number", ("[:28]", "[:10]")),
    _planted("rollout_pieces", "filter_components", "filters-raw", ("return vh[:n]", "return flat[:n]")),
)
