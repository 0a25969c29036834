from .model import VisionTransformer
from .patch_embedding import load_image_tensor
from .sizes import EMBED_DIM, IMG_SIZE, MLP_RATIO, NUM_BLOCKS, NUM_CLASSES, NUM_HEADS, PATCH_SIZE

__all__ = [
    "EMBED_DIM",
    "IMG_SIZE",
    "MLP_RATIO",
    "NUM_BLOCKS",
    "NUM_CLASSES",
    "NUM_HEADS",
    "PATCH_SIZE",
    "VisionTransformer",
    "load_image_tensor",
]
