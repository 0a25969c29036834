"""Blocks as functions of their parameters, which lie in dictionaries."""

from __future__ import annotations

import textwrap

from ..drawing import idiom
from ..writing import Writer
from .mlp import width

# what a dictionary of a block's parameters calls them, with their shapes and how they begin
_KEYS = {
    "ln1_w": ("(D,)", "norm1.weight"), "ln1_b": ("(D,)", "norm1.bias"),
    "w_qkv": ("(D, 3 * D)", ""), "b_qkv": ("(3 * D,)", ""),
    "w_o": ("(D, D)", "out.weight"), "b_o": ("(D,)", "out.bias"),
    "ln2_w": ("(D,)", "norm2.weight"), "ln2_b": ("(D,)", "norm2.bias"),
    "w1": ("(D, M)", "fc1.weight"), "b1": ("(M,)", "fc1.bias"),
    "w2": ("(M, D)", "fc2.weight"), "b2": ("(D,)", "fc2.bias"),
}  # fmt: skip
_ATTENTION = """
    def attention_forward(x, p, n_heads):
        b, t, d = x.shape
        qkv = x @ p["w_qkv"] + p["b_qkv"]
        q, k, v = «S09,S10,S11|[one.reshape(b, t, n_heads, d // n_heads).transpose(1, 2) for one in qkv.chunk(3, dim=-1)]»
        scores = «S12|q @ k.transpose(-2, -1) / math.sqrt(d // n_heads)»
        weights = «S13|scores.softmax(dim=-1)»
        context = «S14|weights @ v»
        return «S15|context.transpose(1, 2).reshape(b, t, d) @ p["w_o"] + p["b_o"]»
"""
_MLP = """
    def mlp_forward(x, p):
        hidden = «S17|F.gelu(x @ p["w1"] + p["b1"])»
        return «S18|hidden @ p["w2"] + p["b2"]»
"""
_BLOCK = """
    def block_forward(x, p, n_heads):
        normed = F.layer_norm(x, x.shape[-1:], p["ln1_w"], p["ln1_b"])
        x = x + attention_forward(normed, p, n_heads)
        normed = «S16|F.layer_norm(x, x.shape[-1:], p["ln2_w"], p["ln2_b"])»
        return «S20|x + mlp_forward(normed, p)»
"""
_INIT = """
    def init_block(dim, hidden):
        def w(*shape):
            return nn.Parameter(torch.randn(*shape) * 0.02)

        def zeros(n):
            return nn.Parameter(torch.zeros(n))

        return {
ROWS
        }
"""


def _functions(w: Writer) -> None:
    """Write the functions of a block, and the one that makes its parameters."""
    w.uses("import math", "import torch.nn.functional as F")
    rows = "\n".join(f'            "{key}": {_initial(key, shape)},' for key, (shape, _) in _KEYS.items())
    for name, text in (
        ("init_block", _INIT.replace("ROWS", rows)),
        ("attention_forward", _ATTENTION),
        ("mlp_forward", _MLP),
        ("block_forward", _BLOCK),
    ):
        w.helpers[name] = textwrap.dedent(text).strip()


def _initial(key: str, shape: str) -> str:
    said = shape.strip("(),").replace("D", "dim").replace("M", "hidden")
    if key.endswith("_w"):
        return f"nn.Parameter(torch.ones({said}))"
    return f"zeros({said})" if "," not in shape.rstrip(",)") else f"w({said})"


def _weighed(w: Writer, expression: str) -> None:
    """Where the parameters of block i are; ``KEY`` stands for the key."""
    for key, (shape, role) in _KEYS.items():
        turned = ".T" if shape.count("D") + shape.count("M") > 1 else ""
        if role:
            w.weight(f"block.{role}", expression.replace("KEY", key) + turned)
    for index, role in enumerate(("query", "key", "value")):
        for kind, key, turned in (("weight", "w_qkv", ".T"), ("bias", "b_qkv", "")):
            packed = expression.replace("KEY", key) + turned
            w.weight(f"block.{role}.{kind}", f"{packed}.chunk(3)[{index}]")


@idiom("encoder in one class")
@idiom("encoder")
def functions_of_dictionaries(w: Writer, x: str) -> str:
    """A dictionary of parameters for each block."""
    _functions(w)
    made = f"nn.ParameterDict(init_block({w.size('dim')}, {width(w)})) for _ in range({w.size('depth')})"
    layers = w.layer("params", f"nn.ModuleList([{made}])")
    heads = w.keep("heads", w.size("heads"))
    _weighed(w, f'{layers}[i]["KEY"]')
    w.do(f"for p in {layers}:\n    {x} = block_forward({x}, p, {heads})")
    return x


@idiom("encoder")
def functions_of_one_dictionary(w: Writer, x: str) -> str:
    """One dictionary of all parameters, whose names begin with the number of the block."""
    _functions(w)
    n = w.n
    params = w.layer("params", "nn.ParameterDict()")
    heads, depth = w.keep("heads", w.size("heads")), w.keep("depth", w.size("depth"))
    w.make(
        f"for {n.i} in range({depth}):\n"
        f"    for name, value in init_block({w.size('dim')}, {width(w)}).items():\n"
        f'        {params}[f"{{{n.i}}}_{{name}}"] = value'
    )
    _weighed(w, f'{params}[f"{{i}}_KEY"]')
    own = f'{{name: {params}[f"{{{n.i}}}_{{name}}"] for name in NAMES}}'
    w.helpers["NAMES"] = f"NAMES = [{', '.join(repr(key) for key in _KEYS)}]".replace("'", '"')
    w.do(f"for {n.i} in range({depth}):\n    {x} = block_forward({x}, {own}, {heads})")
    return x
