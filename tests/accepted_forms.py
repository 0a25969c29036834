"""One student's program in every form that an assignment may accept: alone, and in any pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from vitcheck.checks.assignment.asked_variants import Permission
from vitcheck.checks.assignment.assignment import Assignment, load_assignment
from vitcheck.submissions.reading.packing import HandIn

ASSIGNMENTS = {"report": "vit-debugging", "pre-norm": "vit-prenorm"}  # by kind of blocks


@dataclass(frozen=True)
class AcceptedForm:
    """Another way to write one part of the program.

    ``id`` is the variant that it is, if any; ``text`` stands in the place of ``part``.
    """

    name: str
    part: str
    text: str
    id: str = ""
    kinds: tuple[str, ...] = ("report", "pre-norm")  # of blocks, in which it is another way
    made: str = ""  # in the constructor
    also: str = ""  # a second variant that it needs

    @property
    def ids(self) -> tuple[str, ...]:
        """The variants that an assignment has to accept."""
        return tuple(filter(None, (self.id, self.also)))


_RIGHT = {
    "patches": "x = self.patch(image).flatten(2).transpose(1, 2)",
    "patch": "nn.Conv2d(channels, dim, patch_size, patch_size)",
    "tokens": "x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)",
    "count": "1 + (image_height // patch_size) * (image_width // patch_size)",
    "positions": "x = x + self.pos_embed",
    "table": "nn.Parameter(torch.randn(1, {count}, dim) * 0.02)",
    "before": "pass",
    "norm": "nn.LayerNorm(dim, eps=1e-6)",
    "qkv": "nn.Linear(dim, 3 * dim)",
    "meeting": "pass",
    "biased": "pass",
    "activation": "F.gelu(h)",
    "block_list": "nn.ModuleList([Block(dim, heads, mlp_dim) for _ in range(depth)])",
    "each": "pass",
    "pool": "x = x[:, 0]",
    "head": "nn.Linear(dim, num_classes)",
    "scores": "return self.head(x)",
}
_BLOCKS = {
    "report": """
        n = self.norm1(x)
        x = self.norm2(x + self.attend(n))
        return self.norm3(x + self.feed(x))
""",
    "pre-norm": """
        x = x + self.attend(self.norm1(x))
        return x + self.feed(self.norm2(x))
""",
    "post-norm": """
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.feed(x))
""",
    "parallel": """
        return x + self.attend(self.norm1(x)) + self.feed(self.norm2(x))
""",
    "sandwich": """
        x = x + self.norm3(self.attend(self.norm1(x)))
        return x + self.norm4(self.feed(self.norm2(x)))
""",
    "layer-scale": """
        x = x + self.scale1 * self.attend(self.norm1(x))
        return torch.addcmul(x, self.scale2, self.feed(self.norm2(x)))
""",
    "res-post-norm": """
        x = x + self.norm1(self.attend(x))
        return x + self.norm2(self.feed(x))
""",
    "raw": """
        x = x + self.attend(self.norm1(x))
        return self.norm3(x + self.feed(self.norm2(x)))
""",
}
_CLOSED = ("report", "post-norm", "raw")  # need no norm behind the last
_PROGRAM = """
import math

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class BatchNorm(nn.BatchNorm1d):
    def forward(self, x):
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


def sinusoids(length, dim):
    position = torch.arange(length).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    table = torch.zeros(1, length, dim)
    table[0, :, 0::2] = torch.sin(position * frequency)
    table[0, :, 1::2] = torch.cos(position * frequency)[:, : dim // 2]
    return table


def turned(x):
    T, d = x.shape[-2:]
    places, pairs = (torch.arange(one, device=x.device) for one in (T, d // 2))
    angles = (places[:, None] * 0.3**pairs).to(x.dtype)
    first, second, rest = x.split([d // 2, d // 2, d % 2], -1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos, rest], -1)


class Block(nn.Module):
    def __init__(self, dim, heads, mlp_dim):
        super().__init__()
        self.heads = heads
        self.norm1 = {norm}
        self.norm2 = {norm}
        {more_layers}
        self.qkv = {qkv}
        self.out = nn.Linear(dim, dim)
        self.fc1 = nn.Linear(dim, mlp_dim)
        self.fc2 = nn.Linear(mlp_dim, dim)

    def attend(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        {meeting}
        scores = q @ k.transpose(-2, -1) / math.sqrt(D // self.heads)
        {biased}
        weights = scores.softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, D))

    def feed(self, x):
        h = self.fc1(x)
        return self.fc2({activation})

    def forward(self, x):{block}

class ViT(nn.Module):
    def __init__(
        self, image_height, image_width, patch_size, channels, num_classes, dim, depth, heads, mlp_dim
    ):
        super().__init__()
        self.patch_size = patch_size
        self.patch = {patch}
        {made}
        self.pos_embed = {table}
        self.blocks = {block_list}
        self.norm = {last}
        self.head = {head}

    def forward(self, image):
        {patches}
        {tokens}
        {positions}
        {before}
        for block in self.blocks:
            {each}
            x = block(x)
        {end}
        {pool}
        {scores}
"""
FORMS = (
    AcceptedForm(
        "no projection bias",
        "patch",
        "nn.Conv2d(channels, dim, patch_size, patch_size, bias=False)",
        "projection-bias-missing",
    ),
    AcceptedForm(
        "activation after the projection",
        "patches",
        "x = F.gelu(self.patch(image).flatten(2).transpose(1, 2))",
        "activation-after-projection",
    ),
    AcceptedForm(
        "norm after the projection",
        "patches",
        "x = self.patch_norm(self.patch(image).flatten(2).transpose(1, 2))",
        "norm-after-projection",
        made="self.patch_norm = nn.LayerNorm(dim, eps=1e-6)",
    ),
    AcceptedForm(
        "batch norm of the projection's map",
        "patches",
        "x = self.patch_norm(self.patch(image)).flatten(2).transpose(1, 2)",
        "norm-after-projection",
        made="self.patch_norm = nn.BatchNorm2d(dim)",
    ),
    AcceptedForm("no class token", "tokens", "", "cls-missing", also="mean-pool-patches"),
    AcceptedForm(
        "mean for a class token",
        "tokens",
        "x = torch.cat([x.mean(dim=1, keepdim=True), x], dim=1)",
        "cls-mean-of-patches",
    ),
    AcceptedForm("fixed sinusoids", "table", "nn.Buffer(sinusoids({count}, dim))"),
    AcceptedForm(
        "class token without position",
        "positions",
        "x = torch.cat([x[:, :1], x[:, 1:] + self.pos_embed], dim=1)",
        "cls-without-position",
    ),
    AcceptedForm("positions in every block", "each", "x = x + self.pos_embed", "pos-every-block"),
    AcceptedForm(
        "norm before the encoder",
        "before",
        "x = self.before(x)",
        "extra-norm-before-encoder",
        made="self.before = nn.LayerNorm(dim, eps=1e-6)",
    ),
    AcceptedForm("RMSNorm", "norm", "RMSNorm(dim)", "rmsnorm-instead-of-layernorm"),
    AcceptedForm(
        "no affine", "norm", "nn.LayerNorm(dim, eps=1e-6, elementwise_affine=False)", "layernorm-no-affine"
    ),
    AcceptedForm("eps 1e-5", "norm", "nn.LayerNorm(dim)", "layernorm-eps-1e-5", ("pre-norm",)),
    AcceptedForm("batch norm", "norm", "BatchNorm(dim, eps=1e-6)", "batchnorm-instead-of-layernorm"),
    AcceptedForm(
        "two layers in a row for qkv",
        "qkv",
        "nn.Sequential(nn.Linear(dim, dim), nn.Linear(dim, 3 * dim))",
        "projected-twice",
    ),
    AcceptedForm("no bias in qkv", "qkv", "nn.Linear(dim, 3 * dim, bias=False)", "qkv-bias-missing"),
    AcceptedForm("ReLU", "activation", "F.relu(h)", "relu-instead-of-gelu"),
    AcceptedForm("SiLU", "activation", "F.silu(h)", "silu-instead-of-gelu"),
    AcceptedForm("QuickGELU", "activation", "h * torch.sigmoid(1.702 * h)", "quick-gelu"),
    AcceptedForm("GELU by tanh", "activation", 'F.gelu(h, approximate="tanh")', "gelu-tanh"),
    AcceptedForm("report's block", "block", "report", "report-hybrid-block", ("pre-norm",)),
    AcceptedForm("post-norm block", "block", "post-norm", "post-norm-block"),
    AcceptedForm("parallel block", "block", "parallel", "parallel-block"),
    AcceptedForm("sandwich", "block", "sandwich", "sandwich-norm-block"),
    AcceptedForm("LayerScale", "block", "layer-scale", "layer-scale-block"),
    AcceptedForm("norms behind the branches", "block", "res-post-norm", "res-post-norm-block"),
    AcceptedForm("MLP's sum with the raw one", "block", "raw", "residual-mlp-from-raw-sum", ("report",)),
    AcceptedForm(
        "one block for all",
        "block_list",
        "nn.ModuleList([Block(dim, heads, mlp_dim)] * depth)",
        "blocks-share-one-instance",
    ),
    AcceptedForm(
        "another norm at the end", "last", "nn.LayerNorm(dim, eps=1e-6)", "extra-final-norm", ("report",)
    ),
    AcceptedForm("no norm at the end", "last", "nn.Identity()", "final-norm-missing", ("pre-norm",)),
    AcceptedForm("norm after the class token", "end", "readout", "final-norm-after-readout", ("pre-norm",)),
    AcceptedForm("mean of the patches", "pool", "x = x[:, {first}:].mean(dim=1)", "mean-pool-patches"),
    AcceptedForm("mean of all tokens", "pool", "x = x.mean(dim=1)", "mean-pool-includes-cls"),
    AcceptedForm(
        "hidden layer in the head",
        "head",
        "nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, num_classes))",
        "head-hidden-layer",
    ),
    AcceptedForm(
        "log-softmax", "scores", "return F.log_softmax(self.head(x), dim=-1)", "log-softmax-in-logits"
    ),
    AcceptedForm(
        "pixels scaled in the model",
        "patches",
        "x = self.patch((image - 0.5) / 0.25).flatten(2).transpose(1, 2)",
        "image-scaled-in-model",
    ),
    AcceptedForm(
        "embeddings scaled as words are",
        "patches",
        "x = self.patch(image).flatten(2).transpose(1, 2) * self.patch.out_channels**0.5",
        "embeddings-scaled",
    ),
    AcceptedForm(
        "two hidden layers in the head",
        "head",
        "nn.Sequential(\n            nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim), nn.ReLU(),"
        " nn.Linear(dim, num_classes)\n        )",
        "head-hidden-layer",
    ),
    AcceptedForm("gated MLP", "activation", "F.silu(h) * self.gate(x)", "gated-mlp"),
    AcceptedForm(
        "learned bias of the scores",
        "biased",
        "scores = scores + self.slope * (torch.arange(T)[:, None] - torch.arange(T)).abs()",
        "attention-bias",
    ),
    AcceptedForm(
        "convolutions before the patches are cut",
        "patches",
        "x = self.patch(F.relu(self.stem(image))).flatten(2).transpose(1, 2)",
        "conv-stem",
        made="self.stem = nn.Conv2d(channels, channels, 3, padding=1)",
    ),
    AcceptedForm("normed queries", "meeting", "q, k = self.q_norm(q), self.k_norm(k)", "qk-norm"),
    AcceptedForm("queries and keys turned", "meeting", "q, k = turned(q), turned(k)", "rotary-positions"),
)


def forms_for(kind: str) -> tuple[AcceptedForm, ...]:
    """Those that are another way in an assignment of this kind of blocks."""
    return tuple(one for one in FORMS if kind in one.kinds)


def pairs_for(kind: str) -> Iterator[tuple[AcceptedForm, AcceptedForm]]:
    """Each pair of them that one program can have."""
    for one, other in combinations(forms_for(kind), 2):
        if one.part != other.part and _go_together(one, other):
            yield one, other


_APART = (  # what cannot be written together, or would be another program
    {"no class token", "class token without position"},
    {"no class token", "mean of all tokens"},
    {"no class token", "norm after the class token"},
    {"class token without position", "positions in every block"},
)
_ENDS = {"block", "last", "end"}  # the parts that say which norm is the last


def _go_together(one: AcceptedForm, other: AcceptedForm) -> bool:
    return {one.name, other.name} not in _APART and not {one.part, other.part} <= _ENDS


def written(kind: str, *forms: AcceptedForm) -> HandIn:
    """The program, with blocks of the ``kind`` but in these forms, as something that was handed in."""
    chosen = {**_RIGHT, **{one.part: one.text for one in forms}}
    ids = {one.id for one in forms}
    if "cls-missing" in ids and chosen["pool"] == _RIGHT["pool"]:
        chosen["pool"] = "x = x.mean(dim=1)"
    block = chosen.pop("block", kind)
    last = "nn.Identity()" if block in _CLOSED else chosen["norm"]
    chosen.setdefault("last", last)
    norm, pool = "x = self.norm(x)", chosen["pool"].format(first=0 if "cls-missing" in ids else 1)
    chosen["end"], chosen["pool"] = (pool, norm) if chosen.get("end") else (norm, pool)
    token = not {"cls-missing", "cls-mean-of-patches"} & ids
    made = ["self.cls_token = nn.Parameter(torch.randn(1, 1, dim) * 0.02)"] if token else []
    made += [one.made for one in forms if one.made]
    if {"cls-missing", "cls-without-position"} & ids:
        chosen["count"] = "(image_height // patch_size) * (image_width // patch_size)"
    chosen["table"] = chosen["table"].format(count=chosen.pop("count"))
    layers = {"norm3": chosen["norm"], "norm4": chosen["norm"]}
    layers |= dict.fromkeys(("scale1", "scale2"), "nn.Parameter(torch.ones(dim))")
    layers |= dict.fromkeys(("q_norm", "k_norm"), "nn.LayerNorm(dim // heads, eps=1e-6)")
    layers["gate"] = "nn.Linear(dim, mlp_dim)"
    layers["slope"] = "nn.Parameter(torch.randn(heads, 1, 1))"
    body = _BLOCKS[block] + chosen["meeting"] + chosen["biased"] + chosen["activation"]
    more = [f"self.{name} = {layer}" for name, layer in layers.items() if name in body]
    text = _PROGRAM.format(
        block=_BLOCKS[block], more_layers="\n        ".join(more), made="\n        ".join(made), **chosen
    )
    return HandIn("vit", True, {"vit.py": text.lstrip().encode()})


def accepting(kind: str, *forms: AcceptedForm) -> Assignment:
    """The shipped assignment of this kind, with these forms accepted and no marks asked for."""
    asked = load_assignment(ASSIGNMENTS[kind])
    allowed = {id: Permission(allow=True) for one in forms for id in one.ids}
    variants = asked.variants.model_copy(update={"by_id": {**asked.variants.by_id, **allowed}})
    rules = asked.rules.model_copy(update={"breakpoints": False})
    return asked.model_copy(update={"variants": variants, "rules": rules, "examples": 3, "written": None})
