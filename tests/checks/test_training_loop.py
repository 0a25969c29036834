"""What a training loop in the same file leaves out, or does in the wrong order."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file
from test_unfinished import FINISHED, VIT

from vitcheck.checks.record.faults import to_write
from vitcheck.submissions.host.process import Zygote

_LOOP = """

def evaluate(model, batches):
    model.eval()
    with torch.no_grad():
        return sum((model(x).argmax(-1) == y).float().mean() for x, y in batches)


def train(model, batches, epochs, dropout=0.1):
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(epochs):
        model.train()
        for x, y in batches:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(evaluate(model, batches))
"""
_TRAINS, _CLEARS = "        model.train()\n", "            optimizer.zero_grad()\n"
_OPTIMIZER = "    optimizer = torch.optim.AdamW(model.parameters())\n"
_NEW_HEAD = "    model.head = nn.Linear(768, 5)\n"
_BATCHES = "        for x, y in batches:\n"
_SHUFFLED = """        images, labels = batches
        order = torch.randperm(len(images))
        for some in range(0, len(images), 8):
            rows = order[some:some + 8]
            x, y = images[some:some + 8], labels[rows]
"""
_ANOTHER = """
def main(batches):
    cnn = Other()
    vit = ViT()
    first = torch.optim.Adam(cnn.parameters())
    second = torch.optim.Adam({which}.parameters())
    fit(cnn, first, batches)
    {use}


class Other(nn.Module):
    def forward(self, x):
        return x
"""
_IN_A_LOOP = """for x, y in batches:
        second.zero_grad()
        nn.functional.cross_entropy(vit(x), y).backward()
        second.step()"""
_RIGHT = {
    "as usual": [],
    "once more after each look": [
        (_TRAINS, ""),
        (
            "        print(evaluate(model, batches))\n",
            "        print(evaluate(model, batches), model.train())\n",
        ),
    ],
    "nothing that modes change": [(_TRAINS, ""), (", dropout=0.1", "")],
    "a model of its own in each round": [(_TRAINS, "        model = ViT()\n")],
    "a look at the end": [
        (_TRAINS, ""),
        ("        print(evaluate(model, batches))\n", "    print(evaluate(model, batches))\n"),
    ],
    "gradients that are cleared by hand": [
        (_CLEARS, "            for one in model.parameters():\n                one.grad = None\n")
    ],
    "cleared behind the step": [
        (_CLEARS, ""),
        (
            "            optimizer.step()\n",
            "            optimizer.step()\n            optimizer.zero_grad()\n",
        ),
    ],
    "another head, and the optimizer anew": [
        ("    for epoch in", _NEW_HEAD + _OPTIMIZER + "    for epoch in"),
    ],
    "another head that the optimizer is told of": [
        (
            "    for epoch in",
            _NEW_HEAD
            + '    optimizer.add_param_group({"params": model.head.parameters()})\n    for epoch in',
        ),
    ],
    "two models that share one step": [
        ("    optimizer =", "    teacher = ViT()\n    optimizer ="),
        ("cross_entropy(model(x), y)", "cross_entropy(model(x), teacher(x).argmax(-1))"),
    ],
    "an order that images and labels share": [
        (_BATCHES, _SHUFFLED.replace("images[some:some + 8], labels", "images[rows], labels"))
    ],
    "no step": [(_CLEARS, ""), ("            optimizer.step()\n", "")],
}
_WRONG = {
    "in eval mode from the second epoch on": ((_TRAINS, ""), "train-mode-not-restored", "model.eval()"),
    "cleared before the step": (
        (
            _CLEARS + "            loss.backward()\n",
            "            loss.backward()\n" + _CLEARS,
        ),
        "gradients-cleared-before-step",
        "optimizer.zero_grad()",
    ),
    "another head behind the optimizer": (
        ("    for epoch in", _NEW_HEAD + "    for epoch in"),
        "optimizer-before-layer",
        _OPTIMIZER.strip(),
    ),
    "labels as they lie": (
        (
            _BATCHES,
            _SHUFFLED.replace("images[some:some + 8], labels[rows]", "images[rows], labels[some:some + 8]"),
        ),
        "labels-in-another-order",
        "x, y = images[rows], labels[some:some + 8]",
    ),
    "never cleared": ((_CLEARS, ""), "gradients-not-cleared", "loss.backward()"),
}


@pytest.mark.parametrize("name", _RIGHT)
def test_a_loop_that_leaves_nothing_out_is_right(name: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(FINISHED + edited(_LOOP, _RIGHT[name]), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == []


@pytest.mark.parametrize("name", _WRONG)
def test_what_is_left_out_is_shown(name: str, zygote: Zygote, tmp_path: Path) -> None:
    edit, id, line = _WRONG[name]
    result = graded_file(FINISHED + edited(_LOOP, [edit]), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == [id]
    place = result.mistakes[0].location
    assert place is not None
    assert [one.text.strip() for one in place.excerpt if one.marked] == [line]


def test_a_loop_is_looked_at_before_there_is_a_model(zygote: Zygote, tmp_path: Path) -> None:
    text = "import torch\nfrom torch import nn\n\n\nclass ViT(nn.Module):\n    ...\n"
    result = graded_file(text + edited(_LOOP, [(_CLEARS, "")]), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["gradients-not-cleared"]
    assert to_write(result)


@pytest.mark.parametrize("use", ["fit(vit, second, batches)", _IN_A_LOOP], ids=["a function", "a loop"])
def test_an_optimizer_holds_the_model_that_it_trains(use: str, zygote: Zygote, tmp_path: Path) -> None:
    for which, ids in (("cnn", ["optimizer-of-another-model"]), ("vit", [])):
        text = FINISHED + _ANOTHER.format(which=which, use=use)
        result = graded_file(text, VIT, zygote, tmp_path)
        assert [one.id for one in result.mistakes] == ids
