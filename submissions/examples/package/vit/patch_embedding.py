"""From the image to the tokens that enter the first block."""
import numpy as np
import torch
from PIL import Image
from torch import nn

from .sizes import EMBED_DIM, IMG_SIZE, IN_CHANNELS, PATCH_SIZE


def load_image_tensor(path, size=IMG_SIZE):
    image = Image.open(path).convert("RGB").resize((size, size))
    x = torch.tensor(np.asarray(image)).permute(2, 0, 1).float().div(255)
    mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
    return ((x - mean) / std).unsqueeze(0)


class TokenEmbedding(nn.Module):
    """Patches -> linear projection -> class token in front -> positions."""

    def __init__(self, img_size=IMG_SIZE, patch_size=PATCH_SIZE, in_channels=IN_CHANNELS, embed_dim=EMBED_DIM):
        super().__init__()
        self.patch_size = patch_size
        self.n_patches = (img_size // patch_size) * (img_size // patch_size)
        self.projection = nn.Linear(patch_size * patch_size * in_channels, embed_dim)
        self.cls_token = nn.Parameter(torch.empty(1, 1, embed_dim))
        self.position_embeddings = nn.Parameter(torch.empty(1, self.n_patches + 1, embed_dim))
        nn.init.trunc_normal_(self.cls_token, std=0.02)
        nn.init.trunc_normal_(self.position_embeddings, std=0.02)

    def cut(self, image):
        b, c, h, w = image.shape
        p = self.patch_size
        grid = image.reshape(b, c, h // p, p, w // p, p)
        return grid.permute(0, 2, 4, 1, 3, 5).reshape(b, self.n_patches, c, p, p)

    def forward(self, image):
        patches = self.cut(image)
        # BREAKPOINT S02
        flat = patches.reshape(*patches.shape[:2], -1)
        # BREAKPOINT S03
        embeddings = self.projection(flat)
        # BREAKPOINT S04
        cls = self.cls_token.expand(image.shape[0], -1, -1)
        # BREAKPOINT S05
        tokens = torch.cat((cls, embeddings), 1)
        # BREAKPOINT S06
        tokens_pos = tokens + self.position_embeddings
        # BREAKPOINT S07
        return tokens_pos
