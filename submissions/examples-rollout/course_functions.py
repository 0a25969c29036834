"""The exercises on a trained ViT, for a model with the names of timm's."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def get_attention(model: nn.Module, img: torch.Tensor) -> list[torch.Tensor]:
    maps = []

    def hook(module, inputs, output):
        x = inputs[0]
        B, N, C = x.shape
        qkv = module.qkv(x).reshape(B, N, 3, module.num_heads, C // module.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        maps.append(((q @ k.transpose(-2, -1)) * module.scale).softmax(dim=-1).detach())

    handles = [block.attn.register_forward_hook(hook) for block in model.blocks]
    with torch.no_grad():
        model(img)
    for handle in handles:
        handle.remove()
    processed = []
    for attn in maps:
        fused = attn.mean(dim=1)
        eye = torch.eye(fused.size(-1), device=fused.device)
        fused = 0.5 * fused + 0.5 * eye
        processed.append(fused / fused.sum(dim=-1, keepdim=True))
    return processed


def attention_rollout(attention_maps: list[torch.Tensor]) -> torch.Tensor:
    rollout = attention_maps[0]
    for attention in attention_maps[1:]:
        rollout = attention @ rollout
    return rollout / rollout.sum(dim=-1, keepdim=True)


def class_attention_map(rollout, image):
    row = rollout[:, 0, 1:]
    side = int(row.shape[-1] ** 0.5)
    grid = row.reshape(-1, 1, side, side)
    return F.interpolate(grid, size=image.shape[-2:], mode="bilinear", align_corners=False)


def position_similarity(pos_embed):
    patches = pos_embed[0, 1:]
    unit = F.normalize(patches, dim=-1)
    side = int(len(patches) ** 0.5)
    return (unit @ unit.T).reshape(side, side, side, side)


def principal_filters(weight, n_components=28):
    flat = weight.flatten(1)
    _, _, V = torch.pca_lowrank(flat, q=n_components, center=True)
    return V.T.reshape(n_components, *weight.shape[1:])
