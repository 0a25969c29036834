import torch
import torch.nn.functional as F


def patch_embedding(images, weight, bias, patch_size):
    B, C, H, W = images.shape
    patches = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    patches = patches.permute(0, 2, 3, 1, 4, 5).reshape(B, -1, C * patch_size * patch_size)
    return patches @ weight + bias


def prepend_class_token(x, cls_token):
    return torch.cat([cls_token.expand(x.size(0), 1, x.size(2)), x], dim=1)


def add_positions(x, pos_embed):
    return x + pos_embed


def layer_norm(x, gamma=None, beta=None, eps=1e-6):
    mean = x.mean(dim=-1, keepdim=True)
    std = torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False) + eps)
    x = (x - mean) / std
    if gamma is not None:
        x = x * gamma + beta
    return x


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    B, T, D = x.shape

    def split(t):
        return t.view(B, T, num_heads, D // num_heads).transpose(1, 2)

    q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
    scores = torch.einsum("bhid,bhjd->bhij", q, k) * (D // num_heads) ** -0.5
    weights = F.softmax(scores, dim=-1)
    out = torch.einsum("bhij,bhjd->bihd", weights, v).reshape(B, T, D)
    return out @ w_o


def mlp(x, w1, b1, w2, b2):
    return F.gelu(x @ w1 + b1) @ w2 + b2


def encoder_block(x, ln1_w, ln1_b, w_qkv, b_qkv, w_out, b_out, ln2_w, ln2_b, w1, b1, w2, b2, num_heads):
    B, T, D = x.shape
    y = layer_norm(x, ln1_w, ln1_b)
    qkv = (y @ w_qkv + b_qkv).view(B, T, 3, num_heads, D // num_heads).permute(2, 0, 3, 1, 4)
    q, k, v = qkv[0], qkv[1], qkv[2]
    a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, T, D)
    x = x + (a @ w_out + b_out)
    return x + mlp(layer_norm(x, ln2_w, ln2_b), w1, b1, w2, b2)
