"""Pictures that tell how an image is made into the input of a model: solid colours, modes, shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PIL import Image

BLACK, WHITE, RED = (0, 0, 0), (255, 255, 255), (255, 0, 0)


def _solid(colour: tuple[int, int, int]) -> Callable[[int], Image.Image]:
    return lambda side: Image.new("RGB", (side, side), colour)


def _quarters(side: int) -> Image.Image:
    """Red, green, blue and black quarters."""
    image, half = Image.new("RGB", (side, side)), side // 2
    for number, colour in enumerate((RED, (0, 255, 0), (0, 0, 255))):
        image.paste(
            colour, (number % 2 * half, number // 2 * half, (number % 2 + 1) * half, (number // 2 + 1) * half)
        )
    return image


def _wide(side: int) -> Image.Image:
    """Twice as wide as high: its left quarter is white, the rest black."""
    image = Image.new("RGB", (2 * side, side))
    image.paste(WHITE, (0, 0, side // 2, side))
    return image


# by name, each made for a model that reads squares of a side; all lie within one palette
PICTURES: Mapping[str, Callable[[int], Image.Image]] = {
    "black": _solid(BLACK),
    "white": _solid(WHITE),
    "red": _solid(RED),
    "quarters": _quarters,
    "wide": _wide,
    "grey": lambda side: Image.new("L", (side, side), 255),
    "transparent": lambda side: _quarters(side).convert("RGBA"),
    "palette": lambda side: _quarters(side).convert("P"),
}
