"""What is said of the model as a whole, once its stages are settled."""

from __future__ import annotations

from dataclasses import replace

from ...reference.stages import stage
from .norms import Norm
from .parameters import Linear
from .walk import Walk

# PyTorch's default in the debugging report; 1e-6 in torchvision and timm; both in CLIP-style code.
_USUAL_EPS = {"report": (1e-5,), "pre-norm": (1e-6,), "clip": (1e-5, 1e-6)}
_NORM_STAGES = {"norm1": "query", "norm2": "post_attention_norm", "norm3": "post_mlp_norm"}


def about_model(walk: Walk) -> None:
    """Adds findings that compare stages, blocks and sizes with each other."""
    if walk.steps and walk.trace.image.number:
        walk.note_at(0, "input-mutated-in-place", "image", walk.trace.image.number)
    if walk.blocks:
        _about_architecture(walk)
        _about_eps(walk)
        _about_width(walk)
        _about_leaves(walk)
    if walk.unexplained is None:
        _about_depth(walk)
    _each_once(walk)
    _about_implied(walk)


_CLIP_HAS = {"projection-bias-missing", "extra-norm-before-encoder", "quick-gelu", "final-norm-after-readout"}
_CLIP_SIGNS = 4  # of five, with the projection that has no bias: one of them may be the mistake


def _about_architecture(walk: Walk) -> None:
    """CLIP's has a norm before the blocks, one on the class token, QuickGELU, and no bias at either end."""
    ids = {finding.id for step in walk.steps for finding in step.findings}
    head = walk.roles.get("head")
    without_bias = isinstance(head, Linear) and head.bias is None
    if walk.architecture != "pre-norm" or len(_CLIP_HAS & ids) + without_bias < _CLIP_SIGNS:
        return
    walk.architecture = "clip"
    walk.steps = [one for one in walk.steps if one.key != "class_probabilities" or one.found]
    if "extra-norm-before-encoder" not in ids:
        _note_on(walk, "block_input", 1, "pre-encoder-norm-missing")
    if not any(one.stage == "mlp_hidden" for step in walk.steps for one in step.findings):
        _note_on(walk, "mlp_hidden", 1, "gelu-instead-of-quick-gelu")


def _about_eps(walk: Walk) -> None:
    """The first norm with another eps than is usual."""
    usual = _USUAL_EPS.get(walk.architecture or "", ())
    for number in range(1, walk.blocks + 1):
        for name, key in _NORM_STAGES.items():
            norm = walk.roles.get(f"block{number}.{name}")
            if usual and isinstance(norm, Norm) and norm.form.id is None and norm.eps not in usual:
                _note_on(walk, key, number, "layernorm-eps-1e-5")
                return


def _about_width(walk: Walk) -> None:
    """Notes a hidden layer that is not as wide as asked."""
    hidden = walk.context.stages.get(("mlp_hidden", 1))
    as_wide = walk.context.stage("positioned_tokens").shape[-1] == walk.sizes.embed_dim
    if hidden is not None and as_wide and walk.sizes.mlp_dim not in hidden.shape[1:]:
        _note_on(walk, "mlp_hidden", 1, "mlp-ratio-wrong")


def _about_leaves(walk: Walk) -> None:
    """Notes blocks that share their numbers, or hide them from the model."""
    maps = [walk.roles.get(f"block{number}.fc1") for number in range(1, walk.blocks + 1)]
    leaves = [walk.parameters.leaf(one.weight) for one in maps if isinstance(one, Linear)]
    if len(leaves) > 1 and len(set(leaves)) == 1:
        walk.note("blocks-share-one-instance", "second_block_output")
    if any(kind == "leaf" and walk.trace.leaves[number].kind == "tensor" for kind, number, _ in leaves):
        walk.note("blocks-in-python-list", "model")


def _about_depth(walk: Walk) -> None:
    if walk.blocks < walk.sizes.depth:
        _note_on(walk, "last_block_output", 0, "depth-off-by-one")


def _about_implied(walk: Walk) -> None:
    """Says of a stage that is no tensor by which later one it is known."""
    later = ""
    for position, step in reversed(list(enumerate(walk.steps))):
        if step.found is not None:
            later = stage(step.key).label
        elif later and step.explained:
            told = f"It is no tensor of its own here: it is known by {later}, which follows from it."
            walk.steps[position] = replace(step, message=told)


def _note_on(walk: Walk, key: str, block: int, name: str) -> None:
    for position, step in enumerate(walk.steps):
        if (step.key, step.block) == (key, block):
            walk.note_at(position, name, key)


def _each_once(walk: Walk) -> None:
    """Where no block's result is used at all, that is what is wrong, and not what each of them reads."""
    ids = {finding.id for step in walk.steps for finding in step.findings}
    if "block-result-discarded" not in ids:
        return
    for position, step in enumerate(walk.steps):
        kept = tuple(one for one in step.findings if one.id != "every-block-reads-first-input")
        if kept != step.findings:
            walk.steps[position] = replace(step, findings=kept, right=step.predict)
