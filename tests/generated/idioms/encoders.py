"""The stack of blocks: what holds them, and how they are applied one after the other."""

from __future__ import annotations

import re

from ..drawing import idiom
from ..writing import Scope, Writer
from .blocks import encoder_layer, library_weights


def _block(w: Writer) -> Scope:
    """Write the class of a block."""
    with w.writing("Block") as scope:
        result = w.call("block", w.n.seq)
        w.finish(scope, w.n.seq, result)
    return scope


def _weighed(w: Writer, scope: Scope, block: str) -> None:
    for role, expression in scope.weights.items():
        w.weight(f"block.{role}", expression.replace("self.", f"{block}."))


@idiom("encoder", often=8)
def list_of_blocks(w: Writer, x: str) -> str:
    n, scope = w.n, _block(w)
    made = f"nn.ModuleList([{w.construct(scope)} for _ in range({w.size('depth')})])"
    layers = w.layer("blocks", made)
    _weighed(w, scope, f"{layers}[i]")
    w.do(f"for {n.block} in {layers}:\n    {x} = {n.block}({x})")
    return x


@idiom("encoder", often=3)
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


@idiom("encoder")
def enumerated_with_maps(w: Writer, x: str) -> str:
    n, scope = w.n, _block(w)
    layers = w.layer("blocks", f"nn.ModuleList([{w.construct(scope)} for {n.i} in range({w.size('depth')})])")
    _weighed(w, scope, f"{layers}[i]")
    w.do(f"{n.maps} = []")
    w.do(f"for {n.i}, {n.block} in enumerate({layers}):\n    {x} = {n.block}({x})\n    {n.maps}.append({x})")
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
def one_shared_block(w: Writer, x: str) -> str:
    w.facts.shared = True
    scope = _block(w)
    layer = w.layer("blocks", w.construct(scope))
    depth = w.keep("depth", w.size("depth"))
    _weighed(w, scope, layer)
    w.do(f"for _ in range({depth}):\n    {x} = {layer}({x})")
    return x


@idiom("encoder", often=2)
def without_a_class_of_blocks(w: Writer, x: str) -> str:
    """A list for each layer of the block, and one loop that does all of it."""
    n = w.n
    depth = w.keep("depth", w.size("depth"))
    with w.writing("Block") as scope:
        result = w.call("block", x)
    for size in scope.asked:
        w.size(size)
    layers = []
    for line in scope.makes:
        if line.startswith("self.") and re.match(r"self\.\w+ = (nn\.(?!Parameter)|[A-Z]\w+\()", line):
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


@idiom("encoder", often=2)
def library_encoder(w: Writer, x: str) -> str:
    n = w.n
    w.make(f"{n.block} = {encoder_layer(w)}")
    last = w.choices.among("", ", enable_nested_tensor=False")
    layers = w.layer("encoder", f"nn.TransformerEncoder({n.block}, num_layers={w.size('depth')}{last})")
    with w.writing("Block") as scope:
        library_weights(w, f"{layers}.layers[i]")
    _weighed(w, scope, "self")
    w.do(f"{x} = {layers}({x})")
    return x
