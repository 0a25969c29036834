import torch.nn as nn
import torch


class ViTBackbone(nn.Module):
    """The library's encoder, sequence first, with its own final norm."""

    def __init__(self, d_model, nhead, num_layers, dim_feedforward):
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            d_model, nhead, dim_feedforward, dropout=0.0, activation=nn.functional.gelu, norm_first=True,
            layer_norm_eps=1e-6,
        )
        self.encoder = nn.TransformerEncoder(
            layer, num_layers, norm=nn.LayerNorm(d_model, eps=1e-6), enable_nested_tensor=False
        )

    def forward(self, sequence):
        return self.encoder(sequence)


class ImageClassifier(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, d_model=768, nhead=12, num_layers=12,
                 dim_feedforward=3072, num_classes=1000):
        super().__init__()
        self.to_patches = nn.Unfold(kernel_size=patch_size, stride=patch_size)
        self.linear_projection = nn.Linear(in_channels * patch_size ** 2, d_model)
        num_patches = (img_size // patch_size) ** 2
        self.cls_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.position = nn.Parameter(torch.zeros(num_patches + 1, 1, d_model))
        self.backbone = ViTBackbone(d_model, nhead, num_layers, dim_feedforward)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, images):
        patches = self.to_patches(images).permute(2, 0, 1)  # N B F
        embedded = self.linear_projection(patches)
        cls = self.cls_token.expand(1, images.shape[0], -1)
        sequence = torch.cat([cls, embedded], dim=0) + self.position
        return self.head(self.backbone(sequence)[0])
