import torch
import torch.nn as nn


PRESETS = {
    "base": dict(bildgroesse=224, patch_groesse=16, kanaele=3, einbettung=768, tiefe=12, koepfe=12, mlp_breite=3072, anzahl_klassen=10),
    "tiny": dict(bildgroesse=224, patch_groesse=16, kanaele=3, einbettung=192, tiefe=12, koepfe=3, mlp_breite=768, anzahl_klassen=10),
    "small": dict(bildgroesse=224, patch_groesse=16, kanaele=3, einbettung=384, tiefe=12, koepfe=6, mlp_breite=1536, anzahl_klassen=10),
}


class PatchEmbed(nn.Module):
    def __init__(self, patch_groesse, kanaele, einbettung):
        super().__init__()
        self.proj = nn.Conv2d(kanaele, einbettung, patch_groesse, patch_groesse)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class Embeddings(nn.Module):
    def __init__(self, patch_groesse, kanaele, einbettung, bildgroesse):
        super().__init__()
        self.patch_embed = PatchEmbed(patch_groesse, kanaele, einbettung)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, einbettung))
        self.pos_embed = nn.Parameter(torch.randn(1, (bildgroesse // patch_groesse) ** 2 + 1, einbettung))

    def forward(self, x):
        x = self.patch_embed(x)
        klasse = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat((klasse, x), dim=1)
        x = x + self.pos_embed
        return x


class AttentionHead(nn.Module):
    def __init__(self, einbettung, koepfe):
        super().__init__()
        self.head_dim = einbettung // koepfe
        self.q_proj = nn.Linear(einbettung, self.head_dim, bias=False)
        self.k_proj = nn.Linear(einbettung, self.head_dim, bias=False)
        self.v_proj = nn.Linear(einbettung, self.head_dim, bias=False)

    def forward(self, x):
        anfrage = self.q_proj(x)
        schluessel = self.k_proj(x)
        wert = self.v_proj(x)
        punkte = anfrage @ schluessel.transpose(-2, -1) * self.head_dim ** -0.5
        gewichte = torch.softmax(punkte, dim=-1)
        return gewichte @ wert


class SelfAttention(nn.Module):
    def __init__(self, einbettung, koepfe):
        super().__init__()
        self.heads = nn.ModuleList([AttentionHead(einbettung, koepfe) for _ in range(koepfe)])
        self.out_proj = nn.Linear(einbettung, einbettung)

    def forward(self, x):
        verbunden = torch.cat([head(x) for head in self.heads], dim=-1)
        ausgabe = self.out_proj(verbunden)
        return ausgabe


class MLP(nn.Module):
    def __init__(self, mlp_breite, einbettung):
        super().__init__()
        self.fc1 = nn.Linear(einbettung, mlp_breite)
        self.fc2 = nn.Linear(mlp_breite, einbettung)
        self.act = nn.GELU()

    def forward(self, x):
        versteckt = self.act(self.fc1(x))
        zweig = self.fc2(versteckt)
        return zweig


class ResidualAttentionBlock(nn.Module):
    def __init__(self, einbettung, koepfe, mlp_breite):
        super().__init__()
        self.norm_a = nn.LayerNorm(einbettung)
        self.norm_b = nn.LayerNorm(einbettung)
        self.attn = SelfAttention(einbettung, koepfe)
        self.ffn = MLP(mlp_breite, einbettung)

    def forward(self, x):
        normiert = self.norm_a(x)
        ausgabe = self.attn(normiert)
        mitte = x + ausgabe
        normiert = self.norm_b(mitte)
        zweig = self.ffn(normiert)
        blockausgabe = mitte + zweig
        return blockausgabe


class Encoder(nn.Module):
    def __init__(self, einbettung, koepfe, mlp_breite, tiefe):
        super().__init__()
        self.blocks = nn.ModuleList([ResidualAttentionBlock(einbettung, koepfe, mlp_breite) for _ in range(tiefe)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class ViT(nn.Module):
    def __init__(self, bildgroesse, patch_groesse, kanaele, einbettung, tiefe, koepfe, mlp_breite, anzahl_klassen):
        super().__init__()
        self.embeddings = Embeddings(patch_groesse, kanaele, einbettung, bildgroesse)
        self.encoder = Encoder(einbettung, koepfe, mlp_breite, tiefe)
        self.norm = nn.LayerNorm(einbettung)
        self.head = nn.Linear(einbettung, anzahl_klassen)

    def forward(self, x):
        x = self.embeddings(x)
        x = self.encoder(x)
        x = self.norm(x)
        x = x[:, 0]
        return self.head(x)
