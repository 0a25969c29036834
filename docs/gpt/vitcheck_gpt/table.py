"""The table of stages of a GPT with pre-norm blocks. Imports no torch.

Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", and Vaswani et al. 2017,
arXiv:1706.03762, for the mask. The keys of what happens in blocks are vitcheck's; labels and texts are ours.
"""

from __future__ import annotations

from vitcheck.api import Family, Stage

from .sampling import GPT_SAMPLING
from .sizes import GPTSizes

STAGES = (
    Stage(
        "token_ids", "G01", "Token ids", "B T",
        (), "whole numbers below V, one for each token", None,
        ("every id is below V",),
        "What the model reads: a text, cut into tokens, each told by its place in the vocabulary.",
    ),
    Stage(
        "token_embeddings", "G02", "Token embeddings", "B T D",
        ("token_ids",), "row G01 of the table of tokens", None,
        ("equal ids have equal rows",),
        "Each id picks its row from a learned table of V rows. Nothing is multiplied, and where a token "
        "stands does not matter yet.",
    ),
    Stage(
        "positioned_tokens", "G03", "Tokens with positions", "B T D",
        ("token_embeddings",), "G02 + positions", "add_positions",
        ("G03 - G02 is the same for every text",),
        "Attention does not know the order of its tokens, so each gets a vector added that tells its place.",
    ),
    Stage(
        "block_input", "G04", "Block input", "B T D",
        ("positioned_tokens",), "G03 in block 1; the previous block's output in the others", None,
        ("equal to what came before",),
        "What enters a block, and where its first residual connection starts.",
    ),
    Stage(
        "query", "G05", "Query", "B h T d",
        ("block_input",), "LayerNorm(G04) · W_qᵀ + b_q, cut into h heads", "split_heads",
        ("affine in the normed input",),
        "What each token looks for, head by head.",
    ),
    Stage(
        "key", "G06", "Key", "B h T d",
        ("block_input",), "LayerNorm(G04) · W_kᵀ + b_k, cut into h heads", "split_heads",
        ("affine in the normed input",),
        "What each token can be found by, head by head.",
    ),
    Stage(
        "value", "G07", "Value", "B h T d",
        ("block_input",), "LayerNorm(G04) · W_vᵀ + b_v, cut into h heads", "split_heads",
        ("affine in the normed input",),
        "What each token hands on to those that find it.",
    ),
    Stage(
        "attention_scores", "G08", "Attention scores", "B h T T",
        ("query", "key"), "G05 · G06ᵀ / √d", "attention_scores",
        ("every value is finite",),
        "How well each query (row) fits each key (column), future tokens included.",
    ),
    Stage(
        "masked_scores", "G09", "Masked scores", "B h T T",
        ("attention_scores",), "G08, and minus infinity where the column comes after the row", None,
        ("above the diagonal is nothing but minus infinity",),
        "A token may not look at what comes after it, or it would be asked to guess what it can see. The "
        "softmax turns minus infinity into exactly zero.",
    ),
    Stage(
        "attention_probabilities", "G10", "Attention probabilities", "B h T T",
        ("masked_scores",), "softmax of G09 over the keys", "attention_probabilities",
        ("every row sums to 1", "above the diagonal is nothing but zero"),
        "The share of its attention that each token gives to itself and to each one before it. The first "
        "token can only look at itself: its row begins with 1.",
    ),
    Stage(
        "attention_context", "G11", "Attention context", "B h T d",
        ("attention_probabilities", "value"), "G10 · G07", "attention_context",
        ("row 0 is row 0 of G07",),
        "The values, averaged by those shares.",
    ),
    Stage(
        "attention_output", "G12", "Attention output", "B T D",
        ("attention_context",), "the heads of G11 side by side, · W_oᵀ + b_o", "linear",
        ("affine in G11",),
        "The heads of each token put side by side again, and mixed by one linear layer.",
    ),
    Stage(
        "post_attention_norm", "G13", "Norm before the MLP", "B T D",
        ("block_input", "attention_output"), "LayerNorm(G04 + G12)", "layer_norm",
        ("before the affine part each token has mean 0 and biased variance 1",),
        "What attention found is added to what entered the block, and the MLP reads a norm of the sum.",
    ),
    Stage(
        "mlp_hidden", "G14", "Hidden layer", "B T M",
        ("post_attention_norm",), "GELU(G13 · W₁ᵀ + b₁)", "gelu",
        ("no value is below -0.17",),
        "Each token by itself goes through a wider linear layer and GELU.",
    ),
    Stage(
        "mlp_output", "G15", "MLP output", "B T D",
        ("mlp_hidden",), "G14 · W₂ᵀ + b₂", "linear",
        ("affine in G14",),
        "The hidden layer brought back to the width of the tokens.",
    ),
    Stage(
        "post_mlp_norm", "G16", "Residual after the MLP", "B T D",
        ("block_input", "attention_output", "mlp_output"), "G04 + G12 + G15", "residual",
        ("subtracting G12 and G15 gives G04 back",),
        "What the MLP found is added to the sum before the norm. No norm comes after it.",
    ),
    Stage(
        "block_output", "G17", "Block output", "B T D",
        ("post_mlp_norm",), "G16", None,
        ("equal to G16",),
        "What the block hands on.",
    ),
    Stage(
        "second_block_output", "G18", "Output of block 2", "B T D",
        ("block_output",), "a block of its own weights applied to G17", None,
        ("another tensor than G17",),
        "The same again, with the weights of the second block.",
    ),
    Stage(
        "last_block_output", "G19", "Output of the last block", "B T D",
        ("second_block_output",), "the remaining blocks applied to G18", None,
        ("as many blocks as asked for",),
        "The tokens after all blocks.",
    ),
    Stage(
        "final_sequence", "G20", "Final norm", "B T D",
        ("last_block_output",), "LayerNorm(G19)", "layer_norm",
        ("before the affine part each token has mean 0 and biased variance 1",),
        "One more norm: pre-norm blocks leave the sum that they build without one.",
    ),
    Stage(
        "logits", "G21", "Logits", "B T V",
        ("final_sequence",), "G20 · (the table of tokens)ᵀ", "linear",
        ("one number for each token of the vocabulary, at every position",),
        "How likely each token of the vocabulary is to come next, at every position at once. The table that "
        "made tokens into vectors is used again, the other way round.",
    ),
    Stage(
        "token_probabilities", "G22", "Probabilities of the next token", "B T V",
        ("logits",), "softmax of G21 over the vocabulary", "class_probabilities",
        ("every row sums to 1",),
        "The logits as shares that sum to 1 at each position.",
    ),
)  # fmt: skip

GPT = Family(
    name="gpt",
    blocks={"pre-norm": STAGES},
    sizes=GPTSizes,
    small=GPTSizes(batch=2, context=7, vocabulary=29, embed_dim=60, heads=6, mlp_dim=300, depth=2),
    sampling=GPT_SAMPLING,
    anatomy_at="vitcheck_gpt.anatomy:GPT_ANATOMY",
    rules_at="vitcheck_gpt.rules:GPT_RULES",
    texts="vitcheck_gpt",
)
