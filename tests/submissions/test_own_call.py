"""Constructors that nobody can understand: what the student's own code gives them makes the model."""

# ruff: noqa: E501  # the table would be unreadable, broken into shorter lines

from __future__ import annotations

import pytest
import torch
from constructors import vit

from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.child.building.recipe import infer
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.questions.pins import Pins

torch.set_num_threads(1)

_ASKED = Sizes(
    batch=3, channels=1, height=20, width=20, patch=4, embed_dim=32, heads=4, mlp_dim=96, depth=3, classes=7
)
_BODY = (
    "self.setup(3, ns.grid.rows * ns.grid.columns, ns.grid.step, ns.inner.wide, ns.inner.parts, ns.often,"
    " ns.inner.hidden, ns.answers)"
)
_MADE = "NS(grid=NS(rows=3, columns=4, step=5), inner=NS(wide=30, parts=5, hidden=90), often=2, answers=4)"
_IMPORTS = "from types import SimpleNamespace as NS\nimport argparse"
_CALLS = {
    "under the guard": "if __name__ == '__main__':\n    tiny = {made}\n    model = ViT(tiny)\n{image}",
    "in main": "def main(images=2):\n    tiny = {made}\n    for _ in range(2):\n        model = ViT(tiny)\n    {image}",
    "of arguments": "def main():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('--answers', type=int,"
    " default=4)\n    told = parser.parse_args()\n    tiny = {made}\n    tiny.answers = told.answers\n"
    "    model = ViT(tiny)\n    {image}",
    "where it is trained": "tiny = {made}\nmodel = ViT(tiny).train()\nwhile True:\n    loss = model({image}).sum()\n",
}


@pytest.mark.parametrize("which", _CALLS)
def test_a_model_is_made_as_its_author_makes_it(which: str) -> None:
    after = _CALLS[which].format(made=_MADE, image="torch.rand(8, 3, 15, 20)")
    loaded = load({"vit.py": vit(", ns", _BODY, before=_IMPORTS, after=after).encode()})
    recipe = infer(loaded, Pins())
    sizes = recipe.sizes_for(_ASKED)
    told = {"height": 15, "width": 20, "patch": 5, "embed_dim": 30, "mlp_dim": 90, "heads": 5}
    assert {name: vars(sizes)[name] for name in told} == told
    assert recipe.build(sizes).double()(sizes.input(0)).shape == (sizes.batch, 4)
