"""How models are put together by those who do not know vitcheck: found by what their code does."""

from __future__ import annotations

import pytest
import torch
from constructors import PARTS, setup, vit

from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.child.building.recipe import Recipe, infer
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.questions.pins import Pins

torch.set_num_threads(1)

ASKED = Sizes(
    batch=3, channels=1, height=24, width=24, patch=8, embed_dim=32, heads=4, mlp_dim=96, depth=3, classes=7
)
_INJECTED = """
class Stem(nn.Module):
    def __init__(self, cote, carre, couleurs, large):
        super().__init__()
        self.large, self.nombre = large, (cote // carre) ** 2
        self.map = nn.Conv2d(couleurs, large, carre, carre)

    def forward(self, x):
        return self.map(x).flatten(2).transpose(1, 2)

class Pile(nn.Module):
    def __init__(self, large, tetes, cachee, etages):
        super().__init__()
        self.blocks = nn.ModuleList([Block(large, tetes, cachee) for _ in range(etages)])
        self.norm = nn.LayerNorm(large)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norm(x)

class Reseau(nn.Module):
    def __init__(self, stem: nn.Module, pile: nn.Module, etiquettes: int):
        super().__init__()
        self.stem, self.pile = stem, pile
        self.jeton = nn.Parameter(torch.zeros(1, 1, stem.large))
        self.place = nn.Parameter(torch.zeros(1, stem.nombre + 1, stem.large))
        self.sortie = nn.Linear(stem.large, etiquettes)

    def forward(self, x):
        x = self.stem(x)
        x = self.pile(torch.cat([self.jeton.expand(len(x), -1, -1), x], 1) + self.place)
        return self.sortie(x[:, 0])

def assembler(cote=32, carre=4, couleurs=3, large=64, tetes=8, cachee=128, etages=3, etiquettes=10):
    pile = Pile(large, tetes, cachee, etages)
    return Reseau(Stem(cote, carre, couleurs, large), pile, etiquettes)
"""
_BY_HEADS = """
class Attention(nn.Module):
    def __init__(self, D, k):
        super().__init__()
        self.q, self.k, self.v = (nn.Parameter(torch.randn(k, D, D // k)) for _ in range(3))
        self.out = nn.Parameter(torch.randn(k, D // k, D))

    def forward(self, x):
        q, k, v = (torch.einsum("btd,hde->bhte", x, one) for one in (self.q, self.k, self.v))
        a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1)
        return torch.einsum("bhts,bhse,hed->btd", a, v, self.out)

"""
_FREE = {  # how it is made: the source
    "a number of patches in a row that is called patch": vit(
        ", in_c=3, img_size=32, patch=8, hidden=64, heads=8, layers=3, mlp_hidden=128, num_classes=10",
        setup(
            "in_c",
            "img_size",
            "(img_size // patch)",
            "hidden",
            "heads",
            "layers",
            "mlp_hidden",
            "num_classes",
        ),
    ),
    "heads and the width of one, of names that say nothing": vit(
        ", canais=3, altura=32, retalho=4, cabecas=4, dim_cabeca=16, camadas=3, oculta=128, rotulos=10",
        setup(
            "canais", "altura", "retalho", "cabecas * dim_cabeca", "cabecas", "camadas", "oculta", "rotulos"
        ),
    ),
    "by a function that puts parts together": PARTS + _INJECTED,
    "blocks whose number is called their height": vit(
        ", image=32, patch=4, colours=3, dim=64, heads=8, hidden=128, height=3, classes=10",
        setup("colours", "image", "patch", "dim", "heads", "height", "hidden", "classes"),
    ),
    "letters, and a matrix for each head": vit(
        ", shape=(3, 32, 32), P=4, D=64, L=3, k=8, hidden=128, K=10",
        setup("shape[0]", "shape[1]", "P", "D", "k", "L", "hidden", "K"),
        before=_BY_HEADS,
    ),
}
_REGISTERED = vit(
    ", sizes, notes",
    "assert notes.strip()\nself.setup(*sizes)",
    before="""
MODELS = {}

def register(name):
    return lambda cls: MODELS.setdefault(name, cls)
""",
    after="""
CONFIG = [3, 64, 4, 48, 8, 3, 128, 10], "as in the paper, but small"

def build_model(config=None):
    return MODELS["vit"](*(config or CONFIG))
""",
).replace("class ViT(", "@register('vit')\nclass ViT(")
_LAZY = """
import torch
from torch import nn


class Settings:
    tile = (24, 40)
    steps = 8, 8
    width = 32


class Tiles(nn.Module):
    def __init__(self, settings=Settings):
        super().__init__()
        self.s, self.stem = settings, nn.LazyConv2d(settings.width, settings.steps, stride=settings.steps)
        self.pos = nn.Parameter(torch.zeros(1, 15, settings.width))
        self.block = nn.TransformerEncoderLayer(settings.width, 4, 64, batch_first=True, norm_first=True)
        self.head = nn.LazyLinear(6)

    def forward(self, x):
        if tuple(x.shape[2:]) != self.s.tile:
            raise ValueError(f"expected tiles of {self.s.tile}")
        x = self.stem(x).flatten(2).transpose(1, 2) + self.pos
        return self.head(self.block(x).mean(1))
"""


def inferred(source: str) -> Recipe:
    return infer(load({"vit.py": source.encode()}), Pins())


@pytest.mark.parametrize("which", _FREE)
def test_it_is_made_at_any_size(which: str) -> None:
    recipe = inferred(_FREE[which])
    sizes = recipe.sizes_for(ASKED)
    assert vars(sizes) == vars(ASKED)
    model = recipe.build(sizes).double()
    assert model(sizes.input(0)).shape == (3, 7)
    shapes = {tuple(one.shape) for one in model.parameters()}
    assert {(32, 1, 8, 8), (1, 10, 32), (96, 32), (7, 32)} <= shapes
    assert which != "letters, and a matrix for each head" or (4, 32, 8) in shapes


def test_a_builder_that_reads_a_registry_makes_what_is_registered() -> None:
    recipe = inferred(_REGISTERED)
    assert recipe.definition.name == "build_model"
    sizes = recipe.sizes_for(ASKED)
    told = {"height": 32, "patch": 4, "embed_dim": 48, "heads": 8, "depth": 3, "mlp_dim": 128, "classes": 10}
    assert {name: vars(sizes)[name] for name in told} == told


def test_layers_that_see_an_image_of_one_size_first_see_that() -> None:
    recipe = inferred(_LAZY)
    sizes = recipe.sizes_for(ASKED)
    assert (sizes.height, sizes.width, sizes.patch) == (24, 40, 8)
    assert recipe.build(sizes)(sizes.input(0).float()).shape == (3, 6)
