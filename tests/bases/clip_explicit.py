import torch
import torch.nn.functional as F
from torch import nn


def quick_gelu(x):
    return torch.sigmoid(x * 1.702) * x


class CLIPAttention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        self.num_heads = num_attention_heads
        self.head_dim = hidden_size // num_attention_heads
        self.scale = self.head_dim ** -0.5
        self.k_proj = nn.Linear(hidden_size, hidden_size)
        self.v_proj = nn.Linear(hidden_size, hidden_size)
        self.q_proj = nn.Linear(hidden_size, hidden_size)
        self.out_proj = nn.Linear(hidden_size, hidden_size)

    def shape(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, self.head_dim).transpose(1, 2).contiguous()

    def forward(self, hidden_states):
        bsz, tgt_len, width = hidden_states.size()
        proj_shape = (bsz * self.num_heads, -1, self.head_dim)
        query_states = self.shape(self.q_proj(hidden_states) * self.scale).view(*proj_shape)
        key_states = self.shape(self.k_proj(hidden_states)).view(*proj_shape)
        value_states = self.shape(self.v_proj(hidden_states)).view(*proj_shape)
        attn_weights = F.softmax(torch.bmm(query_states, key_states.transpose(1, 2)), dim=-1)
        attn_output = torch.bmm(attn_weights, value_states).view(bsz, self.num_heads, tgt_len, self.head_dim)
        return self.out_proj(attn_output.transpose(1, 2).reshape(bsz, tgt_len, width))


class CLIPEncoderLayer(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, intermediate_size):
        super().__init__()
        self.self_attn = CLIPAttention(hidden_size, num_attention_heads)
        self.layer_norm1 = nn.LayerNorm(hidden_size)
        self.fc1 = nn.Linear(hidden_size, intermediate_size)
        self.fc2 = nn.Linear(intermediate_size, hidden_size)
        self.layer_norm2 = nn.LayerNorm(hidden_size)

    def forward(self, hidden_states):
        residual = hidden_states
        hidden_states = self.self_attn(self.layer_norm1(hidden_states))
        hidden_states = residual + hidden_states
        residual = hidden_states
        hidden_states = self.fc2(quick_gelu(self.fc1(self.layer_norm2(hidden_states))))
        return residual + hidden_states


class CLIPVisionModel(nn.Module):
    def __init__(self, image_size=224, patch_size=16, num_channels=3, hidden_size=768, num_hidden_layers=12,
                 num_attention_heads=12, intermediate_size=3072, projection_dim=512):
        super().__init__()
        self.class_embedding = nn.Parameter(torch.randn(hidden_size))
        self.patch_embedding = nn.Conv2d(num_channels, hidden_size, patch_size, patch_size, bias=False)
        tokens = (image_size // patch_size) ** 2 + 1
        self.position_embedding = nn.Embedding(tokens, hidden_size)
        self.register_buffer("position_ids", torch.arange(tokens).expand((1, -1)), persistent=False)
        self.pre_layrnorm = nn.LayerNorm(hidden_size)
        self.layers = nn.ModuleList([
            CLIPEncoderLayer(hidden_size, num_attention_heads, intermediate_size) for _ in range(num_hidden_layers)
        ])
        self.post_layernorm = nn.LayerNorm(hidden_size)
        self.visual_projection = nn.Linear(hidden_size, projection_dim, bias=False)

    def forward(self, pixel_values):
        patch_embeds = self.patch_embedding(pixel_values).flatten(2).transpose(1, 2)
        class_embeds = self.class_embedding.expand(pixel_values.shape[0], 1, -1)
        embeddings = torch.cat([class_embeds, patch_embeds], dim=1)
        hidden_states = self.pre_layrnorm(embeddings + self.position_embedding(self.position_ids))
        for layer in self.layers:
            hidden_states = layer(hidden_states)
        pooled_output = self.post_layernorm(hidden_states[:, 0, :])
        return self.visual_projection(pooled_output), hidden_states[:, 1:]
