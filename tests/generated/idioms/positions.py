"""Positions: learned, as a layer, in sines of one and two dimensions."""

from __future__ import annotations

from ..drawing import idiom
from ..writing import Writer


def count(w: Writer, extra: int = 0) -> str:
    """The number of patches or tokens, in the constructor; said alike in all of a program."""
    image, patch = w.size("image"), w.size("patch")
    said = (
        f"({image} // {patch}) ** 2",
        f"({image} // {patch}) * ({image} // {patch})",
        f"int(({image} / {patch}) ** 2)",
        f"{image} ** 2 // {patch} ** 2",
    )
    way = int(w.values.setdefault("count", w.choices.among(*"012300")))
    number = said[way]
    kept = w.values.setdefault(
        "count named", w.choices.among("", "num_patches", "n_patches", "self.num_patches")
    )
    if kept:
        if "count" not in w.scope.kept:
            w.make(f"{kept} = {number}")
            w.scope.kept["count"] = kept
        number = kept
    return f"{number} + {extra}" if extra else number


def _shape(w: Writer) -> str:
    """Of a table of positions."""
    return f"{count(w, int(w.facts.token))}, {w.size('dim')}"


def _buffer(w: Writer, table: str) -> str:
    """A fixed table of positions; how forward says it."""
    w.make(f'self.register_buffer("{w.n.pos}", {table})')
    w.weight("positions", f"self.{w.n.pos}")
    return f"self.{w.n.pos}"


@idiom("positions", often=6)
def parameter(w: Writer, x: str) -> str:
    shape = f"1, {_shape(w)}"
    made = w.choices.among(
        f"torch.randn({shape})",
        f"torch.zeros({shape})",
        f"torch.randn({shape}) * 0.02",
        f"torch.rand({shape})",
    )
    table = w.layer("pos", f"nn.Parameter({made})")
    w.weight("positions", f"{table}[0]")
    return f"{x} + {table}"


@idiom("positions", often=2)
def parameter_in_place(w: Writer, x: str) -> str:
    table = w.layer("pos", f"nn.Parameter(torch.zeros(1, {_shape(w)}))")
    w.make(f"nn.init.trunc_normal_({table}, std=0.02)")
    w.weight("positions", f"{table}[0]")
    w.do(f"{x} += {table}")
    return x


@idiom("positions", often=2)
def sliced_parameter(w: Writer, x: str) -> str:
    table = w.layer("pos", f"nn.Parameter(torch.randn(1, {_shape(w)}))")
    w.weight("positions", f"{table}[0]")
    return f"{x} + {table}[:, :{x}.shape[1]]"


@idiom("positions")
def flat_parameter(w: Writer, x: str) -> str:
    table = w.layer("pos", f"nn.Parameter(torch.rand({_shape(w)}))")
    w.weight("positions", table)
    return f"{x} + {table}{w.choices.among('', '.unsqueeze(0)')}"


@idiom("positions", often=2)
def embedding_layer(w: Writer, x: str) -> str:
    table = w.layer("pos", f"nn.Embedding({_shape(w)})")
    w.weight("positions", f"{table}.weight")
    return f"{x} + {table}(torch.arange({x}.shape[1], device={x}.device))"


@idiom("positions")
def embedding_of_a_buffer(w: Writer, x: str) -> str:
    table = w.layer("pos", f"nn.Embedding({_shape(w)})")
    w.make(f'self.register_buffer("position_ids", torch.arange({count(w, int(w.facts.token))}))')
    w.weight("positions", f"{table}.weight")
    return f"{x} + {table}(self.position_ids)"


@idiom("positions")
def sines(w: Writer, x: str) -> str:
    w.uses("import math")
    w.helpers["sinusoid_table"] = (
        "def sinusoid_table(length, d):\n"
        "    position = torch.arange(length, dtype=torch.float).unsqueeze(1)\n"
        "    div_term = torch.exp(torch.arange(0, d, 2).float() * (-math.log(10000.0) / d))\n"
        "    table = torch.zeros(length, d)\n"
        "    table[:, 0::2] = torch.sin(position * div_term)\n"
        "    table[:, 1::2] = torch.cos(position * div_term)\n"
        "    return table"
    )
    return f"{x} + {_buffer(w, f'sinusoid_table({_shape(w)})')}"


@idiom("positions")
def sines_in_loops(w: Writer, x: str) -> str:
    w.uses("import numpy as np")
    w.helpers["get_positional_embeddings"] = (
        "def get_positional_embeddings(sequence_length, d):\n"
        "    result = torch.ones(sequence_length, d)\n"
        "    for i in range(sequence_length):\n"
        "        for j in range(d):\n"
        "            result[i][j] = np.sin(i / (10000 ** (j / d))) if j % 2 == 0 else np.cos(i / (10000 ** ((j - 1) / d)))\n"
        "    return result"
    )
    made = f"get_positional_embeddings({_shape(w)})"
    table = w.layer("pos", f"nn.Parameter({made}, requires_grad=False)")
    w.weight("positions", table)
    return f"{x} + {table}.repeat({x}.shape[0], 1, 1)"


@idiom("positions")
def sines_in_two_dimensions(w: Writer, x: str) -> str:
    w.helpers["sincos_2d"] = (
        "def sincos_2d(side, dim, extra=0, temperature=10000):\n"
        '    y, x = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")\n'
        "    omega = torch.arange(dim // 4) / (dim // 4 - 1)\n"
        "    omega = 1.0 / (temperature ** omega)\n"
        "    y = y.flatten()[:, None] * omega[None, :]\n"
        "    x = x.flatten()[:, None] * omega[None, :]\n"
        "    table = torch.cat((x.sin(), x.cos(), y.sin(), y.cos()), dim=1)\n"
        "    return torch.cat((torch.zeros(extra, dim), table))"
    )
    extra, dim = ", 1" if w.facts.token else "", w.size("dim")
    side = f"{w.size('image')} // {w.size('patch')}"
    return f"{x} + {_buffer(w, f'sincos_2d({side}, {dim}{extra})')}"
