"""The model that the code makes by itself, beside the sizes that the assignment asks for."""

from __future__ import annotations

import pytest
from examining import examine, forbidding

from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable
from vitcheck.checks.rules.properties.own_sizes import own_sizes as sizes_property
from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.child.building.own_pass import own_pass
from vitcheck.submissions.child.building.own_sizes import own_sizes
from vitcheck.submissions.child.building.recipe import infer
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.questions.pins import Pins

ASKED = Sizes(
    batch=1, channels=3, height=32, width=32, patch=8, embed_dim=48, heads=4, mlp_dim=192, depth=3, classes=10
)
MODEL = """
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y)[0]
        return x + self.mlp(self.norm2(x))


{before}
class ViT(nn.Module):
    def __init__(self, {arguments}):
        super().__init__()
        {inside}
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, width))
        self.layers = nn.ModuleList([Layer(width, heads, hidden) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])
"""
DEFAULTS = MODEL.format(
    before="",
    arguments="size=32, patch=8, width=48, heads=4, depth=3, hidden=None, classes=10",
    inside="hidden = hidden or 4 * width",
)
CONSTANTS = MODEL.format(
    before="SIZE, PATCH, WIDTH, HEADS, DEPTH, RATIO = 32, 8, 48, 4, 3, 4\n\n",
    arguments="classes=10",
    inside="size, patch, width, heads, depth, hidden = SIZE, PATCH, WIDTH, HEADS, DEPTH, int(RATIO * WIDTH)",
)
CONFIGURED = MODEL.format(
    before="""from dataclasses import dataclass


@dataclass
class Config:
    image_size: int = 32
    patch_size: int = 8
    hidden_size: int = 48
    num_heads: int = 4
    num_layers: int = 3
    mlp_dim: int = 192
    num_classes: int = 10


""",
    arguments="config: Config",
    inside="size, patch, width, heads, depth, hidden, classes = vars(config).values()",
)


def told(text: str, *forbidden: str) -> Examination:
    examination = examine("report", assignment=forbidding(*forbidden).model_copy(update={"full": ASKED}))
    own = own_sizes(infer(load({"vit.py": text.encode()}), Pins(None, {})), ASKED)
    examination.session.own_sizes = lambda sizes: own  # type: ignore[method-assign]  # found in this process
    sizes_property(examination)
    return examination


@pytest.mark.parametrize(
    "text", [DEFAULTS, CONSTANTS, CONFIGURED], ids=["defaults", "constants", "dataclass"]
)
def test_a_model_of_the_asked_sizes_is_right(text: str) -> None:
    assert not told(text, "default-sizes-differ").noted


@pytest.mark.parametrize(
    ("text", "old", "new", "says"),
    [
        (DEFAULTS, "depth=3", "depth=2", "depth 2 instead of 3"),
        (DEFAULTS, "4 * width", "2 * width", "MLP width 96 instead of 192"),
        (DEFAULTS, "heads=4", "heads=6", "heads 6 instead of 4"),
        (CONSTANTS, "48, 4, 3, 4", "48, 4, 5, 4", "depth 5 instead of 3"),
        (CONFIGURED, "mlp_dim: int = 192", "mlp_dim: int = 200", "MLP width 200 instead of 192"),
    ],
)
def test_one_size_that_is_not_the_asked_one_is_a_slip(text: str, old: str, new: str, says: str) -> None:
    assert text.count(old) == 1
    with pytest.raises(CheckFailed, match=says) as failed:
        told(text.replace(old, new))
    assert failed.value.mistakes == ("default-size-wrong",)


def test_a_ratio_that_was_taken_for_a_width_is_no_size_at_all() -> None:
    with pytest.raises(CheckFailed, match="has 4 units, and a token has 48 features") as failed:
        told(CONFIGURED.replace("mlp_dim: int = 192", "mlp_dim: int = 4"))
    assert failed.value.mistakes == ("mlp-ratio-wrong",)


def test_a_model_of_other_sizes_altogether_is_a_variant() -> None:
    other = DEFAULTS.replace("width=48", "width=64").replace("depth=3", "depth=6")
    assert [one.id for one in told(other).noted] == ["default-sizes-differ"]
    with pytest.raises(CheckFailed) as failed:
        told(other, "default-sizes-differ")
    assert failed.value.mistakes == ("default-sizes-differ",)


def test_images_and_classes_of_a_file_are_its_own() -> None:
    text = DEFAULTS.replace("size=32", "size=64").replace("classes=10", "classes=100")
    assert not told(text, "default-sizes-differ").noted


def test_code_that_says_no_size_is_not_judged() -> None:
    text = DEFAULTS.replace(
        "size=32, patch=8, width=48, heads=4, depth=3, hidden=None",
        "size, patch, width, heads, depth, hidden",
    )
    with pytest.raises(NotApplicable, match="has no default sizes"):
        told(text)


def test_sizes_that_fail_by_themselves_are_not_judged() -> None:
    text = DEFAULTS.replace("hidden = hidden or 4 * width", "assert size != 32; hidden = hidden or 4 * width")
    with pytest.raises(NotApplicable, match="has no default sizes"):
        told(text)


def test_how_often_one_block_is_called_shows_in_no_layer() -> None:
    """Its two halves are of one class, and are no two blocks."""
    halves = """class Half(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(width), inner

    def forward(self, x):
        y = self.norm(x)
        return x + (self.inner(y) if isinstance(self.inner, nn.Sequential) else self.inner(y, y, y)[0])


class Layer(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.first = Half(width, nn.MultiheadAttention(width, heads, batch_first=True))
        layers = nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width)
        self.second = Half(width, nn.Sequential(*layers))

    def forward(self, x):
        return self.second(self.first(x))


"""
    layer = CONSTANTS[CONSTANTS.index("class Layer") : CONSTANTS.index("SIZE, PATCH")]
    text = CONSTANTS.replace(layer, halves)
    text = text.replace(
        "nn.ModuleList([Layer(width, heads, hidden) for _ in range(depth)])", "Layer(width, heads, hidden)"
    )
    text = text.replace(
        "for layer in self.layers:\n            x = layer(x)",
        "for _ in range(DEPTH):\n            x = self.layers(x)",
    )
    assert not told(text).noted


ALONG_ONE_SIDE = (  # names that say nothing, and a table of positions that is long enough at some sizes
    DEFAULTS.replace("(size // patch) ** 2 + 1, width", "size // patch + 1, width")
    .replace("torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.positions", "self.with_token(x)")
    .replace("size", "koko")
    + """
    def with_token(self, x):
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1)
        return x + self.positions[:, : x.shape[1]]
"""
)
OBLONG = DEFAULTS.replace("size=32", "img_h=24, img_w=32").replace(
    "(size // patch) ** 2", "(img_h // patch) * (img_w // patch)"
)
AS_ASKED = DEFAULTS.replace("hidden=None", "hidden=192")


def ran(text: str) -> bool:
    return own_pass(infer(load({"vit.py": text.encode()}), Pins(None, {})), ASKED)


@pytest.mark.parametrize(
    "text",
    [ALONG_ONE_SIDE, DEFAULTS.replace("(size // patch) ** 2 + 1", "50")],
    ids=["rows counted along one side", "rows of another image"],
)
def test_a_model_that_runs_at_other_sizes_than_its_own_fails(text: str) -> None:
    with pytest.raises(RuntimeError, match="must match the size"):
        ran(text)


@pytest.mark.parametrize(
    ("text", "is_tried"),
    [
        (AS_ASKED, False),
        (AS_ASKED.replace("(size // patch) ** 2 + 1", "17"), False),
        (DEFAULTS.replace("size=32", "size=64"), True),
        (CONSTANTS.replace("RATIO = 32", "RATIO = 64"), True),
        (AS_ASKED.replace("heads=4", "heads=5") + "\n\nmodel = ViT(heads=4)\n", False),
        (DEFAULTS.replace("heads=4", "heads=5") + "\n\nmodel = ViT(heads=6)\n", True),
        (DEFAULTS.replace("size=32", "size"), False),
        (
            DEFAULTS.replace("size=32", "size=(24, 40)").replace(
                "(size // patch) ** 2", "(size[0] // patch) * (size[1] // patch)"
            ),
            True,
        ),
        (OBLONG.replace("width", "dim").replace("img_h", "height").replace("img_w", "width"), True),
        (DEFAULTS.replace("size=32", "num_patches=64").replace("(size // patch) ** 2", "num_patches"), True),
    ],
    ids=[
        "as asked",
        "fixed image",
        "defaults",
        "constants",
        "asked by a call",
        "heads of a call",
        "demanded",
        "a pair of sides",
        "sides of names that mean more",
        "a number of patches",
    ],
)
def test_a_model_that_runs_at_its_own_sizes_is_right(text: str, is_tried: bool) -> None:
    assert ran(text) == is_tried


def test_a_model_of_one_batch_size_is_run_at_that() -> None:
    text = CONSTANTS.replace("SIZE, PATCH", "BATCH_SIZE = 16\nSIZE, PATCH", 1).replace("= 32, 8", "= 64, 8")
    assert ran(text.replace("self.token.expand(len(x), -1, -1)", "self.token.expand(BATCH_SIZE, -1, -1)"))


_BY_A_CALL = """
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Options:
    image: int = 96
    patch: int = 16
    labels: list = field(default_factory=lambda: ["cat", "dog", "neither"])


class ViT(nn.Module):
    def __init__(self, options: Options):
        super().__init__()
        self.patches = nn.Conv2d(3, 48, options.patch, options.patch)
        self.places = nn.Parameter(torch.randn(1, (options.image // options.patch) ** 2, 48))
        layer = nn.TransformerEncoderLayer(48, 4, 192, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 3)
        self.head = nn.Linear(48, len(options.labels))

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2) + self.places
        return self.head(self.layers(x).mean(1))


print(ViT(Options())(torch.randn(3, 3, 96, 96)).shape)
"""


def test_a_model_of_the_students_own_call_is_run_on_the_images_beside_it() -> None:
    assert ran(_BY_A_CALL)
    with pytest.raises(RuntimeError, match="must match the size"):
        ran(_BY_A_CALL.replace("(options.image // options.patch) ** 2", "options.image**2 // options.patch"))
