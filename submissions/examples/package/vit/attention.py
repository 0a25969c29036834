"""Multi-head self-attention with one linear layer each for queries, keys and values."""
import torch
from torch import nn

from .sizes import EMBED_DIM, NUM_HEADS


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim=EMBED_DIM, num_heads=NUM_HEADS):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{embed_dim} features cannot be shared among {num_heads} heads")
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)
        self.out = nn.Linear(embed_dim, embed_dim)

    def heads(self, x):
        return x.reshape(x.size(0), x.size(1), self.num_heads, self.head_dim).permute(0, 2, 1, 3)

    def forward(self, x):
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        # BREAKPOINT S09 q
        # BREAKPOINT S10 k
        # BREAKPOINT S11 v
        scores = torch.matmul(q, k.transpose(2, 3)) / self.head_dim**0.5
        # BREAKPOINT S12
        probs = nn.functional.softmax(scores, dim=3)
        # BREAKPOINT S13
        context = torch.matmul(probs, v)
        # BREAKPOINT S14
        concat = context.permute(0, 2, 1, 3).reshape(x.shape)
        attention_output = self.out(concat)
        # BREAKPOINT S15
        return attention_output
