"""Which class is taken for the model, where a file has several."""

from __future__ import annotations

import pytest

from vitcheck.submissions.child.building.calls.parameter_names import meanings
from vitcheck.submissions.child.building.recipe import Recipe, infer
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.errors import NotLoaded
from vitcheck.submissions.questions.pins import Pins

PARTS = """
import torch
import torch.nn as nn

class PatchEmbedding(nn.Module):
    def __init__(self, in_channels=3, patch_size=4, embed_dim=24):
        super().__init__()
        self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)

class Block(nn.Module):
    def __init__(self, embed_dim=24, num_heads=4):
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)
        self.norm = nn.LayerNorm(embed_dim)

    def forward(self, x):
        return self.norm(x + self.attn(x, x, x)[0])
"""
MODEL = """
class {name}(nn.Module):
    def __init__(self, embed_dim=24, depth=2, num_heads=4, num_classes=10):
        super().__init__()
        self.patch_embed = PatchEmbedding(embed_dim=embed_dim)
        self.blocks = nn.Sequential(*[Block(embed_dim, num_heads) for _ in range(depth)])
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, x):
        return self.head(self.blocks(self.patch_embed(x)).mean(1))
"""
CNN = """
class Net(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.fc = nn.Linear(8, num_classes)

    def forward(self, x):
        return self.fc(self.conv(x).mean((2, 3)))
"""


def found(source: str, model: str | None = None) -> str:
    return recipe(source, model).definition.name


def recipe(source: str, model: str | None = None) -> Recipe:
    loaded = load({"vit.py": source.encode()})
    return infer(loaded, Pins(model))


@pytest.mark.parametrize("name", ["ViT", "VisionTransformer", "MyModel", "TransformerEncoder"])
def test_the_outermost_class_is_the_model_whatever_its_name(name: str) -> None:
    assert found(PARTS + MODEL.format(name=name)) == name
    imports, classes = PARTS.split("\n\n", 1)
    assert found(imports + MODEL.format(name=name) + classes) == name


def test_another_classifier_beside_it_is_not_taken() -> None:
    assert found(PARTS + CNN + MODEL.format(name="ViT")) == "ViT"


def test_a_crashing_model_is_preferred_to_its_parts_and_neighbours() -> None:
    crashing = MODEL.format(name="VisionTransformer").replace("self.head(", "self.haed(")
    assert found(PARTS + CNN + crashing) == "VisionTransformer"


def test_a_subclass_is_the_model_not_its_base() -> None:
    assert found(PARTS + MODEL.format(name="Base") + "\nclass Final(Base):\n    pass\n") == "Final"


def test_a_wrapper_that_cannot_be_built_does_not_hide_the_model() -> None:
    wrapper = "\nclass Trainer(nn.Module):\n    def __init__(self, loader):\n        super().__init__()\n"
    wrapper += "        self.model = ViT()\n"
    assert found(PARTS + MODEL.format(name="ViT") + wrapper) == "ViT"


_BACKBONE = MODEL.replace(", num_classes=10", "").replace("self.head(", "").replace(".mean(1))", ".mean(1)")
_HEADED = """
class {name}(nn.Module):
    def __init__(self, {inner}, num_classes):
        super().__init__()
        self.inner, self.top = {inner}, nn.Linear({inner}.dim, num_classes)

    def forward(self, x):
        return self.top(self.inner(x))
"""


@pytest.mark.parametrize("inner", ["backbone", "encoder", "vit", "netz"])
@pytest.mark.parametrize("made", ["net = ViTBackbone(24)\n    {name}({given})", "{name}({plain})"])
def test_what_is_given_the_backbone_is_the_model(inner: str, made: str) -> None:
    backbone = _BACKBONE.format(name="ViTBackbone").replace(
        "        self.head", "        self.dim = embed_dim\n        self.head"
    )
    backbone = backbone.replace("        self.head = nn.Linear(embed_dim, num_classes)\n", "")
    wrapper = _HEADED.format(name="Classifier", inner=inner)
    call = made.format(name="Classifier", given="net, 10", plain=f"{inner}=ViTBackbone(), num_classes=10")
    assert found(f"{PARTS}{backbone}{wrapper}\ndef main():\n    {call}\n") == "Classifier"


def test_a_function_that_makes_the_model_is_the_second_choice() -> None:
    takes_parts = MODEL.format(name="ViT").replace("self, embed_dim=24,", "self, blob, embed_dim=24,")
    takes_parts = takes_parts.replace("super().__init__()", "super().__init__()\n        blob.show()")
    factory = "\nblob = type('Blob', (), {'show': print})\n"
    factory += "def build_model(embed_dim=24, depth=2):\n    return ViT(blob, embed_dim, depth)\n"
    assert found(PARTS + takes_parts + factory) == "build_model"
    assert found(PARTS + MODEL.format(name="ViT") + factory.replace("blob, embed", "embed")) == "ViT"


def test_a_part_that_takes_rows_of_an_image_for_tokens_and_gives_nothing_is_no_model() -> None:
    heads = """
class Heads(nn.Module):
    def __init__(self, d=64, heads=4):
        super().__init__()
        self.heads = nn.ModuleList([nn.Linear(d, d // heads) for _ in range(heads)])

    def forward(self, x):
        x = torch.cat([one(x) for one in self.heads], dim=-1)
"""
    assert found(PARTS[: PARTS.index("class Block")] + heads) == "PatchEmbedding"


def test_an_imported_class_is_not_the_students() -> None:
    imported = "from torch.nn import TransformerEncoder\nfrom torchvision.models import VisionTransformer\n"
    with pytest.raises(NotLoaded, match="nothing is written yet"):
        found(imported)


def test_the_pinned_class_or_function_is_used_as_it_is() -> None:
    source = PARTS + CNN + MODEL.format(name="ViT") + "\ndef small():\n    return ViT(depth=1)\n"
    assert found(source, "Net") == "Net"
    assert found(source, "small") == "small"


def test_a_pinned_class_that_is_absent_is_refused_with_the_near_names() -> None:
    with pytest.raises(NotLoaded, match="asks for VIT, but nothing of that name is defined: there is ViT"):
        found(PARTS + MODEL.format(name="ViT"), "VIT")


def test_class_and_line_are_said_where_a_package_has_several_files() -> None:
    files = {
        "models/__init__.py": b"",
        "models/parts.py": PARTS.encode(),
        "models/vit.py": (
            "from .parts import *\nimport torch.nn as nn\n" + MODEL.format(name="ViT")
        ).encode(),
        "train.py": b"from models.vit import ViT\nmodel = ViT().cuda()\n",
    }
    found = infer(load(files), Pins()).definition
    assert (found.name, found.file, found.node.lineno) == ("ViT", "models/vit.py", 4)


def test_a_notebook_names_the_cell() -> None:
    files = {"vit.ipynb[1]": PARTS.encode(), "vit.ipynb[3]": MODEL.format(name="ViT").encode()}
    found = infer(load(files), Pins()).definition
    assert (found.file, found.node.lineno) == ("vit.ipynb[3]", 2)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("num_classses", "classes"),
        ("embeding_dim", "embed_dim"),
        ("N_EMBD", "embed_dim"),
        ("numHeads", "heads"),
        ("vit_depth", "depth"),
        ("model_embed_dim", "embed_dim"),
        ("attention_head_size", "head_dim"),  # the last words say what a name is
        ("clip_num_heads", "heads"),
    ],
)
def test_names_are_recognised_in_every_spelling(name: str, first: str) -> None:
    assert meanings(name)[0] == first


@pytest.mark.parametrize(
    "name", ["vocab_size", "learning_rate", "num_epochs", "root", "x", "num_workers", "seed"]
)
def test_names_that_are_no_size_mean_nothing(name: str) -> None:
    assert meanings(name) == ()
