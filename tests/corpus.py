"""Correct implementations as real students write them, and how to build each at any size.

The files lie in ``bases/``; the wrong ones that are made from them are in ``mutants/``.
"""

from __future__ import annotations

import linecache
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor, nn

from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.uncompiled import ignore_compiler

BASES_FOLDER = Path(__file__).with_name("bases")
_EVERY_SIZE = frozenset(field.name for field in fields(Sizes)) - {"batch"}

Build = Callable[[ModuleType, Sizes], nn.Module]

ignore_compiler()  # as for a submission


@dataclass(frozen=True)
class Base:
    """A correct implementation.

    ``rectangular`` says whether it takes images that are not square; ``controls`` are the sizes that
    ``build`` sets.
    """

    name: str
    file: Path
    family: str  # report | pre-norm | clip
    build: Build
    rectangular: bool = False
    controls: frozenset[str] = _EVERY_SIZE

    def source(self) -> str:
        return self.file.read_text(encoding="utf-8")


def load_source(text: str, name: str) -> ModuleType:
    """Execute ``text`` as a module, as if it stood in ``<submission>/<name>.py``."""
    module = ModuleType(name)
    linecache.cache[f"<submission>/{name}.py"] = (
        len(text),
        None,
        text.splitlines(keepends=True),
        f"<submission>/{name}.py",
    )
    # dont_inherit: the __future__ import above is this file's, not the student's
    exec(compile(text, f"<submission>/{name}.py", "exec", dont_inherit=True), vars(module))
    return module


def load_base(name: str) -> ModuleType:
    return load_source(BASES[name].source(), name)


def scores(output: object) -> Tensor:
    """Pick the class scores out of what a base returns: alone, first in a tuple, or called ``logits``."""
    if isinstance(output, Mapping):
        output = output["logits"]
    output = getattr(output, "logits", output)
    if isinstance(output, tuple):
        output = output[0]
    assert isinstance(output, Tensor)
    return output


def randomise(model: nn.Module, seed: int = 0) -> None:
    """Give every parameter values that depend on ``seed``, its name and its shape alone.

    Weights have a variance of about 1/fan-in, norm weights lie around 1, class token and positions are
    standard normal, so that no mistake hides behind zeros and ones.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            generator = torch.Generator().manual_seed(zlib.crc32(f"{seed} {name}".encode()))
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(_scaled(name, noise))


def _scaled(name: str, noise: Tensor) -> Tensor:
    if noise.ndim == 1:
        is_norm_weight = name.endswith(("weight", "gamma", "_g"))
        return float(is_norm_weight) + 0.3 * noise
    if any(word in name for word in ("cls", "class_", "pos", "token", "table")):
        return noise
    return noise / math.sqrt(noise[0].numel())


def _mlp_ratio(sizes: Sizes) -> float:
    """Give the ratio as an integer where it is one, so that ``int(dim * ratio)`` cannot round down."""
    whole, rest = divmod(sizes.mlp_dim, sizes.embed_dim)
    return sizes.mlp_dim / sizes.embed_dim if rest else whole


def _image(sizes: Sizes) -> int | tuple[int, int]:
    return sizes.height if sizes.height == sizes.width else (sizes.height, sizes.width)


def _values(sizes: Sizes) -> list[object]:
    """List what nearly every constructor asks for, in the order in which ``_keywords`` names it."""
    image, patch, channels, width = _image(sizes), sizes.patch, sizes.channels, sizes.embed_dim
    return [image, patch, channels, width, sizes.depth, sizes.heads, sizes.mlp_dim, sizes.classes]


def _keywords(class_name: str, keywords: str) -> Build:
    """Build with the keywords for image, patch, channels, width, depth, heads, MLP width and classes."""

    def build(module: ModuleType, sizes: Sizes) -> nn.Module:
        arguments = dict(zip(keywords.split(), _values(sizes), strict=True))
        if "mlp_ratio" in arguments:
            arguments["mlp_ratio"] = _mlp_ratio(sizes)
        model: nn.Module = getattr(module, class_name)(**arguments)
        return model

    return build


def _config_dict(module: ModuleType, sizes: Sizes) -> nn.Module:
    names = "img_size patch_size in_channels embedding_dim num_layers num_heads mlp_dim num_classes"
    model: nn.Module = module.ViT(dict(zip(names.split(), _values(sizes), strict=True)))
    return model


def _constants(module: ModuleType, sizes: Sizes) -> nn.Module:
    names = "IMG_SIZE PATCH_SIZE CHANNELS EMBED_DIM NUM_BLOCKS NUM_HEADS MLP_RATIO NUM_CLASSES"
    vars(module).update(zip(names.split(), _values(sizes), strict=True))
    vars(module)["MLP_RATIO"] = _mlp_ratio(sizes)
    model: nn.Module = module.ViT()
    return model


def _config_object(module: ModuleType, s: Sizes) -> nn.Module:
    config = module.ViTConfig(
        s.height, s.patch, s.channels, s.embed_dim, s.depth, s.heads, s.mlp_dim, s.classes
    )
    model: nn.Module = module.ViTModel(config)
    return model


def _image_shape(module: ModuleType, s: Sizes) -> nn.Module:
    chw = (s.channels, s.height, s.width)
    model: nn.Module = module.ViT(chw, s.patch, s.embed_dim, s.heads, s.depth, s.mlp_dim, s.classes)
    return model


def _patch_count(module: ModuleType, s: Sizes) -> nn.Module:
    model: nn.Module = module.VisionTransformer(
        s.embed_dim, s.mlp_dim, s.channels, s.heads, s.depth, s.classes, s.patch, s.patches
    )
    return model


def _tuples(module: ModuleType, s: Sizes) -> nn.Module:
    image, patch = (s.height, s.width), (s.patch, s.patch)
    model: nn.Module = module.VisionTransformer(
        image, patch, s.channels, s.embed_dim, s.depth, s.heads, s.mlp_dim, s.classes
    )
    return model


_DIM = "image_size patch_size channels dim depth heads mlp_dim num_classes"
_PLAIN = "image_size patch_size in_channels embed_dim depth num_heads mlp_dim num_classes"
_TIMM = "img_size patch_size in_chans embed_dim depth num_heads mlp_ratio num_classes"
_RATIO = "img_size patch_size in_channels embed_dim depth num_heads mlp_ratio num_classes"

_BUILDERS: dict[str, Build] = {
    # the debugging report's block
    "report": _keywords("ViT", _RATIO.replace("depth", "num_blocks")),
    "report_monolith": _keywords(
        "VisionTransformer",
        "img_size patch_size in_channels embed_dim num_blocks num_heads mlp_dim num_classes",
    ),
    "constants_only": _constants,
    # pre-norm
    "prenorm": _keywords("VisionTransformer", _TIMM),
    "separate_qkv": _keywords(
        "ViT", "image_size patch_size num_channels embed_dim num_layers num_heads hidden_dim num_classes"
    ),
    "fused_sdpa": _keywords(
        "ViT", "img_size patch_size in_channels n_embd n_layer n_head n_hidden n_classes"
    ),
    "library_mha": _keywords(
        "VisionTransformer", "img_size patch_size n_channels d_model n_layers n_heads d_ff n_classes"
    ),
    "library_encoder": _keywords("ViT", _DIM),
    "einsum_style": _keywords("ViT", _DIM),
    "einops_style": _keywords("ViT", _DIM),
    "per_head_modules": _keywords(
        "ViTForClassification",
        "img_size patch_size in_channels embed_dim num_hidden_layers num_heads intermediate_size num_classes",
    ),
    "raw_parameters": _keywords(
        "ViT", "img_size patch_size in_channels width n_layers n_heads hidden n_classes"
    ),
    "sequence_first": _keywords(
        "VisionTransformer", "input_resolution patch_size in_channels width layers heads mlp_width output_dim"
    ),
    "unfold_style": _keywords(
        "ViT", "img_size patch_size in_channels emb_size depth num_heads forward_size n_classes"
    ),
    "handwritten_norm": _keywords("MyViT", "img_size patch_size channels dim n_blocks heads hidden out_d"),
    "config_dataclass": _config_object,
    "config_dict": _config_dict,
    "interleaved_qkv": _patch_count,
    "heads_in_batch": _image_shape,
    "channel_last_patches": _keywords("ViT", _DIM),
    "scaled_query": _keywords(
        "VisionTransformer", "img_size patch_size in_chans dim depth num_heads ffn_dim classes"
    ),
    "returns_tuple": _keywords("ViT", _RATIO),
    "sinusoidal": _keywords(
        "ViT", "img_size patch_size n_channels d_model n_layers n_heads d_hidden n_classes"
    ),
    "vector_tokens": _keywords("ViT", "image_size patch channels dim depth heads mlp_dim classes"),
    "lambda_sequential": _keywords(
        "ViT", "img_size patch_size in_channels dim depth heads mlp_dim num_classes"
    ),
    "checkpointed": _keywords("ViT", _RATIO),
    "inplace": _keywords("ViT", "img_size patch_size channels dim depth heads hidden classes"),
    "dropout_everywhere": _keywords(
        "VisionTransformer", "img_size patch_size in_channels embed_dim depth num_heads mlp_dim num_classes"
    ),
    "functional_dict": _keywords(
        "ViT", "img_size patch_size in_channels dim depth heads mlp_dim num_classes"
    ),
    "tuple_sizes": _tuples,
    "query_chunks": _keywords(
        "ChunkedViT",
        "image_size patch_size num_channels hidden_size num_hidden_layers num_attention_heads "
        "intermediate_size num_labels",
    ),
    "key_chunks": _keywords("StreamingViT", "res patch chans dim depth heads ffn_dim n_classes"),
    "compiled": _keywords(
        "FastViT", "img_size patch_size in_channels n_embd n_layer n_head mlp_ratio num_classes"
    ),
    "scripted": _keywords("ViT", _PLAIN),
    "position_embedding": _keywords(
        "VisionTransformer", "image_size patch_size num_channels dim num_layers n_heads ff_dim num_classes"
    ),
    "loops": _keywords("ViT", "image_size patch_size channels d_model num_layers num_heads d_ff n_classes"),
    "library_stack": _keywords(
        "ImageClassifier",
        "img_size patch_size in_channels d_model num_layers nhead dim_feedforward num_classes",
    ),
    "library_separate": _keywords(
        "VisionTransformer",
        "image_size patch_size num_channels embed_dim num_layers num_heads hidden_dim num_classes",
    ),
    "all_by_hand": _keywords(
        "ScratchViT", "img_size patch_size in_channels d_model n_layers n_head d_ff n_classes"
    ),
    "weight_normed": _keywords(
        "WeightNormViT", "img_dim patch_dim in_channels emb_dim num_blocks n_heads ff_hidden classes"
    ),
    "fused_adds": _keywords("ViT", "image_size patch_size channels embed_dim depth heads mlp_width classes"),
    "preallocated": _keywords(
        "InPlaceViT", "img_size patch_size in_chans dim n_blocks n_heads mlp_hidden n_classes"
    ),
    "token_after_positions": _keywords(
        "VisionTransformer",
        "resolution patch_size in_chans embed_dim encoder_layers head_count mlp_units class_count",
    ),
    "wide_heads": _keywords("ViT", _DIM),
    "sincos_2d": _keywords("SimpleViT", _PLAIN),
    "registered_backwards": _keywords(
        "Model", "image_size patch_size in_channels embed_dim depth n_heads mlp_dim num_classes"
    ),
    "wrapped": _keywords(
        "VisionTransformer",
        "image_size patch_size in_channels emb_size depth num_heads mlp_hidden num_classes",
    ),
    "torchvision_subclass": _keywords(
        "MyViT", "image_size patch_size in_channels hidden_dim num_layers num_heads mlp_dim num_classes"
    ),
    "stochastic_depth": _keywords(
        "DeepViT", "img_size patch_size in_channels embed_dims num_layers num_heads ffn_dim num_classes"
    ),
    "report_cache": _keywords(
        "ViTWithCache", "img_size patch_size in_channels d_model n_blocks n_heads d_ff num_classes"
    ),
    "report_functions": _keywords(
        "ReportTransformer", "img_size patch_size channels width layers n_heads mlp_dim n_classes"
    ),
    # CLIP
    "clip_style": _keywords(
        "VisualTransformer", "input_resolution patch_size in_channels width layers heads mlp_width output_dim"
    ),
    "clip_explicit": _keywords(
        "CLIPVisionModel",
        "image_size patch_size num_channels hidden_size num_hidden_layers num_attention_heads "
        "intermediate_size projection_dim",
    ),
}
_FAMILIES = {
    "report": "report",
    "report_monolith": "report",
    "constants_only": "report",
    "report_cache": "report",
    "report_functions": "report",
    "clip_style": "clip",
    "clip_explicit": "clip",
}
_RECTANGULAR = ("report", "prenorm", "einops_style", "interleaved_qkv", "heads_in_batch", "tuple_sizes")

BASES: dict[str, Base] = {
    name: Base(
        name,
        BASES_FOLDER / f"{name}.py",
        _FAMILIES.get(name, "pre-norm"),
        build,
        rectangular=name in _RECTANGULAR,
    )
    for name, build in _BUILDERS.items()
}
