"""Programs whose names, images and caches are others: letters, another ``self``, channels last."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from corpus import edited
from one_file import demand_all_points, graded_file
from test_unfinished import FINISHED, VIT

from vitcheck.checks.record.result import Result, StageStatus
from vitcheck.submissions.host.process import Zygote

Edits = Sequence[tuple[str, str]]
_LETTERS: Edits = (
    (
        "self, image_size=32, patch_size=8, dim=64, depth=4, heads=4, mlp=128, num_classes=10",
        "self, Y, H=32, W=32, P=8, E=64, A=4, M=128, L=4",
    ),
    (
        "        super().__init__()\n        self.patches = nn.Conv2d(3, dim, patch_size, patch_size)",
        "        super().__init__()\n        self.H = H\n        self.patches = nn.Conv2d(3, E, P, P)",
    ),
    ("1, 1, dim)", "1, 1, E)"),
    ("(image_size // patch_size) ** 2 + 1, dim", "(H // P) * (W // P) + 1, E"),
    ("Block(dim, heads, mlp) for _ in range(depth)", "Block(E, A, M) for _ in range(L)"),
    ("nn.LayerNorm(dim), nn.Linear(dim, num_classes)", "nn.LayerNorm(E), nn.Linear(E, Y)"),
    (
        "def __init__(self, dim, heads, mlp):\n        super().__init__()",
        "def __init__(self, dim, heads, mlp):\n        super().__init__()\n        assert dim % heads == 0",
    ),
)
_CACHED: Edits = (
    (
        "self.pos = nn.Parameter(torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim))",
        'self.register_buffer("pos", torch.empty(0), persistent=False)',
    ),
    ("        x = x + self.pos\n", "        x = x + self.table(x)\n"),
    (
        "    def pooled(self, x):",
        """    def table(self, x):
        if self.pos.shape != x.shape[1:] or self.pos.dtype != x.dtype:
            places = torch.arange(x.shape[1], dtype=x.dtype)[:, None]
            angles = places / 10000 ** (torch.arange(0, x.shape[2], 2, dtype=x.dtype) / x.shape[2])
            self.pos = torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)
        return self.pos

    def pooled(self, x):""",
    ),
)
_CALL = "\n\nif __name__ == '__main__':\n    print(ViT()(torch.rand(2, 32, 32, 3)).shape)\n"
_LAST = ("x = self.patches(image)", "x = self.patches(image.permute(0, 3, 1, 2))")
_SCRAMBLED: Edits = [
    ("        self.patches = ", "        self.side = image_size\n        self.patches = "),
    ("x = self.patches(image)", "x = self.patches(image.reshape(-1, 3, self.side, self.side))"),
]
_WIDTH: Edits = [
    ("image_size=32, patch_size=8, dim=64", "image_size=32, patch_size=8, channels=64"),
    (
        "nn.Conv2d(3, dim, patch_size, patch_size)",
        "nn.Linear(patch_size**2, channels)\n        self.side, self.p = image_size, patch_size",
    ),
    ("1, 1, dim)", "1, 1, channels)"),
    ("2 + 1, dim)", "2 + 1, channels)"),
    ("Block(dim, heads, mlp) for", "Block(channels, heads, mlp) for"),
    (
        "nn.LayerNorm(dim), nn.Linear(dim, num_classes)",
        "nn.LayerNorm(channels), nn.Linear(channels, num_classes)",
    ),
    (
        "        x = self.patches(image).flatten(2).transpose(1, 2)",
        "        assert image.shape[1] == 1\n"
        "        p, rows = self.p, self.side // self.p\n"
        "        x = self.patches(image.view(len(image), -1, rows, p, rows, p).transpose(3, 4)"
        ".reshape(len(image), -1, self.p**2))",
    ),
]
_GREY = _CALL.replace("32, 32, 3", "1, 32, 32")
_BRACKETS = ("/ (D // self.heads) ** 0.5", "/ (D // self.heads ** 0.5)")


def graded(zygote: Zygote, folder: Path, text: str, edits: Edits) -> Result:
    return graded_file(edited(text, edits), VIT, zygote, folder)


def said(result: Result) -> tuple[str, str, str]:
    """The first mistake, where it is, and the line that is shown."""
    first, place = result.mistakes[0], result.mistakes[0].location
    assert place is not None
    return first.id, first.stage or "", next(one.text.strip() for one in place.excerpt if one.marked)


def failed(result: Result) -> list[str]:
    return [label for label, one in result.stages.items() if one.status is StageStatus.FAILED]


RIGHT: dict[str, tuple[str, Edits]] = {
    "letters of which one alone means heads": (FINISHED, _LETTERS),
    "a table that the first pass computes": (FINISHED, _CACHED),
    "images with their channels last, as its own call has them": (FINISHED + _CALL, [_LAST]),
    "a width that is called channels, of grey images": (FINISHED + _GREY, _WIDTH),
    "methods that call their object something else": (re.sub(r"\bself\b", "s", FINISHED), []),
}


@pytest.mark.parametrize("way", RIGHT)
def test_right_programs_keep_all_points(way: str, tmp_path: Path, zygote: Zygote) -> None:
    demand_all_points(graded(zygote, tmp_path, *RIGHT[way]))


def test_a_cache_of_an_image_is_a_leak(tmp_path: Path, zygote: Zygote) -> None:
    edits = [
        (
            "        self.cls = ",
            '        self.register_buffer("kept", torch.zeros(1, 1, dim))\n        self.cls = ',
        ),
        (
            "        x = x + self.pos\n",
            "        x = x + self.pos + 0 * self.kept\n        self.kept = x[:1, 1:2].detach()\n",
        ),
    ]
    result = graded(zygote, tmp_path, FINISHED, edits)
    assert [one.id for one in result.mistakes] == ["state-leak"]


def test_images_with_channels_last_that_are_only_reshaped_are_wrong(tmp_path: Path, zygote: Zygote) -> None:
    result = graded(zygote, tmp_path, FINISHED + _CALL, _SCRAMBLED)
    assert failed(result) == ["S02"]


@pytest.mark.parametrize("own", ["self", "this"])
def test_a_slip_is_found_whatever_methods_call_their_object(own: str, tmp_path: Path, zygote: Zygote) -> None:
    text = re.sub(r"\bself\b", own, edited(FINISHED, [_BRACKETS]))
    id, stage, line = said(graded(zygote, tmp_path, text, []))
    assert (id, stage) == ("wrong-brackets", "S12")
    assert line == f"scores = q @ k.transpose(-2, -1) / (D // {own}.heads ** 0.5)"


def test_a_head_that_is_no_linear_map_comes_after_the_mean(tmp_path: Path, zygote: Zygote) -> None:
    edits = [
        (
            "nn.Linear(dim, num_classes)",
            "nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, num_classes))",
        ),
        ("        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)\n", ""),
        ("        self.cls = nn.Parameter(torch.zeros(1, 1, dim))\n", ""),
        (" ** 2 + 1, dim", " ** 2, dim"),
        (
            "return self.head(self.pooled(self.norm(x)))",
            "x = self.head(self.norm(x))\n        return x.mean(dim=1)",
        ),
    ]
    result = graded(zygote, tmp_path, FINISHED, edits)
    assert said(result) == ("wrong-line-order", "S24", "x = self.head(self.norm(x))")
    assert len(result.mistakes) == 1


def test_no_argument_is_misread_so_that_a_crash_goes_away(tmp_path: Path, zygote: Zygote) -> None:
    """With patches of 11 pixels an image of 20 has one, and one row of positions fits two tokens."""
    result = graded(zygote, tmp_path, FINISHED, [(" ** 2 + 1, dim", " ** 2, dim")])
    assert [(one.id, one.stage) for one in result.mistakes] == [("pos-before-cls-row-mismatch", "S07")]


def test_a_large_eps_is_told_where_the_norm_is_made(tmp_path: Path, zygote: Zygote) -> None:
    result = graded(
        zygote,
        tmp_path,
        FINISHED,
        [("nn.LayerNorm(dim), nn.LayerNorm(dim)", "nn.LayerNorm(dim, eps=0.1), nn.LayerNorm(dim, 0.1)")],
    )
    id, stage, line = said(result)
    assert (id, stage) == ("layernorm-eps-too-large", "S09")
    assert line.startswith("self.norm1, self.norm2 =")
    assert len(result.mistakes) == 1


def test_weights_that_a_function_fills_outside_of_the_class_are_judged(
    tmp_path: Path, zygote: Zygote
) -> None:
    fill = (
        "\n\ndef start(model):\n    for one in model.parameters():\n"
        "        nn.init.zeros_(one) if one.dim() == 1 else nn.init.xavier_uniform_(one)\n\n\n"
        "def build():\n    model = ViT()\n    start(model)\n    return model\n"
    )
    result = graded(zygote, tmp_path, FINISHED + fill, [])
    assert [one.id for one in result.mistakes] == ["init-constant-or-zero"]


def test_a_model_that_its_own_class_method_puts_together_is_built_by_that(
    tmp_path: Path, zygote: Zygote
) -> None:
    made = (
        "    def __init__(self, size, patches, blocks, norm, head):\n"
        "        super().__init__()\n"
        "        self.patches, self.blocks, self.norm, self.head = patches, blocks, norm, head\n"
    )
    method = (
        "    @classmethod\n"
        "    def from_sizes(cls, image_size=32, patch_size=8, dim=64, depth=4, heads=4, mlp=99, classes=9):\n"
        "        blocks = nn.ModuleList([Block(dim, heads, mlp) for _ in range(depth)])\n"
        "        patches = nn.Conv2d(3, dim, patch_size, patch_size)\n"
        "        size = (image_size // patch_size) ** 2 + 1, dim\n"
        "        return cls(size, patches, blocks, nn.LayerNorm(dim), nn.Linear(dim, classes))\n\n"
        "    def pooled"
    )
    start, end = FINISHED.index("    def __init__(self, image_size"), FINISHED.index("    def pooled")
    text = FINISHED.replace(
        FINISHED[start:end],
        f"{made}        tables = (torch.zeros(1, rows, size[1]) for rows in (1, size[0]))\n"
        "        self.cls, self.pos = map(nn.Parameter, tables)\n\n",
    )
    demand_all_points(graded(zygote, tmp_path, text.replace("    def pooled", method), []))


def test_a_crash_is_told_where_most_was_computed(tmp_path: Path, zygote: Zygote) -> None:
    """Of `channels` as those of images nothing is computed; they are the width, by the other reading."""
    edits = [*_WIDTH, ("k.transpose(-2, -1)", "k.transpose(1, 2)")]
    result = graded(zygote, tmp_path, FINISHED + _GREY, edits)
    assert failed(result) == ["S12"]


def test_a_class_that_is_told_of_other_numbers_is_no_prediction(tmp_path: Path, zygote: Zygote) -> None:
    made, used = "self.fc1, self.fc2 = ", "return self.fc2("
    dropped = [
        (made, f"self.drop = nn.Dropout(0.1)\n        {made}"),
        (used, "return nn.Sequential(self.fc2, self.drop)("),
    ]
    begun = "\n\nif __name__ == '__main__':\n    print(torch.randn(3).softmax(0))\n    model = ViT()\n"
    scores = "    scores = model(torch.rand(2, 3, 32, 32))\n"
    looked = graded(zygote, tmp_path, f"{FINISHED}{begun}{scores}    print(scores.shape)\n", dropped)
    demand_all_points(looked)
    told = graded(zygote, tmp_path, f"{FINISHED}{begun}{scores}    print(scores.argmax(1))\n", dropped)
    assert [one.id for one in told.mistakes] == ["eval-not-called"]
