"""What students start from: a file in which everything that is asked for is named, and nothing is solved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ....reference.components import COMPONENTS
from ....reference.exercises import EXERCISES
from ....reference.stages import ARCHITECTURES, STAGES, Stage, stage
from ...assignment.assignment import Assignment
from .rendering import render

_COMPONENTS = {  # the class that a component is written as, and what its constructor takes
    "patches": ("Patchify", "patch_size"),
    "embedding": ("Embedding", "image_size, patch_size, in_channels, embed_dim"),
    "patch_embedding": ("PatchEmbedding", "in_channels, patch_size, embed_dim"),
    "class_token": ("ClassToken", "embed_dim"),
    "positions": ("PositionEmbedding", "num_tokens, embed_dim"),
    "layer_norm": ("LayerNorm", "embed_dim"),
    "layer_norm_plain": ("LayerNormWithoutAffine", "embed_dim"),
    "attention": ("SelfAttention", "embed_dim, num_heads"),
    "attention_head": ("AttentionHead", "embed_dim, head_dim"),
    "dot_product_attention": ("ScaledDotProductAttention", ""),
    "mlp": ("MLP", "embed_dim, mlp_dim"),
    "block": ("EncoderBlock", "embed_dim, num_heads, mlp_dim"),
    "encoder": ("Encoder", "embed_dim, num_heads, mlp_dim, depth"),
    "encoder_and_head": ("Transformer", "embed_dim, num_heads, mlp_dim, depth, num_classes"),
    "model_of_patches": (
        "PatchTransformer",
        "num_patches, embed_dim, num_heads, mlp_dim, depth, num_classes",
    ),
    "head": ("ReadoutHead", "embed_dim, num_classes"),
    "classifier": ("ClassificationHead", "embed_dim, num_classes"),
}
_EXERCISES = {  # what a function takes
    "get_attention": "model, images",
    "fuse_heads": "attention",
    "mix_residual": "attention",
    "normalise_rows": "attention",
    "attention_rollout": "attention_maps",
    "class_token_map": "rollout, image",
    "position_similarity": "position_embeddings",
    "filter_components": "weight",
}
_OUTPUTS = {  # what a model returns on request
    "patch-tokens": "The patches' rows of final_sequence, B N D",
    "class-attention": "What the class token attends to, L B h and the rows and columns of patches",
}

_KEYS = [row.key for row in STAGES]
_BEFORE_BLOCKS = _KEYS[: _KEYS.index("query")]
_IN_BLOCK = _KEYS[_KEYS.index("block_input") : _KEYS.index("block_output") + 1]


@dataclass(frozen=True)
class Slot:
    """A stage, as it stands in the file."""

    key: str
    labels: str  # those of the assignment's numbering
    text: str


@dataclass(frozen=True)
class Named:
    """Anything else that is asked for: ``text`` says what it is, ``arguments`` are of its function."""

    name: str
    text: str
    arguments: str = ""
    inputs: str = "x"  # of its forward


def skeleton(assignment: Assignment) -> str:
    """Return the file, for the first of the assignment's architectures that has a table of stages."""
    asked = [row for row in rows(assignment) if row.key != "image" or assignment.rules.breakpoints]
    slots = [_slot(row, assignment) for row in asked]
    inside = [one for one in slots if one.key in _IN_BLOCK]
    if [one.key for one in inside] == ["block_input"]:  # what the embedding gives, and no block
        inside = []
    around = [one for one in slots if one not in inside]
    before = [one for one in around if one.key in _BEFORE_BLOCKS]
    return render(
        "skeleton",
        title=" ".join(assignment.title.split()),
        sizes=assignment.full,
        marks=assignment.rules.breakpoints,
        model=assignment.model.name or "VisionTransformer",
        before=before,
        inside=inside,
        after=[one for one in around if one not in before],
        outputs=[Named(one.replace("-", "_"), _OUTPUTS[one]) for one in assignment.outputs],
        components=list(_components(assignment)),
        exercises=list(_exercises(assignment)),
    )


def rows(assignment: Assignment) -> Sequence[Stage]:
    """Return the stages of the architecture that the file is written for; none where none is asked for."""
    known = [one for one in assignment.architectures if one in ARCHITECTURES]
    return [row for row in assignment.table_of(known[0]) if assignment.asks(row.key)] if known else ()


def notebook(assignment: Assignment) -> str:
    """Return the same file as a notebook, with a cell for each class and function."""
    text, *definitions = skeleton(assignment).rstrip("\n").split("\n\n\n")
    comment, _, imports = text.partition("\n\n")
    cells = [
        new_markdown_cell(re.sub(r"^# ?", "", comment, flags=re.MULTILINE)),
        *(new_code_cell(one) for one in (imports, *definitions)),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same file each time
    return f"{nbformat.writes(new_notebook(cells=cells))}\n"


def _slot(row: Stage, assignment: Assignment) -> Slot:
    """With the names of variables in the place of the table's numbers, which are not all courses' own."""
    equation = re.sub(r"S\d\d", lambda found: stage(found[0]).key, row.equation)
    labels = ", ".join(assignment.family.labels_of(row.key, assignment.labels[0]))
    return Slot(row.key, labels, f"{row.title}, {row.axes}: {equation}")


def _components(assignment: Assignment) -> Iterator[Named]:
    for key, part in assignment.components.items():
        name, arguments = _COMPONENTS[key]
        row = COMPONENTS[key]
        inputs = "query, key, value" if row.inputs > 1 else "x"
        yield Named(part.name or name, f"{row.title}: {row.input} to {row.output}.", arguments, inputs)


def _exercises(assignment: Assignment) -> Iterator[Named]:
    for key, part in assignment.exercises.items():
        row = EXERCISES[key]
        text = f"{row.title}.\n\n    Takes {row.takes}.\n    Returns {row.gives}.\n    "
        yield Named(part.name or key, text, _EXERCISES[key])
