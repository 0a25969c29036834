"""Odd surroundings of a right program: what people hand in beside it, and what they build around it."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from .drawing import Below, Choices, idiom
from .layouts import notebook_of, pieces
from .marking import plain
from .program import Program
from .unfinished import unfinished_program


@dataclass(frozen=True)
class Odd:
    """A right program in odd surroundings."""

    program: Program
    what: str
    files: dict[str, bytes]


def odd_program(program: Program, below: Below) -> Odd:
    """The program in surroundings that are drawn."""
    choices = Choices(below)
    write = choices.idiom("odd")
    return Odd(program, choices.made[-1], write(program, below))


def _with_forward(program: Program, old: str, new: str, first: str = "") -> str:
    """The source with the head of the model's forward rewritten."""
    before, model, after = program.source.partition(f"class {program.model}(")
    pattern = re.compile(r"([ \t]*)def forward\(self, (\w+)([^)]*)\):\n")
    return before + model + pattern.sub(lambda found: _head(found, old, new, first), after, count=1)


def _head(found: re.Match[str], old: str, new: str, first: str) -> str:
    indent, name = found[1], found[2]
    head = f"{indent}def forward(self, {new.replace(old, name)}):\n"
    return head + (f"{indent * 2}{first.replace(old, name)}\n" if first else "")


@idiom("odd")
def an_older_version_beside_it(program: Program, below: Below) -> dict[str, bytes]:
    older = unfinished_program(program, below)
    assert older is not None
    return {**program.files(), "old_version.py": older.source.encode()}


@idiom("odd")
def a_base_that_is_not_installed(program: Program, below: Below) -> dict[str, bytes]:
    changed = program.source.replace(
        f"class {program.model}(nn.Module)", f"class {program.model}(pl.LightningModule)"
    )
    return program.files(
        changed.replace("import torch\n", "import torch\nimport pytorch_lightning as pl\n", 1)
    )


@idiom("odd")
def a_base_that_keeps_arguments(program: Program, below: Below) -> dict[str, bytes]:
    before, head, model = program.source.partition(f"class {program.model}(nn.Module)")
    kept = re.sub(
        r"( +|\t+)(super\(.*\).__init__\(\))\n", r"\1\2\n\1self.save_hyperparameters()\n", model, count=1
    )
    line = "from lightning import LightningModule\n"
    return program.files(line + before + head.replace("nn.Module", "LightningModule") + kept)


@idiom("odd")
def a_missing_config(program: Program, below: Below) -> dict[str, bytes]:
    lines = 'import json\n\nwith open("config.json") as handle:\n    SETTINGS = json.load(handle)\n'
    return program.files(program.source.replace("import torch\n", "import torch\n" + lines, 1))


@idiom("odd")
def a_model_in_main(program: Program, below: Below) -> dict[str, bytes]:
    parts = pieces(program.source)
    body = textwrap.indent("\n".join(parts[1:]), "    ")
    text = f'{parts[0]}\n\ndef main():\n{body}\n\n\nif __name__ == "__main__":\n    main()\n'
    return {program.file: text.encode()}


@idiom("odd")
def a_model_in_a_factory(program: Program, below: Below) -> dict[str, bytes]:
    parts = pieces(program.source)
    name = ("build_model", "get_model", "create_vit")[below(3)]
    body = textwrap.indent("\n".join(parts[1:]), "    ")
    text = f"{parts[0]}\n\ndef {name}(pretrained=False):\n{body}\n\n    return {plain(program.entry)}\n"
    return {program.file: text.encode()}


@idiom("odd")
def cells_out_of_order(program: Program, below: Below) -> dict[str, bytes]:
    parts = pieces(program.source)
    cells = [("code", one) for one in (parts[0], *reversed(parts[1:]))]
    return {"vit.ipynb": notebook_of(cells)}


@idiom("odd")
def another_encoding(program: Program, below: Below) -> dict[str, bytes]:
    said = f"# -*- coding: latin-1 -*-\n# Müller, tarea número 3\n{program.source}"
    return {
        program.file: (said.encode("latin-1", "replace"), b"\xef\xbb\xbf" + program.source.encode())[below(2)]
    }


@idiom("odd")
def lines_of_windows(program: Program, below: Below) -> dict[str, bytes]:
    return {program.file: program.source.replace("\n", "\r\n").encode()}


@idiom("odd")
def moved_to_a_device(program: Program, below: Below) -> dict[str, bytes]:
    last = ("model = {}.cuda()", 'device = torch.device("cuda")\nmodel = {}.to(device)')[below(2)]
    return program.files(f"{program.source}\n\n{last.format(plain(program.entry))}\n")


@idiom("odd")
def halved(program: Program, below: Below) -> dict[str, bytes]:
    return program.files(f"{program.source}\n\nmodel = {plain(program.entry)}.half()\n")


@idiom("odd")
def a_forward_with_a_mask(program: Program, below: Below) -> dict[str, bytes]:
    return program.files(
        _with_forward(program, "X", ("X, mask", "X, mask=None", "X, attention_mask, labels=None")[below(3)])
    )


@idiom("odd")
def a_forward_of_a_dictionary(program: Program, below: Below) -> dict[str, bytes]:
    key = ("image", "pixel_values", "img", "x")[below(4)]
    return program.files(_with_forward(program, "X", "batch", f'X = batch["{key}"]'))


@idiom("odd")
def a_forward_of_a_pair(program: Program, below: Below) -> dict[str, bytes]:
    return program.files(
        _with_forward(
            program, "X", "batch", ("X, _ = batch", "X, labels = batch", "(X, y) = batch")[below(3)]
        )
    )


@idiom("odd")
def a_forward_of_keywords(program: Program, below: Below) -> dict[str, bytes]:
    key = ("image", "pixel_values", "images")[below(3)]
    return program.files(_with_forward(program, "X", "**batch", f'X = batch["{key}"]'))
