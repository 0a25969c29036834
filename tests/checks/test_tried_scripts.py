"""Files whose models are known only by the lines that try them out, which are run as scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from one_file import demand_all_points, graded_file, right_stages

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.record.result import Outcome
from vitcheck.submissions.host.process import Zygote

# in train mode, with a parameter that holds nothing, and a default that the images do not follow
_CLASS_OF_A_FUNCTION = """
import torch
from torch import nn


def make_vit(side, patch, channels=3, classes=10, width=96, heads=3, depth=3, dropout=0.1):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = nn.MultiheadAttention(width, heads, dropout=dropout, batch_first=True)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            self.drop = nn.Dropout(dropout)

        def forward(self, x):
            y = self.norm1(x)
            x = x + self.drop(self.attention(y, y, y, need_weights=False)[0])
            return x + self.drop(self.mlp(self.norm2(x)))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(channels, width, patch, patch)
            self.token = nn.Parameter(torch.zeros(1, 1, width))
            self.unused = nn.Parameter(torch.zeros(0, width))
            self.positions = nn.Parameter(torch.zeros(1, (side // patch) ** 2 + 1, width))
            self.blocks = nn.Sequential(*[Block() for _ in range(depth)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

        def forward(self, image):
            x = self.patches(image).flatten(2).transpose(1, 2)
            x = torch.cat([self.unused.expand(len(x), -1, -1), self.token.expand(len(x), -1, -1), x], dim=1)
            return self.head(self.norm(self.blocks(x + self.positions))[:, 0])

    return Net


Small = make_vit(side=32, patch=4)

if __name__ == "__main__":
    print(Small()(torch.randn(2, 3, 32, 32)).shape)
"""
_FUNCTIONS = """
import torch
import torch.nn.functional as F

def weights(rows, columns):
    return torch.randn(rows, columns) * 0.02


def norm(x, scales):
    return F.layer_norm(x, (64,), *scales)


scales = [[torch.rand(64) + 0.5, torch.randn(64) * 0.1] for _ in range(5)]
layers = [[weights(64, n * 64) for n in (3, 1, 4)] + [weights(256, 64)] for _ in range(2)]
patch, token, positions = weights(192, 64), torch.zeros(1, 1, 64), torch.randn(1, 17, 64)
head, bias = torch.zeros(64, 10), torch.zeros(10)


def run(images):
    x = F.unfold(images, 8, stride=8).transpose(1, 2) @ patch
    x = torch.cat([token.expand(len(x), -1, -1), x], dim=1) + positions
    for at, (qkv, out, first, second) in enumerate(layers):
        q, k, v = (norm(x, scales[2 * at]) @ qkv).reshape(len(x), 17, 3, 4, -1).permute(2, 0, 3, 1, 4)
        attention = (q @ k.mT / (16) ** 0.5).softmax(-1)
        x = x + (attention @ v).transpose(1, 2).flatten(2) @ out
        x = x + F.gelu(norm(x, scales[2 * at + 1]) @ first) @ second
    return norm(x, scales[-1])[:, 0] @ head + bias


images = torch.randn(3, 3, 32, 32)
print(run(images).shape)
"""


# the images are made class by class, and read nowhere but where the model is trained
_TRAINING = """
import torch
from torch import nn
import torch.nn.functional as F

SIDE, PATCH, WIDTH, HEADS, CLASSES = 16, 4, 48, 4, 4
COUNT = (SIDE // PATCH) ** 2
images, labels = torch.randn(96, 3, SIDE, SIDE), torch.randint(0, CLASSES, (96,))
for one in range(CLASSES):
    images[labels == one, :, one : one + 4] += 1.0
model = nn.ModuleDict({
    "embed": nn.Conv2d(3, WIDTH, PATCH, PATCH),
    "learned": nn.ParameterDict({
        "token": nn.Parameter(torch.zeros(1, 1, WIDTH)),
        "positions": nn.Parameter(torch.randn(1, COUNT + 1, WIDTH) * 0.02),
    }),
    "layers": nn.ModuleList([nn.ModuleDict({
        "n1": nn.LayerNorm(WIDTH), "qkv": nn.Linear(WIDTH, 3 * WIDTH), "out": nn.Linear(WIDTH, WIDTH),
        "n2": nn.LayerNorm(WIDTH), "up": nn.Linear(WIDTH, 4 * WIDTH), "down": nn.Linear(4 * WIDTH, WIDTH),
    }) for _ in range(3)]),
    "norm": nn.LayerNorm(WIDTH),
    "head": nn.Linear(WIDTH, CLASSES),
})


def run(image):
    x = model["embed"](image).flatten(2).transpose(1, 2)
    x = torch.cat([model["learned"]["token"].expand(len(x), -1, -1), x], 1) + model["learned"]["positions"]
    for m in model["layers"]:
        q, k, v = m["qkv"](m["n1"](x)).view(len(x), COUNT + 1, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(len(x), COUNT + 1, WIDTH)
        x = x + m["out"](y)
        x = x + m["down"](F.gelu(m["up"](m["n2"](x))))
    return model["head"](model["norm"](x)[:, 0])


optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(3):
    for some in torch.randperm(len(images)).split(32):
        loss = F.cross_entropy(run(images[some]), labels[some])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
"""

_TO_SCORES = """
import torch
from torch import nn

image = torch.randn(1, 3, 224, 224)
side = 32
p = image.unfold(2, side, side).unfold(3, side, side).permute(0, 2, 3, 1, 4, 5)
x = nn.Linear(3 * side ** 2, 256)(p.reshape(1, 7 * 7, 3 * side * side))
x = torch.cat([nn.Parameter(torch.randn(1, 1, 256)), x], dim=1) + nn.Parameter(torch.randn(1, 50, 256))
normed = nn.LayerNorm(256)(x)
q, k, v = nn.Linear(256, 256)(normed), nn.Linear(256, 256)(normed), nn.Linear(256, 256)(normed)
q, k = (one.view(1, 50, 8, 32).transpose(1, 2) for one in (q, k))
scores = q @ k.transpose(-1, -2) / 32 ** 0.5
print(scores.shape)
"""
_ONE_CHANNEL = """
import torch
from torch import nn

images = torch.rand(3, 28, 28)
patches = images.reshape(3, 4, 7, 4, 7).transpose(2, 3).reshape(3, 16, 49)
x = patches @ nn.Parameter(torch.randn(49, 48)) + nn.Parameter(torch.zeros(48))
token, positions = nn.Parameter(torch.zeros(1, 1, 48)), nn.Parameter(torch.randn(1, 17, 48))
x = torch.cat([token.repeat(3, 1, 1), x], 1) + positions
print(x.shape)
"""
_MLP_BEFORE_THE_BLOCK = """
import torch
from torch import nn

images = torch.randn(2, 3, 32, 32)
x = nn.Conv2d(3, 64, 8, 8)(images).flatten(2).transpose(1, 2)
token, positions = nn.Parameter(torch.zeros(1, 1, 64)), nn.Parameter(torch.randn(17, 64))
x = torch.cat([token.expand(2, 1, 64), x], 1) + positions
mlp = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
print(mlp(x).shape)
normed = nn.LayerNorm(64)(x)
y, weights = nn.MultiheadAttention(64, 4, batch_first=True)(normed, normed, normed)
x = x + y
print(x.shape)
"""

# a first patch that is compared with its corner of one image, and what is still None where it is called
_BLOCKS_TO_COME = """
import torch
from torch import nn

images = torch.rand(4, 3, 32, 32)
x = images.reshape(4, 3, 4, 8, 4, 8).permute(0, 2, 4, 1, 3, 5).reshape(4, 16, 192)
assert torch.equal(x[0, 0].view(3, 8, 8), images[0, :, :8, :8])
token, positions = nn.Parameter(torch.zeros(1, 1, 48)), nn.Parameter(torch.zeros(1, 17, 48))
x = torch.cat([token.expand(4, 1, 48), nn.Linear(192, 48)(x)], dim=1) + positions
blocks = None
x = blocks(x)
"""
_WEIGHTS_TO_COME = """
import torch
from torch import nn

images = torch.randn(8, 1, 28, 28)
x = images.unfold(2, 7, 7).unfold(3, 7, 7).permute(0, 2, 3, 1, 4, 5).reshape(8, 16, 49)
token, positions = nn.Parameter(torch.randn(1, 1, 64)), nn.Parameter(torch.randn(1, 17, 64))
x = torch.cat([token.repeat(8, 1, 1), nn.Linear(49, 64)(x)], 1) + positions
h = nn.LayerNorm(64)(x)
q, k, v = (nn.Linear(64, 64)(h).view(8, 17, 4, 16).transpose(1, 2) for _ in range(3))
scores = q @ k.transpose(2, 3) / 4
weights = None
context = weights @ v
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_CLASS_OF_A_FUNCTION, id="a class that a function returns"),
        pytest.param(_FUNCTIONS, id="a head of zeros"),
        pytest.param(_TRAINING, id="nothing but its training"),
    ],
)
def test_what_is_tried_out_gets_all_points(text: str, zygote: Zygote, tmp_path: Path) -> None:
    demand_all_points(graded_file(text, load_assignment(DEFAULT), zygote, tmp_path))


# the letter of the height may be that of the heads, and the hidden layer follows the width
_LETTERS = """
import torch
from torch import nn

B, C, H, W, P, D, heads, depth, classes = 2, 3, 32, 32, 4, 64, 4, 3, 10
img = torch.randn(B, C, H, W)
x = img.unfold(2, P, P).unfold(3, P, P).permute(0, 2, 3, 1, 4, 5).reshape(B, -1, C * P * P)
x = nn.Linear(C * P * P, D)(x)
x = torch.cat([nn.Parameter(torch.zeros(1, 1, D)).expand(B, -1, -1), x], dim=1)
x = x + nn.Parameter(torch.randn(1, x.shape[1], D) * 0.02)
layer = nn.TransformerEncoderLayer(D, heads, 4 * D, 0.0, "gelu", batch_first=True, norm_first=True)
blocks = nn.TransformerEncoder(layer, depth)
norm, head = nn.LayerNorm(D), nn.Linear(D, classes)
logits = head(norm(blocks(x))[:, 0])
probs = logits.softmax(-1)
loss = nn.functional.cross_entropy(logits, torch.zeros(B, dtype=torch.long))
"""


def test_a_script_with_letters_for_its_sizes_gets_all_points(zygote: Zygote, tmp_path: Path) -> None:
    demand_all_points(graded_file(_LETTERS, load_assignment(DEFAULT), zygote, tmp_path))


# sizes whose names say nothing, a head at a time, and gradients that are asked for
_HEAD_BY_HEAD = """
import torch
from torch import nn
import torch.nn.functional as F

taille, p, canaux, dimension, n, classes = 28, 7, 1, 48, 6, 10
images, labels = torch.rand(5, canaux, taille, taille), torch.randint(0, classes, (5,))


def weights(*sizes):
    return nn.Parameter(torch.randn(*sizes) * 0.02)


w = weights(dimension, canaux * p ** 2)
z = F.linear(F.unfold(images, p, stride=p).transpose(1, 2), w, nn.Parameter(torch.zeros(dimension)))
z = torch.cat((weights(1, 1, dimension).repeat(5, 1, 1), z), dim=1) + weights(1, 17, dimension)
z = F.dropout(z, 0.1)
for _ in range(2):
    y = F.layer_norm(z, (dimension,), weights(dimension), weights(dimension))
    q, k, v = (F.linear(y, weights(dimension, dimension)) for _ in range(3))
    heads = []
    for h in range(n):
        one = slice(h * dimension // n, (h + 1) * dimension // n)
        scores = q[:, :, one] @ k[:, :, one].transpose(1, 2) / (dimension // n) ** 0.5
        heads.append(F.softmax(scores, dim=-1) @ v[:, :, one])
    z = z + F.linear(torch.cat(heads, dim=-1), weights(dimension, dimension), weights(dimension))
    y = F.layer_norm(z, (dimension,), weights(dimension), weights(dimension))
    y = F.gelu(F.linear(y, weights(4 * dimension, dimension), weights(4 * dimension)))
    z = z + F.linear(y, weights(dimension, 4 * dimension), weights(dimension))
z = F.layer_norm(z, (dimension,), weights(dimension), weights(dimension))
logits = F.linear(z[:, 0], weights(classes, dimension), weights(classes))
F.cross_entropy(logits, labels).backward()
assert w.grad is not None
"""
# no constant at all, and a width that is half of the hidden layer's
_WRITTEN_OUT = """
from functools import partial

import torch
from torch import nn
import torch.nn.functional as F


class Net:
    def __init__(self, d=128):
        self.cut, self.token = nn.Conv2d(3, d, 16, 16), nn.Parameter(torch.zeros(1, 1, d))
        self.places = nn.Parameter(torch.zeros(1, 17, d))
        block = partial(nn.TransformerEncoderLayer, d, 8, 256, 0.0, "gelu", batch_first=True, norm_first=True)
        self.blocks = [block() for _ in range(3)]
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, 100)


def predict(m, images):
    z = m.cut(images).flatten(2).transpose(1, 2)
    z = torch.cat([m.token.expand(len(z), -1, -1), z], dim=1) + m.places
    for block in m.blocks:
        z = block(z)
    return m.head(m.norm(z)[:, 0])


scores = predict(Net(), torch.randn(3, 3, 64, 64))
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_HEAD_BY_HEAD, id="a head at a time"),
        pytest.param(_WRITTEN_OUT, id="sizes that are written out"),
    ],
)
def test_a_script_whose_names_say_little_gets_all_points(text: str, zygote: Zygote, tmp_path: Path) -> None:
    demand_all_points(graded_file(text, load_assignment(DEFAULT), zygote, tmp_path))


def test_probabilities_that_a_script_keeps_are_judged(zygote: Zygote, tmp_path: Path) -> None:
    text = _LETTERS.replace("softmax(-1)", "softmax(0)")
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["class-softmax-over-batch"]


def test_a_script_is_right_behind_blocks_that_are_to_come(zygote: Zygote, tmp_path: Path) -> None:
    text = _LETTERS.replace("blocks = nn.TransformerEncoder(layer, depth)", "blocks = None")
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [*range(1, 9), *range(22, 27)])


# a norm and an MLP are tried on the patches: neither a class token nor positions are left out for that
_MLP_ON_PATCHES = """
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        x = x - x.mean(dim=-1, keepdim=True)
        return x / (x.pow(2).mean(dim=-1, keepdim=True) + 1e-5).sqrt() * self.weight + self.bias


class MLP(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        return self.net(x)


x = torch.randn(2, 3, 32, 32)
tokens = nn.Conv2d(3, 32, kernel_size=8, stride=8)(x).flatten(2).transpose(1, 2)
assert tokens.shape == (2, 16, 32)
y = tokens + MLP(32)(Norm(32)(tokens))
assert y.shape == (2, 16, 32)


class Attention(nn.Module):
    def forward(self, x):
        return None
"""


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param(_TO_SCORES, 12, id="patches that a quarter of the image does not hold"),
        pytest.param(_ONE_CHANNEL, 8, id="images without an axis of channels"),
        pytest.param(_MLP_BEFORE_THE_BLOCK, 15, id="an MLP that is tried by itself"),
        pytest.param(_BLOCKS_TO_COME, 8, id="blocks that are None where they are called"),
        pytest.param(_WEIGHTS_TO_COME, 12, id="weights that are None where they are multiplied"),
    ],
)
def test_a_script_is_right_as_far_as_it_comes(text: str, right: int, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert [one.message for one in result.checks if one.outcome is Outcome.FAILED] == []
    assert right_stages(result) == [*range(1, right + 1)]


def test_a_norm_and_an_mlp_that_are_tried_on_patches_leave_nothing_out(
    zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(_MLP_ON_PATCHES, load_assignment(DEFAULT), zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [1, 2, 3, 4, 17, 18])
