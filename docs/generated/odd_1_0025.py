import torch 
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange
import argparse 


parser = argparse.ArgumentParser()
parser.add_argument("--resolution", type=int, default=224) 
parser.add_argument("--patch", type=int, default=16)
parser.add_argument("--channels", type=int, default=3) 
parser.add_argument("--latent_size", type=int, default=768) 
parser.add_argument("--num_transformer_layers", type=int, default=12) 
parser.add_argument("--nheads", type=int, default=12)
parser.add_argument("--num_labels", type=int, default=1000)
opt = parser.parse_args()
 

class PatchEmbed(nn.Module):
    def __init__(self, opt): 
        super(PatchEmbed, self).__init__()
        self.to_patch_embedding = nn.Linear(opt.channels * opt.patch ** 2, opt.latent_size)
        self.patch = opt.patch

    def forward(self, images):
        patches_flat = rearrange(images, 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1=self.patch, p2=self.patch)  # S03
        return self.to_patch_embedding(patches_flat)


class InputLayer(nn.Module): 
    def __init__(self, opt):
        super(InputLayer, self).__init__()
        self.patch_embed = PatchEmbed(opt)
        self.class_token = nn.Parameter(torch.empty(1, opt.latent_size).normal_(std=0.02))
        self.num_patches = (opt.resolution // opt.patch) ** 2
        self.positional_embedding = nn.Parameter(torch.zeros(1, self.num_patches + 1, opt.latent_size))

    def forward(self, images):
        patch_emb = self.patch_embed(images)
        cls_tok = torch.cat([self.class_token.unsqueeze(0)] * patch_emb.shape[0], dim=0)  # S05
        x_tokens = torch.cat([cls_tok, patch_emb], 1)  # S06
        x = x_tokens + self.positional_embedding  # S07
        return x


class MSA(nn.Module):
    def __init__(self, opt):
        super(MSA, self).__init__()
        self.dim_head = opt.latent_size // opt.nheads
        self.fc_q = nn.ModuleList([nn.Linear(opt.latent_size, self.dim_head) for _ in range(opt.nheads)])
        self.fc_k = nn.ModuleList([nn.Linear(opt.latent_size, self.dim_head) for _ in range(opt.nheads)])
        self.fc_v = nn.ModuleList([nn.Linear(opt.latent_size, self.dim_head) for _ in range(opt.nheads)])
        self.wo = nn.Linear(opt.latent_size, opt.latent_size)

    def forward(self, feats):
        bs, num_tokens, E = feats.size()
        q = torch.stack([f(feats) for f in self.fc_q], dim=1)  # S09
        k = torch.stack([f(feats) for f in self.fc_k], dim=1)  # S10
        v = torch.stack([f(feats) for f in self.fc_v], dim=1)  # S11
        similarity = torch.matmul(q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2)).view(q.shape[0], q.shape[1], q.shape[2], k.shape[2]) / (k.shape[3] ** .5)  # S12
        attn_probs = F.softmax(similarity, dim=-1)  # S13
        attn_ctx = torch.einsum("bhij,bhjd->bhid", attn_probs, v)  # S14
        x_cat = attn_ctx.permute(0, 2, 1, 3).reshape(bs, num_tokens, E)
        out = self.wo(x_cat)  # S15
        return out


class TransformerBlock(nn.Module):
    def __init__(self, opt):
        super(TransformerBlock, self).__init__()
        self.layer_norm1 = nn.LayerNorm(opt.latent_size, eps=1e-6)
        self.layer_norm2 = nn.LayerNorm(opt.latent_size, eps=1e-6)
        self.layer_norm3 = nn.LayerNorm(opt.latent_size, eps=1e-6)
        self.mha = MSA(opt)
        self.ffn = nn.Sequential(
            nn.Linear(opt.latent_size, 4 * opt.latent_size),
            nn.GELU(),
            nn.Linear(4 * opt.latent_size, opt.latent_size),
        )

    def forward(self, feats):
        skip = feats
        out = self.mha(self.layer_norm1(feats))
        x_after_attn = skip + out
        normalized = self.layer_norm2(x_after_attn)  # S16
        out2 = self.ffn(normalized)  # S18
        x_out = self.layer_norm3(normalized + out2)  # S20
        return x_out


class TransformerEncoder(nn.Module):
    def __init__(self, opt):
        super(TransformerEncoder, self).__init__()
        self.net = nn.ModuleList([TransformerBlock(opt) for _ in range(opt.num_transformer_layers)])

    def forward(self, feats):
        for encoder_block in self.net:
            feats = encoder_block(feats)
        return feats


class VisionTransformer(nn.Module):
    def __init__(self, opt):
        super(VisionTransformer, self).__init__()
        self.embedding = InputLayer(opt)
        self.encoder = TransformerEncoder(opt)
        self.fc = nn.Linear(opt.latent_size, opt.num_labels)

    def forward(self, batch):
        images = batch["img"]
        x = self.embedding(images)
        features = self.encoder(x)
        rep = features[:, 0]  # S24
        return self.fc(rep)


model = VisionTransformer(opt)
model.eval()
with torch.no_grad():
    y = model(torch.randn(1, 3, 224, 224))
print(y.shape)
