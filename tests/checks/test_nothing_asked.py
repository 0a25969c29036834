"""Without an assignment a file is judged as what it is, and marks that are wanting make nothing wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from corpus import BASES, edited
from one_file import graded_file

from vitcheck.checks.assignment.asked_variants import Permission
from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.reports.terminal import verdict
from vitcheck.reports.words.standing import standing
from vitcheck.submissions.host.process import Zygote

_MARK = re.compile(r"# BREAKPOINT S\d\d")


@pytest.mark.parametrize("name", ["report", "prenorm", "clip_style"])
def test_what_is_right_in_some_course_gets_all_points(name: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_MARK.sub("#", BASES[name].source()), load_assignment(DEFAULT), zygote, tmp_path)
    assert (result.score.earned, result.mistakes) == (100, [])
    assert result.asked is not None
    assert result.asked.known_as == DEFAULT


@pytest.mark.parametrize(
    "fixed",
    [
        {"img_size": 32, "patch_size": 4, "num_classes": 10},
        {"patch_size": 8},  # too many tokens for a pass through all blocks
        {"img_size": 28, "patch_size": 7, "in_chans": 1, "embed_dim": 64, "depth": 6, "num_heads": 4},
        {"mlp_ratio": 2.0},
    ],
)
def test_a_model_of_one_size_is_right_whatever_size_it_is(
    fixed: dict[str, float], zygote: Zygote, tmp_path: Path
) -> None:
    text = BASES["prenorm"].source()
    for name in fixed:
        text, count = re.subn(rf"\n        {name}=[^,]+,", "", text)
        assert count == 1
    place = "        super().__init__()\n        if isinstance(img_size, int)"
    assert text.count(place) == 1
    lines = "".join(f"        {name} = {size}\n" for name, size in fixed.items())
    result = graded_file(text.replace(place, lines + place), load_assignment(DEFAULT), zygote, tmp_path)
    assert (result.score.earned, result.mistakes) == (100, [])
    assert not [one for one in result.checks if one.outcome in ("failed", "errored")]


KERAS = """
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y)[0]
        return x + self.mlp(self.norm2(x))


class ViTClassifier(nn.Module):
    def __init__(self, input_shape=(72, 72, 3), patch_size=6, width=64, heads=4, depth=3, classes=100):
        super().__init__()
        H, W, C = input_shape
        self.side = patch_size
        self.projection = nn.Linear(patch_size**2 * C, width)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(H // patch_size * (W // patch_size) + 1, width))
        self.layers = nn.Sequential(*[Layer(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.logits = nn.Linear(width, classes)

    def forward(self, images):
        B, H, W, C = images.shape
        p = self.side
        x = images.reshape(B, H // p, p, W // p, p, C).transpose(2, 3).reshape(B, -1, p * p * C)
        x = torch.cat([self.token.expand(B, -1, -1), self.projection(x)], 1) + self.positions
        return self.logits(self.norm(self.layers(x))[:, 0])
"""


def test_images_may_have_their_channels_last_unless_that_is_forbidden(zygote: Zygote, tmp_path: Path) -> None:
    asked = load_assignment(DEFAULT)
    result = graded_file(KERAS, asked, zygote, tmp_path)
    assert (result.score.earned, result.mistakes) == (100, [])
    assert "images-channels-last" in [one.id for one in result.variants]
    by_id = {**asked.variants.by_id, "images-channels-last": Permission(allow=False)}
    strict = asked.model_copy(update={"variants": asked.variants.model_copy(update={"by_id": by_id})})
    assert "images-channels-last" in [one.id for one in graded_file(KERAS, strict, zygote, tmp_path).mistakes]


def test_wanting_marks_cost_their_points_and_are_one_sentence(zygote: Zygote, tmp_path: Path) -> None:
    text = BASES["report"].source()
    assert _MARK.search(text)
    result = graded_file(_MARK.sub("#", text), load_assignment("vit-debugging"), zygote, tmp_path)
    assert standing(result).tone == "right"
    assert result.score.earned == pytest.approx(92, abs=0.5)  # what could not be asked goes to the others
    (said,) = [one.text for one in result.notes if one.kind == "unearned"]
    assert (
        said == "This assignment asks for a comment `# BREAKPOINT S01` after the line that computes S01,"
        " and 25 more are missing: 8.00 points are not earned."
    )
    assert verdict(result)


_BLOCKS = "[Block(embed_dim, num_heads, mlp_ratio, drop_rate) for _ in range(depth)]"
_LIBRARY = """nn.TransformerEncoder(self.layer, depth, enable_nested_tensor=False)"""
_LAYER = """        self.layer = nn.TransformerEncoderLayer(
            embed_dim, num_heads, int(mlp_ratio * embed_dim), 0.0, "gelu", batch_first=True, norm_first=True
        )
"""
_BEFORE = """self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.mha = nn.MultiheadAttention(dim, num_heads, batch_first=True)"""
_HIDDEN = """nn.Sequential(
            nn.Linear(embed_dim, num_classes), nn.Tanh(), nn.Linear(num_classes, num_classes)
        )"""
_TABLE = """        self.table = torch.ones(num_patches + 1, embed_dim)
        for pos in range(num_patches + 1):
            for i in range(embed_dim):
                angle = pos / 10000 ** ((i - i % 2) / embed_dim)
                self.table[pos][i] = math.cos(angle) if i % 2 else math.sin(angle)
"""
_STEMS = """from typing import List, NamedTuple, Optional


class Stem(NamedTuple):
    hidden_dim: int
    patch_size: int
    act_layer: str = "relu"


"""
_RATIO = ("mlp_ratio=4.0,\n        drop_rate", "drop_rate")
STRANGERS = {  # what strangers' programs have, and the tests' did not
    "no last norm": [
        ("        self.norm = nn.LayerNorm(embed_dim, eps=1e-6)\n", ""),
        ("        x = self.norm(x)\n", ""),
    ],
    "a layer that the library copies": [
        ("        self.blocks =", f"{_LAYER}        self.blocks ="),
        (f"nn.ModuleList({_BLOCKS})", _LIBRARY),
        ("        for blk in self.blocks:\n            x = blk(x)\n", "        x = self.blocks(x)\n"),
    ],
    "batch norm of the map": [
        ("stride=patch_size)\n", "stride=patch_size)\n        self.bn = nn.BatchNorm2d(embed_dim)\n"),
        ("x = self.proj(x)\n        x = x.flatten", "x = self.bn(self.proj(x))\n        x = x.flatten"),
    ],
    "a head with a hidden layer as wide as the classes": [("nn.Linear(embed_dim, num_classes)", _HIDDEN)],
    "layers before the library's attention": [
        ("self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)", _BEFORE),
        ("        B, N, C = x.shape\n", "        return self.mha(self.q(x), self.k(x), self.v(x))[0]\n"),
        ("        self.proj = nn.Linear(dim, dim)\n", ""),
    ],
    "an MLP three times as wide": [_RATIO, ("mlp_ratio, drop_rate)", "3, drop_rate)")],
    "each head's width is kept": [
        ("        head_dim = dim //", "        self.attention_head_size = head_dim = dim //"),
        ("self.num_heads = num_heads", "self.count = num_heads"),
        ("3, self.num_heads, C // self.num_heads", "3, self.count, self.attention_head_size"),
    ],
    "a command of IPython without its sign": [("import torch\n", "pip install torch\nimport torch\n")],
    "a fixed table, once for each image": [
        ("import torch\n", "import math\nimport torch\n"),
        ("        self.pos_embed = nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))\n", _TABLE),
        ("        nn.init.trunc_normal_(self.pos_embed, std=0.02)\n", ""),
        ("x + self.pos_embed", "x + self.table.repeat(B, 1, 1)"),
    ],
    "settings that may be left out": [
        ("import torch\n", _STEMS + "import torch\n"),
        ("        drop_rate=0.0,\n", "        drop_rate=0.0,\n        stems: Optional[List[Stem]] = None,\n"),
    ],
    "a name spelt like another": [
        (_RATIO[0], "n_hidden_layer=3072,\n        drop_rate"),
        ("mlp_ratio, drop_rate)", "n_hidden_layer / embed_dim, drop_rate)"),
    ],
}


@pytest.mark.parametrize("form", STRANGERS)
def test_what_strangers_write_is_right(form: str, zygote: Zygote, tmp_path: Path) -> None:
    text = edited(BASES["prenorm"].source(), STRANGERS[form])
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert (result.score.earned, result.mistakes) == (100, [])
    assert not [one for one in result.checks if one.outcome in ("failed", "errored")]


def test_a_last_norm_that_lies_there_unused_is_missing(zygote: Zygote, tmp_path: Path) -> None:
    text = BASES["prenorm"].source().replace("        x = self.norm(x)\n", "")
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["final-norm-missing"]
    assert "final-norm-missing" not in [one.id for one in result.variants]


def test_a_block_that_is_left_out_is_forgotten_though_the_others_are_copies(
    zygote: Zygote, tmp_path: Path
) -> None:
    edits = (
        ("import torch\n", "import copy\nimport torch\n"),
        ("[Block(embed_dim, num_heads, mlp_ratio, drop_rate) for", "[copy.deepcopy(block) for"),
        (
            "        self.blocks =",
            "        block = Block(embed_dim, num_heads, mlp_ratio, drop_rate)\n        self.blocks =",
        ),
        ("in self.blocks:", "in self.blocks[1:]:"),
    )
    text = edited(BASES["prenorm"].source(), edits)
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert any(one.id in ("depth-off-by-one", "unused-parameter") for one in result.mistakes)


FOREIGN = "self.proj(self.qkv(x).tanh().cumsum(1).unflatten(-1, (3, -1)).prod(2))"


@pytest.mark.parametrize(
    ("ends", "said"), [("return self.head(x)", "cannot follow"), ("pass", "written yet")]
)
def test_what_is_not_followed_is_not_said_to_be_unwritten(
    ends: str, said: str, zygote: Zygote, tmp_path: Path
) -> None:
    text = BASES["prenorm"].source()
    attention = text[
        text.index("        B, N, C = x.shape\n") : text.index("        return self.proj_drop(x)")
    ]
    edits = (
        (attention, ""),
        ("return self.proj_drop(x)", f"return {FOREIGN}"),
        ("x = x + self.attn(self.norm1(x))", "x = (x * self.attn(self.norm1(x).cumsum(1))).tanh()"),
        ("x = x + self.mlp(self.norm2(x))", "x = (x * self.mlp(x).cumsum(2)).sin()"),
        ("return self.head(x)", ends),
    )
    result = graded_file(edited(text, edits), load_assignment(DEFAULT), zygote, tmp_path)
    told = [one.message for one in result.checks if one.outcome == "failed" and "Nothing" in one.message]
    assert told
    assert all(said in one for one in told), told
