"""Part 1: preprocessing. Part 2 (the transformer) will follow."""
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image

IMG_SIZE = 224
PATCH_SIZE = 16
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
IMAGE_TYPES = {".jpg", ".jpeg", ".png", ".webp"}


def find_images(folder):
    return sorted(path for path in Path(folder).iterdir() if path.suffix.lower() in IMAGE_TYPES)


def load_image_tensor(path):
    image = Image.open(path).convert("RGB").resize((IMG_SIZE, IMG_SIZE), Image.BICUBIC)
    pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255
    mean = torch.tensor(IMAGENET_MEAN).view(3, 1, 1)
    std = torch.tensor(IMAGENET_STD).view(3, 1, 1)
    img = ((pixels - mean) / std).unsqueeze(0)
    # BREAKPOINT S01 - raw input
    return img


def denormalise(img):
    mean = torch.tensor(IMAGENET_MEAN).view(1, 3, 1, 1)
    std = torch.tensor(IMAGENET_STD).view(1, 3, 1, 1)
    return (img * std + mean).clamp(0, 1)


def save_picture(img, target):
    array = (denormalise(img)[0].permute(1, 2, 0).numpy() * 255).astype(np.uint8)
    Image.fromarray(array).save(target)


def main(folder):
    for path in find_images(folder):
        save_picture(load_image_tensor(path), path.with_name(path.stem + "_resized.png"))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
