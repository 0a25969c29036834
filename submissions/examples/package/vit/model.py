"""Encoder block and the whole model, as in the debugging report."""
from torch import nn

from .attention import MultiHeadSelfAttention
from .patch_embedding import TokenEmbedding
from .sizes import (
    EMBED_DIM,
    IMG_SIZE,
    IN_CHANNELS,
    MLP_RATIO,
    NUM_BLOCKS,
    NUM_CLASSES,
    NUM_HEADS,
    PATCH_SIZE,
)


class EncoderBlock(nn.Module):
    def __init__(self, embed_dim=EMBED_DIM, num_heads=NUM_HEADS, mlp_ratio=MLP_RATIO):
        super().__init__()
        self.norm_attention = nn.LayerNorm(embed_dim)
        self.attention = MultiHeadSelfAttention(embed_dim, num_heads)
        self.norm_after_attention = nn.LayerNorm(embed_dim)
        self.expand = nn.Sequential(nn.Linear(embed_dim, embed_dim * mlp_ratio), nn.GELU())
        self.shrink = nn.Linear(embed_dim * mlp_ratio, embed_dim)
        self.norm_after_mlp = nn.LayerNorm(embed_dim)

    def forward(self, x):
        residual = x
        # BREAKPOINT S08
        x = self.norm_after_attention(residual + self.attention(self.norm_attention(x)))
        # BREAKPOINT S16
        hidden = self.expand(x)
        # BREAKPOINT S17
        feed_forward = self.shrink(hidden)
        # BREAKPOINT S18
        x = self.norm_after_mlp(x + feed_forward)
        # BREAKPOINT S19
        # BREAKPOINT S20
        return x


class VisionTransformer(nn.Module):
    def __init__(
        self,
        img_size=IMG_SIZE,
        patch_size=PATCH_SIZE,
        in_channels=IN_CHANNELS,
        embed_dim=EMBED_DIM,
        num_heads=NUM_HEADS,
        num_blocks=NUM_BLOCKS,
        num_classes=NUM_CLASSES,
        mlp_ratio=MLP_RATIO,
    ):
        super().__init__()
        self.embedding = TokenEmbedding(img_size, patch_size, in_channels, embed_dim)
        self.blocks = nn.ModuleList()
        for _ in range(num_blocks):
            self.blocks.append(EncoderBlock(embed_dim, num_heads, mlp_ratio))
        self.classifier = nn.Linear(embed_dim, num_classes)

    def forward(self, image):
        # BREAKPOINT S01 image
        x = self.embedding(image)
        for index, block in enumerate(self.blocks):
            x = block(x)
            if index == 1:
                block2 = x
                # BREAKPOINT S21
        last = x
        # BREAKPOINT S22
        final_sequence = last
        # BREAKPOINT S23
        cls_representation = final_sequence[:, 0, :]
        # BREAKPOINT S24
        logits = self.classifier(cls_representation)
        # BREAKPOINT S25
        probs = logits.softmax(1)
        # BREAKPOINT S26
        return logits, probs
