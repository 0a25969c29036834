"""Every kind of image that students hand in becomes the picture that a viewer shows."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from torchvision import transforms

from vitcheck.reference.normalisation import undo
from vitcheck.reference.preprocessing import to_input

# float32 to and from normalised values loses some units of 1e-7; one step of 8 bits is 4e-3.
assert_close = partial(torch.testing.assert_close, rtol=0, atol=1e-6)


def colour(tensor: Tensor) -> list[int]:
    """Return red, green and blue of an image of one colour, from 0 to 255."""
    pixels = undo(tensor)[0].flatten(1)
    assert_close(pixels, pixels[:, :1].expand_as(pixels))
    return [round(value) for value in (pixels[:, 0] * 255).tolist()]


def photo(width: int, height: int) -> Image.Image:
    values = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(values)


@pytest.mark.parametrize(
    ("mode", "fill", "expected"),
    [
        ("RGB", (255, 0, 128), [255, 0, 128]),
        ("L", 128, [128, 128, 128]),
        ("1", 1, [255, 255, 255]),
        ("P", "red", [255, 0, 0]),
        ("CMYK", (255, 0, 0, 0), [0, 255, 255]),
        ("I", 0x8080, [128, 128, 128]),
        ("I;16", 0x8080, [128, 128, 128]),
        ("I;16", 25_900, [101, 101, 101]),  # 100.8 of 255, rounded
        ("I;16B", 0xFFFF, [255, 255, 255]),
        ("LA", (0, 0), [255, 255, 255]),
        ("RGBA", (255, 0, 0, 128), [255, 127, 127]),  # half red, half the white behind it
        ("RGBA", (255, 0, 0, 0), [255, 255, 255]),  # the red under a transparent pixel is not seen
    ],
)
def test_modes_become_the_colour_they_show(
    mode: str, fill: int | str | tuple[int, ...], expected: list[int]
) -> None:
    assert colour(to_input(Image.new(mode, (6, 4), fill), size=8)) == expected


@pytest.mark.parametrize("mode", ["RGB", "L", "LA", "RGBA", "P", "1", "I;16"])
def test_files_give_what_the_image_gives(mode: str, tmp_path: Path) -> None:
    grey = photo(6, 4).convert("L")
    image = Image.fromarray(np.asarray(grey, np.uint16) * 257) if mode == "I;16" else grey.convert(mode)
    image.save(tmp_path / "image.png")
    assert_close(to_input(tmp_path / "image.png", 8), to_input(image, 8))


def test_16_bits_show_what_8_bits_show() -> None:
    grey = photo(6, 4).convert("L")
    deep = Image.fromarray(np.asarray(grey, np.uint16) * 257)
    assert_close(to_input(deep, 8), to_input(grey, 8))


@pytest.mark.parametrize(("mode", "other"), [("P", 3), ("I;16", 0x8080), ("L", 5)])
def test_a_transparent_value_shows_white(mode: str, other: int, tmp_path: Path) -> None:
    image = Image.new(mode, (6, 4), 7)
    if mode == "P":
        image.putpalette([7, 0, 7] * 256)
    image.save(tmp_path / "clear.png", transparency=7)
    image.save(tmp_path / "solid.png", transparency=other)
    assert colour(to_input(tmp_path / "clear.png", 8)) == [255, 255, 255]
    assert colour(to_input(tmp_path / "solid.png", 8)) != [255, 255, 255]


def test_a_camera_image_is_turned_upright(tmp_path: Path) -> None:
    image = photo(8, 8)
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: turn by a quarter clockwise to show it
    image.save(tmp_path / "turned.png", exif=exif)
    upright = image.transpose(Image.Transpose.ROTATE_270)
    assert_close(to_input(tmp_path / "turned.png", 8), to_input(upright, 8))


def test_an_image_that_is_not_square_is_squeezed_and_not_cropped() -> None:
    image = Image.new("L", (80, 20))
    image.paste(255, (0, 0, 10, 20))  # a white edge that a crop to the centre would lose
    pixels = undo(to_input(image, size=8))
    assert pixels.shape == (1, 3, 8, 8)
    assert pixels[..., 0].min() > 0.8
    assert pixels[..., 2:].max() < 0.01


def test_the_result_is_torchvisions_usual_pipeline() -> None:
    image = photo(50, 30)
    usual = transforms.Compose(
        [
            transforms.Resize((224, 224)),
            transforms.ToTensor(),
            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    )
    result = to_input(image)
    assert result.dtype == torch.float32
    assert_close(result, usual(image).unsqueeze(0))


def test_undoing_gives_the_resized_pixels_back() -> None:
    image = photo(8, 8)
    pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255
    assert_close(undo(to_input(image, size=8))[0], pixels)


def test_the_first_frame_of_an_animation_is_taken(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (6, 4), name) for name in ("blue", "red")]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    assert colour(to_input(tmp_path / "moving.gif", 8)) == [0, 0, 255]


@pytest.mark.parametrize(
    ("mode", "fill", "message"),
    [("F", 0.5, "floating-point pixels have no fixed scale"), ("I", 70_000, "70000 are not 16-bit ones")],
)
def test_pixels_without_a_clear_scale_are_refused(mode: str, fill: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_input(Image.new(mode, (6, 4), fill))


def test_a_file_that_is_no_image_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no picture")
    with pytest.raises(OSError, match=r"notes\.txt"):
        to_input(tmp_path / "notes.txt")
