"""The skeletons that ``vitcheck init`` writes, filled with the code of the reference."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from textwrap import indent

from vitcheck.reference import equations

_QKV = """self.qkv(self.norm1(block_input)).chunk(3, dim=-1)
query, *others = (eq.split_heads(one, self.heads) for one in query)"""
_SECOND = """self.blocks[0]({})
for block in self.blocks[1:2]:
    second_block_output = block(second_block_output)"""
_BLOCK = """self.heads = num_heads
self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(embed_dim) for _ in range(3))
self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
self.proj = nn.Linear(embed_dim, embed_dim)
self.fc1 = nn.Linear(embed_dim, mlp_dim)
self.fc2 = nn.Linear(mlp_dim, embed_dim)"""
_PRE_NORM_BLOCK = _BLOCK.replace(", self.norm3", "").replace("range(3)", "range(2)")
_MODEL = """self.patch_size = patch_size
tokens = (image_height // patch_size) * (image_width // patch_size) + 1
self.patch_embed = nn.Linear(in_channels * patch_size**2, embed_dim)
self.cls_token = nn.Parameter(torch.randn(embed_dim) * 0.02)
self.pos_embed = nn.Parameter(torch.randn(tokens, embed_dim) * 0.02)
self.blocks = nn.ModuleList(TransformerBlock(embed_dim, num_heads, mlp_dim) for _ in range(depth))
self.head = nn.Linear(embed_dim, num_classes)"""
_WITH_NORM = f"{_MODEL}\nself.norm = nn.LayerNorm(embed_dim)"
_CLIP_MODEL = (
    f"{_WITH_NORM}\nself.norm_pre = nn.LayerNorm(embed_dim)"
    "\nself.patch_embed = nn.Linear(in_channels * patch_size**2, embed_dim, bias=False)"
    "\nself.head = nn.Linear(embed_dim, num_classes, bias=False)"
)
_REPORT = {
    "block_input": "x",
    "query": _QKV,
    "key": "others[0]",
    "value": "others[1]",
    "attention_scores": "eq.attention_scores(query, key)",
    "attention_probabilities": "eq.attention_probabilities(attention_scores)",
    "attention_context": "eq.attention_context(attention_probabilities, value)",
    "attention_output": "self.proj(eq.merge_heads(attention_context))",
    "post_attention_norm": "self.norm2(block_input + attention_output)",
    "mlp_hidden": "eq.gelu(self.fc1(post_attention_norm))",
    "mlp_output": "self.fc2(mlp_hidden)",
    "post_mlp_norm": "self.norm3(post_attention_norm + mlp_output)",
    "block_output": "post_mlp_norm",
    "patches": "eq.cut_patches(image, self.patch_size)",
    "flattened_patches": "eq.flatten_patches(patches)",
    "patch_embeddings": "self.patch_embed(flattened_patches)",
    "class_token": "eq.expand_class_token(self.cls_token, len(image))",
    "tokens": "eq.prepend_class_token(class_token, patch_embeddings)",
    "positioned_tokens": "eq.add_positions(tokens, self.pos_embed)",
    "second_block_output": _SECOND.format("positioned_tokens"),
    "last_block_output": "second_block_output\nfor block in self.blocks[2:]:\n"
    "    last_block_output = block(last_block_output)",
    "final_sequence": "last_block_output",
    "class_representation": "eq.class_representation(final_sequence)",
    "logits": "self.head(class_representation)",
    "class_probabilities": "eq.class_probabilities(logits)",
}
_PRE_NORM = _REPORT | {
    "post_mlp_norm": "block_input + attention_output + mlp_output",
    "final_sequence": "self.norm(last_block_output)",
}
_POST_NORM = {key: one for key, one in _REPORT.items() if key != "class_token"} | {
    "query": _QKV.replace("self.norm1(block_input)", "block_input"),
    "tokens": "patch_embeddings",
    "class_representation": "final_sequence.mean(1)",
}
_POST_NORM_BLOCK = _BLOCK.replace("self.norm1, ", "").replace("range(3)", "range(2)")
_WITHOUT_TOKEN = _MODEL.replace(" + 1\n", "\n").replace(
    "\nself.cls_token = nn.Parameter(torch.randn(embed_dim) * 0.02)", ""
)
_CLIP = _PRE_NORM | {
    "attention_probabilities": "eq.attention_probabilities(attention_scores)\n"
    "self.seen = attention_probabilities.detach()",
    "mlp_hidden": "eq.quick_gelu(self.fc1(post_attention_norm))",
    "second_block_output": _SECOND.format("self.norm_pre(positioned_tokens)"),
    "final_sequence": "last_block_output",
    "class_representation": "self.norm(eq.class_representation(final_sequence))",
    "patch_tokens": "final_sequence[:, 1:]",
    "class_attention": "torch.stack([block.seen[:, :, 0, 1:] for block in self.blocks])\n"
    "rows = image.shape[-2] // self.patch_size\n"
    "class_attention = class_attention.unflatten(-1, (rows, -1))",
}
_NORM = "eq.layer_norm(x, {}, {}, 1e-5)"
_PARTS = {  # of each class: its layers, and what it gives
    "PatchEmbedding": (
        "self.patch_size = patch_size\nself.proj = nn.Linear(in_channels * patch_size**2, embed_dim)",
        "self.proj(eq.flatten_patches(eq.cut_patches(x, self.patch_size)))",
    ),
    "ClassToken": (
        "self.token = nn.Parameter(torch.zeros(embed_dim))",
        "eq.prepend_class_token(eq.expand_class_token(self.token, len(x)), x)",
    ),
    "PositionEmbedding": (
        "self.positions = nn.Parameter(torch.randn(num_tokens, embed_dim))",
        "eq.add_positions(x, self.positions)",
    ),
    "LayerNorm": (
        "self.weight = nn.Parameter(torch.ones(embed_dim))\nself.bias = nn.Parameter(torch.zeros(embed_dim))",
        _NORM.format("self.weight", "self.bias"),
    ),
    "LayerNormWithoutAffine": ("pass", _NORM.format(None, None)),
    "SelfAttention": (
        "self.heads = num_heads\nself.qkv = nn.Linear(embed_dim, 3 * embed_dim)\n"
        "self.proj = nn.Linear(embed_dim, embed_dim)",
        "[eq.split_heads(one, self.heads) for one in self.qkv(x).chunk(3, dim=-1)]\n"
        "shares = eq.attention_probabilities(eq.attention_scores(output[0], output[1]))\n"
        "output = self.proj(eq.merge_heads(eq.attention_context(shares, output[2])))",
    ),
    "MLP": (
        "self.fc1 = nn.Linear(embed_dim, mlp_dim)\nself.fc2 = nn.Linear(mlp_dim, embed_dim)",
        "self.fc2(eq.gelu(self.fc1(x)))",
    ),
    "EncoderBlock": (
        "self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)\n"
        "self.attention, self.mlp = SelfAttention(embed_dim, num_heads), MLP(embed_dim, mlp_dim)",
        "x + self.attention(self.norm1(x))\noutput = output + self.mlp(self.norm2(output))",
    ),
}
_EXERCISES = {  # what the functions of reference/rollout.py do
    "get_attention": """[]

def keep(module, inputs, output):
    queries, keys, _ = module.qkv(inputs[0]).chunk(3, dim=-1)
    heads = [one.unflatten(-1, (module.num_heads, -1)).transpose(1, 2) for one in (queries, keys)]
    fused = (heads[0] @ heads[1].mT * module.scale).softmax(-1).mean(1)
    mixed = 0.5 * fused + 0.5 * torch.eye(fused.shape[-1])
    result.append(mixed / mixed.sum(-1, keepdim=True))

hooks = [block.attn.register_forward_hook(keep) for block in model.blocks]
model(images)
for hook in hooks:
    hook.remove()""",
    "attention_rollout": """attention_maps[0]
for one in attention_maps[1:]:
    result = one @ result
result = result / result.sum(-1, keepdim=True)""",
    "class_token_map": """rollout[:, 0, 1:]
result = result.reshape(len(result), 1, int(result.shape[-1] ** 0.5), -1)
result = nn.functional.interpolate(result, tuple(image.shape[-2:]), mode="bilinear")[:, 0]""",
    "position_similarity": """nn.functional.normalize(position_embeddings[0, 1:], dim=-1)
result = result @ result.mT""",
    "filter_components": """weight.flatten(1) - weight.flatten(1).mean(0, keepdim=True)
result = torch.linalg.svd(result, full_matrices=False)[2][:28].reshape(-1, *weight.shape[1:])""",
}


def filled(assignment: str, skeleton: str) -> str:
    """A right solution of a shipped assignment, made of its skeleton."""
    return _SOLVED[assignment](skeleton)


def _with_equations(text: str) -> str:
    """In a class, or they would be found as if they were answers themselves."""
    source = inspect.getsource(equations)
    imports, _, functions = source.rpartition('"""\n\nimport')[2].partition("\n\n\n")
    methods = indent(
        functions.replace("def ", "@staticmethod\ndef ").replace("= standardise", "= eq.standardise"), "    "
    )
    return text.replace("\n\n\n", f"\nimport{imports}\n\n\nclass eq:\n{methods}\n\n\n", 1)


def _model(block: str, model: str, slots: Mapping[str, str], text: str) -> str:
    text = _with_equations(text)
    for layers in (block, model):
        text = _put(text, "# YOUR CODE", layers)
    return _slots(text, slots)


def _slots(text: str, slots: Mapping[str, str]) -> str:
    for key, code in slots.items():
        text = _put(text, f"{key} = ...", f"{key} = {code}")
    return text


def _parts(text: str) -> str:
    text = _with_equations(text)
    for name, (layers, output) in _PARTS.items():
        head, _, rest = text.partition(f"class {name}(")
        rest = _put(_put(rest, "# YOUR CODE", layers), "output = ...", f"output = {output}")
        text = f"{head}class {name}({rest}"
    return text


def _exercises(text: str) -> str:
    for name, code in _EXERCISES.items():
        head, _, rest = text.partition(f"def {name}(")
        text = f"{head}def {name}({_put(rest, 'result = ...', f'result = {code}')}"
    return text


def _put(text: str, place: str, code: str) -> str:
    """Put ``code`` at the first line that is ``place``, as far to the right."""
    found = re.search(rf"^( +){re.escape(place)}$", text, flags=re.MULTILINE)
    assert found, f"there is no line {place!r} in {text}"
    lines = (f"{found[1]}{line}".rstrip() for line in code.split("\n"))
    return text[: found.start()] + "\n".join(lines) + text[found.end() :]


_SOLVED = {
    "vit-debugging": lambda text: _model(_BLOCK, _MODEL, _REPORT, text),
    **dict.fromkeys(
        ("vit", "vit-prenorm"), lambda text: _model(_PRE_NORM_BLOCK, _WITH_NORM, _PRE_NORM, text)
    ),
    "vit-postnorm": lambda text: _model(_POST_NORM_BLOCK, _WITHOUT_TOKEN, _POST_NORM, text),
    "clip-vit": lambda text: _model(
        _PRE_NORM_BLOCK,
        _CLIP_MODEL,
        {key: one for key, one in _CLIP.items() if key != "class_probabilities"},
        text,
    ),
    "vit-basics": _parts,
    "vit-rollout": _exercises,
}
