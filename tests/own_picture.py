"""A picture of one's own, as the commands take it: a sun over a field, with many equal pixels."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

from vitcheck.checks.assignment.assignment import Assignment, load_assignment
from vitcheck.reference.sizes import Sizes

SMALL = Sizes(height=48, width=48, patch=8, embed_dim=24, heads=3, mlp_dim=48, depth=4, classes=12)


def painted(folder: Path, name: str = "sun.png") -> Path:
    """The file."""
    image = Image.new("RGB", (96, 72), (120, 170, 235))
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 48, 96, 72), fill=(70, 140, 60))
    pen.ellipse((54, 8, 84, 38), fill=(250, 210, 60))
    image.save(folder / name)
    return folder / name


def small(name: str = "vit-debugging") -> Assignment:
    """An assignment that ships, at sizes that take no time, with few examples."""
    return load_assignment(name).model_copy(update={"full": SMALL, "examples": 2})
