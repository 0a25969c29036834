import torch
from torch import nn
from torchvision.models.vision_transformer import VisionTransformer as TorchvisionViT


class MyViT(TorchvisionViT):
    """torchvision's model for any number of channels, with a head that is not zero at the start."""

    def __init__(self, image_size=224, patch_size=16, in_channels=3, num_layers=12, num_heads=12, hidden_dim=768,
                 mlp_dim=3072, num_classes=1000):
        super().__init__(image_size, patch_size, num_layers, num_heads, hidden_dim, mlp_dim, num_classes=num_classes)
        self.conv_proj = nn.Conv2d(in_channels, hidden_dim, kernel_size=patch_size, stride=patch_size)
        nn.init.normal_(self.class_token, std=0.02)
        nn.init.xavier_uniform_(self.heads.head.weight)

    def forward(self, x):
        logits = super().forward(x)
        return logits, torch.softmax(logits, dim=1)
