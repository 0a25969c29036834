"""Rewrites that change no value: a grader that objects to one of them is wrong."""

from __future__ import annotations

from .mutant import Edit, Refactoring

_SCORES = "attn_scores = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)"
_SOFTMAX = "attn_probs = attn_scores.softmax(dim=-1)"
_BRANCHES = "x = x + self.attn(self.norm1(x))\nx = x + self.mlp(self.norm2(x))"
_TOKENS = "x = x.flatten(2).transpose(1, 2)"


def _report(title: str, *edits: Edit) -> Refactoring:
    return Refactoring(title, "report", edits)


def _prenorm(title: str, *edits: Edit) -> Refactoring:
    return Refactoring(title, "prenorm", edits)


REWRITTEN: tuple[Refactoring, ...] = (
    _report("einsum for the scores", ("(q @ k.transpose(-2, -1))", 'torch.einsum("bhid,bhjd->bhij", q, k)')),
    _report(
        "query scaled first", (_SCORES, "attn_scores = (q / math.sqrt(self.head_dim)) @ k.transpose(-2, -1)")
    ),
    _report("scale by a power", ("/ math.sqrt(self.head_dim)", "* self.head_dim ** -0.5")),
    _report(
        "softmax by hand",
        (
            _SOFTMAX,
            "e = torch.exp(attn_scores - attn_scores.amax(-1, keepdim=True))\n"
            "attn_probs = e / e.sum(-1, keepdim=True)",
        ),
    ),
    _report(
        "fused attention",
        (_SCORES, ""),
        (_SOFTMAX, ""),
        ("attn_ctx = attn_probs @ v", "attn_ctx = nn.functional.scaled_dot_product_attention(q, k, v)"),
    ),
    _report(
        "patches by reshape",
        ("img.unfold(2, P, P).unfold(3, P, P)", "img.reshape(B, C, gh, P, gw, P).transpose(3, 4)"),
    ),
    _report(
        "patches by slicing",
        (
            "patches4d = windows.permute(0, 2, 3, 1, 4, 5).reshape(B, gh * gw, C, P, P)",
            "corners = [(r * P, c * P) for r in range(gh) for c in range(gw)]\n"
            "patches4d = torch.stack([img[:, :, r : r + P, c : c + P] for r, c in corners], dim=1)",
        ),
    ),
    _report("residual the other way round", ("x_in + attn_out", "attn_out + x_in")),
    _report(
        "norm as a function",
        (
            "self.norm2(x_after_attn)",
            "nn.functional.layer_norm(x_after_attn, (D,), self.norm2.weight, self.norm2.bias)",
        ),
    ),
    _report("GELU as a function", ("self.act(self.fc1(ff_in))", "nn.functional.gelu(self.fc1(ff_in))")),
    _report("class token by select", ("final_seq[:, 0]", "final_seq.select(1, 0)")),
    _report(
        "heads joined one by one",
        ("attn_ctx.transpose(1, 2).reshape(B, T, D)", "torch.cat(attn_ctx.unbind(1), dim=-1)"),
    ),
    _prenorm(
        "one line for both branches",
        (_BRANCHES, "y = self.attn(self.norm1(x)) + x\nreturn self.mlp(self.norm2(y)).add(y)"),
    ),
    _prenorm("channels moved last", (_TOKENS, "x = x.permute(0, 2, 3, 1).flatten(1, 2)")),
    _prenorm(
        "norm on the class token alone", ("x = self.norm(x)\nreturn x[:, 0]", "return self.norm(x[:, 0])")
    ),
)
