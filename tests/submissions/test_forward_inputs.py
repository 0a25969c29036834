"""Forwards that take more than an image: each model is built, and gives the scores of the image alone."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from constructors import vit

from vitcheck.submissions.child.building.recipe import Recipe, infer
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.questions.pins import Pins

SIGNATURE = ", img=32, patch=8, in_chans=3, dim=24, heads=4, depth=2, mlp_dim=48, classes=5"
SETUP = "self.setup(in_chans, (img // patch) ** 2, patch, dim, heads, depth, mlp_dim, classes)"

FORWARDS = {
    "a mask that nobody reads": "def forward(self, x, mask):\n    return super().forward(x)",
    "a mask that may be None": """
def forward(self, x, attention_mask, labels=None):
    if attention_mask is not None:
        raise ValueError("no masks yet")
    return super().forward(x)""",
    "a mask that is needed": """
def forward(self, x, mask):
    scores = super().forward(x)
    return scores.masked_fill(mask == 0, float("-inf"))""",
    "labels that are needed": """
def forward(self, images, labels):
    scores = super().forward(images)
    loss = nn.functional.cross_entropy(scores, labels)
    return {"loss": loss, "logits": scores}""",
    "the mask before the image": """
def forward(self, mask, x):
    return super().forward(x)""",
    "only by its name": "def forward(self, *, pixel_values):\n    return super().forward(pixel_values)",
    "a dictionary": """
def forward(self, batch):
    x = batch["pixel_values"]
    return super().forward(x)""",
    "a dictionary with labels": """
def forward(self, batch):
    labels = batch.get("labels")
    scores = super().forward(batch["image"])
    return scores if labels is None else nn.functional.cross_entropy(scores, labels)""",
    "an object": "def forward(self, batch):\n    return super().forward(batch.images)",
    "keywords": 'def forward(self, **batch):\n    return super().forward(batch["image"])',
    "a pair": "def forward(self, batch):\n    x, y = batch\n    return super().forward(x)",
}


def recipe_of(forward: str) -> Recipe:
    body = f"{SETUP}\n\n"
    source = vit(SIGNATURE, body) + "\n".join(f"    {line}" for line in forward.split("\n"))
    return infer(load({"vit.py": source.encode()}), Pins(None, {}))


@pytest.mark.parametrize("name", FORWARDS)
def test_what_a_forward_demands_beside_the_image_is_filled_in(name: str) -> None:
    recipe = recipe_of(FORWARDS[name])
    sizes = recipe.sizes_for(recipe.attempt.sizes)
    model = recipe.build(sizes).eval()
    image = torch.randn(sizes.batch, sizes.channels, sizes.height, sizes.width)
    found = model(image)
    scores = found["logits"] if isinstance(found, dict) else found
    backbone: Any = type(model).__mro__[1]
    assert torch.equal(scores, backbone.forward(model, image))
    assert recipe.controls.fixed == {}
    told = name not in ("only by its name", "keywords")
    assert any("forward" in note for note in recipe.notes()) == told


def test_a_forward_of_an_image_is_left_as_it_is() -> None:
    recipe = recipe_of("def forward(self, x, mask=None, **others):\n    return super().forward(x)")
    model = recipe.build(recipe.sizes_for(recipe.attempt.sizes))
    assert "forward" not in vars(model)
    assert not any("forward" in note for note in recipe.notes())


CHANNELS_LAST = """def forward(self, images):
    B, H, W, C = images.shape
    if C != self.patch_embed.in_channels:
        raise ValueError(f"{C} channels")
    return super().forward(images.permute(0, 3, 1, 2))"""


def test_images_are_given_with_their_channels_last_where_only_so_a_pass_comes_through() -> None:
    recipe = recipe_of(CHANNELS_LAST)
    sizes = recipe.sizes_for(recipe.attempt.sizes)
    model = recipe.build(sizes).eval()
    image = torch.randn(sizes.batch, sizes.channels, sizes.height, sizes.width)
    backbone: Any = type(model).__mro__[1]
    assert torch.equal(model(image), backbone.forward(model, image))
    assert recipe.channels_last
    assert recipe.controls.fixed == {}


def test_what_fails_with_any_image_is_given_them_as_they_are() -> None:
    recipe = recipe_of("def forward(self, x):\n    x = 2 * x\n    raise ValueError('here')")
    assert not recipe.channels_last
