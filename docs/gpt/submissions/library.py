"""PyTorch's own encoder layers under a mask."""

import torch
from torch import nn


class TinyGPT(nn.Module):
    def __init__(self, vocab_size: int, max_len: int, d_model: int, nhead: int, dim_feedforward: int, num_layers: int):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Parameter(0.02 * torch.randn(1, max_len, d_model))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                d_model, nhead, dim_feedforward, dropout=0.1, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        nn.init.normal_(self.embed.weight, std=0.02)

    def forward(self, tokens: torch.Tensor) -> dict[str, torch.Tensor]:
        length = tokens.shape[1]
        x = self.embed(tokens) + self.pos[:, :length]
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=x.device, dtype=x.dtype)
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=True)
        logits = self.norm(x) @ self.embed.weight.T
        return {"logits": logits, "probs": logits.softmax(-1)}
