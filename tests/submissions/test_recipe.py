"""Constructors as students write them: each is built at a size it has not been seen at, and followed."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import torch
from constructors import FIXED, STYLES, usual, vit
from corpus import BASES, edited
from torch import nn
from understood import given

from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.child.building.calls.observing import ModelParts, observe
from vitcheck.submissions.child.building.recipe import Recipe, infer
from vitcheck.submissions.child.building.trial_sizes import BASES as BASES_TRIED
from vitcheck.submissions.child.building.trial_sizes import fit
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.errors import NotLoaded
from vitcheck.submissions.questions.pins import Pins

torch.set_num_threads(1)  # as in the child process; small models only wait for a second one

ASKED = Sizes(
    batch=3, channels=1, height=24, width=16, patch=8, embed_dim=32, heads=4, mlp_dim=96, depth=3, classes=7
)


def inferred(source: str, **arguments: object) -> Recipe:
    loaded = load({"vit.py": source.encode()})
    assert loaded.error is None
    return infer(loaded, Pins(None, arguments))


def build(recipe: Recipe, sizes: Sizes) -> Any:
    return recipe.build(sizes)


@pytest.mark.parametrize("style", STYLES)
def test_every_style_is_built_at_the_sizes_asked_for(style: str) -> None:
    recipe = inferred(STYLES[style])
    sizes = recipe.sizes_for(ASKED)
    assert sizes == replace(ASKED, width=sizes.width)
    assert (sizes.width == 16) != recipe.controls.square_only
    model = build(recipe, sizes)
    logits = model(torch.randn(sizes.batch, sizes.channels, sizes.height, sizes.width))
    assert logits.shape == (3, 7)
    assert len(model.blocks) == 3
    assert model.blocks[0].attn.num_heads == 4
    assert model.blocks[0].mlp[0].weight.shape == (96, 32)
    assert model.pos_embed.shape == (1, sizes.tokens, 32)
    assert recipe.controls.fixed == {}


UNUSUAL = (
    "generators",
    "batch_last",
    "stacked_weights",
    "parameter_lists",
    "position_maps",
    "enum_config",
)  # heads in a list, no layer of torch, a template on the meta device, no module a block, `c`, an enumeration


@pytest.mark.parametrize("name", UNUSUAL)
def test_a_model_that_shows_little_of_its_sizes_is_built_at_those_asked_for(name: str) -> None:
    recipe = inferred(BASES[name].source())
    assert recipe.controls.fixed == {}
    sizes = recipe.sizes_for(ASKED)
    assert sizes == replace(ASKED, width=24)
    assert build(recipe, sizes)(torch.randn(3, 1, 24, 24)).shape == (3, 7)


def test_blocks_in_a_python_list_are_built_as_wide_as_asked_for() -> None:
    source = usual().replace(
        "nn.ModuleList([Block(D, h, M) for _ in range(L)])", "[Block(D, h, M) for _ in range(L)]"
    )
    recipe = inferred(source)
    assert build(recipe, recipe.sizes_for(ASKED)).blocks[0].mlp[0].weight.shape == (96, 32)


@pytest.mark.parametrize("which", FIXED)
def test_what_is_hard_coded_is_read_off_and_kept(which: str) -> None:
    source, fixed = FIXED[which]
    recipe = inferred(source)
    assert recipe.controls.fixed == fixed
    sizes = recipe.sizes_for(ASKED)
    assert {name: vars(sizes)[name] for name in fixed} == fixed
    assert build(recipe, sizes)(torch.randn(3, sizes.channels, sizes.height, sizes.width)).shape == (
        3,
        sizes.classes,
    )


_CONVOLUTIONS = (
    ("nn.Linear(dim, mlp_dim)", "nn.Conv1d(dim, mlp_dim, 1)"),
    ("nn.Linear(mlp_dim, dim)", "nn.Conv1d(mlp_dim, dim, 1)"),
    ("self.mlp(self.norm2(x))", "self.mlp(self.norm2(x).mT).mT"),
)


@pytest.mark.parametrize("changes", [(), _CONVOLUTIONS], ids=["linear", "convolutions"])
def test_an_mlp_of_four_times_the_width_stays_so(changes: tuple[tuple[str, str], ...]) -> None:
    source = usual("mlp_dim", mlp_dim="4 * dim")
    for old, new in changes:
        source = source.replace(old, new)
    recipe = inferred(source)
    assert recipe.controls.mlp_ratio == 4
    assert recipe.sizes_for(ASKED).mlp_dim == 4 * 32
    assert recipe.controls.fixed == {}


def test_a_ratio_that_must_be_whole_is_rounded() -> None:
    recipe = inferred(
        usual(mlp_dim="mlp_ratio * dim").replace("mlp_dim, num_classes)", "mlp_ratio, num_classes)")
    )
    sizes = recipe.sizes_for(replace(ASKED, mlp_dim=90))
    assert sizes.mlp_dim == 96
    assert build(recipe, sizes).blocks[0].mlp[0].out_features == 96


def test_an_mlp_width_that_is_no_multiple_is_met_exactly() -> None:
    recipe = inferred(STYLES["defaults"])
    for mlp_dim in range(33, 160):
        model = build(recipe, recipe.sizes_for(replace(ASKED, mlp_dim=mlp_dim)))
        assert model.blocks[0].mlp[0].out_features == mlp_dim


def test_images_that_are_not_square_are_asked_for_where_they_work() -> None:
    either = "h, w = img_size if isinstance(img_size, tuple) else (img_size, img_size)\n"
    recipe = inferred(
        vit(", img_size, patch_size, in_chans, dim, heads, depth, mlp_dim, num_classes",
            either + "N = h // patch_size * (w // patch_size)\n"
            "self.setup(in_chans, N, patch_size, dim, heads, depth, mlp_dim, num_classes)")
    )  # fmt: skip
    assert recipe.sizes_for(ASKED) == ASKED
    assert build(recipe, ASKED)(torch.randn(3, 1, 24, 16)).shape == (3, 7)


def test_features_without_a_head_are_as_wide_as_the_tokens() -> None:
    headless = usual("num_classes", num_classes="10").replace(
        "self.head(self.norm(x)[:, 0])", "self.norm(x)[:, 0]"
    )
    assert inferred(headless).sizes_for(ASKED).classes == 32


MISTAKEN = {
    "every token is classified": ("self.head(self.norm(x)[:, 0])", "self.head(self.norm(x))", "of logits"),
    "forward crashes": ("self.norm(x)[:, 0]", "self.nrm(x)[:, 0]", "no attribute 'nrm'"),
    "one image at a time": (".expand(len(x), -1, -1)", "", "a batch of 1 works"),
}


@pytest.mark.parametrize("mistake", MISTAKEN)
def test_a_mistaken_model_is_built_all_the_same_and_the_trouble_noted(mistake: str) -> None:
    right, wrong, note = MISTAKEN[mistake]
    recipe = inferred(usual().replace(right, wrong))
    assert note in " ".join(recipe.notes())
    assert {
        "channels",
        "patch",
        "embed_dim",
        "heads",
        "mlp_dim",
        "depth",
        "classes",
    } <= recipe.controls.fields
    assert len(build(recipe, recipe.sizes_for(ASKED)).blocks) == 3


def test_a_row_for_each_token_is_none_for_each_image_where_there_are_as_many() -> None:
    """Or one patch and a token for the class would fit a batch of two better than what names say."""
    text = edited(usual(), [("self.norm(x)[:, 0]", "self.norm(x)[0]")])
    text = text.replace("img_size", "input_size").replace("patch_size", "patch_dim")
    recipe = inferred(text)
    assert {"height", "patch", "embed_dim"} <= recipe.controls.fields


@pytest.mark.parametrize("output", ["(logits, None)", "[x, logits]", '{"final": x, "logits": logits}'])
def test_class_scores_are_found_inside_what_is_returned(output: str) -> None:
    returned = f"logits = self.head(self.norm(x)[:, 0])\n        return {output}"
    recipe = inferred(usual().replace("return self.head(self.norm(x)[:, 0])", returned))
    assert recipe.notes() == ["non-square images raise an error"]


def test_one_block_used_again_and_again_follows_the_depth() -> None:
    shared = "nn.ModuleList([Block(D, h, M)] * L)"
    recipe = inferred(usual().replace("nn.ModuleList([Block(D, h, M) for _ in range(L)])", shared))
    assert recipe.sizes_for(ASKED).depth == ASKED.depth


def test_a_pinned_argument_is_given_what_the_assignment_says() -> None:
    source = (
        usual().replace("num_classes):", "num_classes, vocab, mode):").replace("dim, heads", "zeta, heads")
    )
    recipe = inferred(source, vocab=50, mode="='train'", zeta="embed_dim")
    told = given(recipe)
    assert (told["vocab"], told["mode"], told["zeta"]) == ("=50", "='train'", "embed_dim")
    assert build(recipe, recipe.sizes_for(ASKED)).pos_embed.shape[-1] == 32


def test_a_constant_and_a_key_can_be_pinned() -> None:
    assert inferred(STYLES["module constants"], EMBED_DIM="=48").controls.fixed == {"embed_dim": 48}
    both = inferred(STYLES["keyword defaults from constants"], EMBED_DIM="=48", embed_dim="=48")
    assert build(both, both.sizes_for(ASKED)).pos_embed.shape[-1] == 48
    assert inferred(STYLES["config dictionary"], **{"config.dim": 48}).controls.fixed == {"embed_dim": 48}


def test_a_value_that_the_student_gives_elsewhere_is_taken() -> None:
    call = '\nif __name__ == "__main__":\n    model = ViT(vocab=17)\n'
    recipe = inferred(usual().replace("num_classes):", "num_classes, vocab):") + call)
    assert given(recipe)["vocab"] == "=17"


SPANISH = ", lado{}, trozo{}, canales{}, anchura{}, cabezas{}, capas{}, oculta{}, salidas{}"
VALUES = (32, 4, 3, 192, 8, 6, 768, 10)
MADE = "self.setup(canales, (lado // trozo) ** 2, trozo, anchura, cabezas, capas, oculta, salidas)"
MEANT = ("image", "patch", "channels", "embed_dim", "heads", "depth", "mlp_dim", "classes")
BARE = SPANISH.format(*[""] * len(VALUES))
NAMED = re.findall(r"\w+", BARE)
OF_KEYS = re.sub(r"\b(" + "|".join(NAMED) + r")\b", r'cosas["\1"]', MADE)
PARSER = "".join(
    f"p.add_argument('--{one}', type=int, default={VALUES[at]})\n" for at, one in enumerate(NAMED)
)
PARSER = f"import argparse\np = argparse.ArgumentParser()\n{PARSER}"
FOREIGN = {
    "defaults": vit(SPANISH.format(*(f"={one}" for one in VALUES)), MADE),
    "values by place": vit(BARE, MADE, after=f"\ndef main():\n    return ViT{VALUES}\n"),
    "constants by place": vit(BARE, MADE, "LADO = 32\n", f"\ndef f():\n    ViT(LADO, {str(VALUES)[5:]}\n"),
    "no values at all": vit(BARE, MADE),
    "a dictionary": vit(", cosas", OF_KEYS, after=f"\nX = {dict(zip(NAMED, VALUES))}\nm = ViT(X)\n"),
    "a command's options": vit(
        ", args",
        re.sub(r'cosas\["(\w+)"\]', r"args.\1", OF_KEYS),
        PARSER,
        "\ndef f():\n    ViT(p.parse_args())\n",
    ),
    "constants": vit(
        "",
        MADE.upper().replace("SELF.SETUP", "self.setup"),
        "".join(f"{n.upper()} = {v}\n" for n, v in zip(NAMED, VALUES)),
    ),
}


@pytest.mark.parametrize("way", FOREIGN)
def test_arguments_whose_names_say_nothing_are_told_by_what_they_change(way: str) -> None:
    recipe = inferred(FOREIGN[way])
    told = given(recipe)
    assert {name.rpartition(".")[2].lower(): one for name, one in told.items()} == dict(zip(NAMED, MEANT))
    sizes = recipe.sizes_for(ASKED)
    assert sizes == replace(ASKED, width=sizes.width)
    logits = build(recipe, sizes)(torch.randn(sizes.batch, 1, sizes.height, sizes.width))
    assert logits.shape == (3, 7)


KERNELS = (  # an axis for the heads in the weights
    (
        "self.qkv = nn.Linear(dim, dim * 3)",
        "self.kernels = nn.Parameter(torch.randn(3, dim, num_heads, dim // num_heads))",
    ),
    (
        "self.qkv(x).reshape(B, T, 3, self.num_heads, D // self.num_heads).permute(2, 0, 3, 1, 4)",
        "torch.einsum('btc,nchd->nbhtd', x, self.kernels)",
    ),
)
LISTS = (  # a list for each layer of a block, and no class of blocks
    (
        "self.blocks = nn.ModuleList([Block(D, h, M) for _ in range(L)])",
        "self.h = h\n"
        "        self.norms, self.qkvs, self.projections, self.norms2, self.ups, self.downs = (\n"
        "            nn.ModuleList([kind(*two) for _ in range(L)]) for kind, *two in (\n"
        "                (nn.LayerNorm, D), (nn.Linear, D, 3 * D), (nn.Linear, D, D),\n"
        "                (nn.LayerNorm, D), (nn.Linear, D, M), (nn.Linear, M, D)))",
    ),
    (
        "for block in self.blocks:\n            x = block(x)",
        "of = self.norms, self.qkvs, self.projections, self.norms2, self.ups, self.downs\n"
        "        for n, qkv, p, n2, up, down in zip(*of):\n"
        "            B, T, D = x.shape\n"
        "            q, k, v = qkv(n(x)).view(B, T, 3, self.h, D // self.h).permute(2, 0, 3, 1, 4)\n"
        "            a = (q @ k.mT / (D // self.h) ** 0.5).softmax(-1) @ v\n"
        "            x = x + p(a.transpose(1, 2).reshape(B, T, D))\n"
        "            x = x + down(nn.functional.gelu(up(n2(x))))",
    ),
)


@pytest.mark.parametrize("edits", [KERNELS, LISTS], ids=["kernels", "lists"])
@pytest.mark.parametrize("way", ["defaults", "no values at all", "values by place"])
def test_heads_and_depth_are_told_apart_by_what_they_leave_as_it_is(
    way: str, edits: tuple[tuple[str, str], ...]
) -> None:
    told = given(inferred(edited(FOREIGN[way], edits)))
    assert {name.rpartition(".")[2]: one for name, one in told.items()} == dict(zip(NAMED, MEANT))


ONE_BLOCK = (  # used again and again, with a module for each of its heads
    (
        "self.qkv = nn.Linear(dim, dim * 3)",
        "self.each = nn.ModuleList([nn.Linear(dim, 3 * (dim // num_heads)) for _ in range(num_heads)])\n"
        "        self.each = nn.ModuleList([nn.ModuleDict({'a': one, 'b': nn.Dropout(0.0),"
        " 'c': nn.Linear(dim, dim // num_heads)}) for one in self.each])",
    ),
    (
        "self.qkv(x).reshape(B, T, 3, self.num_heads, D // self.num_heads).permute(2, 0, 3, 1, 4)",
        "torch.stack([one['a'](x).reshape(B, T, 3, -1) for one in self.each]).permute(3, 1, 0, 2, 4)",
    ),
    (
        "self.blocks = nn.ModuleList([Block(D, h, M) for _ in range(L)])",
        "self.block, self.runs = Block(D, h, M), L",
    ),
    (
        "for block in self.blocks:\n            x = block(x)",
        "for _ in range(self.runs):\n            x = self.block(x)",
    ),
)


@pytest.mark.parametrize("way", ["defaults", "no values at all", "values by place"])
def test_modules_for_heads_of_one_block_that_is_used_again_are_no_blocks(way: str) -> None:
    told = given(inferred(edited(FOREIGN[way], ONE_BLOCK)))
    assert {name.rpartition(".")[2]: one for name, one in told.items()} == dict(zip(NAMED, MEANT))


@pytest.mark.parametrize(("side", "patch"), [(32, 8), (64, 8), (28, 7), (24, 24)])
def test_small_images_of_unknown_names_are_followed(side: int, patch: int) -> None:
    """An eighth of the student's values may be an image without one whole patch, or with patches of one."""
    made = "self.setup(canali, (lato // toppa) ** 2, toppa, dim, teste, strati, nascosta, classi)"
    given_to = f"lato={side}, toppa={patch}, canali=3, dim=64, teste=4, strati=4, nascosta=256, classi=10"
    told = given(inferred(edited(vit(", " + given_to, made), ONE_BLOCK[2:])))
    meant = ["image", "patch", "channels", "embed_dim", "heads", "depth", "mlp_dim", "classes"]
    assert told == dict(
        zip(["lato", "toppa", "canali", "dim", "teste", "strati", "nascosta", "classi"], meant)
    )


def test_heads_of_an_unknown_name_are_followed_where_twice_as_many_do_not_divide_a_small_width() -> None:
    """Of a width of 192 an eighth is looked at: 24 can be cut for 8 heads, and not for 16."""
    made = "self.setup(canali, (lato // toppa) ** 2, toppa, dim, teste, strati, nascosta, classi)"
    given_to = "lato=32, toppa=4, canali=3, dim=192, teste=8, strati=6, nascosta=768, classi=10"
    slots = inferred(edited(vit(", " + given_to, made), LISTS)).attempt.assignment
    likeliest = {one.path: one.choices[0] for one in slots}
    assert (likeliest["teste"], likeliest["strati"]) == ("heads", "depth")


@pytest.mark.parametrize("ends", ["raise ValueError('here')", "continue"])
def test_heads_are_not_said_to_be_ignored_by_code_that_does_not_come_to_use_them(ends: str) -> None:
    text = FOREIGN["defaults"].replace(
        "for block in self.blocks:\n", f"for block in self.blocks:\n            {ends}\n"
    )
    recipe = inferred(text.replace("num_heads", "teste"))
    assert "heads" not in recipe.controls.fixed
    assert not [one for one in recipe.controls.notes if "heads" in one]


HAND_MADE = '"weight": nn.Parameter(torch.ones(3))'
FUNCTIONS = f"""
def one_layer(x, p):
    return x @ p["weight"]

def layers(x, p):
    return one_layer(x, {{name: p[name] for name in ("weight",)}})

def held():
    return {{{HAND_MADE}}}
"""


@pytest.mark.parametrize(
    "run", ["layers(torch.ones(3), held())", "for p in [held()]:\n            layers(torch.ones(3), p)"]
)
def test_an_argument_is_not_what_a_function_calls_by_the_same_name(run: str) -> None:
    text = usual().replace("num_classes):", "num_classes, p=0.1):")
    text = text.replace("return self.head(", f"{run}\n        return self.head(")
    recipe = inferred(text + FUNCTIONS)
    assert not [name for name in given(recipe) if name.startswith("p.")]
    build(recipe, recipe.sizes_for(ASKED))


def test_heads_of_an_unknown_name_are_those_that_attend() -> None:
    made = "self.setup(in_channels, (image_size // patch_size) ** 2, patch_size, dim, 8, depth, mlp_dim, 7)"
    text = vit(", image_size, patch_size, in_channels, dim, depth, mlp_dim", made)
    recipe = inferred(text.replace("num_heads", "cabezas"))
    sizes = recipe.sizes_for(ASKED)
    assert (sizes.heads, sizes.embed_dim) == (8, 32)
    assert recipe.sizes_for(replace(ASKED, embed_dim=36)).embed_dim % 8 == 0


@pytest.mark.parametrize("patch", [4, 8])  # beside the image that is tried first, and not
@pytest.mark.parametrize("heads", ["num_heads", "cabezas"])
def test_blocks_that_no_module_counts_are_those_that_attend(heads: str, patch: int) -> None:
    made = f"self.setup(3, 64, {patch}, 32, 4, 5, 64, 7)"
    text = edited(
        vit("", made),
        (*ONE_BLOCK[2:], ("1) + self.pos_embed", "1)\n        x = x + self.pos_embed[:, :x.shape[1]]")),
    )
    recipe = inferred(text.replace("num_heads", heads))
    sizes = recipe.sizes_for(ASKED)
    assert (sizes.heads, sizes.depth) == (4, 5)
    assert recipe.notes() == []


def test_halves_of_blocks_around_library_attention_are_no_blocks() -> None:
    """Which torch computes in one call where nothing follows it, such as in eval mode."""
    blocks = "[Half(64, way) for _ in range(3) for way in (Attend(64), nn.Linear(64, 64))]"
    recipe = inferred(f"""
import torch
from torch import nn


class Attend(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.inner = nn.MultiheadAttention(dim, 4, batch_first=True)

    def forward(self, x):
        return self.inner(x, x, x, need_weights=False)[0]


class Half(nn.Module):
    def __init__(self, dim, way):
        super().__init__()
        self.norm, self.way = nn.LayerNorm(dim), way

    def forward(self, x):
        return x + self.way(self.norm(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.pos = nn.Conv2d(3, 64, 4, 4), nn.Parameter(torch.zeros(1, 64, 64))
        self.blocks, self.head = nn.Sequential(*{blocks}), nn.Linear(64, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.pos
        return self.head(self.blocks(x).mean(1))
""")
    assert recipe.sizes_for(ASKED).depth == 3


def test_a_size_of_an_unknown_name_is_followed_though_its_value_fits_another_name() -> None:
    made = "self.setup(3, (IMAGE // PATCH) ** 2, PATCH, UNITS, HEADS, LAYERS, HIDDEN_DIM, 7)"
    constants = "IMAGE = 32\nPATCH = 8\nUNITS = 64\nHEADS = 4\nLAYERS = 4\nHIDDEN_DIM = 256\n"
    told = given(inferred(vit("", made, constants)))
    assert (told["UNITS"], told["HIDDEN_DIM"]) == ("embed_dim", "mlp_dim")


def test_a_number_of_other_layers_is_none_of_heads_or_blocks() -> None:
    recipe = inferred("""
import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, img_size=32, dim=128, depth=4, heads=4, classes=10, n_conv=2):
        super().__init__()
        chans = [3] + [64] * (n_conv - 1) + [dim]
        self.stem = nn.Sequential(*[
            nn.Sequential(nn.Conv2d(one, other, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
            for one, other in zip(chans, chans[1:])
        ])
        patches = self.stem(torch.zeros(1, 3, img_size, img_size)).flatten(2).shape[-1]
        self.pos = nn.Parameter(torch.zeros(1, patches, dim))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, heads, 4 * dim, batch_first=True) for _ in range(depth)
        )
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))
""")
    assert given(recipe).get("n_conv", 2) not in ("heads", "depth")
    sizes = recipe.sizes_for(ASKED)
    assert (sizes.heads, sizes.depth) == (ASKED.heads, ASKED.depth)


def test_a_number_that_changes_nothing_is_left_to_its_default() -> None:
    recipe = inferred(usual().replace("num_classes):", "num_classes, semilla=42):"))
    assert "semilla" not in given(recipe)


NEEDS_VOCAB = (
    usual()
    .replace("num_classes):", "num_classes, vocab):")
    .replace(
        "        self.setup", "        self.words = [word.lower() for word in vocab]\n        self.setup"
    )
)
FAILS = usual().replace(
    "        super().__init__()\n        self.setup", "        undefined\n        self.setup"
)
REFUSED: dict[str, tuple[str, dict[str, object], str]] = {
    "an argument that nobody can guess": (
        NEEDS_VOCAB,
        {},
        r"ViT \(vit.py, line 49\) needs an argument 'vocab', and it is unclear .*\[model.arguments\]",
    ),
    "a constructor that always fails": (
        FAILS,
        {},
        r"ViT could not be built: NameError: name 'undefined' is not defined$",
    ),
    "a constructor that begins without nn.Module's": (
        usual().replace(
            "(self, dim, num_heads, mlp_dim):\n        super().__init__()\n",
            "(self, dim, num_heads, mlp_dim):\n",
        ),
        {},
        r"__init__\(\) call. The constructor on this line has to call super\(\).__init__\(\) first$",
    ),
    "a constructor that ends Python": (
        vit("", "import sys\nsys.exit(3)"),
        {},
        "ViT could not be built: SystemExit: 3",
    ),
    "no model": ("EMBED_DIM = 768\n", {}, "no model was found: no class is derived from nn.Module"),
    "imports alone": ("import torch\nfrom torch import nn\n", {}, "nothing is written yet"),
    "a pinned argument that does not exist": (
        usual(),
        {"width": "embed_dim"},
        "pins the argument 'width' of ViT, which has none of that name: it has img_size",
    ),
    "a meaning that does not exist": (
        usual(),
        {"dim": "embed_dims"},
        "the meaning 'embed_dims', which is not known; did it mean embed_dim",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_refusal_names_the_class_and_what_to_do(why: str) -> None:
    source, arguments, message = REFUSED[why]
    loaded = load({"vit.py": source.encode()})
    with pytest.raises(NotLoaded, match=message):
        infer(loaded, Pins(None, arguments))


def test_what_cannot_be_built_is_told_at_the_line_that_raised() -> None:
    with pytest.raises(NotLoaded) as raised:
        infer(load({"vit.py": FAILS.encode()}), Pins(None, {}))
    assert raised.value.frame is not None
    assert FAILS.splitlines()[raised.value.frame.line - 1].strip() == "undefined"


def test_inference_leaves_the_random_state_alone_and_builds_in_the_callers_dtype() -> None:
    before = torch.get_rng_state()
    recipe = inferred(STYLES["keywords"])
    assert torch.equal(torch.get_rng_state(), before)
    torch.set_default_dtype(torch.float64)
    try:
        assert build(recipe, recipe.sizes_for(ASKED)).head.weight.dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_what_the_model_prints_while_it_is_tried_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    inferred(
        usual().replace("    def forward(self, x):\n", "    def forward(self, x):\n        print(x.shape)\n")
    )
    assert capsys.readouterr() == ("", "")


def test_a_missing_package_is_the_reason_where_it_stops_the_model() -> None:
    source = "import no_such_package\n" + usual().replace(
        "self.setup(", "no_such_package.f()\n        self.setup("
    )
    with pytest.raises(NotLoaded, match="no_such_package"):
        inferred(source)


def test_models_of_different_sizes_live_side_by_side() -> None:
    recipe = inferred(STYLES["module constants"])
    small = build(recipe, recipe.sizes_for(ASKED))
    wide = build(recipe, recipe.sizes_for(replace(ASKED, embed_dim=64)))
    assert small(torch.randn(1, 1, 24, 24)).shape == wide(torch.randn(1, 1, 24, 24)).shape == (1, 7)


@pytest.mark.parametrize("ends", ["raise NotImplementedError('to do')", "return self.hed(x)"])
def test_what_ends_a_pass_at_any_size_is_tried_at_few(ends: str) -> None:
    """Each takes a second where a table is filled number by number."""
    edits = (
        ("        return self.head(x)\n", f"        {ends}\n"),
        ("import torch\n", "import torch\nBUILT = []\n"),
        ("        num_patches = (", "        BUILT.append(embed_dim)\n        num_patches = ("),
        ("depth=12", "hidden_dim=12"),  # which may mean several things
        ("range(depth)", "range(hidden_dim)"),
    )
    loaded = load({"vit.py": edited(BASES["prenorm"].source(), edits).encode()})
    recipe = infer(loaded, Pins())
    assert recipe.attempt.error is not None
    assert len(loaded.modules["vit.py"].BUILT) <= 12


def test_lists_of_the_heads_of_each_block_are_as_many_as_blocks() -> None:
    """Each head attends by itself, so that neither number follows from how often that is done."""
    head = nn.ModuleDict({role: nn.Linear(32, 8) for role in ("query", "key", "value")})
    model = nn.Module()
    model.heads = nn.ModuleList([nn.ModuleList([deepcopy(head) for _ in range(4)]) for _ in range(5)])
    model.hidden = nn.ModuleList([nn.Linear(32, 64) for _ in range(5)])
    assert observe(ModelParts.of(model))["depth"] == 5


def test_no_try_has_as_many_images_as_a_square_of_patches_has_tokens() -> None:
    """Scores of each token, which a wrong model returns, would be taken for those of each image."""
    squares = {side**2 for side in range(1, 30)}
    tokens = squares | {one + 1 for one in squares}
    assert not tokens & {one.batch for one in BASES_TRIED}


_ALONG_A_SIDE = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, chw=(1, 28, 28), n_patches=7, dim=32):
        super().__init__()
        c, h, w = chw
        self.n, self.sides = n_patches, (h // n_patches, w // n_patches)
        self.mapper = nn.Linear(c * self.sides[0] * self.sides[1], dim)
        self.pos = nn.Parameter(torch.randn(1, n_patches**2, dim))

    def forward(self, x):
        a, b = self.sides
        cut = [
            x[:, :, i * a : (i + 1) * a, j * b : (j + 1) * b].flatten(1)
            for i in range(self.n)
            for j in range(self.n)
        ]
        return (self.mapper(torch.stack(cut, 1)) + self.pos)[:, 0]
"""


def test_a_number_of_patches_that_leaves_none_a_pixel_is_that_along_a_side() -> None:
    assert "patches_side" in inferred(_ALONG_A_SIDE).meanings().values()


def test_of_a_fixed_image_there_are_about_as_many_patches_as_are_asked_for() -> None:
    asked = replace(ASKED, height=12, width=12, patch=4)
    assert fit(asked, {"height": 96, "width": 96}).patch == 32
    assert fit(asked, {"height": 96, "width": 96, "patch": 4}).patch == 4
    assert fit(replace(ASKED, height=224, width=224, patch=16), {"height": 384, "width": 384}).patch == 16


def test_a_width_next_to_the_one_asked_for_has_room_for_sines_of_rows_and_columns() -> None:
    sizes = fit(replace(ASKED, embed_dim=64), {"heads": 6})
    assert (sizes.heads, sizes.embed_dim % 12) == (6, 0)
