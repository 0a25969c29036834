import torch
import torch.nn as nn
import math


class Config:
    img_size = 224
    patch_size = 16
    in_channels = 3
    embed_dim = 768
    depth = 12
    n_heads = 12
    mlp_dim = 3072
    num_classes = 1000


class VITModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.proj = nn.Conv2d(config.in_channels, config.embed_dim, config.patch_size, config.patch_size)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, config.embed_dim))
        self.pos_embed = nn.Parameter(torch.randn(1, (config.img_size // config.patch_size) ** 2 + 1, config.embed_dim))
        self.depth = config.depth
        self.norm_a = nn.ModuleList([nn.LayerNorm(config.embed_dim) for _ in range(self.depth)])
        self.norm_a_out = nn.ModuleList([nn.LayerNorm(config.embed_dim) for _ in range(self.depth)])
        self.n_heads = config.n_heads
        self.head_dim = config.embed_dim // config.n_heads
        self.q_proj = nn.ParameterList([nn.Parameter(torch.empty(config.embed_dim, config.embed_dim).normal_(std=0.02)) for _ in range(self.depth)])
        self.k_proj = nn.ParameterList([nn.Parameter(torch.empty(config.embed_dim, config.embed_dim).normal_(std=0.02)) for _ in range(self.depth)])
        self.v_proj = nn.ParameterList([nn.Parameter(torch.empty(config.embed_dim, config.embed_dim).normal_(std=0.02)) for _ in range(self.depth)])
        self.out_proj = nn.ModuleList([nn.Linear(config.embed_dim, config.embed_dim) for _ in range(self.depth)])
        self.norm_b = nn.ModuleList([nn.LayerNorm(config.embed_dim) for _ in range(self.depth)])
        self.norm_b_out = nn.ModuleList([nn.LayerNorm(config.embed_dim) for _ in range(self.depth)])
        self.fc1 = nn.ModuleList([nn.Linear(config.embed_dim, config.mlp_dim) for _ in range(self.depth)])
        self.fc2 = nn.ModuleList([nn.Linear(config.mlp_dim, config.embed_dim) for _ in range(self.depth)])
        self.act = nn.GELU()
        self.norm = nn.LayerNorm(config.embed_dim)
        self.head = nn.Linear(config.embed_dim, config.num_classes)

    def forward(self, x):
        x = self.proj(x).flatten(2).transpose(1, 2)
        cls_tokens = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat((cls_tokens, x), dim=1)
        x = x + self.pos_embed
        for i in range(self.depth):
            normed = self.norm_a[i](x)
            N_batch, T, _ = normed.shape
            q = (normed @ self.q_proj[i]).reshape(N_batch, T, self.n_heads, self.head_dim).transpose(1, 2)
            k = (normed @ self.k_proj[i]).reshape(N_batch, T, self.n_heads, self.head_dim).transpose(1, 2)
            v = (normed @ self.v_proj[i]).reshape(N_batch, T, self.n_heads, self.head_dim).transpose(1, 2)
            attn = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)
            attn_probs = attn.softmax(dim=-1)
            out = attn_probs @ v
            concat = out.transpose(1, 2).reshape(N_batch, T, -1)
            proj_out = self.out_proj[i](concat)
            x = x + self.norm_a_out[i](proj_out)
            normed = self.norm_b[i](x)
            hidden = self.act(self.fc1[i](normed))
            mlp_out = self.fc2[i](hidden)
            x = x + self.norm_b_out[i](mlp_out)
        x = self.norm(x)
        x = x[:, 0]
        return self.head(x)
