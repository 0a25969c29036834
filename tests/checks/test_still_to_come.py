"""What students write where code is still to come, and parts that are judged where no model is."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import demand_all_points, graded_file
from test_unfinished import BEHIND_TOKENS, FINISHED

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.record.faults import to_write
from vitcheck.checks.record.result import Outcome, Result, StageStatus, Status
from vitcheck.submissions.host.process import Zygote

ANY = load_assignment(DEFAULT)

_BLOCK = FINISHED[: FINISHED.index("class ViT(")]
_EMBEDS = FINISHED[FINISHED.index("        x = self.patches(image)") : FINISHED.index(BEHIND_TOKENS)]
_MODEL = "class ViT(nn.Module):\n    def __init__(self, dim=64, heads=4):\n"
HEADS = """
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, D = x.shape
        d = D // self.heads
        q = self.q(x).view(B, T, self.heads, d).transpose(1, 2)
        k = self.k(x).view(B, T, self.heads, d).transpose(1, 2)
        v = self.v(x).view(B, T, self.heads, d).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / d ** 0.5
        weights = scores.softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, D))


class ViT(nn.Module):
    def forward(self, image):
        return None
"""
_TO_SCORES = HEADS.replace(
    """        weights = scores.softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, D))
""",
    """        weights = None
        out = None
        return out
""",
)
_ONE_HEAD = """
import torch
from torch import nn


class Kopf(nn.Module):
    def __init__(self, breite, kopf):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(breite, kopf), nn.Linear(breite, kopf), nn.Linear(breite, kopf)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / self.q.out_features ** 0.5
        return scores.softmax(-1) @ self.v(x)


class Mehrkopf(nn.Module):
    def __init__(self, breite, zahl):
        super().__init__()
        self.koepfe = nn.ModuleList([Kopf(breite, breite // zahl) for _ in range(zahl)])

    def forward(self, x):
        assert False, "noch nicht fertig"


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        assert False
"""
_SINGLE_HEADS = _ONE_HEAD.replace(
    'assert False, "noch nicht fertig"',
    "return torch.cat([one(x) for one in self.koepfe], dim=-1)  # TODO: Projektion",
)
_FUNCTIONS = """
import torch
import torch.nn.functional as F


def init_layer(dim, hidden):
    draw = lambda *shape: torch.randn(*shape) * 0.02
    return dict(
        qkv=draw(dim, 3 * dim), qkv_b=draw(3 * dim), out=draw(dim, dim), out_b=draw(dim),
        w1=draw(dim, hidden), b1=draw(hidden), w2=draw(hidden, dim), b2=draw(dim),
    )


def attention(x, p, heads):
    B, T, D = x.shape
    q, k, v = (x @ p["qkv"] + p["qkv_b"]).split(D, dim=-1)
    q, k, v = (one.reshape(B, T, heads, -1).transpose(1, 2) for one in (q, k, v))
    weights = torch.softmax(q @ k.transpose(-1, -2) / (D // heads) ** 0.5, dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, T, D) @ p["out"] + p["out_b"]


def mlp(x, p):
    return F.gelu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def embed(image, p):
    raise NotImplementedError


def vit(image, p, heads):
    ...
"""
_SHORT = """
import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.qkv, self.proj = h, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4)
        weights = (q @ k.mT * (C // self.h) ** -0.5).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(B, N, C))


class Block(nn.Module):
    def __init__(self, d, h, r=4):
        super().__init__()
        self.n1, self.attn, self.n2 = nn.LayerNorm(d), MHA(d, h), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, r * d), nn.GELU(), nn.Linear(r * d, d))

    def forward(self, x):
        x = x + self.attn(self.n1(x))
        return x + self.mlp(self.n2(x))


# TODO the model
"""
_FACTORIES = """
import torch
from torch import nn


def make_mlp(width, hidden):
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))


def make_block(width, heads, hidden):
    m = nn.Module()
    m.norm1, m.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
    m.attention = nn.MultiheadAttention(width, heads, batch_first=True)
    m.mlp = make_mlp(width, hidden)

    def forward(x):
        y = m.norm1(x)
        x = x + m.attention(y, y, y)[0]
        return x + m.mlp(m.norm2(x))

    m.forward = forward
    return m


def make_vit(side=64, patch=16, classes=10, width=128, depth=4, heads=4, hidden=256):
    m = nn.Module()
    m.patches = nn.Conv2d(3, width, patch, patch)
    m.token = nn.Parameter(torch.zeros(1, 1, width))
    m.positions = nn.Parameter(torch.zeros(1, (side // patch) ** 2 + 1, width))
    m.blocks = nn.ModuleList([make_block(width, heads, hidden) for _ in range(depth)])
    m.norm, m.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(images):
        x = m.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([m.token.expand(len(x), -1, -1), x], dim=1) + m.positions
        for block in m.blocks:
            x = block(x)
        return m.head(m.norm(x)[:, 0])

    m.forward = forward
    return m
"""

_INSIDE = """    class Mlp(nn.Module):
        def __init__(self, dim, mlp):
            super().__init__()
            self.one, self.two = nn.Linear(dim, mlp), nn.Linear(mlp, dim)
            self.act, self.drop = nn.GELU(), nn.Identity()

        def forward(self, x):
            return self.two(self.drop(self.act(self.one(x))))

"""


def graded(text: str, zygote: Zygote, folder: Path) -> Result:
    return graded_file(text, ANY, zygote, folder)


def _stages(result: Result, status: StageStatus) -> list[str]:
    return [label for label, one in result.stages.items() if one.status is status]


def _numbered(*ranges: range) -> list[str]:
    return [f"S{number:02}" for some in ranges for number in some]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param(
            _BLOCK + _MODEL + "        super().__init__()\n        assert False\n",
            _numbered(range(1, 2), range(8, 21)),
            id="an assertion that cannot hold",
        ),
        pytest.param(
            _BLOCK + _MODEL + '        raise RuntimeError("todo")\n',
            _numbered(range(1, 2), range(8, 21)),
            id="any exception",
        ),
        pytest.param(
            _BLOCK + _MODEL + "        ...\n\n    def forward(self, x): ...\n",
            _numbered(range(1, 2), range(8, 21)),
            id="a constructor that is empty",
        ),
        pytest.param(_TO_SCORES, _numbered(range(1, 2), range(9, 13)), id="attention up to its scores"),
        pytest.param(_ONE_HEAD, _numbered(range(1, 2)), id="one of several heads"),
        pytest.param(
            _FUNCTIONS,
            _numbered(range(1, 2), range(9, 16), range(17, 19)),
            id="functions of a dictionary",
        ),
        pytest.param(_SHORT, _numbered(range(1, 2), range(8, 21)), id="letters for sizes"),
        pytest.param(
            edited(FINISHED, [("Block(dim, heads, mlp) for", "EncoderLayer(dim, heads, mlp) for")]),
            _numbered(range(1, 21), range(22, 27)),
            id="a class that is not there",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    (
                        "nn.ModuleList([Block(dim, heads, mlp) for _ in range(depth)])",
                        "TransformerEncoder(depth)",  # the library's takes a layer, too
                    ),
                    (
                        "        for block in self.blocks:\n            x = block(x)\n",
                        "        x = self.blocks(x)\n",
                    ),
                ],
            ),
            _numbered(range(1, 21), range(22, 27)),
            id="a class that is not there, of a name that a library has",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    (
                        "self.blocks = nn.ModuleList([Block(dim, heads, mlp) for _ in range(depth)])",
                        "# a placeholder, until the blocks are there\n        self.encoder = nn.Identity()",
                    ),
                    (
                        "        for block in self.blocks:\n            x = block(x)\n",
                        "        x = self.encoder(x)\n",
                    ),
                ],
            ),
            _numbered(range(1, 21), range(23, 27)),
            id="a comment above",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    (", nn.Linear(dim, num_classes)", ", None"),
                    ("return self.head(self.pooled(self.norm(x)))", "token = x[:, 0]"),
                ],
            ),
            _numbered(range(1, 23)),
            id="a token that is not given back, without a head",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    (
                        "self.patches = nn.Conv2d(3, dim, patch_size, patch_size)",
                        "self.patches = nn.Unfold(patch_size, stride=patch_size)\n"
                        "        rows = 3 * patch_size**2\n"
                        "        self.embed = nn.Sequential("
                        "nn.LayerNorm(rows), nn.Linear(rows, dim), nn.LayerNorm(dim))",
                    ),
                    ("self.patches(image).flatten(2)", "self.embed(self.patches(image).mT).mT"),
                    (BEHIND_TOKENS, "        return self.blocks(x)\n"),
                    (
                        "nn.ModuleList([Block(dim, heads, mlp) for _ in range(depth)])",
                        "nn.Sequential(*[nn.Identity() for _ in range(depth)])",
                    ),
                ],
            ),
            _numbered(range(1, 21)),
            id="norms around the projection, and blocks that do nothing",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    ("        x = x + self.pos\n", "        # TODO: positions\n"),
                    ("self.head(self.pooled(self.norm(x)))", "x"),
                ],
            ),
            _numbered(range(1, 7), range(8, 23)),
            id="positions of which a comment says that they are to come",
        ),
        pytest.param(
            edited(FINISHED, [(_EMBEDS, "        x = tokens_of(image)\n")]),
            _numbered(range(1, 2), range(8, 27)),
            id="a function that is not there",
        ),
        pytest.param(_SINGLE_HEADS, _numbered(range(1, 2), range(9, 15)), id="heads before their projection"),
        pytest.param(
            edited(
                FINISHED,
                [
                    (", nn.Linear(dim, num_classes)", ", None"),
                    ("self.head(self.pooled(self.norm(x)))", "self.pooled(self.norm(x))  # TODO: head"),
                ],
            ),
            _numbered(range(1, 25)),
            id="a comment at the end",
        ),
        pytest.param(
            edited(
                FINISHED,
                [
                    (
                        "        x = self.patches(image).flatten(2).transpose(1, 2)",
                        "        out = torch.zeros(len(image), 10)\n        return out",
                    ),
                ],
            ),
            _numbered(range(1, 2), range(8, 21)),
            id="zeros in a variable",
        ),
        pytest.param(
            edited(FINISHED, [("return x + self.mlp(self.norm2(x))", "# MLP hai mei xie\n        return x")]),
            _numbered(range(1, 16), range(20, 27)),
            id="a note that names it in the place of it",
        ),
    ],
)
def test_the_rest_is_not_written_yet(text: str, right: list[str], zygote: Zygote, tmp_path: Path) -> None:
    result = graded(text, zygote, tmp_path)
    assert [one.message for one in result.checks if one.outcome is Outcome.FAILED] == []
    assert _stages(result, StageStatus.PASSED) == right
    assert len(to_write(result)) == 26 - len(right)


@pytest.mark.parametrize(
    ("text", "id", "stage", "line"),
    [
        pytest.param(
            edited(_TO_SCORES, [("/ d ** 0.5", "/ D ** 0.5")]),
            "scale-by-embed-dim",
            "S12",
            "scores = ",
            id="in half a part",
        ),
        pytest.param(
            edited(_FUNCTIONS, [("(weights @ v).transpose(1, 2).reshape", "(weights @ v).reshape")]),
            "heads-merged-without-transpose",
            "S15",
            "return (weights",
            id="in functions of a dictionary",
        ),
        pytest.param(
            edited(
                HEADS,
                [
                    (
                        "q = self.q(x).view(B, T, self.heads, d).transpose(1, 2)",
                        "q = self.q(x).view(B, self.heads, T, d)",
                    )
                ],
            ),
            "heads-split-without-transpose",
            "S09",
            "q = self.q",
            id="of one of three maps",
        ),
    ],
)
def test_a_mistake_in_a_part_is_told(
    text: str, id: str, stage: str, line: str, zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(text, zygote, tmp_path)
    assert [(one.id, one.stage) for one in result.mistakes] == [(id, stage)]
    place = result.stages[stage].location
    assert place is not None
    assert text.split("\n")[place.line - 1].strip().startswith(line)


def test_a_comment_of_what_is_done_wrongly_is_no_note_of_what_is_to_come(
    zygote: Zygote, tmp_path: Path
) -> None:
    wrong = edited(
        FINISHED,
        [("return x + self.mlp(self.norm2(x))", "# the MLP\n        x + self.mlp(x)\n        return x")],
    )
    assert [one.id for one in graded(wrong, zygote, tmp_path).mistakes][:1] == ["mlp-left-out"]


def test_a_class_of_another_name_is_a_slip(zygote: Zygote, tmp_path: Path) -> None:
    text = edited(FINISHED, [("Block(dim, heads, mlp) for", "Blokc(dim, heads, mlp) for")])
    result = graded(text, zygote, tmp_path)
    assert result.status is not Status.GRADED
    assert "Blokc" in (result.reason or "")


def test_a_class_within_a_class_makes_no_other_unfinished(zygote: Zygote, tmp_path: Path) -> None:
    inside = (
        "\n    class Mlp(nn.Module):\n        def __init__(self, dim, mlp):\n            super().__init__()\n"
    )
    inside += "            self.one, self.two = nn.Linear(dim, mlp), nn.Linear(mlp, dim)\n"
    inside += "            self.act, self.drop = nn.GELU(), nn.Identity()\n\n"
    inside += "        def forward(self, x):\n            return self.two(self.drop(self.act(self.one(x))))\n"
    edits = [
        ("class Block(nn.Module):\n", f"class Block(nn.Module):{inside}\n"),
        ("self.fc1, self.fc2 = nn.Linear(dim, mlp), nn.Linear(mlp, dim)", "self.more = self.Mlp(dim, mlp)"),
        ("self.fc2(nn.functional.gelu(self.fc1(x)))", "self.more(x)"),
        ("[Block(dim, heads, mlp) for _ in range(depth)]", "[Block(dim, heads, mlp)] * depth"),
    ]
    result = graded(edited(FINISHED, edits), zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["blocks-share-one-instance"]
    assert to_write(result) == []


def test_modules_that_functions_fill_are_models(zygote: Zygote, tmp_path: Path) -> None:
    demand_all_points(graded(_FACTORIES, zygote, tmp_path))
