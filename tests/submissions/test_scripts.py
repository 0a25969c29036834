"""Scripts, run from top to bottom: what is lent to them, which sizes they follow, what stops them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.child.scripts.script_finding import find_script, likeliest
from vitcheck.submissions.child.scripts.script_ways import whole_sizes
from vitcheck.submissions.child.scripts.scripts import Script, ScriptPass
from vitcheck.submissions.errors import NotLoaded

SMALL = Sizes(
    batch=1, channels=3, height=12, width=12, patch=4, embed_dim=8, heads=2, mlp_dim=32, depth=3, classes=5
)  # fmt: skip

IMPORTS = """
import numpy as np, torch, torchvision
from PIL import Image
from torch import nn
from torchvision import transforms
IMG_SIZE = 224
PATCH_SIZE = 16
EMBED_DIM = 768
"""
PILLOW = """
scale = transforms.Normalize([0.5] * 3, [0.2] * 3)
img = transforms.Compose([transforms.Resize((IMG_SIZE, IMG_SIZE)), transforms.ToTensor(), scale])(
    Image.open("C:/Users/me/cat.jpg").convert("RGB")
).unsqueeze(0)
"""
NUMPY = """
pixels = np.asarray(Image.open("cat.png").resize((IMG_SIZE, IMG_SIZE)), dtype=np.float32) / 255
img = torch.from_numpy((pixels - 0.5) / 0.2).permute(2, 0, 1).unsqueeze(0).float()
"""
READ = """
pixels = torchvision.io.read_image(input("which image?")).float() / 255
img = (transforms.functional.resize(pixels, [IMG_SIZE, IMG_SIZE]) - 0.5).unsqueeze(0)
"""
DOWNLOAD = """
import requests
from io import BytesIO
answer = requests.get("https://example.org/cat.jpg")
img = transforms.ToTensor()(Image.open(BytesIO(answer.content)).resize((IMG_SIZE, IMG_SIZE)))[None]
"""
DRAWN = "img = torch.randn(1, 3, IMG_SIZE, IMG_SIZE)\n"
PATCHES = """
patches = img.unfold(2, PATCH_SIZE, PATCH_SIZE).unfold(3, PATCH_SIZE, PATCH_SIZE)
flat = patches.permute(0, 2, 3, 1, 4, 5).flatten(1, 2).flatten(2)
embed = nn.Linear(3 * PATCH_SIZE ** 2, EMBED_DIM)
x = embed(flat)
"""


def script(code: str) -> Script:
    loaded = load({"main.py": code.encode()})
    file = likeliest(loaded)
    assert file is not None
    return Script(loaded, file)


def image() -> Tensor:
    return torch.randn(1, 3, 12, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def run(code: str, stops: list[tuple[str, int]] | None = None) -> ScriptPass:
    return script(code).run(SMALL, 7, image(), {}, stops or [])


@pytest.fixture(autouse=True)
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("source", [PILLOW, NUMPY, READ, DOWNLOAD, DRAWN])
def test_the_image_is_put_where_the_script_has_its_own(source: str) -> None:
    records = run(IMPORTS + source + PATCHES).tracer.records
    first = records[0]
    assert first.shape == (1, 3, 12, 12)
    assert first.cells is not None
    seen = torch.as_strided(first.cells, first.shape, first.strides, first.offset)
    assert torch.allclose(seen, image(), rtol=0, atol=1e-6)  # where NumPy's array is float32, so is the image
    assert records[-1].image
    assert records[-1].dtype == "float64"


def test_a_parameter_has_random_values_and_those_that_are_fixed() -> None:
    code = IMPORTS + PILLOW + PATCHES + "token = nn.Parameter(torch.zeros(1, 1, EMBED_DIM))\ny = x + token\n"
    leaves = {one.name: one for one in run(code).tracer.leaves if one.kind == "parameter"}
    assert list(leaves) == ["parameter0", "parameter1", "parameter2"]
    assert all(one.cells is not None and bool((one.cells != 0).all()) for one in leaves.values())
    fixed = script(code).run(SMALL, 7, image(), {"parameter2": torch.ones(8)}, []).tracer.leaves
    cells = next(one.cells for one in fixed if one.name == "parameter2")
    assert cells is not None
    assert bool((cells == 1).all())


def test_constants_are_followed_and_literals_are_not() -> None:
    assert script(IMPORTS + PILLOW + PATCHES).sizes_for(SMALL).height == 12
    assert script(IMPORTS + PILLOW.replace("IMG_SIZE", "224") + PATCHES).sizes_for(SMALL).height != 12


def test_what_trains_plots_and_prints_does_no_harm() -> None:
    rest = """
import matplotlib.pyplot as plt
fig, axes = plt.subplots(1, 2)
axes[0].imshow(img[0, 0])
plt.show()
for _ in range(10 ** 9):
    x.sum().backward()
open("log.txt", "w").write(str(x))
names = undefined_labels[int(x.argmax())]
"""
    plain, more = run(IMPORTS + PILLOW + PATCHES), run(IMPORTS + PILLOW + PATCHES + rest)
    assert [one.op for one in more.tracer.records][: len(plain.tracer.records)] == [
        one.op for one in plain.tracer.records
    ]
    assert [one.reason for one in more.loaded.skipped if one.text.startswith("for")] == ["not run: it trains"]


def test_a_script_stops_at_a_step_that_fails() -> None:
    ran = run(IMPORTS + PILLOW + PATCHES + "y = x.reshape(7, 7)\nz = y + 1\n")
    assert ran.error is not None
    assert ran.error[0].text == "y = x.reshape(7, 7)"
    assert [one.reason for one in ran.loaded.skipped if one.text == "z = y + 1"] == [
        f"not run: the script stopped at line {ran.error[0].line}"
    ]


def test_where_nothing_is_computed_the_line_that_failed_is_named() -> None:
    with pytest.raises(NotLoaded, match="line 2, needs the package 'surely_missing'") as caught:
        script("import torch\nimport surely_missing\nx = surely_missing.load()\n")
    assert caught.value.frame is not None
    assert caught.value.frame.line == 2


def test_variables_are_seen_at_top_level_and_in_main() -> None:
    body = PATCHES.replace("\n", "\n    ")
    code = IMPORTS + PILLOW + "def main():\n    " + body + "\nif __name__ == '__main__':\n    main()\n"
    line = next(number for number, text in enumerate(code.split("\n"), 1) if "x = embed" in text)
    for text, where in (
        (code, line),
        (IMPORTS + PILLOW + PATCHES, code[: code.index("def main")].count("\n") + 5),
    ):
        assert ("x", 0) in {(name, mark) for mark, name, _ in run(text, [("main.py", where)]).sights}


def test_it_is_a_script_where_its_own_part_has_the_marks() -> None:
    model = "import torch.nn as nn\nclass ViT(nn.Module):\n    def forward(self, x):\n        {}return x\n"
    marked = "".join(f"# BREAKPOINT S{number:02}\n{{}}" for number in range(2, 12))
    beside = model.format("") + marked.format(*["x = 1\n"] * 10)
    inside = model.format(marked.format(*["        "] * 10)) + "x = 1\n"
    assert find_script(load({"main.py": beside.encode()})) == "main.py"
    assert find_script(load({"main.py": inside.encode()})) is None
    for listed in (beside.replace("x = 1\n", ""), beside.replace("x = 1", "print(x)")):
        assert find_script(load({"main.py": listed.encode()})) is None  # nothing is computed between them


def test_heads_that_plain_weights_make_of_tokens_are_no_image() -> None:
    text = """
import torch
B, N, D, H = 2, 5, 12, 3
x = torch.randn(B, N, D)
q, k, v = (x @ torch.randn(D, D) for _ in range(3))
q, k, v = (one.reshape(B, N, H, D // H).transpose(1, 2) for one in (q, k, v))
print(((q @ k.mT / 2).softmax(-1) @ v).shape)
"""
    with pytest.raises(NotLoaded, match="computes nothing from an image"):
        Script(load({"tokens.py": text.encode()}), "tokens.py")


@pytest.mark.parametrize(
    ("run", "whole"),
    [
        ({"height": 112, "width": 112, "patch": 8, "heads": 3}, {"height": 224, "width": 224, "patch": 16}),
        ({"height": 32, "width": 32, "patch": 8, "heads": 3}, {"height": 32, "width": 32, "patch": 8}),
    ],
    ids=["ViT-B/16", "16 patches of another image"],
)
def test_a_script_has_as_many_patches_at_its_own_sizes(run: dict[str, int], whole: dict[str, int]) -> None:
    assert whole_sizes(run, {224: 112, 16: 8, 12: 3}) == {**whole, "heads": 12}
