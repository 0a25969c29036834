"""Where the bases compute what: each place is one step of the pipeline, in every spelling that they use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from .patterns import Bindings, find, scope_of
from .styles import STYLES, Style


@dataclass(frozen=True)
class Place:
    """Code of one meaning. ``within`` is an attribute of Style, "" for the whole file."""

    within: str
    patterns: tuple[str, ...]
    take: Literal["first", "last", "all"] = "first"

    def found(self, text: str, style: Style) -> list[Bindings]:
        scope = getattr(style, self.within) if self.within else ""
        if self.within and not scope:
            return []
        every = find(self.patterns, scope_of(text, scope))
        return {"first": every[:1], "last": every[-1:], "all": every}[self.take]


_PRODUCTS = (
    "Q @ K.transpose(A, B)",
    "Q @ K.mT",
    "X.matmul(Q, K.transpose(A, B))",
    "X.matmul(Q, K.swapaxes(A, B))",
    "X.bmm(Q, K.transpose(A, B))",
    "X.bmm(Q, K.permute(0, 2, 1))",
    "Q.matmul(K.transpose(A, B))",
    'einsum("bihd,bjhd->bhij", Q, K)',
    'torch.einsum("bhid,bhjd->bhij", Q, K)',
)
_VALUES = ("v", "values", "value_layer", "kv[1]", "v.flatten(0, 1)")
_NORM_1 = (
    *("self.norm1", "self.ln1", "self.ln_1", "self.norm_1", "self.layernorm_before", "self.layer_norm_1"),
    *("self.layer_norm1", "self.norm_a", "self.n1", "self.norm_att", "self.self_attn_layer_norm", "ln1"),
    'layer["ln_before"]',
)
_NORM_2 = (
    *("self.norm2", "self.ln2", "self.ln_2", "self.norm_2", "self.layernorm_after", "self.layer_norm_2"),
    *("self.layer_norm2", "self.norm_b", "self.n2", "self.norm_mlp", "self.final_layer_norm", "ln2"),
    'layer["ln_attn"]',
)
_FINAL_NORM = ("norm", "ln", "ln_f", "layer_norm", "layernorm", "norm_out", "ln_post")
_OUTPUT = (
    *("proj", "to_out", "out", "c_proj", "o_proj", "fc", "out_proj", "projection", "wo", "dense", "o"),
    "unify_heads",
)
_SUMS = (
    "I + (O := G(J))",
    "(O := G(J)) + I",
    "(I := identity) + (O := out)",
    "(I := residual) + (O := x)",
    "(I := x_in) + (O := attn_out)",
    "(I := ff_in) + (O := ff_out)",
    "(I := x) + (O := attn_out)",
    "(I := src) + (O := _src)",
    "(O := attended) + (I := x)",
    "(I := x) + (O := y)",
    "torch.add(I, O)",
    "I + (O := attention(A, B, C, E))",
    "I + (O := mlp(A, B, C))",
)
_TABLES = (
    *("self.pos_embed", "self.position_embedding", "self.positional_embedding", "self.wpe", "self.positions"),
    *("self.pos_embedding", "self.pos", "self.position_embeddings", "self.table", 'params["pos"]'),
    *("self.pe[:, : x.size(1)]", "self.position_embeddings(position_ids)"),
    *("self.positional_embedding.unsqueeze(1)", "self.pos_embedding[:, : T + 1]"),
)
_STACKS = ("self.encoder", "self.blocks", "self.transformer")

PLACES = {
    "product": Place("attention", _PRODUCTS),
    "scores": Place("attention", tuple(f"(P := {one}) {by} M" for one in _PRODUCTS for by in "*/")),
    "softmax": Place(
        "attention",
        (
            *("X.softmax(S, dim=A)", "X.softmax(S, A)", "S.softmax(dim=A)", "S.softmax(A)"),
            *("nn.Softmax(dim=A)(S)", "self.attend(S)", "my_softmax(S)"),
        ),
    ),
    "context": Place(
        "attention",
        tuple(
            pattern.replace("values", name)
            for name in _VALUES
            for pattern in (
                *("S @ (V := values)", "X.matmul(S, (V := values))", "X.bmm(S, (V := values))"),
                *("S.matmul((V := values))", "X.einsum(E, S, (V := values))", "einsum(E, S, (V := values))"),
            )
        ),
    ),
    "unpack": Place("attention", ("q, k, v = E",)),
    "split": Place(
        "attention",
        (
            *("Y.view(A, B, C, E).transpose(1, 2)", "Y.reshape(A, B, C, E).transpose(1, 2)"),
            "Y.reshape(A, B, C, E).permute(0, 2, 1, 3)",
        ),
        "all",
    ),
    "merge": Place(
        "attention",
        (
            "C.transpose(1, 2).reshape(X, Y, Z)",
            "C.transpose(1, 2).contiguous().view(X, Y, Z)",
            "C.transpose(1, 2).flatten(2)",
            "C.permute(0, 2, 1, 3).reshape(X, Y, Z)",
            "C.permute(0, 2, 1, 3).flatten(2)",
            "C.swapaxes(1, 2).reshape(X, Y, Z)",
            'rearrange(C, "b h n d -> b n (h d)")',
        ),
        "last",
    ),
    "output": Place(
        "attention", (*(f"self.{name}(Y)" for name in _OUTPUT), 'linear(A, name + "_o", Y)'), "last"
    ),
    "norm1": Place("block", tuple(f"(N := {one})(I)" for one in _NORM_1)),
    "norm2": Place("block", tuple(f"(L := {one})(I)" for one in _NORM_2)),
    "attention sum": Place("block", _SUMS),
    "mlp sum": Place("block", _SUMS, "last"),
    "activation": Place("", ("nn.GELU()",)),
    "activation call": Place("", ("F.gelu(Y)", "my_gelu(Y)")),
    "mlp": Place("", ("nn.Sequential(A, nn.GELU(), B)",)),
    "mlp call": Place("block", ("G(F.gelu(Y))", "G(my_gelu(Y))", "G(self.activation(Y))")),
    "every norm": Place("", ("nn.LayerNorm(A)",), "all"),
    "convolution": Place(
        "",
        ("nn.Conv2d(A, B, C, Z)", "nn.Conv2d(A, B, C, stride=Z)", "nn.Conv2d(A, B, kernel_size=C, stride=Z)"),
    ),
    "convolved": Place(
        "",
        (
            *("Z.flatten(2).transpose(1, 2)", "Z.flatten(2).mT", "Z.flatten(start_dim=2).permute(0, 2, 1)"),
            *("Z.reshape(A, B, -1).permute(0, 2, 1)", "torch.flatten(Z, start_dim=2).permute(0, 2, 1)"),
            "Z.reshape(A, B, n_h * n_w).permute(0, 2, 1)",
        ),
    ),
    "cut": Place("", ("X.permute(0, 2, 4, 1, 3, 5)",)),
    "windows": Place("", ("X.permute(0, 2, 3, 1, 4, 5)",)),
    "packed map": Place("", ("nn.Linear(A, (C := 3 * B))", "nn.Linear(A, (C := B * 3))")),
    "concatenation": Place(
        "", ("torch.cat([T, E], dim=A)", "torch.cat([T, E], A)", "torch.cat((T, E), dim=A)")
    ),
    "positions": Place("", (*(f"Z + (R := {one})" for one in _TABLES), "torch.add(Z, (R := self.pos))")),
    "positions in place": Place(
        "",
        (
            *("Z += (R := self.pos_embedding[:, : n + 1])", "Z += (R := self.pos_embedding)"),
            "Z += (R := self.pos)",
        ),
    ),
    "loop": Place("model", ("for J in L:\n    X = J(X)",)),
    "stack": Place("model", tuple(f"(L := {one})(Y)" for one in _STACKS)),
    "stack step": Place("model", tuple(f"X = (L := {one})(X)" for one in _STACKS)),
    "blocks": Place("model", ("[C for _ in range(M)]", "(C for _ in range(M))")),
    "block list": Place(
        "model", ("nn.ModuleList([C for _ in range(M)])", "nn.ModuleList(C for _ in range(M))")
    ),
    "final norm": Place(
        "model", (*(f"self.{name}(Y)" for name in _FINAL_NORM), 'layer_norm(A, "ln", Y)'), "last"
    ),
    "readout": Place("model", ("Z[:, 0]", "Z[:, 0, :]"), "last"),
    "logits": Place("returns", ("return L, Y", "return L"), "last"),
}
_SHARED = {"product": "QK", "norm1": "N", "norm2": "L"}  # letters that templates of other places may use


@cache
def found(base: str, place: str, text: str) -> list[Bindings]:
    """What is found at a place of ``base``, with what other places know."""
    return [{**_shared(base, text), **bound} for bound in PLACES[place].found(text, STYLES[base])]


@cache
def _shared(base: str, text: str) -> Bindings:
    return {
        letter: bound[letter]
        for place, letters in _SHARED.items()
        for bound in PLACES[place].found(text, STYLES[base])
        for letter in letters
    }
