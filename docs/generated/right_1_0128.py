import torch
import torch.nn as nn
import torch.nn.functional as F
import math


class EmbeddingBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Linear(16 * 16 * 3, 768)
        self.taille_patch = 16
        self.cls_token = nn.Parameter(torch.empty(1, 1, 768).normal_(std=0.02))
        n_patches = int((224 / 16) ** 2)
        self.pos_embed = nn.Parameter(torch.rand(1, n_patches + 1, 768))
        self.pos_drop = nn.Dropout(0.2)

    def forward(self, image: torch.Tensor):
        aplati = F.unfold(image, kernel_size=self.taille_patch, stride=self.taille_patch).transpose(1, 2)
        plonge = self.conv(aplati)
        jeton = self.cls_token.expand(plonge.size(0), -1, -1)
        avec_classe = torch.cat((jeton, plonge), dim=1)
        avec_position = avec_classe + self.pos_embed
        avec_position = self.pos_drop(avec_position)
        return avec_position


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(768, 3072)
        self.fc2 = nn.Linear(3072, 768)
        self.act = nn.GELU()

    def forward(self, sequence: torch.Tensor):
        cachee = self.act(self.fc1(sequence))
        branche = self.fc2(cachee)
        return branche


class ViTBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.layernorm_before = nn.LayerNorm(768)
        self.layernorm_after = nn.LayerNorm(768)
        self.fc_q = nn.Linear(768, 768, bias=True)
        self.fc_k = nn.Linear(768, 768, bias=True)
        self.fc_v = nn.Linear(768, 768, bias=True)
        self.tetes = 12
        self.head_dim = 768 // 12
        self.proj = nn.Linear(768, 768)
        self.ffn = MLP()

    def forward(self, sequence: torch.Tensor):
        normalise = self.layernorm_before(sequence)
        taille_lot, longueur, _ = normalise.size()
        requete = self.fc_q(normalise).view(taille_lot, -1, self.tetes, self.head_dim).transpose(1, 2)
        cle = self.fc_k(normalise).view(taille_lot, -1, self.tetes, self.head_dim).transpose(1, 2)
        valeur = self.fc_v(normalise).view(taille_lot, -1, self.tetes, self.head_dim).transpose(1, 2)
        similarite = (requete @ cle.transpose(-2, -1)) / math.sqrt(self.head_dim)
        poids = similarite.softmax(dim=-1)
        contexte = poids @ valeur
        fusion = contexte.transpose(1, 2).reshape(taille_lot, longueur, -1)
        sortie = self.proj(fusion)
        milieu = sequence + sortie
        normalise = self.layernorm_after(milieu)
        branche = self.ffn(normalise)
        sortie_bloc = milieu + branche
        return sortie_bloc


class VisionTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = EmbeddingBlock()
        self.blocks = nn.ModuleList([ViTBlock() for _ in range(12)])
        self.norm = nn.LayerNorm(768)
        self.head = nn.Linear(768, 1000)

    def forward(self, image: torch.Tensor):
        avec_position = self.embeddings(image)
        for bloc in self.blocks:
            avec_position = bloc(avec_position)
        encode = self.norm(avec_position)
        representation = encode[:, 1:].mean(dim=1)
        return self.head(representation)
