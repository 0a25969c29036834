"""Correct programs in which stages never exist as tensors, because weights are merged or operations fused.

Each is ``separate_qkv`` with other lines; ``WRONG`` are the same programs with one mistake in them.
"""

from __future__ import annotations

from mutants import Refactoring

_BASE = "separate_qkv"
_PROJECT = """q = self.split_heads(self.query(x))
k = self.split_heads(self.key(x))
v = self.split_heads(self.value(x))
scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_dim)"""
_MIX = """context = torch.matmul(weights, v)
context = context.permute(0, 2, 1, 3).contiguous()
context = context.view(x.shape[0], x.shape[1], self.embed_dim)
return self.out(context)"""
_BLOCK = """identity = x
out = self.attention(self.ln1(x))
x = identity + out
identity = x
out = self.mlp(self.ln2(x))
return identity + out"""

# one matrix a head in the place of query and key, on inputs with a 1 at the end
_MERGED_SCORES = """h, d = self.num_heads, self.head_dim
wq = torch.cat([self.query.weight, self.query.bias[:, None]], 1).view(h, d, -1)
wk = torch.cat([self.key.weight, self.key.bias[:, None]], 1).view(h, d, -1)
ones = torch.cat([x, torch.ones_like(x[..., :1])], -1)
scores = torch.einsum("bie,hef,bjf->bhij", ones, torch.einsum("hde,hdf->hef", wq, wk), ones) / math.sqrt(d)"""
_VALUES = "v = self.split_heads(self.value(x))"
# one matrix a head in the place of value and output
_MERGED_OUTPUT = """h, d = self.num_heads, self.head_dim
wv, wo = self.value.weight.view(h, d, -1), self.out.weight.view(-1, h, d)
mixed = torch.einsum("bhij,bje->bhie", weights, x)
merged = torch.einsum("hde,ohd->heo", wv, wo)
return torch.einsum("bhie,heo->bio", mixed, merged) + (self.out.weight @ self.value.bias + self.out.bias)"""
_QK_PROJECT = "\n".join(line for line in _PROJECT.split("\n") if not line.startswith("v ="))
_ABSORBED = """q = self.split_heads(self.query(x))
v = self.split_heads(self.value(x))
wk = self.key.weight.view(self.num_heads, self.head_dim, -1)
bk = self.key.bias.view(self.num_heads, self.head_dim, 1)
scores = (torch.einsum("bhid,hde,bje->bhij", q, wk, x) + q @ bk) / math.sqrt(self.head_dim)"""
_BY_HEAD = """pieces = []
for i in range(self.num_heads):
    part = slice(i * self.head_dim, (i + 1) * self.head_dim)
    left, right = self.query.weight[part], self.key.weight[part]
    product = x @ (left.T @ right) @ x.mT
    product = product + (x @ left.T @ self.key.bias[part]).unsqueeze(2)
    product = product + (x @ right.T @ self.query.bias[part]).unsqueeze(1)
    pieces.append(product + self.query.bias[part] @ self.key.bias[part])
scores = torch.stack(pieces, 1) / math.sqrt(self.head_dim)
v = self.split_heads(self.value(x))"""
_FOLDED = """normed = nn.functional.layer_norm(x, x.shape[-1:])
first, second = self.mlp.net[0], self.mlp.net[2]
hidden = normed @ (first.weight * self.ln2.weight).T + (first.weight @ self.ln2.bias + first.bias)
return identity + second(nn.functional.gelu(hidden))"""
_FOLDED_MLP = _BLOCK.replace("out = self.mlp(self.ln2(x))\nreturn identity + out", _FOLDED)
_FUSED_SUMS = """batch, tokens, width = x.shape
out = self.attention(self.ln1(x))
x = x + out
first, second = self.mlp.net[0], self.mlp.net[2]
hidden = nn.functional.gelu(first(self.ln2(x))).flatten(0, 1)
return torch.addmm((x + second.bias).flatten(0, 1), hidden, second.weight.T).view(batch, tokens, width)"""

_CAT = "cls = self.class_token.repeat(images.shape[0], 1, 1)\ntokens = torch.cat([cls, patches], dim=1)"
_EMBED = (
    "patches = self.embedding(images)\npatches = patches.flatten(start_dim=2).permute(0, 2, 1)\n"
    f"{_CAT}\ntokens = tokens + self.position_embedding"
)
_FUSED_EMBED = """side, width = self.embedding.kernel_size[0], self.embedding.out_channels
kernel = self.embedding.weight.view(1, width, -1).mT.expand(len(images), -1, -1)
columns = nn.functional.unfold(images, side, stride=side).mT
start = (self.position_embedding[:, 1:] + self.embedding.bias).expand(len(images), -1, -1)
patches = torch.baddbmm(start, columns, kernel)
cls = (self.class_token + self.position_embedding[:, :1]).expand(len(images), -1, -1)
tokens = torch.cat([cls, patches], dim=1)"""


def _changed(title: str, *edits: tuple[str, str]) -> Refactoring:
    return Refactoring(title, _BASE, edits)


UNUSUAL = (
    _changed("query and key merged", (_PROJECT, f"{_MERGED_SCORES}\n{_VALUES}")),
    _changed("query and key merged head by head", (_PROJECT, _BY_HEAD)),
    _changed("key absorbed into the query", (_PROJECT, _ABSORBED)),
    _changed("value and output merged", (_PROJECT, _QK_PROJECT), (_MIX, _MERGED_OUTPUT)),
    _changed("all four merged", (_PROJECT, _MERGED_SCORES), (_MIX, _MERGED_OUTPUT)),
    _changed("norm folded into the MLP", (_BLOCK, _FOLDED_MLP)),
    _changed("residual added with the product", (_BLOCK, _FUSED_SUMS)),
    _changed("positions added with the projection", (_EMBED, _FUSED_EMBED)),
)


def _wrong(title: str, of: str, old: str, new: str) -> Refactoring:
    (right,) = [one for one in UNUSUAL if one.title == of]
    exchanged = (edit for edit in right.edits if isinstance(edit, tuple))
    edits = tuple((before, after.replace(old, new)) for before, after in exchanged)
    assert edits != right.edits, old
    return Refactoring(title, _BASE, edits)


WRONG = (
    _wrong("scale left out", "query and key merged", " / math.sqrt(d)", ""),
    _wrong("scale of the whole width", "all four merged", "math.sqrt(d)", "math.sqrt(h * d)"),
    _wrong(
        "a term of the scores doubled", "query and key merged head by head", "(x @ right", "2 * (x @ right"
    ),
    _wrong("keys doubled", "key absorbed into the query", "q, wk, x)", "q, wk, 2 * x)"),
    _wrong("queries mixed", "value and output merged", "bhij,bje", "bhji,bje"),
    _wrong(
        "heads averaged", "all four merged", "weights, x)", "weights.mean(1, True).expand_as(weights), x)"
    ),
    _wrong("residual doubled", "residual added with the product", "(x + second", "(2 * x + second"),
    _wrong("norm over all tokens", "norm folded into the MLP", "x.shape[-1:]", "x.shape[1:]"),
    _wrong(
        "patches cut anew",
        "positions added with the projection",
        ".mT\nstart",
        ".view(len(images), -1, kernel.shape[1])\nstart",
    ),
)
