{
 "cells": [
  {
   "cell_type": "code",
   "metadata": {},
   "execution_count": null,
   "outputs": [],
   "source": "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom einops import repeat\nimport numpy as np"
  },
  {
   "cell_type": "code",
   "metadata": {},
   "execution_count": null,
   "outputs": [],
   "source": "def get_positional_embeddings(sequence_length, d):\n    result = torch.ones(sequence_length, d)\n    for i in range(sequence_length):\n        for j in range(d):\n            result[i][j] = np.sin(i / (10000 ** (j / d))) if j % 2 == 0 else np.cos(i / (10000 ** ((j - 1) / d)))\n    return result"
  },
  {
   "cell_type": "code",
   "metadata": {},
   "execution_count": null,
   "outputs": [],
   "source": "class PatchProjection(nn.Module):\n    def __init__(self, patch, in_channels, emb_size):\n        super().__init__()\n        self.conv = nn.Conv2d(in_channels, emb_size, kernel_size=patch, stride=patch)\n\n    def forward(self, x: torch.Tensor):\n        return self.conv(x).flatten(2).permute(0, 2, 1)"
  },
  {
   "cell_type": "code",
   "metadata": {},
   "execution_count": null,
   "outputs": [],
   "source": "class TokenEmbedding(nn.Module):\n    def __init__(self, patch, in_channels, emb_size, input_size):\n        super().__init__()\n        self.embedding_layer = PatchProjection(patch, in_channels, emb_size)\n        self.token = nn.Parameter(torch.randn(1, 1, emb_size))\n        self.pos_embedding = nn.Parameter(get_positional_embeddings(input_size ** 2 // patch ** 2 + 1, emb_size), requires_grad=False)\n        self.drop_after_pos = nn.Dropout(0.0)\n\n    def forward(self, x: torch.Tensor):\n        emb = self.embedding_layer(x)\n        cls_tokens = repeat(self.token, '1 1 d -> b 1 d', b=len(emb))\n        # breakpoint 5: class token\n        print(\"cls_tokens\", cls_tokens.shape)\n        seq = torch.concat([cls_tokens, emb], dim=1)\n        # breakpoint 6: prepend cls token\n        print(\"seq\", seq.shape)\n        tokens_pos = seq + self.pos_embedding.repeat(seq.shape[0], 1, 1)\n        # breakpoint 7: add positional encoding\n        print(\"tokens_pos\", tokens_pos.shape)\n\n        tokens_pos = self.drop_after_pos(tokens_pos)\n        return tokens_pos"
  },
  {
   "cell_type": "code",
   "metadata": {},
   "execution_count": null,
   "outputs": [],
   "source": "class SingleHead(nn.Module):\n    def __init__(self, emb_size, heads):\n        super().__init__()\n        self.depth_per_head = emb_size // heads\n        self.W_q = nn.Linear(emb_size, self.depth_per_head, bias=False)\n        self.W_k = nn.Linear(emb_size, self.depth_per_head, bias=False)\n        self.W_v = nn.Linear(emb_size, self.depth_per_head, bias=False)\n\n    def forward(self, tokens: torch.Tensor):\n        queries = self.W_q(tokens)\n        keys = self.W_k(tokens)\n        values = self.W_v(tokens)\n        attn_scores = queries @ keys.transpose(-2, -1) * self.depth_per_head ** -0.5\n        weights = torch.softmax(attn_scores, dim=-1)\n        return weights @ values"
  },
  {
   "cell_type": "code",
   "metadata": {},
   "execution_count": null,
   "outputs": [],
   "source": "class TransformerEncoderBlock(nn.Module):\n    def __init__(self, emb_size, heads, mlp_filters):\n        super().__init__()\n        self.ln_1 = nn.LayerNorm(emb_size)\n        self.head_list = nn.ModuleList([SingleHead(emb_size, heads) for _ in range(heads)])\n        self.linear_out = nn.Linear(emb_size, emb_size)\n        self.drop = nn.Dropout(0.0)\n        self.ln_2 = nn.LayerNorm(emb_size)\n        self.lin1 = nn.Conv1d(emb_size, mlp_filters, 1)\n        self.lin2 = nn.Conv1d(mlp_filters, emb_size, 1)\n\n    def forward(self, tokens: torch.Tensor):\n        x_in = tokens\n        tokens = self.ln_1(tokens)\n        z_all = torch.cat([head(tokens) for head in self.head_list], dim=-1)\n        out = self.drop(self.linear_out(z_all))\n        # breakpoint 15: attention output\n        print(\"out\", out.shape)\n\n        tokens = x_in + out\n        x_in = tokens\n        tokens = self.ln_2(tokens)\n        # breakpoint 16: norm before mlp\n        print(\"tokens\", tokens.shape)\n        inner = F.gelu(self.lin1(tokens.transpose(1, 2)))\n        # breakpoint 17: hidden layer\n        print(\"inner\", inner.shape)\n        feed = self.lin2(inner).transpose(1, 2)\n        # breakpoint 18: project back\n        print(\"feed\", feed.shape)\n        tokens = x_in + feed\n        # breakpoint 20: block output\n        print(\"tokens\", tokens.shape)\n\n        return tokens"
  },
  {
   "cell_type": "code",
   "metadata": {},
   "execution_count": null,
   "outputs": [],
   "source": "class Encoder(nn.Module):\n    def __init__(self, emb_size, heads, mlp_filters, n_blocks):\n        super().__init__()\n        self.encoder_layers = TransformerEncoderBlock(emb_size, heads, mlp_filters)\n        self.n_blocks = n_blocks\n\n    def forward(self, tokens: torch.Tensor):\n        for _ in range(self.n_blocks):\n            tokens = self.encoder_layers(tokens)\n        return tokens"
  },
  {
   "cell_type": "code",
   "metadata": {},
   "execution_count": null,
   "outputs": [],
   "source": "class VITModel(nn.Module):\n    def __init__(self, input_size, patch, in_channels, emb_size, n_blocks, heads, mlp_filters, n_classes):\n        super().__init__()\n        self.embedding = TokenEmbedding(patch, in_channels, emb_size, input_size)\n        self.body = Encoder(emb_size, heads, mlp_filters, n_blocks)\n        self.norm = nn.LayerNorm(emb_size)\n        self.out = nn.Linear(emb_size, n_classes)\n\n    def forward(self, x: torch.Tensor):\n        tokens_pos = self.embedding(x)\n        features = self.body(tokens_pos)\n        return self.out(self.norm(torch.mean(features, dim=1)))"
  },
  {
   "cell_type": "code",
   "metadata": {},
   "execution_count": null,
   "outputs": [],
   "source": "if __name__ == \"__main__\":\n    model = VITModel(input_size=224, patch=16, in_channels=3, emb_size=768, n_blocks=12, heads=12, mlp_filters=3072, n_classes=1000)\n    x = torch.randn(2, 3, 224, 224)\n    out = model(x)\n    print(out)"
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 2
}
