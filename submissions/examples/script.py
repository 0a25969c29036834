"""Vision Transformer, step by step."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import matplotlib.pyplot as plt
from PIL import Image
from torchvision import transforms

IMG_SIZE = 224
PATCH_SIZE = 16
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_DIM = 3072
HEAD_DIM = EMBED_DIM // NUM_HEADS
NUM_PATCHES = (IMG_SIZE // PATCH_SIZE) ** 2

preprocess = transforms.Compose([
    transforms.Resize((IMG_SIZE, IMG_SIZE)),
    transforms.ToTensor(),
    transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
])
photo = Image.open("my_dog.jpg").convert("RGB")
img_tensor = preprocess(photo).unsqueeze(0)
# BREAKPOINT S01 raw input

plt.imshow(photo)
plt.show()

patches = img_tensor.unfold(2, PATCH_SIZE, PATCH_SIZE).unfold(3, PATCH_SIZE, PATCH_SIZE)
patches = patches.permute(0, 2, 3, 1, 4, 5).reshape(1, NUM_PATCHES, 3, PATCH_SIZE, PATCH_SIZE)
# BREAKPOINT S02 patches

patches_flat = patches.flatten(2)
# BREAKPOINT S03 flattened patches

patch_proj = nn.Linear(3 * PATCH_SIZE * PATCH_SIZE, EMBED_DIM)
patch_embed = patch_proj(patches_flat)
# BREAKPOINT S04 patch embeddings

cls_param = nn.Parameter(torch.zeros(1, 1, EMBED_DIM))
cls_token = cls_param.expand(1, -1, -1)
# BREAKPOINT S05 class token

tokens = torch.cat([cls_token, patch_embed], dim=1)
# BREAKPOINT S06 tokens

pos_embed = nn.Parameter(torch.zeros(1, NUM_PATCHES + 1, EMBED_DIM))
x = tokens + pos_embed
# BREAKPOINT S07 with positions

for i in range(NUM_BLOCKS):
    norm1 = nn.LayerNorm(EMBED_DIM)
    qkv = nn.Linear(EMBED_DIM, 3 * EMBED_DIM)
    proj = nn.Linear(EMBED_DIM, EMBED_DIM)
    norm2 = nn.LayerNorm(EMBED_DIM)
    fc1 = nn.Linear(EMBED_DIM, MLP_DIM)
    fc2 = nn.Linear(MLP_DIM, EMBED_DIM)
    norm3 = nn.LayerNorm(EMBED_DIM)

    block_in = x
    # BREAKPOINT S08
    q, k, v = qkv(norm1(block_in)).reshape(1, -1, 3, NUM_HEADS, HEAD_DIM).permute(2, 0, 3, 1, 4)
    # BREAKPOINT S09, S10, S11
    scores = q @ k.transpose(-2, -1) / HEAD_DIM ** 0.5
    # BREAKPOINT S12
    probs_attn = scores.softmax(dim=-1)
    # BREAKPOINT S13
    ctx = probs_attn @ v
    # BREAKPOINT S14
    attn_out = proj(ctx.transpose(1, 2).reshape(1, -1, EMBED_DIM))
    # BREAKPOINT S15
    x_attn = norm2(block_in + attn_out)
    # BREAKPOINT S16
    hidden = F.gelu(fc1(x_attn))
    # BREAKPOINT S17
    ff_out = fc2(hidden)
    # BREAKPOINT S18
    x_mlp = norm3(x_attn + ff_out)
    # BREAKPOINT S19
    x = x_mlp
    # BREAKPOINT S20
    if i == 1:
        x_block2 = x
        # BREAKPOINT S21
x_last = x
# BREAKPOINT S22
final_seq = x_last
# BREAKPOINT S23
cls_rep = final_seq[:, 0]
# BREAKPOINT S24
head = nn.Linear(EMBED_DIM, NUM_CLASSES)
logits = head(cls_rep)
# BREAKPOINT S25
probs = logits.softmax(dim=-1)
# BREAKPOINT S26
