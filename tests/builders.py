"""How each base of the corpus is built at given sizes."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from torch import nn

from vitcheck.reference.sizes import Sizes

Build = Callable[[ModuleType, Sizes], nn.Module]


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
_CHANNELS = "image_size patch_size channels dim depth heads mlp_dim num_classes"
_IN_CHANNELS = "image_size patch_size in_channels dim depth heads mlp_dim num_classes"
_RATIO = "img_size patch_size in_channels embed_dim depth num_heads mlp_ratio num_classes"

BUILDERS: dict[str, Build] = {
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
    # habits of other languages and libraries
    "keras_minded": _keywords(
        "VisionTransformer",
        "image_size patch_size channels projection_dim transformer_layers num_heads mlp_units num_classes",
    ),
    "jax_vmap": _keywords("ViT", _CHANNELS),
    "stacked_weights": _keywords(
        "StackedViT", "img_size patch_size in_channels dim n_layers n_heads hidden n_classes"
    ),
    "token_loops": _keywords(
        "Vit", "img_size patch_size in_channels embed_dim num_layers num_heads mlp_dim num_classes"
    ),
    "generators": _keywords("ViT", _CHANNELS),
    "batch_last": _keywords("ViT", _CHANNELS),
    "token_maps": _keywords(
        "MapViT", "img_size patch_size in_chans embed_dim depth num_heads mlp_dim num_classes"
    ),
    "position_maps": _keywords("GridViT", "image_size patch_size in_chans c depth nh hidden num_classes"),
    "feature_first": _keywords("VisionTransformer", _IN_CHANNELS),
    "hooks": _keywords(
        "HookedViT", "img_size patch_size in_channels d_model n_layers n_heads d_ff n_classes"
    ),
    "vmap_heads": _keywords("ViT", _IN_CHANNELS.replace("heads", "num_heads")),
    "enum_config": _keywords(
        "VisionTransformer", "image_size patch_size in_channels width depth heads hidden num_classes"
    ),
    "linked_blocks": _keywords(
        "LinkedViT", "image_size patch_size in_channels dim depth heads hidden num_classes"
    ),
    "numpy_indices": _keywords("MyViT", "img_size patch_size channels hidden_d n_blocks n_heads mlp_d out_d"),
    "parameter_lists": _keywords("ViT", "img_size patch_size in_chans width layers heads mlp_width classes"),
    "query_by_query": _keywords("ViT", "image_size patch_size channels dim depth heads hidden num_classes"),
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
