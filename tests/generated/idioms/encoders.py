"""The stack of blocks: what holds them, and how they are applied one after the other."""

from __future__ import annotations

import re

from ..drawing import idiom
from ..writing import Scope, Writer
from .attention import written_out
from .blocks import encoder_layer, feed, library_weights
from .norms import norm

# a layer that each block has its own of: it has weights
_LAYER = re.compile(r"self\.\w+ = (nn\.(?!Parameter|GELU|Dropout|Softmax)|[A-Z]\w+\()")


def _block(w: Writer) -> Scope:
    """Write the class of a block."""
    with w.writing("Block") as scope:
        result = w.call("block", w.n.seq)
        w.finish(scope, w.n.seq, result)
    return scope


def _weighed(w: Writer, scope: Scope, block: str) -> None:
    for role, expression in scope.weights.items():
        w.weight(f"block.{role}", expression.replace("self.", f"{block}."))


def _listed(w: Writer, scope: Scope) -> str:
    """The blocks in a list."""
    index = w.choices.among("_", "_", w.n.i)
    made = f"nn.ModuleList([{w.construct(scope)} for {index} in range({w.size('depth')})])"
    layers = w.layer("blocks", made)
    _weighed(w, scope, f"{layers}[i]")
    return layers


@idiom("encoder", often=12)
def list_of_blocks(w: Writer, x: str) -> str:
    layers = _listed(w, _block(w))
    w.do(f"for {w.n.block} in {layers}:\n    {x} = {w.n.block}({x})")
    return x


@idiom("encoder", often=5)
def sequence_of_blocks(w: Writer, x: str) -> str:
    scope = _block(w)
    made = f"nn.Sequential(*[{w.construct(scope)} for _ in range({w.size('depth')})])"
    layers = w.layer("blocks", made)
    _weighed(w, scope, f"{layers}[i]")
    w.do(f"{x} = {layers}({x})")
    return x


@idiom("encoder")
def appended_blocks(w: Writer, x: str) -> str:
    n, scope = w.n, _block(w)
    layers = w.layer("blocks", "nn.ModuleList()")
    w.make(f"for _ in range({w.size('depth')}):\n    {layers}.append({w.construct(scope)})")
    _weighed(w, scope, f"{layers}[i]")
    w.do(f"for {n.i} in range(len({layers})):\n    {x} = {layers}[{n.i}]({x})")
    return x


@idiom("encoder", often=2)
def blocks_that_give_their_maps(w: Writer, x: str) -> str:
    n, scope = w.n, _block_with_maps(w)
    layers = _listed(w, scope)
    w.do(f"{n.maps} = []")
    seen = w.choices.among(n.probs, f"{n.probs}.detach()")
    w.do(f"for {n.block} in {layers}:\n    {x}, {n.probs} = {n.block}({x})\n    {n.maps}.append({seen})")
    w.scope.kept["maps"] = n.maps
    return x


def _block_with_maps(w: Writer) -> Scope:
    """Write the class of a block that gives its attention weights too."""
    n = w.n
    with w.writing("Attention") as attention:
        w.finish(attention, n.seq, f"{written_out(w, n.seq)}, {n.probs}")
    with w.writing("Block") as scope:
        norm1, norm2 = norm(w, "norm1"), norm(w, "norm2")
        w.do(f"{n.result}, {n.probs} = {w.child(attention, 'attn')}({norm1}({n.seq}))")
        w.do(f"{n.seq} = {n.seq} + {n.result}")
        w.do(f"{n.seq} = «S20|{n.seq} + {feed(w, f'«S16|{norm2}({n.seq})»')}»")
        w.finish(scope, n.seq, f"{n.seq}, {n.probs}")
    return scope


@idiom("encoder")
def blocks_with_hooks(w: Writer, x: str) -> str:
    """What each block gives is kept."""
    n, scope = w.n, _block(w)
    layers = _listed(w, scope)
    kept = w.choices.among("self.features", "self.outputs", "self.activations")
    w.make(f"{kept} = []")
    w.make(f"for {n.block} in {layers}:\n    {n.block}.register_forward_hook(self.keep_output)")
    w.scope.methods["keep_output"] = (
        f"def keep_output(self, module, inputs, output):\n    {kept}.append(output.detach())"
    )
    w.do(f"{kept}.clear()")
    w.do(f"for {n.block} in {layers}:\n    {x} = {n.block}({x})")
    return x


@idiom("encoder")
def dictionary_of_blocks(w: Writer, x: str) -> str:
    n, scope = w.n, _block(w)
    key = f'f"block{{{n.i}}}"'
    layers = w.layer(
        "blocks", f"nn.ModuleDict({{{key}: {w.construct(scope)} for {n.i} in range({w.size('depth')})}})"
    )
    _weighed(w, scope, f"list({layers}.values())[i]")
    w.do(f"for {n.block} in {layers}.values():\n    {x} = {n.block}({x})")
    return x


@idiom("encoder")
def named_modules(w: Writer, x: str) -> str:
    n, scope = w.n, _block(w)
    depth = w.keep("depth", w.size("depth"))
    w.make(f'for {n.i} in range({depth}):\n    self.add_module(f"{n.block}_{{{n.i}}}", {w.construct(scope)})')
    _weighed(w, scope, f'self._modules[f"{n.block}_{{i}}"]')
    w.do(f'for {n.i} in range({depth}):\n    {x} = getattr(self, f"{n.block}_{{{n.i}}}")({x})')
    return x


@idiom("encoder")
def blocks_within_blocks(w: Writer, x: str) -> str:
    """Each is kept with all that follow it."""
    scope, rest = _block(w), w.choices.among("rest", "tail", "following")
    w.helpers["Stacked"] = (
        "class Stacked(nn.Module):\n"
        f"    def __init__(self, layer, {rest}=None):\n"
        "        super().__init__()\n"
        f"        self.layer = layer\n        self.{rest} = {rest}\n\n"
        "    def forward(self, tokens):\n"
        "        tokens = self.layer(tokens)\n"
        f"        return tokens if self.{rest} is None else self.{rest}(tokens)"
    )
    w.make(
        f"{rest} = None\nfor _ in range({w.size('depth')}):\n    {rest} = Stacked({w.construct(scope)}, {rest})"
    )
    layers = w.layer("blocks", rest)
    _weighed(w, scope, f"[one for one in {layers}.modules() if type(one) is type({layers})][i].layer")
    w.do(f"{x} = {layers}({x})")
    return x


@idiom("encoder")
def one_shared_block(w: Writer, x: str) -> str:
    w.facts.shared = True
    scope = _block(w)
    layer = w.layer("blocks", w.construct(scope))
    depth = w.keep("depth", w.size("depth"))
    _weighed(w, scope, layer)
    w.do(f"for _ in range({depth}):\n    {x} = {layer}({x})")
    return x


@idiom("encoder in one class", often=3)
@idiom("encoder", often=2)
def without_a_class_of_blocks(w: Writer, x: str) -> str:
    """A list for each layer of the block, and one loop that does all of it."""
    n = w.n
    depth = w.keep("depth", w.size("depth"))
    with w.writing("Block") as scope:
        result = w.call("block", x)
    w.adopt(scope)
    layers = []
    for line in scope.makes:
        if line.startswith("self.") and _LAYER.match(line):
            name, made = line.split(" = ", 1)
            layers.append(name)
            w.make(f"{name} = nn.ModuleList([{made} for _ in range({depth})])")
        elif "nn.Parameter" in line:
            name, made = line.split(" = ", 1)
            layers.append(name)
            w.make(f"{name} = nn.ParameterList([{made} for _ in range({depth})])")
        elif line not in w.scope.makes:
            w.make(line)

    def of_block(text: str, index: str) -> str:
        return re.sub(
            r"self\.\w+", lambda found: f"{found[0]}[{index}]" if found[0] in layers else found[0], text
        )

    for role, expression in scope.weights.items():
        w.weight(f"block.{role}", of_block(expression, "i"))
    body = [of_block(line, n.i) for line in scope.does]
    body += [] if result == x else [f"{x} = {of_block(result, n.i)}"]
    lines = [part for line in body for part in line.split("\n")]
    w.do(f"for {n.i} in range({depth}):\n" + "\n".join(f"    {line}" for line in lines))
    return x


@idiom("encoder in one class")
@idiom("encoder", often=2)
def library_encoder(w: Writer, x: str) -> str:
    layers = _library_layers(w, encoder_layer(w))
    w.do(f"{x} = {layers}({x})")
    return x


@idiom("encoder")
def library_encoder_sequence_first(w: Writer, x: str) -> str:
    layers = _library_layers(w, encoder_layer(w).replace("batch_first=True, ", ""))
    turned = w.choices.among("transpose(0, 1)", "permute(1, 0, 2)")
    w.do(f"{x} = {x}.{turned}\n{x} = {layers}({x})\n{x} = {x}.{turned}")
    return x


def _library_layers(w: Writer, layer: str) -> str:
    """The library's encoder of such layers."""
    w.make(f"{w.n.block} = {layer}")
    last = w.choices.among("", ", enable_nested_tensor=False")
    layers = w.layer("encoder", f"nn.TransformerEncoder({w.n.block}, num_layers={w.size('depth')}{last})")
    with w.writing("Block") as scope:
        library_weights(w, f"{layers}.layers[i]")
    _weighed(w, scope, "self")
    return layers
