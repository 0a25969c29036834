import math
import torch
import torch.nn as nn


TAM_IMAGEM = 224
TAM_PATCH = 16
CANAIS = 3
DIM_MODELO = 192
CAMADAS = 12
CABECAS = 3
DIM_OCULTA_MLP = 768
NUM_CLASSES_SAIDA = 1000


class PatchProjection(nn.Module):
    def __init__(self, dim_modelo, tam_patch, canais):
        super(PatchProjection, self).__init__()
        self.patch_embeddings = nn.Linear(canais * tam_patch * tam_patch, dim_modelo)
        self.tam_patch = tam_patch

    def forward(self, x):
        lote, canal, linhas, colunas = x.shape
        retalhos = x.view(lote, canal, linhas // self.tam_patch, self.tam_patch, colunas // self.tam_patch, self.tam_patch)
        achatado = retalhos.permute(0, 2, 4, 3, 5, 1).reshape(lote, -1, self.tam_patch * self.tam_patch * canal)
        # Breakpoint 3
        return self.patch_embeddings(achatado)


class Embeddings(nn.Module):
    def __init__(self, dim_modelo, tam_patch, canais, tam_imagem):
        super(Embeddings, self).__init__()
        self.to_patches = PatchProjection(dim_modelo, tam_patch, canais)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim_modelo))
        self.pos_emb = nn.Embedding((tam_imagem // tam_patch) ** 2 + 1, dim_modelo)

    def forward(self, x):
        x = self.to_patches(x)
        classe_tok = self.cls.repeat(x.shape[0], 1, 1)
        # Breakpoint 5
        x = torch.cat((classe_tok, x), dim=1)
        # Breakpoint 6
        x = x + self.pos_emb(torch.arange(x.shape[1], device=x.device))
        # Breakpoint 7
        return x


class Attention(nn.Module):
    def __init__(self, dim_modelo, cabecas):
        super(Attention, self).__init__()
        self.qkv = nn.Linear(dim_modelo, dim_modelo * 3)
        self.cabecas = cabecas
        self.head_dim = dim_modelo // cabecas
        self.attn_drop = nn.Dropout(0.0)
        self.proj = nn.Linear(dim_modelo, dim_modelo)

    def forward(self, x, mask=None):
        lote, n_tokens, _ = x.shape
        qkv_2 = self.qkv(x).reshape(lote, n_tokens, 3, self.cabecas, self.head_dim).permute(2, 0, 3, 1, 4)
        consulta, chave, valor = qkv_2[0], qkv_2[1], qkv_2[2]
        # Breakpoint 9
        # Breakpoint 10
        # Breakpoint 11
        pontuacao = (consulta @ chave.permute(0, 1, 3, 2)) / math.sqrt(consulta.size(-1))
        # Breakpoint 12
        if mask is not None:
            pontuacao = pontuacao.masked_fill(mask == 0, float("-inf"))
        pesos_atencao = pontuacao.softmax(dim=-1)
        # Breakpoint 13
        pesos_atencao = self.attn_drop(pesos_atencao)
        contexto = pesos_atencao @ valor
        # Breakpoint 14
        return self.proj(contexto.transpose(1, 2).contiguous().view(lote, n_tokens, -1)), pesos_atencao


class MLP(nn.Module):
    def __init__(self, dim_oculta_mlp, dim_modelo):
        super(MLP, self).__init__()
        self.fc1 = nn.Linear(dim_modelo, dim_oculta_mlp)
        self.fc2 = nn.Linear(dim_oculta_mlp, dim_modelo)
        self.act = nn.GELU()

    def forward(self, x):
        oculta = self.act(self.fc1(x))
        # Breakpoint 17
        ramo = self.fc2(oculta)
        # Breakpoint 18
        return ramo


class Block(nn.Module):
    def __init__(self, dim_modelo, cabecas, dim_oculta_mlp):
        super(Block, self).__init__()
        self.norm1 = nn.LayerNorm(dim_modelo)
        self.norm2 = nn.LayerNorm(dim_modelo)
        self.attn = Attention(dim_modelo, cabecas)
        self.ffn = MLP(dim_oculta_mlp, dim_modelo)

    def forward(self, x):
        saida, pesos_atencao = self.attn(self.norm1(x))
        x = x + saida
        x = x + self.ffn(self.norm2(x))
        # Breakpoint 20
        return x, pesos_atencao


class Vit(nn.Module):
    def __init__(self, tam_imagem=TAM_IMAGEM, tam_patch=TAM_PATCH, canais=CANAIS, dim_modelo=DIM_MODELO, camadas=CAMADAS, cabecas=CABECAS, dim_oculta_mlp=DIM_OCULTA_MLP, num_classes_saida=NUM_CLASSES_SAIDA):
        super(Vit, self).__init__()
        self.input_layer = Embeddings(dim_modelo=dim_modelo, tam_patch=tam_patch, canais=canais, tam_imagem=tam_imagem)
        self.ln_pre = nn.LayerNorm(dim_modelo)
        self.blocks = nn.ModuleList([Block(dim_modelo, cabecas, dim_oculta_mlp) for _ in range(camadas)])
        self.norm = nn.LayerNorm(dim_modelo)
        self.head = nn.Linear(dim_modelo, num_classes_saida)

    def forward(self, x):
        pass
