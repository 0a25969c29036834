"""What constructor arguments are called, and what they mean (``questions.meanings``).

Names are compared in lower case and without underscores. A name that is used for several things lists them
all, the most common first; which one it is in a given class is settled by trying (probing.py).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from functools import cache

from .....reference.model_sizes import ModelSizes
from .....reference.sizes import Sizes
from ....questions.meanings import fields_of

_NAMES = {  # meanings, the most common first: the names that have them
    "channels": """in_channels in_chans channels num_channels n_channels in_c in_ch inchannel channel
        n_chans num_chans nc c_in image_channels img_channels input_channels nb_channels channels_in chans
        inp_channels number_channels image_depth color_channels channel_size in_chan
        kanaele kanäle anzahl_kanaele canaux nb_canaux canales n_canales num_canales canais canali""",
    "channels embed_dim": "c",
    "height": "img_height image_height height img_h image_h input_height im_height h_img",
    "width": "img_width image_width img_w image_w input_width im_width w_img w",
    "image": """img_size image_size img_dim image_dim image_length img_length input_resolution resolution res
        img_resolution image_resolution im_size imgsz image_sz picture_size img image side_length image_side
        img_side crop_size input_img_size input_image_size size_img img_dims image_dims pixel_size
        bildgroesse bildgröße taille_image tam_imagen tamano_imagen tam_imagem tamanho_imagem""",
    "image_chw": "chw image_shape_chw",
    "image_hwc": "hwc",
    "pixels": "num_pixels",
    "patch": """patch_size patch_length patch_width patch_height patch_side size_patch patch_sz patch_len
        patch_w patch_h ps patch_res patch_resolution patch_edge pixels_per_patch patch_pixel kernel_size
        p_size patchgroesse patchgröße taille_patch tam_parche tamano_parche tam_patch tamanho_patch""",
    "patch_dim": """flattened_patch_dim flat_patch_dim flattened_patch_size patch_flat_dim patch_vector_dim
        flatten_dim flattened_dim patch_area patch_input_dim patch_flattened_dim""",
    "patches_side": """patches_per_side n_patches_per_side num_patches_per_side grid_size n_patch_side
        n_patches_side num_patches_side patches_per_row patches_per_dim num_patches_1d grid
        n_patches_row""",
    "embed_dim": """embed_dim embedding_dim emb_dim emb_size embedding_size embed_size d_model token_dim
        n_embd latent_dim hidden_d model_dim patches_dim embedding_dims embed_dims dims_embed n_embed
        embedding embed d_embed d_emb dim_model emb projection_dim proj_dim project_dim token_size
        latent_size latent_vec_dim latent_vector_dim embedding_width model_width d_token transformer_dim
        encoder_dim trans_dim vit_dim dim_embedding dim_embeddings patch_embed_dim patch_embedding_dim
        patch_emb_dim embedding_dimension embed_dimension model_size d_hidden_model embeddings_dim
        embeddings_size n_embeddings num_embeddings dim_emb width_model vector_dim token_embedding_dim
        feature_size num_features feature_dim latent embed_d hidden_embed projected_dim emb_d e_dim
        residual_dim encoder_embed_dim transformer_width normalized_shape e""",
    "depth": """depth num_layers n_layers num_transformer_layers layers blocks num_blocks n_blocks
        encoder_num num_encoders encoder_depth n_enc_layers num_encoder_blocks number_stacks num_layer
        n_layer num_block n_block n_encoders num_encoder_layers n_encoder_layers num_hidden_layers
        encoder_layers transformer_layers transformer_depth transformer_blocks num_transformer_blocks
        n_transformer_blocks n_transformer_layers layer_num block_num num_encoder n_encoder nb_layers
        nb_blocks number_of_layers number_of_blocks stack_size num_stacks encoders layer_count n_stacks
        tiefe schichten anzahl_schichten n_schichten anzahl_bloecke profondeur nb_couches n_couches
        profundidad profundidade n_capas num_capas n_camadas num_camadas
        encoder_blocks n_encoder_blocks num_attn_layers num_attention_layers num_trans_layers repeat repeats
        number_layers number_blocks encoder_count l_layers vit_depth block_count""",
    "heads": """num_heads n_heads heads num_attention_heads nums_heads head number_attention_heads n_head
        num_head attention_heads attn_heads n_attention_heads head_num heads_num nb_heads number_of_heads
        num_attn_heads n_attn_heads transformer_heads mha_heads number_heads num_of_heads msa_heads msa_head
        nums_head head_count num_multi_heads multi_heads encoder_heads attention_head_count
        num_transformer_heads nh koepfe köpfe anzahl_koepfe n_koepfe tetes nb_tetes n_tetes
        cabezas n_cabezas num_cabezas cabecas n_cabecas num_cabecas""",
    "head_dim": """head_dim dim_head head_size d_head d_k dim_heads heads_dim head_width qkv_dim
        qkv_head_dim d_v key_dim value_dim query_dim qk_dim dim_k dim_v kopf_dim dim_kopf dim_tete
        dim_cabeza dim_cabeca""",
    "mlp_dim": """mlp_dim dim_mlp mlp_size d_ff dim_feedforward feedforward_dim ff_dim ffn_dim
        mlp_hidden_dim dim_ff mlp_hidden_size intermediate_size intermediate_dim forward_dim ff_size d_mlp
        mlp_width hidden_features inner_dim ff_hidden_dim ff_hidden ffn_hidden ffn_hidden_dim d_inner
        dim_ffn ffn_size mlp_hidden_d feedforward_size feedforward ff_inner_dim mlp_units mlp_hidden_units
        dim_hidden mlp_features mlp_hidden hidden_mlp hidden_mlp_dim mlp_head_units n_ff mlp_dims n_inner
        feedforward_hidden_dim hidden_dim_ff hidden_dim_mlp ff_width forward_size fwd_size ff_units m""",
    "mlp_ratio": """mlp_ratio expansion forward_expansion expansion_factor mlp_mult mlp_expansion mlp_factor
        ff_ratio ffn_ratio ff_mult mlp_multiplier expansion_ratio hidden_ratio forward_mul feedforward_ratio
        expand_ratio mlp_expansion_factor mlp_expansion_ratio ff_expansion ff_factor expand multiplier
        mlp_scale ff_multiplier widening_factor feed_forward_expansion ffn_expansion mul_factor fc_ratio""",
    "classes": """num_classes n_classes out_dim dim_out out_d classes num_answers num_class n_class
        class_num number_classes number_of_classes nb_classes num_labels n_labels n_cls num_cls class_count
        categories num_categories num_outputs n_outputs out_classes output_classes num_targets out_size
        output_size n_out num_out total_classes d_out cls_num num_output output_channels target_classes
        label_count classes_num klassen anzahl_klassen n_klassen clases n_clases num_clases""",
    "dropout": """dropout drop_rate dropout_rate emb_dropout attn_dropout dropout_prob drop
        attention_dropout attn_drop proj_drop drop_path drop_path_rate pos_drop mlp_dropout
        embedding_dropout dropout_p p_dropout p_drop drop_prob attn_drop_rate stochastic_depth
        hidden_dropout_prob attention_probs_dropout_prob hidden_dropout resid_dropout resid_pdrop attn_pdrop
        embd_pdrop embed_dropout ff_dropout mlp_drop drop_ratio attn_dropout_rate stochastic_depth_prob
        attention_dropout_rate embedding_dropout_rate emb_drop layer_dropout transformer_dropout
        attn_drop_ratio drop_path_ratio encoder_dropout proj_dropout patch_dropout initializer_dropout
        dropout1 dropout2 embeddings_dropout""",
    "batch": "batch_size batch bs b_size n_batch bsz batchsz b",
    "device": "device dev",
    "dtype": "dtype",
    "eps": "eps layer_norm_eps norm_eps epsilon ln_eps",
    "norm": "norm_layer norm layer_norm normalization",
    "flag_on": """qkv_bias bias use_bias use_cls_token cls_token class_token attention_bias learnable_pos
        include_head""",
    "flag_off": """verbose debug pre_norm mean_pool gap use_gap distilled return_attention return_attn
        return_attentions output_attentions save_attention visualize pretrained use_checkpoint causal
        return_features print_shapes vis use_flash use_dropout""",
    "zero": """num_register_tokens num_registers n_registers registers register_tokens n_register_tokens
        num_reg_tokens reg_tokens number_of_registers""",
    "class_weights": "class_weights class_frequencies class_freq class_counts weights loss_weights",
    "embed_dim mlp_dim": """hidden_dim hidden_size hidden hidden_channels hidden_units hidden_dims
        hidden_width hidden_dimension n_hidden hidden_layer_size num_hiddens hidden_layer_dim num_hidden
        dims dimension features dimensions n_features""",
    "patches patches_side tokens": """n_patches num_patches number_of_patches patch_num num_patch n_patch
        patch_count patches_num nb_patches""",
    "patch patches_side patches patches_pair": "patches",
    "patch patch_dim": "patch",
    "patch_pair patch": "patch_shape",
    "patch patch_dim embed_dim": "patch_dim patch_dims dim_patch patch_dimension",
    "patch dropout": "p",
    "embed_dim mlp_dim head_dim": "dim",
    "embed_dim width": "width",
    "image embed_dim patch": "size",
    "image embed_dim image_chw patch_dim": "input_size in_size",
    "image patch_dim channels embed_dim": "input_dim in_dim dim_in d_in",
    "image_chw image_pair image_hwc image_bchw": """input_shape image_shape img_shape in_shape shape
        input_dims""",
    "embed_dim patch_dim channels": "in_features",
    "classes embed_dim": "output_dim out_features num_outs out out_channels projection_dim proj_dim",
    "tokens patches": """seq_len seq_length max_len max_seq_len sequence_length max_length context_length
        context_size block_size max_seq_length max_position_embeddings length n_seq num_tokens n_tokens
        token_count number_of_tokens num_positions n_positions t tokens""",
    "mlp_dim mlp_ratio": "mlp",
    "activation activation_module activation_name activation_function": """activation act act_layer
        activation_fn act_fn activation_layer hidden_act activation_function non_linearity""",
    "heads image height": "h",
    "embed_dim depth head_dim": "d",
    "classes head_dim": "k",
    "depth tokens": "l",
    "depth patches heads embed_dim": "n",
}

_PREFIXES = ("vit", "model", "transformer", "encoder", "default", "my", "cfg", "config", "num", "n", "the")
_CLOSE = 0.85  # as alike as two letters exchanged in ten


def normalise(name: str) -> str:
    return name.lower().replace("_", "")


def first_match(name: str, patterns: Sequence[str]) -> int:
    """The number of the first of ``patterns`` that the plain name has; how many there are, if it has none."""
    plain = normalise(name)
    return next((n for n, pattern in enumerate(patterns) if re.search(pattern, plain)), len(patterns))


_TABLE = {normalise(name): tuple(row.split()) for row, names in _NAMES.items() for name in names.split()}


def _table(kind: type[ModelSizes]) -> Mapping[str, tuple[str, ...]]:
    return _names_of(kind)  # type: ignore[arg-type]  # mypy does not see that a dataclass can be hashed


@cache
def _names_of(kind: type[ModelSizes]) -> Mapping[str, tuple[str, ...]]:
    """The names of an architecture: its own, and those above whose meanings it has."""
    own = {normalise(name): (meaning,) for meaning, names in kind.names.items() for name in names.split()}
    fields = set(kind.__dataclass_fields__)
    shared = {
        name: tuple(one for one in row if fields >= set(fields_of(one))) for name, row in _TABLE.items()
    }
    return {name: row for name, row in shared.items() if row} | own


def is_known(name: str, kind: type[ModelSizes] = Sizes) -> bool:
    """Say whether ``name`` is in the table as it is."""
    return normalise(name) in _table(kind)


def meanings(name: str, kind: type[ModelSizes] = Sizes) -> tuple[str, ...]:
    """List the meanings that ``name`` may have, the most common first; none where it says nothing.

    Prefixes such as ``vit_`` are looked through, other words before a known name of two or more as well, and
    misspellings of longer names are recognised.
    """
    return _known(name, kind) or _by_its_end(name, kind) or _near(name, kind)


def hinted(name: str, kind: type[ModelSizes] = Sizes) -> tuple[str, ...]:
    """List what single words of ``name`` mean, the last one first, where it says nothing as a whole."""
    words = (word for word in reversed(name.lower().split("_")) if len(word) > 2)
    return tuple(dict.fromkeys(one for word in words for one in _table(kind).get(word, ())))


def is_guessed(name: str, kind: type[ModelSizes] = Sizes) -> bool:
    """Say whether ``name`` has its meaning from another one that it ends with, or is spelt nearly so."""
    return not _known(name, kind) and bool(meanings(name, kind))


def _known(name: str, kind: type[ModelSizes]) -> tuple[str, ...]:
    plain, table = normalise(name), _table(kind)
    if plain in table:
        return table[plain]
    if "dropout" in plain:
        return ("dropout",)
    for prefix in _PREFIXES:
        if plain.startswith(prefix) and plain.removeprefix(prefix) in table and len(plain) - len(prefix) > 2:
            return table[plain.removeprefix(prefix)]
    return ()


def _by_its_end(name: str, kind: type[ModelSizes]) -> tuple[str, ...]:
    words, table = name.lower().split("_"), _table(kind)
    ends = ("".join(words[start:]) for start in range(1, len(words) - 1))
    return next((table[end] for end in ends if end in table), ())


def _near(name: str, kind: type[ModelSizes]) -> tuple[str, ...]:
    plain, table = normalise(name), _table(kind)
    near = difflib.get_close_matches(plain, table, n=1, cutoff=_CLOSE) if len(plain) > 6 else []
    return table[near[0]] if near else ()
