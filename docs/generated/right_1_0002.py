import torch
import torch.nn as nn


class TokenEmbedding(nn.Module):
    def __init__(self, token_dim, p_size, in_chans, img_size):
        super().__init__()
        self.linear_projection = nn.Linear(in_chans * p_size * p_size, token_dim)
        self.p_size = p_size
        self.pos_embed = nn.Parameter(torch.randn(1, (img_size // p_size) ** 2 + 1, token_dim) * 0.02)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, token_dim))

    def forward(self, images):
        n_samples, in_ch, h_patches, w_patches = images.shape
        patches = images.reshape(n_samples, in_ch, h_patches // self.p_size, self.p_size, w_patches // self.p_size, self.p_size)
        patches = patches.permute(0, 2, 4, 1, 3, 5).flatten(1, 2)
        x_flat = patches.flatten(2)
        patch_emb = self.linear_projection(x_flat)
        patch_emb = patch_emb + self.pos_embed[:, 1:]
        cls_tokens = self.cls_token.expand(patch_emb.shape[0], -1, -1) + self.pos_embed[:, :1]
        x = torch.cat([cls_tokens, patch_emb], dim=1)
        return x


class Attention(nn.Module):
    def __init__(self, token_dim, num_heads):
        super().__init__()
        self.qkv = nn.Linear(token_dim, token_dim * 3)
        self.num_heads = num_heads
        self.head_dim = token_dim // num_heads
        self.proj = nn.Linear(token_dim, token_dim)

    def forward(self, tokens):
        n_samples, N, C = tokens.shape
        qkv_out = self.qkv(tokens).reshape(n_samples, N, 3, self.num_heads, C // self.num_heads)
        qkv_out = qkv_out.permute(2, 0, 3, 1, 4)
        q, k, v = torch.unbind(qkv_out, dim=0)
        sim = (q @ k.transpose(-2, -1)) / torch.sqrt(torch.tensor(self.head_dim, dtype=torch.float32))
        weights = torch.softmax(sim, dim=-1)
        out = weights @ v
        concat = out.transpose(1, 2).reshape(n_samples, N, -1)
        attn_out = self.proj(concat)
        return attn_out


class MLP(nn.Module):
    def __init__(self, token_dim):
        super().__init__()
        self.fc1 = nn.Linear(token_dim, 4 * token_dim)
        self.fc2 = nn.Linear(4 * token_dim, token_dim)
        self.act = nn.GELU()

    def forward(self, tokens):
        inner = self.act(self.fc1(tokens))
        mlp_out = self.fc2(inner)
        return mlp_out


class Block(nn.Module):
    def __init__(self, token_dim, num_heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(token_dim)
        self.norm2 = nn.LayerNorm(token_dim)
        self.attn = Attention(token_dim, num_heads)
        self.ffn = MLP(token_dim)

    def forward(self, tokens):
        tokens = tokens + self.attn(self.norm1(tokens))
        tokens = tokens + self.ffn(self.norm2(tokens))
        return tokens


class ViT(nn.Module):
    def __init__(self, img_size=224, p_size=16, in_chans=3, token_dim=768, depth=12, num_heads=12, num_classes=1000):
        super().__init__()
        self.embeddings = TokenEmbedding(token_dim, p_size, in_chans, img_size)
        self.blocks = nn.ModuleList([Block(token_dim, num_heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(token_dim)
        self.head = nn.Linear(token_dim, num_classes)

    def forward(self, images):
        x = self.embeddings(images)
        for block in self.blocks:
            x = block(x)
        encoded = self.norm(x)
        cls_rep = encoded[:, 0]
        return self.head(cls_rep)
