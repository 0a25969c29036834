import torch
import torch.nn as nn


def sincos_2d(side, dim, extra=0, temperature=10000):
    y, x = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    omega = torch.arange(dim // 4) / (dim // 4 - 1)
    omega = 1.0 / (temperature ** omega)
    y = y.flatten()[:, None] * omega[None, :]
    x = x.flatten()[:, None] * omega[None, :]
    table = torch.cat((x.sin(), x.cos(), y.sin(), y.cos()), dim=1)
    return torch.cat((torch.zeros(extra, dim), table))


class Norm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(features))
        self.shift = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, unbiased=False)
        return self.scale * (x - mean) / torch.sqrt(var + self.eps) + self.shift


class PatchEmbed(nn.Module):
    def __init__(self, patch_size, in_channels, embed_dim):
        super().__init__()
        self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class EmbeddingBlock(nn.Module):
    def __init__(self, patch_size, in_channels, embed_dim, resolution):
        super().__init__()
        self.patch_embed = PatchEmbed(patch_size, in_channels, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.register_buffer("pe", sincos_2d(resolution // patch_size, embed_dim, 1))

    def forward(self, x):
        x = self.patch_embed(x)
        cls_tokens = self.cls_token.expand(x.shape[0], -1, -1)
        breakpoint()  # 5: class token
        x = torch.concat([cls_tokens, x], dim=1)
        breakpoint()  # 6: prepend cls token
        x = x + self.pe
        breakpoint()  # 7: add positional encoding
        return x


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, heads):
        super().__init__()
        self.c_attn = nn.Linear(embed_dim, embed_dim * 3)
        self.heads = heads
        self.factor = (embed_dim // heads) ** -0.5
        self.attend = nn.Softmax(dim=-1)
        self.W_o = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        bs, n_tokens, emb = x.shape
        qkv_out = self.c_attn(x).reshape(bs, n_tokens, 3, self.heads, emb // self.heads).permute(2, 0, 3, 1, 4)
        query, key, value = qkv_out.unbind(0)
        breakpoint()  # 9: queries
        breakpoint()  # 10: keys
        breakpoint()  # 11: values
        score = torch.matmul(query, key.transpose(2, 3)) * self.factor
        breakpoint()  # 12: scaled dot product
        probs = self.attend(score)
        breakpoint()  # 13: softmax
        attn_ctx = torch.matmul(probs, value)
        breakpoint()  # 14: weighted sum of values
        z_all = attn_ctx.transpose(1, 2).contiguous().view(bs, n_tokens, -1)
        output = self.W_o(z_all)
        breakpoint()  # 15: attention output
        return output, probs


class FeedForward(nn.Module):
    def __init__(self, embed_dim, forward_expansion, attn_drop_p):
        super().__init__()
        self.w1 = nn.Linear(embed_dim, int(embed_dim * forward_expansion))
        self.w2 = nn.Linear(int(embed_dim * forward_expansion), embed_dim)
        self.gelu = nn.GELU()
        self.drop = nn.Dropout(attn_drop_p)

    def forward(self, x):
        hidden = self.gelu(self.w1(x))
        breakpoint()  # 17: hidden layer
        hidden = self.drop(hidden)
        mlp_out = self.w2(hidden)
        breakpoint()  # 18: project back
        return mlp_out


class TransformerEncoderBlock(nn.Module):
    def __init__(self, embed_dim, heads, forward_expansion, attn_drop_p):
        super().__init__()
        self.norm1 = Norm(embed_dim)
        self.norm2 = Norm(embed_dim)
        self.mhsa = SelfAttention(embed_dim, heads)
        self.mlp = FeedForward(embed_dim, forward_expansion, attn_drop_p)

    def forward(self, x):
        output, probs = self.mhsa(self.norm1(x))
        x = x + output
        x = x + self.mlp(self.norm2(x))
        breakpoint()  # 20: block output
        return x, probs


class ViT(nn.Module):
    def __init__(self, resolution: int = 224, patch_size: int = 16, in_channels: int = 3, embed_dim: int = 768, depth: int = 12, heads: int = 12, forward_expansion: float = 4.0, num_classes: int = 1000, attn_drop_p: float = 0.1):
        super().__init__()
        self.embedding = EmbeddingBlock(patch_size=patch_size, in_channels=in_channels, embed_dim=embed_dim, resolution=resolution)
        self.blocks = nn.ModuleList([TransformerEncoderBlock(embed_dim, heads, forward_expansion, attn_drop_p) for _ in range(depth)])
        self.norm = Norm(embed_dim)
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, x):
        x = self.embedding(x)
        maps = []
        for block in self.blocks:
            x, probs = block(x)
            maps.append(probs)
        x = self.norm(x)
        breakpoint()  # 23: final norm
        x = x[:, 0]
        breakpoint()  # 24: take cls token
        return {"logits": self.head(x), "attentions": maps}


if __name__ == "__main__":
    model = ViT()
    x = torch.randn(2, 3, 224, 224)
    out = model(x)
    print(out["logits"].shape)
