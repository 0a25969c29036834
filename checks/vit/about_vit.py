"""What is said of a ViT as a whole, once its stages are settled: which of the known ones it is."""

from __future__ import annotations

from ..locating.search.norms import LARGEST, Norm
from ..locating.search.parameter_search import LinearMap
from ..locating.walk import Walk

# PyTorch's default where blocks end in a norm; 1e-6 in torchvision and timm; both in CLIP's successors.
_USUAL_EPS = {"report": (1e-5,), "pre-norm": (1e-6,), "post-norm": (1e-5,), "clip": (1e-5, 1e-6)}
_NORM_STAGES = {"norm1": "query", "norm2": "post_attention_norm", "norm3": "post_mlp_norm"}


def about_vit(walk: Walk) -> None:
    """Adds findings that tell CLIP's from the paper's, and the eps of norms."""
    if walk.blocks:
        _about_architecture(walk)
    else:
        _about_one_norm(walk)
    _about_eps(walk)


def _about_one_norm(walk: Walk) -> None:
    """Says which norm is left out of what can only be CLIP's, and ends in its first block."""
    norm = walk.roles.get("block1.norm1")
    is_clip = walk.is_cut_short and walk.accepted == {"clip"}
    if not is_clip or not isinstance(norm, Norm) or norm.weight is None:
        return
    if "extra-norm-before-encoder" in walk.ids:
        return
    kind, number, *_ = walk.trace.used(norm.weight)
    name = walk.trace.leaves[number].name if kind == "leaf" else ""
    if any(part.isdigit() for part in name.split(".")):  # of a list of blocks
        walk.note_on("block_input", 1, "pre-encoder-norm-missing")
    elif name:
        walk.note_on("query", 1, "norm1-skipped")


_CLIP_HAS = {  # and a projection without bias; each with the stage by which it shows
    "projection-bias-missing": "patch_embeddings",
    "extra-norm-before-encoder": "block_input",
    "quick-gelu": "mlp_hidden",
    "final-norm-after-readout": "class_representation",
}
_CLIP_SIGNS = 4  # of five: one of them may be the mistake


def _about_architecture(walk: Walk) -> None:
    """CLIP's has a norm before the blocks, one on the class token, QuickGELU, and no bias at either end."""
    ids = walk.ids
    head = walk.roles.get("head")
    without_bias = isinstance(head, LinearMap) and head.bias is None
    if walk.architecture != "pre-norm" or len(ids & _CLIP_HAS.keys()) + without_bias < _signs_needed(walk):
        return
    walk.architecture = "clip"
    walk.steps = [one for one in walk.steps if one.key != "class_probabilities" or one.found]
    if "extra-norm-before-encoder" not in ids:
        walk.note_on("block_input", 1, "pre-encoder-norm-missing")
    if not any(one.stage == "mlp_hidden" for step in walk.steps for one in step.findings):
        walk.note_on("mlp_hidden", 1, "gelu-instead-of-quick-gelu")


def _signs_needed(walk: Walk) -> int:
    """Of what is still to come there is no sign; what is not accepted is rather not meant, then."""
    if not walk.is_cut_short or "clip" not in walk.accepted or "pre-norm" in walk.accepted:
        return _CLIP_SIGNS
    reached = {step.key for step in walk.steps}
    return sum(key in reached for key in _CLIP_HAS.values()) - 1


def _about_eps(walk: Walk) -> None:
    """The first norm with another eps than is usual, in any kind of block that the begun one may become."""
    kinds = walk.accepted if walk.architecture is None else {walk.architecture}
    usual = {eps for kind in kinds for eps in _USUAL_EPS.get(kind, ())}
    for number in range(1, walk.number + 1):
        for name, key in _NORM_STAGES.items():
            norm = walk.roles.get(f"block{number}.{name}")
            if usual and isinstance(norm, Norm) and norm.form.id is None and norm.eps not in usual:
                is_small = norm.eps <= LARGEST
                walk.note_on(key, number, "layernorm-eps-1e-5" if is_small else "layernorm-eps-too-large")
                return
