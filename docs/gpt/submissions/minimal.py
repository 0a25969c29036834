"""As few lines as will do: functions, and one module that holds the weights."""

import math

import torch
import torch.nn.functional as F
from torch import nn

VOCAB_SIZE, BLOCK_SIZE, N_EMBD, N_HEAD, N_LAYER, D_FF = 65, 256, 384, 6, 6, 1536


def attention(x, qkv, proj, heads):
    B, T, D = x.shape
    q, k, v = qkv(x).view(B, T, 3, heads, D // heads).permute(2, 0, 3, 1, 4)
    scores = q @ k.transpose(-2, -1) / math.sqrt(D // heads)
    future = torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device), diagonal=1)
    scores = scores.masked_fill(future, float("-inf"))
    weights = scores.softmax(dim=-1)
    context = weights @ v
    return proj(context.transpose(1, 2).reshape(B, T, D))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCAB_SIZE, N_EMBD), nn.Embedding(BLOCK_SIZE, N_EMBD)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "ln1": nn.LayerNorm(N_EMBD),
                    "qkv": nn.Linear(N_EMBD, 3 * N_EMBD),
                    "proj": nn.Linear(N_EMBD, N_EMBD),
                    "ln2": nn.LayerNorm(N_EMBD),
                    "up": nn.Linear(N_EMBD, D_FF),
                    "down": nn.Linear(D_FF, N_EMBD),
                }
            )
            for _ in range(N_LAYER)
        )
        self.ln_f = nn.LayerNorm(N_EMBD)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.02)

    def forward(self, ids):
        tokens = self.wte(ids)
        x = tokens + self.wpe(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = x + attention(block["ln1"](x), block["qkv"], block["proj"], N_HEAD)
            x = x + block["down"](F.gelu(block["up"](block["ln2"](x))))
        logits = self.ln_f(x) @ self.wte.weight.T
        return logits
