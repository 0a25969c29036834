"""Models that are no class: parameters that one function makes, and another that computes with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.grading.grading import grade
from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.child.building.recipe import infer
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.errors import NotLoaded
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.questions.pins import Pins

NESTED = """
import math
import torch
import torch.nn.functional as F


def init_params(img=32, p=4, d=64, n_blocks=4, n_heads=4, n_cls=10):
    def lin(i, o):
        return {"w": torch.randn(i, o) / math.sqrt(i), "b": torch.zeros(o)}

    def ln():
        return {"g": torch.ones(d), "b": torch.zeros(d)}

    blocks = []
    for _ in range(n_blocks):
        block = {name: lin(d, d) for name in "qkvo"}
        blocks.append({**block, "ln1": ln(), "ln2": ln(), "f1": lin(d, 4 * d), "f2": lin(4 * d, d)})
    return {
        "patch": lin(3 * p * p, d),
        "cls": torch.randn(1, 1, d) * 0.02,
        "pos": torch.randn(1, (img // p) ** 2 + 1, d) * 0.02,
        "blocks": blocks,
        "ln": ln(),
        "head": lin(d, n_cls),
    }


def dense(x, p):
    return x @ p["w"] + p["b"]


def norm(x, p):
    return F.layer_norm(x, x.shape[-1:], p["g"], p["b"])


def attention(x, b, h):
    B, T, D = x.shape
    q, k, v = (dense(x, b[n]).view(B, T, h, D // h).transpose(1, 2) for n in "qkv")
    a = (q @ k.transpose(-2, -1) / math.sqrt(D // h)).softmax(-1)
    return dense((a @ v).transpose(1, 2).reshape(B, T, D), b["o"])


def forward(params, images, n_heads=4, p=4):
    B, C, H, W = images.shape
    x = images.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * p * p)
    x = torch.cat([params["cls"].expand(B, -1, -1), dense(x, params["patch"])], 1) + params["pos"]
    for b in params["blocks"]:
        x = x + attention(norm(x, b["ln1"]), b, n_heads)
        x = x + dense(F.gelu(dense(norm(x, b["ln2"]), b["f1"])), b["f2"])
    return dense(norm(x[:, 0], params["ln"]), params["head"])


def predict(params, images):
    return forward(params, images).softmax(-1)
"""
_SIZES = "img=32, p=4, d=64, n_blocks=4, n_heads=4, n_cls=10"
_NAMES = [one.partition("=")[0] for one in _SIZES.split(", ")]
_READ = f"{', '.join(_NAMES)} = {', '.join(f'cfg.{one}' for one in _NAMES)}"
SETTINGS = (
    NESTED.replace(f"def init_params({_SIZES}):", f"def init_params(cfg):\n    {_READ}")
    .replace(
        "def forward(params, images, n_heads=4, p=4):", f"def forward(params, cfg, images):\n    {_READ}"
    )
    .replace("def predict(params, images):", "def predict(params, cfg, images):")
    .replace("return forward(params, images)", "return forward(params, cfg, images)")
)
# sizes come back beside the parameters, and the image has the name that its side has where they are made
BESIDE = (
    NESTED.replace(
        '    return {\n        "patch"', '    cfg = dict(p=p, heads=n_heads)\n    return {\n        "patch"'
    )
    .replace("n_cls),\n    }", "n_cls),\n    }, cfg")
    .replace(
        "def forward(params, images, n_heads=4, p=4):",
        'def forward(params, cfg, img):\n    images, n_heads, p = img, cfg["heads"], cfg["p"]',
    )
    .replace("def predict(params, images):", "def predict(params, cfg, img):")
    .replace("return forward(params, images)", "return forward(params, cfg, img)")
)
_PARTS = """def init_weight(i, o):
    return torch.randn(i, o) / math.sqrt(i)


def init_bias(o):
    return torch.zeros(o)


def init_dense(i, o):
    return {"w": init_weight(i, o), "b": init_bias(o)}


def init_norm(d):
    return {"g": torch.ones(d), "b": init_bias(d)}


"""
WAYS = {
    "a nested dictionary": NESTED,
    "parts made by functions of the same kind": NESTED.replace("\n\n\ndef", f"\n\n\n{_PARTS}def", 1)
    .replace('{"w": torch.randn(i, o) / math.sqrt(i), "b": torch.zeros(o)}', "init_dense(i, o)")
    .replace('{"g": torch.ones(d), "b": torch.zeros(d)}', "init_norm(d)"),
    "the image first": NESTED.replace("def forward(params, images,", "def forward(images, params,").replace(
        "forward(params, images)", "forward(images, params)"
    ),
    "parameters that are called as a size is": NESTED[: NESTED.index("def forward(")]
    + re.sub(
        r"\bp\b|\bparams\b",
        lambda found: {"p": "patch", "params": "p"}[found.group()],
        NESTED[NESTED.index("def forward(") :],
    ),
    "settings": SETTINGS,
    "sizes beside them": BESIDE,
    "a namespace": NESTED.replace("    return {\n        \"patch\"", "    made = {\n        \"patch\"")
    .replace("n_cls),\n    }", "n_cls),\n    }\n    return SimpleNamespace(**made)")
    .replace("import math\n", "import math\nfrom types import SimpleNamespace\n", 1)
    .replace("    B, C, H, W = images.shape\n", "    B, C, H, W = images.shape\n    params = vars(params)\n"),
}  # fmt: skip
ASKED = Sizes(
    batch=3, channels=3, height=24, width=24, patch=8, embed_dim=32, heads=4, mlp_dim=128, depth=3, classes=7
)


@pytest.mark.parametrize("way", WAYS)
def test_two_functions_are_a_model_of_the_sizes_asked_for(way: str) -> None:
    recipe = infer(load({"vit.py": WAYS[way].encode()}), Pins(None, {}))
    assert recipe.definition.name == "init_params and forward"
    assert recipe.sizes_for(ASKED) == ASKED
    model = recipe.build(ASKED)
    assert model(torch.randn(3, 3, 24, 24)).shape == (3, 7)
    names = [name for name, _ in model.named_parameters()]
    assert len(names) == 8 + 3 * 16
    assert any(one.endswith("blocks_2_q_w") for one in names)


@pytest.mark.parametrize("way", WAYS)
def test_they_are_graded_as_a_class_is(way: str, tmp_path: Path, zygote: Zygote) -> None:
    asked = load_assignment("vit").model_copy(update={"examples": 3})
    (tmp_path / "vit.py").write_text(WAYS[way])
    result = grade(tmp_path / "vit.py", asked, zygote=zygote, seed=1)
    assert result.score.earned == result.score.possible
    wrong = WAYS[way].replace("math.sqrt(D // h)", "math.sqrt(D)")
    (tmp_path / "vit.py").write_text(wrong)
    told = grade(tmp_path / "vit.py", asked, zygote=zygote, seed=1).mistakes
    assert [(one.id, one.stage) for one in told] == [("scale-by-embed-dim", "S12")]
    assert told[0].location is not None
    assert told[0].location.line == 1 + wrong[: wrong.index("math.sqrt(D)")].count("\n")


def test_functions_from_which_no_scores_come_are_no_model() -> None:
    """They may be a script's own: that is what is told, or run, then."""
    text = NESTED.replace('return dense(norm(x[:, 0], params["ln"]), params["head"])', "return x")
    text = text[: text.index("def predict")]
    with pytest.raises(NotLoaded, match="no class is derived"):
        infer(load({"vit.py": text.encode()}), Pins(None, {}))
