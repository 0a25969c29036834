"""What a student's own functions make of pictures, and what is said of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from examining import examine, forbidding

from vitcheck.checks.assignment.asked_variants import Permission
from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable, NotAsked
from vitcheck.checks.rules.properties.own_preprocessing import preprocessing
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.child.pictures.picture_calls import own_functions
from vitcheck.submissions.reading.source import Source

MODEL = "class ViT(torch.nn.Module):\n    pass\n"
BY_HAND = (
    """
import numpy as np
import torch
from PIL import Image

MEAN = torch.tensor([0.485, 0.456, 0.406])
STD = torch.tensor([0.229, 0.224, 0.225])


def load_image(path):
    image = Image.open(path).convert("RGB").resize((224, 224))
    pixels = torch.from_numpy(np.array(image, dtype=np.float32) / 255.0)
    pixels = (pixels - MEAN) / STD
    return pixels.permute(2, 0, 1).unsqueeze(0)


"""
    + MODEL
)
BY_LIBRARY = (
    """
import torch
from torchvision import transforms

transform = transforms.Compose([
    transforms.Resize((224, 224)),
    transforms.ToTensor(),
    transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
])


def preprocess(image):
    return transform(image.convert("RGB")).unsqueeze(0)


"""
    + MODEL
)
OF_AN_ARRAY = (
    """
import torch

MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
STD = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


def prepare(pixels):
    x = torch.from_numpy(pixels).permute(2, 0, 1).float() / 255.0
    return ((x - MEAN) / STD).unsqueeze(0)


"""
    + MODEL
)
STYLES = {"by hand": BY_HAND, "by a library": BY_LIBRARY, "of an array": OF_AN_ARRAY}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def examination_of(text: str, *forbidden: str) -> Examination:
    examination = examine("report", assignment=forbidding(*forbidden))
    files = {"vit.py": text.encode()}
    examination.source = Source("vit.py", files)
    loaded = load(files)
    called = own_functions(loaded, 224, 10)
    examination.session.own_functions = lambda side, classes: called  # type: ignore[method-assign]  # in this process
    return examination


@pytest.mark.parametrize("style", STYLES)
def test_right_preprocessing_is_right(style: str) -> None:
    preprocessing(examination_of(STYLES[style]))


NORMALISING = "    transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),\n"
NORMALISE = "    pixels = (pixels - MEAN) / STD\n"
CONSTANTS = "MEAN = torch.tensor([0.485, 0.456, 0.406])\nSTD = torch.tensor([0.229, 0.224, 0.225])\n"
WRONG = [
    ("by hand", (NORMALISE, ""), (CONSTANTS, ""), "missing-normalisation"),
    (
        "by hand",
        ("[0.485, 0.456, 0.406]", "[0.5]"),
        ("[0.229, 0.224, 0.225]", "[0.5]"),
        "wrong-normalisation-constants",
    ),
    ("by hand", (NORMALISE, "    pixels = (pixels / 255.0 - MEAN) / STD\n"), None, "double-scaling-255"),
    (
        "by hand",
        ("np.array(image, dtype=np.float32)", "np.array(image, dtype=np.float32)[..., ::-1].copy()"),
        None,
        "bgr-channel-order",
    ),
    ("by hand", ("pixels.permute(2, 0, 1)", "pixels.reshape(3, 224, 224)"), None, "hwc-viewed-as-chw"),
    ("by hand", (".unsqueeze(0)", ""), None, "missing-batch-axis"),
    ("by hand", ("dtype=np.float32", "dtype=np.float64"), ("MEAN)", "MEAN.double())"), "integer-input"),
    ("by hand", ('.convert("RGB")', ""), None, "grey-or-alpha-not-converted"),
    (
        "by hand",
        (
            'Image.open(path).convert("RGB").resize((224, 224))',
            'ImageOps.fit(Image.open(path).convert("RGB"), (224, 224))',
        ),
        ("import Image\n", "import Image, ImageOps\n"),
        "resize-policy",
    ),
    ("by a library", (NORMALISING, ""), None, "missing-normalisation"),
    (
        "by a library",
        ("[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]", "[0.5] * 3, [0.5] * 3"),
        None,
        "wrong-normalisation-constants",
    ),
    (
        "by a library",
        (
            "[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]",
            "[0.2470, 0.2435, 0.2616], [0.4914, 0.4822, 0.4465]",
        ),
        None,
        "mean-and-std-exchanged",
    ),
    (
        "by a library",
        ("transforms.Resize((224, 224))", "transforms.Resize(256), transforms.CenterCrop(224)"),
        None,
        "resize-policy",
    ),
    ("by a library", ('image.convert("RGB")', "image"), None, "grey-or-alpha-not-converted"),
]


@pytest.mark.parametrize(
    ("style", "edit", "second", "id"), WRONG, ids=[f"{one[0]}-{one[3]}" for one in WRONG]
)
def test_a_mistake_in_preprocessing_is_named(
    style: str, edit: tuple[str, str], second: tuple[str, str] | None, id: str
) -> None:
    text = STYLES[style]
    for old, new in filter(None, (edit, second)):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    with pytest.raises(CheckFailed) as failed:
        preprocessing(examination_of(text))
    assert failed.value.mistakes == (id,)


def test_what_is_scrambled_is_told_beside_constants_that_are_accepted() -> None:
    text = OF_AN_ARRAY.replace("0.485", "0.49").replace("0.229, 0.224", "0.26, 0.25")
    examination = examination_of(text.replace("permute(2, 0, 1)", "reshape(3, *pixels.shape[:2])"))
    accepted = {"wrong-normalisation-constants": Permission(allow=True)}
    by_id = {**examination.assignment.variants.by_id, **accepted}
    variants = examination.assignment.variants.model_copy(update={"by_id": by_id})
    examination.assignment = examination.assignment.model_copy(update={"variants": variants})
    with pytest.raises(CheckFailed) as failed:
        preprocessing(examination)
    assert failed.value.mistakes == ("hwc-viewed-as-chw",)


def test_what_makes_an_array_of_an_array_prepares_nothing() -> None:
    helper = "\n\ndef standardise(values):\n    return (values - values.mean()) / values.std()\n"
    with pytest.raises(NotAsked):
        preprocessing(examination_of("import torch\n\n\n" + MODEL + helper))


def test_a_transform_that_nothing_calls_is_tried_too() -> None:
    text = BY_LIBRARY.replace("def preprocess(image):", "def run(model, image):")
    with pytest.raises(CheckFailed) as failed:
        preprocessing(examination_of(text.replace(NORMALISING, "")))
    assert failed.value.mistakes == ("missing-normalisation",)


def test_a_picture_that_is_not_resized_here_may_be_wide() -> None:
    text = BY_LIBRARY.replace("    transforms.Resize((224, 224)),\n", "")
    preprocessing(examination_of(text))


def test_another_size_than_the_assignments_is_no_scrambling() -> None:
    preprocessing(examination_of(BY_HAND.replace("resize((224, 224))", "resize((64, 64))")))


def test_normalising_in_another_function_is_not_missed() -> None:
    text = BY_HAND.replace(NORMALISE, "") + "\n\ndef normalize(x):\n    return (x - MEAN) / STD\n"
    with pytest.raises(NotApplicable, match="other code here does"):
        preprocessing(examination_of(text + "\n\nx = normalize(load_image('a.png'))\n"))


@pytest.mark.parametrize("text", [f"import torch\n{MODEL}", BY_HAND.replace("(path)", "(path, other)")])
def test_without_preprocessing_nothing_is_said(text: str) -> None:
    with pytest.raises(NotApplicable, match="no function or transform"):
        preprocessing(examination_of(text))


NOTHING_MORE = """
import sys
from types import SimpleNamespace as Some

import numpy as np
import torch

from vitcheck.checks import grading
from vitcheck.checks.rules.properties.own_preprocessing import preprocessing
from vitcheck.reference.imagenet import IMAGENET_MEAN, IMAGENET_STD
from vitcheck.submissions.questions.own_functions import OwnFunctions, Prepared
from vitcheck.submissions.questions.images import PICTURES

def tensor(picture):
    pixels = torch.from_numpy(np.array(PICTURES[picture](8).convert("RGB").resize((8, 8))) / 255)
    return ((pixels - torch.tensor(IMAGENET_MEAN)) / torch.tensor(IMAGENET_STD)).permute(2, 0, 1)[None]

tensors = {one: tensor(one) for one in PICTURES}
prepared = Prepared("load", True, False, tensors, dict.fromkeys(PICTURES, "float32"), {})
functions = OwnFunctions((prepared,), ())
source = Some(files={"vit.py": b"image.convert('RGB')"})
asked = Some(full=Some(height=8), asks_sizes=True)
preprocessing(Some(assignment=asked, own_functions=lambda: functions, source=source))
sys.exit(bool({"torchvision", "torch._dynamo", "hypothesis", "nbformat"} & sys.modules.keys()))
"""


def test_grading_loads_nothing_that_takes_long_and_few_need() -> None:
    assert subprocess.run([sys.executable, "-c", NOTHING_MORE]).returncode == 0
