# Homework 3
import torch
import torch.nn as nn
import torch.optim as optim 
import torchvision
import torchvision.transforms as transforms
from einops import rearrange

 
BILDGROESSE = 224 
PATCH_GROESSE = 16
KANAELE = 3
EINBETTUNG = 768
ANZAHL_SCHICHTEN = 12
ANZAHL_KOEPFE = 12
FAKTOR = 4
ANZAHL_KLASSEN = 1000


class BaseNet(nn.Module):
    def init_weights(self, m):
        if isinstance(m, nn.Linear):
            nn.init.trunc_normal_(m.weight, std=0.02)
            if m.bias is not None:
                nn.init.zeros_(m.bias)


class ViTEmbeddings(nn.Module):
    def __init__(self):
        super(ViTEmbeddings, self).__init__()
        self.conv = nn.Conv2d(KANAELE, EINBETTUNG, PATCH_GROESSE, PATCH_GROESSE)
        n_patches = (BILDGROESSE // PATCH_GROESSE) ** 2
        self.pe = nn.Parameter(torch.randn(1, n_patches + 1, EINBETTUNG) * 0.02)
        self.class_embedding = nn.Parameter(torch.randn(1, 1, EINBETTUNG))

    def forward(self, bild):
        # Patch-Einbettung
        eingebettet = self.conv(bild).flatten(2).transpose(1, 2)
        eingebettet = eingebettet + self.pe[:, 1:]
        klasse = self.class_embedding.expand(eingebettet.size(0), -1, -1) + self.pe[:, :1]
        mit_position = torch.cat([klasse, eingebettet], dim=1)
        return mit_position


class MHA(nn.Module):
    def __init__(self):
        super(MHA, self).__init__()
        self.to_qkv = nn.Linear(EINBETTUNG, EINBETTUNG * 3)
        self.anzahl_koepfe = ANZAHL_KOEPFE
        self.sqrt_d = (EINBETTUNG // ANZAHL_KOEPFE) ** -0.5
        self.linear_out = nn.Linear(EINBETTUNG, EINBETTUNG)
        self.drop = nn.Dropout(0.1)

    def forward(self, folge):
        anzahl, laenge, _ = folge.shape
        qkv = self.to_qkv(folge).chunk(3, dim=-1)
        # Anfragen je Kopf
        anfrage, schluessel, wert = map(lambda t: rearrange(t, 'b n (h d) -> b h n d', h=self.anzahl_koepfe), qkv)
        anfrage = anfrage * self.sqrt_d
        # skaliertes Skalarprodukt
        punkte = torch.matmul(anfrage, schluessel.transpose(-2, -1))
        gewichte = torch.softmax(punkte, dim=-1)
        # gewichtete Summe
        kontext = torch.einsum("bhij,bhjd->bhid", gewichte, wert)
        return self.drop(self.linear_out(kontext.transpose(1, 2).reshape(anzahl, laenge, -1)))


class MLPBlock(nn.Module):
    def __init__(self):
        super(MLPBlock, self).__init__()
        self.w1 = nn.Linear(EINBETTUNG, int(EINBETTUNG * FAKTOR))
        self.w2 = nn.Linear(int(EINBETTUNG * FAKTOR), EINBETTUNG)
        self.activation = nn.GELU()
        self.drop = nn.Dropout(0.1)

    def forward(self, folge):
        # versteckte Schicht
        versteckt = self.activation(self.w1(folge))
        versteckt = self.drop(versteckt)
        zweig = self.w2(versteckt)
        return zweig


class Block(nn.Module):
    def __init__(self):
        super(Block, self).__init__()
        self.ln1 = nn.LayerNorm(EINBETTUNG, eps=1e-6)
        self.ln2 = nn.LayerNorm(EINBETTUNG, eps=1e-6)
        self.self_attn = MHA()
        self.ffn = MLPBlock() 

    def forward(self, folge):
        folge = self.ln1(folge + self.self_attn(folge))
        folge = self.ln2(folge + self.ffn(folge))
        return folge 


class VITModel(BaseNet):
    def __init__(self):
        super(VITModel, self).__init__()
        self.embedding_block = ViTEmbeddings() 
        self.transformer_blocks = Block()
        self.anzahl_schichten = ANZAHL_SCHICHTEN 
        self.final_norm = nn.LayerNorm(EINBETTUNG, eps=1e-6)
        self.fc = nn.Linear(EINBETTUNG, ANZAHL_KLASSEN) 
        self.apply(self.init_weights)
 
    def forward(self, bild):
        mit_position = self.embedding_block(bild)
        for _ in range(self.anzahl_schichten + 1):
            mit_position = self.transformer_blocks(mit_position)
        # letzte Norm 
        kodiert = self.final_norm(mit_position)
        vertreter = kodiert.select(1, 0)
        ergebnis = self.fc(vertreter)
        # Wahrscheinlichkeiten
        return {"logits": ergebnis, "probs": torch.softmax(ergebnis, dim=1)} 


def train(epochs=10, batch_size=64, lr=3e-4): 
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu") 
    transform = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])
    trainset = torchvision.datasets.ImageFolder("./imagenet/train", transform=transform)
    loader = torch.utils.data.DataLoader(trainset, batch_size=batch_size, shuffle=True)
    model = VITModel().to(device) 
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.AdamW(model.parameters(), lr=lr)
    for epoch in range(epochs): 
        running = 0.0 
        for inputs, labels in loader:
            optimizer.zero_grad()
            outputs = model(inputs.to(device))
            loss = criterion(outputs["logits"], labels.to(device)) 
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch + 1}: {running / len(loader):.4f}")
 

if __name__ == "__main__":
    train()
