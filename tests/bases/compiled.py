import torch
from torch import nn
import torch.nn.functional as F


@torch.compile
def feed_forward(x, w_in, b_in, w_out, b_out):
    return F.linear(F.gelu(F.linear(x, w_in, b_in)), w_out, b_out)


class FastBlock(nn.Module):
    def __init__(self, channels, n_head, expansion):
        super().__init__()
        self.n_head = n_head
        self.norm_1 = nn.LayerNorm(channels)
        self.c_attn = nn.Linear(channels, 3 * channels)
        self.c_proj = nn.Linear(channels, channels)
        self.norm_2 = nn.LayerNorm(channels)
        self.c_fc = nn.Linear(channels, int(channels * expansion))
        self.c_out = nn.Linear(int(channels * expansion), channels)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(self.norm_1(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
        return x + feed_forward(
            self.norm_2(x), self.c_fc.weight, self.c_fc.bias, self.c_out.weight, self.c_out.bias
        )


class FastViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, n_embd=768, n_layer=12, n_head=12, mlp_ratio=4,
                 num_classes=1000):
        super().__init__()
        self.patchify = nn.Conv2d(in_channels, n_embd, kernel_size=patch_size, stride=patch_size)
        self.token = nn.Parameter(torch.zeros(1, 1, n_embd))
        self.wpe = nn.Parameter(torch.zeros(1, 1 + (img_size // patch_size) ** 2, n_embd))
        self.h = nn.ModuleList([torch.compile(FastBlock(n_embd, n_head, mlp_ratio)) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, num_classes)

    @torch.compile(dynamic=True)
    def embed(self, x):
        x = self.patchify(x).flatten(2).transpose(1, 2)
        return torch.cat((self.token.expand(x.size(0), -1, -1), x), dim=1) + self.wpe

    def forward(self, x):
        x = self.embed(x)
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x)[:, 0])
