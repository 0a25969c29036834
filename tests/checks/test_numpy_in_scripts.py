"""Scripts that cut, attend or normalise with NumPy: what it computes is judged like what torch computes."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import VIT

from vitcheck.submissions.host.process import Zygote

_BY_RESHAPE = """
import numpy as np
import torch

rng = np.random.default_rng(3)
photo = rng.integers(0, 256, size=(48, 48, 3)).astype("float32") / 255
photo = (photo - 0.5) / 0.25
side = 8
rows = photo.shape[0] // side
cut = photo.reshape(rows, side, rows, side, 3).swapaxes(1, 2).reshape(rows * rows, -1)
x = torch.tensor(cut, dtype=torch.float32).unsqueeze(0)
x = torch.nn.Linear(192, 40)(x)
"""
_BY_LOOPS = """
import numpy as np
import torch
from PIL import Image

photo = np.array(Image.open("holiday.jpg").resize((224, 224))) / 255.0
photo = photo.transpose(2, 0, 1)
flat = np.zeros((196, 768))
for down in range(14):
    for along in range(14):
        flat[down * 14 + along] = photo[:, down * 16:down * 16 + 16, along * 16:along * 16 + 16].flatten()
tokens = torch.nn.Linear(768, 768)(torch.from_numpy(flat).float()[None])
first = torch.nn.Parameter(torch.randn(1, 1, 768))
tokens = torch.cat((first, tokens), 1)
"""
_ATTENDING = """
import numpy as np

np.random.seed(0)
images = np.random.rand(2, 3, 24, 24)
d, heads, hd = 20, 4, 5
cut = images.reshape(2, 3, 4, 6, 4, 6).transpose(0, 2, 4, 1, 3, 5).reshape(2, 16, 108)
z = cut.dot(np.random.randn(108, d)) + np.random.randn(d)
z = np.concatenate([np.tile(np.random.randn(1, 1, d), (2, 1, 1)), z], axis=1) + np.random.randn(17, d)
mean, var = z.mean(-1, keepdims=True), z.var(-1, keepdims=True)
n = (z - mean) / np.sqrt(var + 1e-5)
q, k, v = [np.moveaxis((n @ np.random.randn(d, d)).reshape(2, 17, heads, hd), 2, 1) for _ in range(3)]
s = np.einsum("bhid,bhjd->bhij", q, k) / np.sqrt(hd)
s -= s.max(axis=-1, keepdims=True)
a = np.exp(s)
a /= a.sum(axis=-1, keepdims=True)
o = np.matmul(a, v).swapaxes(1, 2).reshape(2, 17, d)
o = o @ np.random.randn(d, d) + np.random.randn(d)
z = z + o
"""


_LINE_BY_LINE = """
import numpy as np

photo = np.random.rand(8, 8, 3)
names = np.array(["cat", "dog"], dtype=object)
wave = np.fft.fft(photo[..., 0])
rows = np.empty((4, 48))
for down in range(2):
    for along in range(2):
        at = 0
        for channel in range(3):
            for y in range(4):
                rows[2 * down + along, at : at + 4] = photo[4 * down + y, 4 * along : 4 * along + 4, channel]
                at += 4
"""
_NORMED_BY_A_FUNCTION = """
import numpy as np
import torch


def layernorm(a, gain, shift):
    return gain * (a - a.mean(axis=-1, keepdims=True)) / np.sqrt(a.var(axis=-1, keepdims=True) + 1e-5) + shift


photos = torch.rand(2, 3, 20, 20)
cut = photos.numpy().reshape(2, 3, 5, 4, 5, 4).transpose(0, 2, 4, 1, 3, 5).reshape(2, 25, 48)
x = cut @ np.random.randn(48, 30) + np.random.randn(30)
x = np.append(np.random.randn(1, 1, 30).repeat(2, axis=0), x, axis=1) + np.random.randn(26, 30)
n = layernorm(x, np.ones(30), np.zeros(30))
"""


# with the length of a patch written out, so that no other side of one goes with it
_WRITTEN_OUT = """
import numpy as np

np.random.seed(0)
image = np.random.rand(16, 16, 3)
p = 4
rows = []
for i in range(image.shape[0] // p):
    for j in range(image.shape[1] // p):
        rows.append(image[i * p : (i + 1) * p, j * p : (j + 1) * p, :].flatten())
patches = np.array(rows)
d = 12
weight, bias = np.random.randn(48, d) / np.sqrt(48), np.zeros(d)
tokens = np.concatenate([np.random.randn(1, d), patches @ weight + bias], axis=0)
x = tokens + np.random.randn(17, d) * 0.02
mean, var = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
xn = (x - mean) / np.sqrt(var + 1e-5)
to_q, to_k, to_v = (np.random.randn(d, d) for _ in range(3))
q, k, v = xn @ to_q, xn @ to_k, xn @ to_v
scores = q @ k.T / np.sqrt(d)
"""


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param(_WRITTEN_OUT, [*range(1, 13)], id="a number that fits one size of patches"),
        pytest.param(_BY_RESHAPE, [1, 2, 3, 4], id="one image, channels last, cut by a reshape"),
        pytest.param(_BY_LOOPS, [1, 2, 3, 4, 5, 6], id="a file of pixels, written into an array row by row"),
        pytest.param(_ATTENDING, [*range(1, 16)], id="attention, some of it in place"),
        pytest.param(_LINE_BY_LINE, [1, 2, 3], id="written line by line, beside what torch lacks"),
        pytest.param(_NORMED_BY_A_FUNCTION, [*range(1, 9)], id="a norm that is a function of arrays"),
    ],
)
def test_what_numpy_computes_is_right(text: str, right: list[int], zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], right)


@pytest.mark.parametrize(
    ("text", "edits", "id", "line"),
    [
        pytest.param(_BY_RESHAPE, [(".swapaxes(1, 2)", "")], "patch-axes-mixed", "cut = ", id="patches"),
        pytest.param(_ATTENDING, [(" / np.sqrt(hd)", "")], "scale-missing", "s = ", id="no scale"),
        pytest.param(
            *(_ATTENDING, [(".swapaxes(1, 2)", "")], "heads-merged-without-transpose", "o = "), id="heads"
        ),
        pytest.param(
            *(_ATTENDING, [("max(axis=-1", "max(axis=2"), ("sum(axis=-1", "sum(axis=2")]),
            *("softmax-over-queries", "a"),
            id="softmax",
        ),
    ],
)
def test_what_numpy_computes_wrongly_is_told(
    text: str, edits: list[tuple[str, str]], id: str, line: str, zygote: Zygote, tmp_path: Path
) -> None:
    wrong = edited(text, edits)
    first = graded_file(wrong, VIT, zygote, tmp_path).mistakes[0]
    assert (first.id, first.location is not None) == (id, True)
    assert first.location is not None
    assert wrong.splitlines()[first.location.line - 1].startswith(line)
