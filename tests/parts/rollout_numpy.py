"""One image at a time, arrays, loops, and a model whose attention is library attention."""

import numpy as np
import torch


def extract_attention_maps(vit, image, fusion="max"):
    maps = []
    handles = []

    def force_weights(module, args, kwargs):
        kwargs["need_weights"] = True
        kwargs["average_attn_weights"] = False
        return args, kwargs

    for layer in vit.encoder.layers:
        attention = layer.self_attention
        handles.append(attention.register_forward_pre_hook(force_weights, with_kwargs=True))
        handles.append(attention.register_forward_hook(lambda m, i, o: maps.append(o[1].detach())))
    vit(image)
    for handle in handles:
        handle.remove()
    result = []
    for weights in maps:
        fused = weights.max(dim=1)[0] if fusion == "max" else weights.mean(dim=1)
        a = fused + torch.eye(fused.shape[-1])
        result.append(a / a.sum(-1)[..., None])
    return torch.stack(result)


def compute_rollout(att_mats):
    joint = np.zeros((len(att_mats), *att_mats[0].shape))
    joint[0] = att_mats[0].numpy()
    for n in range(1, len(att_mats)):
        joint[n] = np.matmul(att_mats[n].numpy(), joint[n - 1])
    return joint[-1]


def cls_heatmap(rollout, grid_size, image_size):
    mask = rollout[0, 0, 1:].reshape(grid_size)
    mask = mask / mask.max()
    mask = torch.as_tensor(mask)[None, None]
    return torch.nn.functional.interpolate(mask, size=image_size, mode="bilinear")[0, 0].numpy()


def cosine_similarity_of_positions(pos_embedding):
    table = pos_embedding.squeeze(0)[1:].numpy()
    result = np.zeros((len(table), len(table)))
    for i in range(len(table)):
        for j in range(len(table)):
            result[i, j] = table[i] @ table[j] / (np.linalg.norm(table[i]) * np.linalg.norm(table[j]))
    return result


def pca_of_filters(w):
    flat = w.reshape(w.shape[0], -1).numpy()
    flat = flat - flat.mean(axis=0)
    values, vectors = np.linalg.eigh(flat.T @ flat)
    order = np.argsort(values)[::-1][:28]
    return vectors[:, order].T
