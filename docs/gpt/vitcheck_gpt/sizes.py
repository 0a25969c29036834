"""The sizes of a GPT, and what it reads. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass

from vitcheck.api import ModelSizes


@dataclass(frozen=True)
class GPTSizes(ModelSizes):
    """Every size that the shapes of the stages depend on; the defaults are those of a model of characters."""

    letters = {  # noqa: RUF012  # the base declares it a class variable
        "batch": "B",
        "context": "T",
        "vocabulary": "V",
        "embed_dim": "D",
        "heads": "h",
        "mlp_dim": "M",
        "depth": "L",
    }
    input_axes = "B T"
    input_below = "V"  # token ids
    output_axes = "B T V"
    lengths = ("context",)
    names = {  # noqa: RUF012  # as above
        "vocabulary": "vocab_size vocab n_vocab num_vocab vocabulary_size n_tokens num_tokens ntoken v",
        "context": """block_size context_length context_size context ctx_len n_ctx max_len max_seq_len seq_len
            sequence_length max_length max_position_embeddings n_positions t""",
        "flag_on": "causal is_causal tie_weights tied",
    }

    batch: int = 1
    context: int = 256
    vocabulary: int = 65
    embed_dim: int = 384
    heads: int = 6
    mlp_dim: int = 1536
    depth: int = 6

    @property
    def tokens(self) -> int:
        """The length of the sequence that the blocks read."""
        return self.context
