"""Constructors as students write them, around one body: each makes the same Vision Transformer."""

# ruff: noqa: E501  # the tables would be unreadable, broken into shorter lines

from __future__ import annotations

from textwrap import indent

PARTS = """
import torch
import torch.nn as nn

class Attention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, D = x.shape
        qkv = self.qkv(x).reshape(B, T, 3, self.num_heads, D // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv
        a = (q @ k.transpose(-2, -1) * self.scale).softmax(-1)
        return self.proj((a @ v).transpose(1, 2).reshape(B, T, D))

class Block(nn.Module):
    def __init__(self, dim, num_heads, mlp_dim):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, num_heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))

class Backbone(nn.Module):
    def setup(self, C, N, P, D, h, L, M, K):
        self.patch_embed = nn.Conv2d(C, D, kernel_size=P, stride=P)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, D))
        self.pos_embed = nn.Parameter(torch.zeros(1, N + 1, D))
        self.blocks = nn.ModuleList([Block(D, h, M) for _ in range(L)])
        self.norm = nn.LayerNorm(D)
        self.head = nn.Linear(D, K)

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])
"""


def vit(signature: str, setup: str, before: str = "", after: str = "") -> str:
    """Write a file with a class ViT: ``setup`` is the body of its constructor."""
    head = f"class ViT(Backbone):\n    def __init__(self{signature}):\n        super().__init__()\n"
    return f"{PARTS}\n{before}\n{head}{indent(setup, ' ' * 8)}\n\n{after}"


FULL = "self.setup({C}, ({H} // {P}) ** 2, {P}, {D}, {h}, {L}, {M}, {K})"


def setup(C: str, H: str, P: str, D: str, h: str, L: str, M: str, K: str) -> str:
    return FULL.format(C=C, H=H, P=P, D=D, h=h, L=L, M=M, K=K)


def from_names(names: str) -> str:
    return vit(", " + names.replace(" ", ", "), setup(*_order(names)))


def _order(names: str) -> list[str]:
    """``names`` stand in the order image, patch, channels, classes, width, depth, heads, mlp."""
    image, patch, channels, classes, width, depth, heads, mlp = names.split()
    return [channels, image, patch, width, heads, depth, mlp, classes]


CONFIG_KEYS = setup(
    *(
        f'config["{key}"]'
        for key in ["in_chans", "img_size", "patch_size", "dim", "heads", "depth", "mlp_dim", "classes"]
    )
)
CONFIG_ATTRIBUTES = setup(
    *(
        f"config.{key}"
        for key in [
            "num_channels",
            "image_size",
            "patch_size",
            "hidden_size",
            "num_attention_heads",
            "num_hidden_layers",
            "intermediate_size",
            "num_labels",
        ]
    )
)
CONSTANTS = """
IMG_SIZE = 224
PATCH_SIZE = 16
IN_CHANNELS = 3
EMBED_DIM = 768
NUM_HEADS = 12
NUM_BLOCKS = 12
NUM_CLASSES = 1000
MLP_RATIO = 4
MLP_DIM = EMBED_DIM * MLP_RATIO
"""
ALL_CONSTANTS = setup(
    "IN_CHANNELS", "IMG_SIZE", "PATCH_SIZE", "EMBED_DIM", "NUM_HEADS", "NUM_BLOCKS", "MLP_DIM", "NUM_CLASSES"
)
DATACLASS = """
from dataclasses import dataclass, field

@dataclass
class ViTConfig:
    image_size: int = 224
    patch_size: int = 16
    num_channels: int = 3
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    num_labels: int = 1000
    dropout: float = 0.1
"""
THREE = """
from dataclasses import dataclass

@dataclass
class ImageConfig:
    size: int
    channels: int
    patch: int

@dataclass
class EncoderConfig:
    dim: int
    depth: int
    heads: int
    hidden_dim: int

@dataclass
class HeadConfig:
    n_classes: int
"""

SPANISH_SIZES = {"lado": 224, "parche": 16, "canales": 3, "dimension": 768, "cabezas": 12, "capas": 10,
                 "oculta": 3072, "clases": 1000}  # fmt: skip
SPANISH = FULL.format(C="zeug.canales", H="zeug.lado", P="zeug.parche", D="zeug.dimension", h="zeug.cabezas",
                      L="zeug.capas", M="zeug.oculta", K="zeug.clases")  # fmt: skip

TWO_SIDES = "N = {a}[0] // {b} * ({a}[1] // {b})\nself.setup({rest})"
RUSSIAN = (
    ", razmer=(32, 48), kusok=8, kanaly=3, shirina=48, golovy=4, sloi=2, vnutri=96, klassy=5",
    TWO_SIDES.format(a="razmer", b="kusok", rest="kanaly, N, kusok, shirina, golovy, sloi, vnutri, klassy"),
)
CALLED = (
    ", hw, khw, d, n_enc, kopf, f_, k, c=3",
    TWO_SIDES.format(a="hw", b="khw[0]", rest="c, N, khw[0], d, kopf, n_enc, f_, k"),
)
NESTED = """
cfg_base = {
    "data": {"image": (32, 48), "channels": 3, "classes": 5},
    "encoder": {"dim": 48, "layers": 2, "heads": 4, "mlp": 96, "kind": "plain"},
    "patch": 8,
}
"""
FAIRSEQ = """
def base_architecture(args):
    args.encoder_embed_dim = getattr(args, "encoder_embed_dim", 64)
    args.encoder_ffn_embed_dim = getattr(args, "encoder_ffn_embed_dim", 128)
    args.encoder_layers = getattr(args, "encoder_layers", 3)
    args.encoder_attention_heads = getattr(args, "encoder_attention_heads", 4)
    args.encoder_normalize_before = getattr(args, "encoder_normalize_before", True)
    args.channels = getattr(args, "channels", 3)
    args.side = getattr(args, "side", 32)
    args.patch = getattr(args, "patch", 8)
    args.classes = getattr(args, "classes", 10)
"""

NAMED_TUPLE = """
from typing import NamedTuple

class ModelArgs(NamedTuple):
    height: int
    patch: int
    features: int
    heads: int
    mlp_features: int
    blocks: int
    classes: int
    channels: int = 3
"""
SETTINGS = """
class settings:
    IMAGE_SHAPE = (32, 32, 3)
    PATCH = 8
    WIDTH = 64
    HEADS = 4
    DEPTH = 3
    HIDDEN = 128
    CLASSES = 10
"""

STYLES = {
    "a named tuple": vit(
        ", args: ModelArgs",
        "self.setup(args.channels, (args.height // args.patch) ** 2, args.patch, args.features, args.heads,"
        " args.blocks, args.mlp_features, args.classes)",
        NAMED_TUPLE,
    ),
    "a configuration under another name, of letters in capitals": vit(
        ", settings",
        "s = settings\n"
        + TWO_SIDES.format(
            a="s.IMAGE_SHAPE",
            b="s.PATCH",
            rest="s.IMAGE_SHAPE[-1], N, s.PATCH, s.WIDTH, s.HEADS, s.DEPTH, s.HIDDEN, s.CLASSES",
        ),
        SETTINGS,
    ),
    "a size in a configuration of its own": vit(
        ", config=CONFIG",
        "data, m = config['data'], config['model']\n"
        "self.setup(data['channels'], (data['height'] // m['patch']['size']) ** 2, m['patch']['size'], m['dim'],"
        " m['encoder']['attention']['heads'], m['encoder']['layers'], m['encoder']['mlp']['dim'], data['classes'])",
        "CONFIG = {'data': {'height': 32, 'channels': 3, 'classes': 10}, 'model': {'patch': {'size': 8}, 'dim': 64,"
        " 'encoder': {'layers': 3, 'attention': {'heads': 8}, 'mlp': {'dim': 128}}}}\n",
    ),
    "channels that are the width": vit(
        ", input_size=(3, 32, 32), patch=8, channels=64, n_units=3, n_heads=8, widening=2.0, n_labels=10",
        "c, h, w = input_size\n"
        "assert channels % n_heads == 0\n"
        "self.setup(c, (h // patch) * (w // patch), patch, channels, n_heads, n_units, int(channels * widening), n_labels)",
    ),
    "how wide a head is, under a name that says nothing": vit(
        ", bian=32, kuai=4, tongdao=3, weidu=48, tou_weidu=12, ceng=3, yincang=96, leibie=10",
        setup("tongdao", "bian", "kuai", "weidu", "weidu // tou_weidu", "ceng", "yincang", "leibie"),
    ),
    "sides as a pair under a name that says nothing": vit(*RUSSIAN),
    "sides and patches in pairs that a call gives": vit(
        *CALLED, after="if __name__ == '__main__':\n    ViT((24, 32), (8, 8), d=40, n_enc=2, kopf=5, f_=80, k=9)\n"
    ),
    "dictionaries in a dictionary, kept under other names": vit(
        ", cfg=cfg_base",
        "data, enc = cfg['data'], cfg['encoder']\n"
        "if enc['kind'] != 'plain':\n    raise ValueError(enc['kind'])\n"
        + TWO_SIDES.format(
            a="data['image']",
            b="cfg['patch']",
            rest="data['channels'], N, cfg['patch'], enc['dim'], enc['heads'], enc['layers'], enc['mlp'], data['classes']",
        ),
        NESTED,
    ),
    "what getattr falls back to": vit(
        ", args",
        "if args.encoder_normalize_before is not True:\n    raise ValueError('post-norm')\n"
        "self.setup(args.channels, (args.side // args.patch) ** 2, args.patch, args.encoder_embed_dim,"
        " args.encoder_attention_heads, args.encoder_layers, args.encoder_ffn_embed_dim, args.classes)",
        FAIRSEQ,
    ),
    "a list of its own under an argument's name": vit(
        ", img_size, patch_size, in_chans, num_classes, embed_dim, depth, heads, mlp_dim",
        "self.heads = nn.ModuleList()\nself.heads.append(nn.Identity())\n"
        + setup("in_chans", "img_size", "patch_size", "embed_dim", "heads", "depth", "mlp_dim", "num_classes"),
    ),
    "rows of patches under a name that heads have": vit(
        ", altezza=32, p=8, canali=3, dim=64, blocchi=3, teste=4, nascosto=128, classi=10",
        "self.nh = altezza // p\n" + setup("canali", "altezza", "p", "dim", "teste", "blocchi", "nascosto", "classi"),
    ),
    "a letter that means what it does": vit(
        ", img=32, k=8, d=48, L=2, h=4, m=96, classes=10, ch=3", setup("ch", "img", "k", "d", "h", "L", "m", "classes")
    ),
    "pairs of unknown names, and an odd number of heads": vit(
        ", bild=(20, 20), kachel=(5, 5), kanäle=3, breite=40, köpfe=5, tiefe=3, verborgen=90, klassen=4",
        setup("kanäle", "bild[0]", "kachel[0]", "breite", "köpfe", "tiefe", "verborgen", "klassen"),
    ),
    "size is the patch's, beside a side": vit(
        ", side=32, size=8, features=64, heads=4, depth=3, labels=10, mlp_dim=128, channels=3",
        setup("channels", "side", "size", "features", "heads", "depth", "mlp_dim", "labels"),
    ),
    "keywords": from_names("img_size patch_size in_chans num_classes embed_dim depth num_heads mlp_dim"),
    "other keywords": from_names("image_size patch_size channels n_classes d_model num_layers n_heads d_ff"),
    "odd names": from_names("img_length patch_length n_channels out_d hidden_d n_blocks nums_heads ff_dim"),
    "misspelt": from_names("image_sise pacth_size in_chanels num_classses embeding_dim num_layres num_haeds mlp_dimm"),
    "hidden dim is the MLP's": from_names("img_size patch_size in_channels num_classes emb_dim layers heads hidden_dim"),
    "hidden dim is the width": from_names("img_size patch_size in_channels num_classes hidden_dim layers heads mlp_dim"),
    "dim and hidden": from_names("size patch channels classes dim depth heads hidden"),
    "single letters": from_names("H P C K D L h M"),
    "the width is the height": from_names("img_width patch_size channels num_classes dim depth heads mlp_dim"),
    "the height is the width": from_names("img_height patch_size channels num_classes dim depth heads mlp_dim"),
    "sides as pairs, and a name that says nothing": vit(
        ", image_size, patch_size, n_classes, depth, dim, heads, breadth, channels=3",
        "H, W = image_size[0], image_size[1]\n"
        "N = H // patch_size[0] * (W // patch_size[1])\n"
        "self.setup(channels, N, patch_size[0], dim, heads, depth, breadth, n_classes)",
    ),
    "an axis of the argument's name": vit(
        ", image_size, patch_size, n_classes, depth, dim, heads, breadth, channels=3",
        setup("channels", "image_size", "patch_size", "dim", "heads", "depth", "breadth", "n_classes"),
    ).replace(".softmax(-1)", ".softmax(dim=-1)").replace(" self.pos_embed\n", " torch.sum(self.pos_embed, dim=0)\n"),
    "rates of 0": vit(
        ", img_size=224, patch_size=16, in_chans=3, num_classes=1000, embed_dim=768, depth=12, num_heads=12,"
        " mlp_ratio=4., p=0, attn_p=0",
        setup("in_chans", "img_size", "patch_size", "embed_dim", "num_heads", "depth",
              "int(embed_dim * mlp_ratio)", "num_classes") + "\nself.drop = nn.Dropout(p)",
    ),
    "no head by default": vit(
        ", img_size=224, patch_size=16, in_chans=3, num_classes=0, embed_dim=768, depth=12, num_heads=12, mlp_ratio=4.",
        setup("in_chans", "img_size", "patch_size", "embed_dim", "num_heads", "depth", "int(embed_dim * mlp_ratio)", "1")
        + "\nself.head = nn.Linear(embed_dim, num_classes) if num_classes else nn.Identity()",
    ),
    "defaults": vit(
        ", img_size=224, patch_size=16, in_chans=3, num_classes=1000, embed_dim=768, depth=12, num_heads=12,"
        " mlp_ratio=4., dropout=0.1, qkv_bias=True",
        setup("in_chans", "img_size", "patch_size", "embed_dim", "num_heads", "depth",
              "int(embed_dim * mlp_ratio)", "num_classes"),
    ),
    "positional only": vit(
        ", img_size, patch_size, in_chans, embed_dim, heads, depth, mlp_dim, num_classes, /",
        setup(*["in_chans", "img_size", "patch_size", "embed_dim", "heads", "depth", "mlp_dim", "num_classes"]),
    ),
    "unpacked *args": vit(
        ", *args",
        "img_size, patch_size, in_chans, embed_dim, heads, depth, mlp_dim, num_classes = args\n"
        + setup(*["in_chans", "img_size", "patch_size", "embed_dim", "heads", "depth", "mlp_dim", "num_classes"]),
    ),
    "**kwargs read": vit(
        ", **kwargs",
        'self.setup(kwargs["channels"], (kwargs["img_size"] // kwargs["patch_size"]) ** 2, kwargs["patch_size"],'
        ' kwargs["dim"], kwargs.get("heads", 8), kwargs.pop("depth", 6), kwargs["mlp_dim"], kwargs["n_classes"])',
    ),
    "**kwargs to the base class": from_names(
        "img_size patch_size in_chans num_classes embed_dim depth num_heads mlp_dim"
    ).replace("class ViT(", "class Base(")
    + "class ViT(Base):\n    def __init__(self, *args, **kwargs):\n        super().__init__(**kwargs)\n",
    "number of patches": vit(
        ", num_patches, patch_size, in_channels, embed_dim, depth, heads, mlp_dim, num_classes",
        "self.setup(in_channels, num_patches, patch_size, embed_dim, heads, depth, mlp_dim, num_classes)",
    ),
    "number of tokens": vit(
        ", seq_len, patch_size, in_channels, embed_dim, depth, heads, mlp_dim, num_classes",
        "self.setup(in_channels, seq_len - 1, patch_size, embed_dim, heads, depth, mlp_dim, num_classes)",
    ),
    "chw and patches a side": vit(
        ", chw, n_patches=7, n_blocks=2, hidden_d=8, n_heads=2, mlp_ratio=4, out_d=10",
        "assert chw[1] % n_patches == 0\n"
        "self.setup(chw[0], n_patches ** 2, chw[1] // n_patches, hidden_d, n_heads, n_blocks,"
        " hidden_d * mlp_ratio, out_d)",
    ),
    "tuples": vit(
        ", image_size: tuple[int, int], patch_size=(16, 16), in_channels=3, dim=64, depth=2, heads=2, mlp_dim=128,"
        " num_classes=10",
        "N = (image_size[0] // patch_size[0]) * (image_size[1] // patch_size[1])\n"
        "self.setup(in_channels, N, patch_size[0], dim, heads, depth, mlp_dim, num_classes)",
    ),
    "height and width": vit(
        ", img_height, img_width, patch_size, channels, dim, depth, heads, mlp_dim, num_classes",
        "N = (img_height // patch_size) * (img_width // patch_size)\n"
        "self.setup(channels, N, patch_size, dim, heads, depth, mlp_dim, num_classes)",
    ),
    "head width": vit(
        ", img_size, patch_size, in_chans, embed_dim, head_dim, depth, mlp_dim, num_classes",
        setup("in_chans", "img_size", "patch_size", "embed_dim", "embed_dim // head_dim", "depth", "mlp_dim",
              "num_classes"),
    ),
    "flattened patch": vit(
        ", num_patches, patch_dim, in_channels, embed_dim, depth, heads, mlp_dim, num_classes",
        "P = int((patch_dim // in_channels) ** 0.5)\n"
        "self.setup(in_channels, num_patches, P, embed_dim, heads, depth, mlp_dim, num_classes)",
    ),
    "heads for each layer": vit(
        ", img_size, patch_size, in_chans, embed_dim, num_heads: list, depth, mlp_dim, num_classes",
        setup("in_chans", "img_size", "patch_size", "embed_dim", "num_heads[0]", "depth", "mlp_dim", "num_classes")
        + "\nassert len(num_heads) == depth",
    ),
    "extras": vit(
        ", img_size, patch_size, in_chans, embed_dim, num_heads, depth, mlp_dim, num_classes, dropout, device,"
        " batch_size, verbose: bool, act_layer",
        setup(*["in_chans", "img_size", "patch_size", "embed_dim", "num_heads", "depth", "mlp_dim", "num_classes"])
        + '\nself.to(device)\nself.act = act_layer()\nassert dropout < 1 and batch_size and not verbose',
    ),
    "config dictionary": vit(", config", CONFIG_KEYS),
    "nested dictionary": vit(
        ", cfg",
        setup('cfg["data"]["channels"]', 'cfg["data"]["img_size"]', 'cfg["model"]["patch_size"]', 'cfg["model"]["dim"]',
              'cfg["model"]["heads"]', 'cfg["model"]["depth"]', 'cfg["model"]["mlp_dim"]', 'cfg["data"]["classes"]'),
    ),
    "config object": vit(", config", CONFIG_ATTRIBUTES),
    "config dataclass": vit(", config: ViTConfig", CONFIG_ATTRIBUTES, DATACLASS),
    "config dataclass by its fields": vit(", config", CONFIG_ATTRIBUTES, DATACLASS),
    **{
        f"config dataclass called {name}": vit(f", {name}", CONFIG_ATTRIBUTES.replace("config", name), DATACLASS)
        for name in ("c", "h", "d", "p", "size")
    },
    "config dataclass with a default": vit(", config: ViTConfig = ViTConfig()", CONFIG_ATTRIBUTES, DATACLASS),
    "three dataclasses": vit(
        ", image: ImageConfig, encoder: EncoderConfig, head: HeadConfig",
        setup("image.channels", "image.size", "image.patch", "encoder.dim", "encoder.heads", "encoder.depth",
              "encoder.hidden_dim", "head.n_classes"),
        THREE,
    ),
    "module constants": vit("", ALL_CONSTANTS, CONSTANTS),
    "keyword defaults from constants": vit(
        ", img_size=IMG_SIZE, patch_size=PATCH_SIZE, in_channels=IN_CHANNELS, embed_dim=EMBED_DIM, num_heads=NUM_HEADS,"
        " depth=NUM_BLOCKS, num_classes=NUM_CLASSES, mlp_ratio=MLP_RATIO",
        setup("in_channels", "img_size", "patch_size", "embed_dim", "num_heads", "depth", "embed_dim * mlp_ratio",
              "num_classes"),
        CONSTANTS,
    ),
    "inner defaults not passed on": vit(
        ", img_size=IMG_SIZE, embed_dim=EMBED_DIM, num_heads=NUM_HEADS, depth=NUM_BLOCKS, num_classes=NUM_CLASSES",
        setup("IN_CHANNELS", "img_size", "PATCH_SIZE", "embed_dim", "num_heads", "depth", "1", "num_classes")
        + "\nself.blocks = nn.ModuleList([MyBlock() for _ in range(depth)])",
        CONSTANTS + "\nclass MyBlock(Block):\n    def __init__(self, dim=EMBED_DIM, heads=NUM_HEADS, mlp=MLP_DIM):\n"
        "        super().__init__(dim, heads, mlp)\n",
    ),
    "module-level dictionary": vit(
        "",
        CONFIG_KEYS.replace("config[", "CONFIG["),
        "CONFIG = dict(in_chans=3, img_size=224, patch_size=16, dim=768, heads=12, depth=12, mlp_dim=3072, classes=10)",
    ),
    "module-level class": vit(
        "",
        CONFIG_ATTRIBUTES.replace("config.", "Config."),
        "class Config:\n    num_channels = 3\n    image_size = 224\n    patch_size = 16\n    hidden_size = 768\n"
        "    num_attention_heads = 12\n    num_hidden_layers = 12\n    intermediate_size = 3072\n    num_labels = 10\n",
    ),
    "configuration of an unknown name": vit(
        ", zeug", SPANISH, "class Zeug:\n" + "".join(f"    {name} = {value}\n" for name, value in SPANISH_SIZES.items())
    ),
    "options of an unknown name": vit(
        ", opciones",
        SPANISH.replace("zeug", "opciones"),
        "import argparse\nlector = argparse.ArgumentParser()\n"
        + "".join(f"lector.add_argument('--{name}', type=int, default={n})\n" for name, n in SPANISH_SIZES.items())
        + "opciones = lector.parse_args()\n",
    ),
    "configuration handed on under another name": vit(
        ", zeug",
        SPANISH.replace("zeug.dimension", "inner.width") + "\n",
        "class Zeug:\n" + "".join(f"    {name} = {value}\n" for name, value in SPANISH_SIZES.items())
        + "\nclass Inner:\n    def __init__(self, things):\n        self.width = things.dimension\n",
    ).replace("self.setup", "inner = Inner(zeug)\n        self.setup"),
    "constants of unknown names as defaults": vit(
        "".join(f", {name}={name.upper()}" for name in SPANISH_SIZES),
        SPANISH.replace("zeug.", ""),
        "".join(f"{name.upper()} = {value}\n" for name, value in SPANISH_SIZES.items()),
    ),
    "heads that are modules, under names that say nothing": vit(
        "".join(f", {name}={value}" for name, value in SPANISH_SIZES.items()), SPANISH.replace("zeug.", "")
    ).replace(
        "        self.qkv = nn.Linear(dim, dim * 3)\n",
        "        self.each = nn.ModuleList([nn.Linear(dim, dim // num_heads * 3) for _ in range(num_heads)])\n",
    ).replace(
        "self.qkv(x).reshape(B, T, 3, self.num_heads, D // self.num_heads).permute(2, 0, 3, 1, 4)",
        "torch.stack([one(x) for one in self.each], 1).unflatten(-1, (3, -1)).permute(3, 0, 1, 2, 4)",
    ),
    "required arguments that say nothing": vit(
        ", img_size, patch_size, in_chans, num_classes, dim, depth, heads, mlp_dim, start_std, skipping",
        setup("in_chans", "img_size", "patch_size", "dim", "heads", "depth", "mlp_dim", "num_classes")
        + "\nnn.init.trunc_normal_(self.cls_token, std=start_std)\nself.drop = nn.Dropout(skipping)",
    ),
    "injected module": vit(
        ", patch_embedding, embed_dim, num_heads, depth, mlp_dim, num_classes",
        "self.setup(1, patch_embedding.N, 1, embed_dim, num_heads, depth, mlp_dim, num_classes)\n"
        "self.patch_embed = patch_embedding",
        "class PatchEmbedding(nn.Conv2d):\n    def __init__(self, img_size, patch_size, in_chans, embed_dim):\n"
        "        super().__init__(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)\n"
        "        self.N = (img_size // patch_size) ** 2\n",
    ),
    "factory": vit(
        ", blob",
        setup(*["blob[2]", "blob[0]", "blob[1]", "blob[4]", "blob[6]", "blob[5]", "blob[7]", "blob[3]"]),
        after="def create_vit(img_size, patch_size, in_chans, num_classes, dim, depth, heads, mlp_dim):\n"
        "    return ViT([img_size, patch_size, in_chans, num_classes, dim, depth, heads, mlp_dim])\n",
    ),
    "configuration kept under another name, and read in the pass": vit(", cfg", CONFIG_KEYS.replace("config", "cfg"))
    .replace("        super().__init__()\n        self.setup", "        super().__init__()\n        self.c = cfg\n        self.setup")
    .replace("class ViT(Backbone):\n", "class ViT(Backbone):\n    def forward(self, x):\n"
             "        return nn.functional.dropout(super().forward(x), self.c['p_drop'], self.training)\n\n"),
    "image as three numbers": vit(
        ", img_dim, patch_size, embed_dim, heads, depth, mlp_dim, num_classes",
        "C, H, W = img_dim\n" + setup("C", "H", "patch_size", "embed_dim", "heads", "depth", "mlp_dim", "num_classes"),
    ),
    "one of several texts": vit(
        ", img_size, patch_size, in_chans, embed_dim, heads, depth, mlp_dim, num_classes, kind_of_start",
        "if kind_of_start not in ('zeros', 'normal'):\n    raise ValueError(kind_of_start)\n"
        + setup(*["in_chans", "img_size", "patch_size", "embed_dim", "heads", "depth", "mlp_dim", "num_classes"]),
    ),
    "injected modules, one of which may be left out": vit(
        ", feature_extractor: nn.Module, patch_embedder: nn.Module, embed_dim, num_heads, depth, mlp_dim, num_classes",
        "self.setup(1, patch_embedder.N, 1, embed_dim, num_heads, depth, mlp_dim, num_classes)\n"
        "self.patch_embed = nn.Sequential(feature_extractor, patch_embedder) if feature_extractor else patch_embedder",
        "class PatchEmbedding(nn.Conv2d):\n    def __init__(self, img_size, patch_size, in_chans, embed_dim):\n"
        "        super().__init__(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)\n"
        "        self.N = (img_size // patch_size) ** 2\n",
    ),
    "patches a side beside the image, under a name like others": vit(
        ", in_channels=3, num_classes=10, emb_dim=384, num_patch_row=2, image_size=32, num_blocks=7, head=8,"
        " hidden_dim=1536",
        setup("in_channels", "image_size", "(image_size // num_patch_row)", "emb_dim", "head", "num_blocks", "hidden_dim",
              "num_classes"),
    ),
    "keywords that are named beside **kwargs": vit(
        ", img_size, patch_size, in_chans, num_classes, embed_dim, transformer_network_depth, **kwargs",
        "self.setup(in_chans, (img_size // patch_size) ** 2, patch_size, embed_dim, 1, 1, 1, num_classes)\n"
        "self.blocks = Stack(network_depth=transformer_network_depth, embed_dim=embed_dim, **kwargs).blocks",
        "class Stack(nn.Module):\n    def __init__(self, embed_dim, network_depth, num_heads, mlp_dim):\n"
        "        super().__init__()\n"
        "        self.blocks = nn.ModuleList([Block(embed_dim, num_heads, mlp_dim) for _ in range(network_depth)])\n",
    ),
    "a flattened patch that is called a patch": vit(
        ", taille_image=32, taille_patch=8, dim=64, profondeur=4, tetes=4, classes=10, mlp_dim=256, canaux=3",
        setup("canaux", "taille_image", "taille_patch", "dim", "tetes", "profondeur", "mlp_dim", "classes")
        + "\nself.dim_patch = canaux * taille_patch**2\nself.taille_patch = taille_patch"
        "\nself.patch_embed = nn.Linear(self.dim_patch, dim)",
    ).replace(
        "self.patch_embed(x).flatten(2).transpose(1, 2)",
        "self.patch_embed(nn.functional.unfold(x, self.taille_patch, stride=self.taille_patch).transpose(1, 2))",
    ),
}  # fmt: skip


USUAL = "img_size patch_size in_chans dim heads depth mlp_dim num_classes"


def usual(without: str = "", **hard_coded: str) -> str:
    """Write a ViT with the usual keywords, but ``without`` some of them, which are ``hard_coded``."""
    values = {name: hard_coded.get(name, name) for name in USUAL.split()}
    asked = [name for name in USUAL.split() if name not in without.split()]
    order = ["in_chans", "img_size", "patch_size", "dim", "heads", "depth", "mlp_dim", "num_classes"]
    return vit(", " + ", ".join(asked), setup(*(values[name] for name in order)))


FIXED = {
    "channels": (usual("in_chans", in_chans="3"), {"channels": 3}),
    "mlp width": (usual("mlp_dim", mlp_dim="2048"), {"mlp_dim": 2048}),
    "number of heads": (usual("heads", heads="8"), {"heads": 8}),
    "depth that is asked for and ignored": (usual(depth="6"), {"depth": 6}),
    "heads that are asked for and ignored": (usual(heads="2"), {"heads": 2}),
    "image and patch": (
        usual("img_size patch_size in_chans", img_size="224", patch_size="16", in_chans="3"),
        {"channels": 3, "height": 224, "width": 224, "patch": 16},
    ),
    "all": (
        usual(USUAL, img_size="28", patch_size="7", in_chans="1", dim="64", heads="4", depth="3", mlp_dim="128",
              num_classes="10"),
        {"channels": 1, "height": 28, "width": 28, "patch": 7, "embed_dim": 64, "heads": 4, "mlp_dim": 128, "depth": 3,
         "classes": 10},
    ),
    "width of the patches' convolution alone": (
        usual("img_size patch_size in_chans", img_size="224", patch_size="16", in_chans="3")
        .replace("nn.Conv2d(C, D, ", "nn.Conv2d(C, 64, "),
        {"channels": 3, "height": 224, "width": 224, "patch": 16, "embed_dim": 64},
    ),
    # where one patch would do for an image: its positions are added to as many copies of it
    "all, without a class token": (
        usual(USUAL, img_size="64", patch_size="16", in_chans="3", dim="48", heads="4", depth="3", mlp_dim="192",
              num_classes="10").replace("N + 1", "N").replace("[:, 0]", ".mean(1)")
        .replace("torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1)", "x"),
        {"channels": 3, "height": 64, "width": 64, "patch": 16, "embed_dim": 48, "heads": 4, "mlp_dim": 192, "depth": 3,
         "classes": 10},
    ),
    "all, around patches that are cut out": (
        usual(USUAL, img_size="32", patch_size="8", in_chans="3", dim="48", heads="4", depth="3", mlp_dim="192",
              num_classes="10").replace("nn.Conv2d(C, D, kernel_size=P, stride=P)", "nn.Linear(C * P * P, D)")
        .replace("self.patch_embed(x).flatten(2).transpose(1, 2)",
                 "self.patch_embed(nn.functional.unfold(x, 8, stride=8).transpose(1, 2))"),
        {"channels": 3, "height": 32, "width": 32, "patch": 8, "embed_dim": 48, "heads": 4, "mlp_dim": 192, "depth": 3,
         "classes": 10},
    ),
}  # fmt: skip
