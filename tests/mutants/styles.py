"""Where each base keeps its parts, and how its attention calls the sizes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """Dotted names of functions or classes, "" where a base has no such code, and expressions in attention.

    ``model`` is a class or function, and ``forward`` the function that returns the logits.
    """

    attention: str
    block: str
    model: str
    heads: str
    width: str
    forward: str = ""
    folded: bool = False  # scores have three axes: heads lie in the batch, or each is alone
    packed: bool = False  # query, key and value come from one map

    @property
    def returns(self) -> str:
        return self.forward or f"{self.model}.forward"


def _own(
    attention: str,
    block: str,
    model: str,
    heads: str,
    width: str,
    folded: bool = False,
    packed: bool = False,
) -> Style:
    """Attention and blocks are classes of these names, or one."""
    return Style(
        f"{attention}.forward", f"{block}.forward", model, heads, width, folded=folded, packed=packed
    )


STYLES = {
    "report": _own("EncoderBlock", "EncoderBlock", "ViT", "self.num_heads", "D", packed=True),
    "report_monolith": _own(
        "VisionTransformer",
        "VisionTransformer",
        "VisionTransformer",
        "self.num_heads",
        "self.embed_dim",
        packed=True,
    ),
    "constants_only": _own("Block", "Block", "ViT", "NUM_HEADS", "EMBED_DIM", packed=True),
    "prenorm": _own("Attention", "Block", "VisionTransformer", "self.num_heads", "C", packed=True),
    "separate_qkv": _own(
        "MultiHeadSelfAttention", "TransformerBlock", "ViT", "self.num_heads", "self.embed_dim"
    ),
    "fused_sdpa": _own("SelfAttention", "Block", "ViT", "self.n_head", "C", packed=True),
    "library_mha": Style("", "EncoderLayer.forward", "VisionTransformer", "", ""),
    "library_encoder": Style("", "", "ViT", "", ""),
    "einsum_style": _own("Attention", "ViT", "ViT", "self.heads", "x.shape[-1]"),
    "einops_style": _own("Attention", "ViT", "ViT", "self.heads", "x.shape[-1]", packed=True),
    "per_head_modules": Style(
        "AttentionHead.forward",
        "TransformerEncoderLayer.forward",
        "ViTForClassification",
        "(hidden_state.shape[-1] // q.shape[-1])",
        "hidden_state.shape[-1]",
        folded=True,
    ),
    "raw_parameters": _own("Layer", "Layer", "ViT", "len(self.wq)", "x.shape[-1]"),
    "sequence_first": _own(
        "SelfAttention", "ResidualBlock", "VisionTransformer", "self.heads", "D", folded=True, packed=True
    ),
    "unfold_style": Style("MultiHeadAttention.forward", "", "ClassificationHead", "self.num_heads", "e"),
    "handwritten_norm": Style("Block.attention", "Block.forward", "MyViT", "self.heads", "D"),
    "config_dataclass": _own(
        "ViTSelfAttention", "ViTLayer", "ViTModel", "self.num_attention_heads", "self.all_head_size"
    ),
    "config_dict": _own("Attention", "Layer", "ViT", "self.h", "e", packed=True),
    "interleaved_qkv": _own(
        "PackedAttention", "AttentionBlock", "VisionTransformer", "self.num_heads", "embed_dim", packed=True
    ),
    "heads_in_batch": _own("MHA", "Encoder", "ViT", "self.n_heads", "D", folded=True),
    "channel_last_patches": Style("Attention.forward", "", "ViT", "self.heads", "x.shape[-1]", packed=True),
    "scaled_query": _own("Attention", "Block", "VisionTransformer", "self.num_heads", "dim"),
    "returns_tuple": _own("MultiHeadAttention", "EncoderLayer", "ViT", "self.num_heads", "D", packed=True),
    "sinusoidal": _own("Attention", "Block", "ViT", "self.heads", "d"),
    "vector_tokens": Style("Block.attend", "Block.forward", "ViT", "self.heads", "dim"),
    "lambda_sequential": Style(
        "Attend.forward",
        "",
        "make_vit",
        "self.heads",
        "(qkv.shape[-1] // 3)",
        forward="ViT.forward",
        packed=True,
    ),
    "checkpointed": Style("Block.attention", "Block.forward", "ViT", "self.num_heads", "D", packed=True),
    "inplace": _own("Attention", "Layer", "ViT", "self.heads", "D", packed=True),
    "dropout_everywhere": _own("Attention", "Block", "VisionTransformer", "self.num_heads", "D", packed=True),
    "functional_dict": Style("attention", "vit", "vit", "heads", "d", forward="vit", folded=True),
    "tuple_sizes": _own("Attention", "Block", "VisionTransformer", "self.num_heads", "C"),
    "clip_style": Style("", "ResidualAttentionBlock.forward", "VisualTransformer", "", ""),
}
