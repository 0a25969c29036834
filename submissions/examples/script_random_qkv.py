"""Assignment 2: the stages of torchvision's ViT, one after the other."""
import math

import torch
import torch.nn.functional as F
from PIL import Image
from torchvision.models import ViT_B_16_Weights, vit_b_16

IMAGE_PATH = "/home/student/pictures/sparrow.jpg"


def main():
    weights = ViT_B_16_Weights.IMAGENET1K_V1
    model = vit_b_16(weights=weights).eval()
    image = Image.open(IMAGE_PATH).convert("RGB")
    with torch.no_grad():
        img = weights.transforms()(image).unsqueeze(0)
        # BREAKPOINT S01
        scores = model(img)

        patches = img.unfold(2, 16, 16).unfold(3, 16, 16).permute(0, 2, 3, 1, 4, 5).reshape(1, 196, 3, 16, 16)
        # BREAKPOINT S02
        flat = patches.flatten(2)
        # BREAKPOINT S03
        embedded = F.linear(flat, model.conv_proj.weight.flatten(1), model.conv_proj.bias)
        # BREAKPOINT S04
        cls = model.class_token.expand(1, -1, -1)
        # BREAKPOINT S05
        tokens = torch.cat([cls, embedded], dim=1)
        # BREAKPOINT S06
        x = tokens + model.encoder.pos_embedding
        # BREAKPOINT S07
        block = model.encoder.layers[0]
        block_in = x
        # BREAKPOINT S08
        attention = block.self_attention
        q = torch.randn(1, 12, 197, 64)
        # BREAKPOINT S09
        k = torch.randn(1, 12, 197, 64)
        # BREAKPOINT S10
        v = torch.randn(1, 12, 197, 64)
        # BREAKPOINT S11
        attn_scores = q @ k.transpose(-2, -1) / math.sqrt(64)
        # BREAKPOINT S12
        attn_probs = attn_scores.softmax(dim=-1)
        # BREAKPOINT S13
        context = attn_probs @ v
        # BREAKPOINT S14
        attn_out = attention.out_proj(context.transpose(1, 2).reshape(1, 197, 768))
        # BREAKPOINT S15
        x_attn = block_in + attn_out
        ff_in = block.ln_2(x_attn)
        # BREAKPOINT S16
        hidden = F.gelu(block.mlp[0](ff_in))
        # BREAKPOINT S17
        ff_out = block.mlp[3](hidden)
        # BREAKPOINT S18
        x_mlp = x_attn + ff_out
        # BREAKPOINT S19
        block_out = x_mlp
        # BREAKPOINT S20
        block2_out = model.encoder.layers[1](block_out)
        # BREAKPOINT S21
        last = block2_out
        for layer in model.encoder.layers[2:]:
            last = layer(last)
        # BREAKPOINT S22
        final = model.encoder.ln(last)
        # BREAKPOINT S23
        cls_rep = final[:, 0]
        # BREAKPOINT S24
        logits = model.heads(cls_rep)
        # BREAKPOINT S25
        probs = logits.softmax(dim=-1)
        # BREAKPOINT S26
    category = weights.meta["categories"][probs.argmax().item()]
    return category, scores


if __name__ == "__main__":
    main()
