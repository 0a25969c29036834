"""Functions that tell the class of a picture, under names of any language, beside a model of known scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from examining import examine

from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable
from vitcheck.checks.rules.properties.own_predictions import predictions
from vitcheck.checks.rules.properties.own_preprocessing import preprocessing
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.child.pictures.picture_calls import own_functions
from vitcheck.submissions.errors import Frame
from vitcheck.submissions.reading.source import Source

OF_A_PATH = """
import torch
from PIL import Image
from torchvision import transforms

KLASSEN = ["Katze", "Hund", "Maus"]
umformung = transforms.Compose([
    transforms.Resize((224, 224)),
    transforms.ToTensor(),
    transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
])


class Netz(torch.nn.Module):
    def __init__(self, klassen=3):
        super().__init__()
        self.kopf = torch.nn.Linear(3, klassen)

    def forward(self, x):
        return self.kopf(x.mean((2, 3)))


def vorhersage(netz, pfad, geraet):
    netz.eval()
    bild = umformung(Image.open(pfad).convert("RGB"))[None].to(geraet)
    with torch.no_grad():
        anteile = torch.softmax(netz(bild), dim=1)
    anteil, klasse = anteile.max(dim=1)
    return KLASSEN[klasse.item()], anteil.item()
"""
OF_A_TENSOR = """
import torch


def clase(x):
    modelo.eval()
    return modelo(x).argmax(dim=1)
"""
OF_BYTES = """
import torch


def predict(model, images, k=1):
    model.eval()
    x = torch.nn.functional.interpolate(images.permute(0, 3, 1, 2).float() / 255, size=model.size)
    return torch.softmax(model(x), dim=1).topk(k, dim=1)
"""
PRINTED = """
import numpy as np
import torch
from PIL import Image

NAMES = {0: "cat", 1: "dog", 2: "mouse"}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.head(x.mean((2, 3)))


def ready(picture):
    pixels = np.asarray(picture.convert("RGB").resize((224, 224)), dtype=np.float32) / 255
    return torch.from_numpy((pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]).float().permute(2, 0, 1)


def show(path):
    net = Net()
    net.load_state_dict(torch.load("weights.pt"))
    net.eval()
    scores = net(ready(Image.open(path)).unsqueeze(0))
    best = int(scores.argmax())
    print(f"{NAMES[best]} ({100 * scores.softmax(-1)[0, best]:.1f} %)")
"""
OF_A_MODEL = """
import torch


class Net(torch.nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.head = torch.nn.Linear(3, classes)

    def forward(self, x):
        return self.head(x.mean((2, 3)))

    @torch.no_grad()
    def clase(self, x):
        return self(x).argmax(dim=1)

    def summary(self, x):
        return self.head.weight.argmax()
"""
OF_ONE_IMAGE = """
import torch


class Predicts:
    @torch.no_grad()
    def tell(self, image):
        self.eval()
        share, best = torch.softmax(self(image[None]), dim=1).max(dim=-1)
        return best.item(), share.item()


class Net(Predicts, torch.nn.Module):
    def forward(self, x):
        return x.mean((2, 3))
"""
OF_A_BATCH = """
import torch


@torch.no_grad()
def predict(model, images):
    model.eval()
    shares = torch.softmax(model(images.float() / 127.5 - 1), dim=1)
    best, classes = shares.max(dim=1)
    return [(model.cfg.labels[one], share) for one, share in zip(classes.tolist(), best.tolist())]
"""
OF_A_GREY_IMAGE = """
import torch
import torch.nn as nn

ZIFFERN = ["null", "eins", "zwei"]


class Netz(nn.Module):
    def forward(self, x):
        return x.mean((2, 3))


def vorbereiten(bild):
    return ((bild - 0.13) / 0.31).unsqueeze(0)


def erkennen(netz, bild):
    netz.eval()
    anteile = netz(vorbereiten(bild).unsqueeze(0)).softmax(dim=1)
    klasse = anteile.argmax(dim=1)[0].item()
    return klasse, anteile[0, klasse].item()
"""
OF_A_CONFIGURATION = """
import numpy as np
import torch
from PIL import Image


def load_image(path, cfg):
    picture = Image.open(path).convert("RGB").resize((cfg.size, cfg.size))
    pixels = np.asarray(picture, dtype=np.float32) / 255
    pixels = (pixels - np.array(cfg.mean, dtype=np.float32)) / np.array(cfg.std, dtype=np.float32)
    return torch.from_numpy(pixels).permute(2, 0, 1).unsqueeze(0)


def classify(model, path):
    model.eval()
    shares = model(load_image(path, model.cfg)).softmax(-1).squeeze(0)
    best = shares.argmax().item()
    return model.cfg.labels[best], shares[best].item()
"""
PROGRAMS = {
    "of a grey image": OF_A_GREY_IMAGE,
    "of a configuration with its colours": OF_A_CONFIGURATION,
    "of a batch, with labels that the model keeps": OF_A_BATCH,
    "of a path": OF_A_PATH,
    "of a tensor": OF_A_TENSOR,
    "of bytes": OF_BYTES,
    "printed": PRINTED,
    "of a model": OF_A_MODEL,
    "of one image, for any model": OF_ONE_IMAGE,
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def examination_of(text: str, base: str = "dropout_everywhere") -> Examination:
    examination = examine(base)
    files = {"vit.py": text.encode()}
    examination.source = Source("vit.py", files)
    called = own_functions(load(files), 224, 1000)
    examination.session.own_functions = lambda side, classes: called  # type: ignore[method-assign]  # in this process
    return examination


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_right_prediction_is_right(program: str) -> None:
    predictions(examination_of(PROGRAMS[program]))


WRONG = [
    ("of a grey image", "argmax(dim=1)", "argmax(dim=0)", "argmax-over-batch"),
    ("of a grey image", "softmax(dim=1)", "softmax(dim=0)", "class-softmax-over-batch"),
    ("of a configuration with its colours", "softmax(-1)", "sigmoid()", "probs-sigmoid"),
    ("of a path", "dim=1)\n    anteil", "dim=0)\n    anteil", "class-softmax-over-batch"),
    ("of a path", "torch.softmax(netz(bild), dim=1)", "torch.sigmoid(netz(bild))", "probs-sigmoid"),
    ("of a path", "    netz.eval()\n", "", "eval-not-called"),
    (
        "of a batch, with labels that the model keeps",
        "- 1), dim=1)",
        "- 1), dim=0)",
        "class-softmax-over-batch",
    ),
    ("of a tensor", "dim=1", "dim=0", "argmax-over-batch"),
    ("of a tensor", "    modelo.eval()\n", "", "eval-not-called"),
    ("of a model", "dim=1", "dim=0", "argmax-over-batch"),
    ("of one image, for any model", "dim=1", "dim=0", "class-softmax-over-batch"),
    ("of bytes", "model(x), dim=1", "model(x), dim=0", "class-softmax-over-batch"),
    ("printed", "scores.softmax(-1)", "scores.softmax(0)", "class-softmax-over-batch"),
    ("printed", "scores.softmax(-1)", "scores.sigmoid()", "probs-sigmoid"),
]


_NAMES = "vorhersage", "clase", "show", "predict", "tell", "erkennen", "classify"


@pytest.mark.parametrize(("program", "old", "new", "id"), WRONG)
def test_a_wrong_prediction_is_named_at_its_function(program: str, old: str, new: str, id: str) -> None:
    assert PROGRAMS[program].count(old) == 1
    with pytest.raises(CheckFailed) as failed:
        predictions(examination_of(PROGRAMS[program].replace(old, new)))
    assert failed.value.mistakes == (id,)
    line = next(
        n
        for n, one in enumerate(PROGRAMS[program].splitlines(), 1)
        if one.lstrip().startswith("def ") and any(name in one for name in _NAMES)
    )
    assert failed.value.frame == Frame("vit.py", line)


@pytest.mark.parametrize(
    ("program", "old", "new", "id"),
    [
        ("of a path", '.convert("RGB")', "", "grey-or-alpha-not-converted"),
        (
            "of a path",
            "transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),",
            "",
            "missing-normalisation",
        ),
        ("printed", "permute(2, 0, 1)", "permute(2, 1, 0)", "image-rows-columns-exchanged"),
        ("printed", "dtype=np.float32) / 255", "dtype=np.float32)[..., ::-1] / 255", "bgr-channel-order"),
        (
            "printed",
            "ready(Image.open(path)).unsqueeze(0)",
            "(ready(Image.open(path)) * 255).byte()[None]",
            "integer-input",
        ),
    ],
)
def test_what_reaches_the_model_is_the_input(program: str, old: str, new: str, id: str) -> None:
    preprocessing(examination_of(PROGRAMS[program]))
    assert PROGRAMS[program].count(old) == 1
    with pytest.raises(CheckFailed) as failed:
        preprocessing(examination_of(PROGRAMS[program].replace(old, new)))
    assert failed.value.mistakes == (id,)


UNTOUCHED = """
import torch
from PIL import Image

ran = []


def train(net, loader, epochs):
    for images, labels in loader:
        net(images).argmax(1)


def main():
    ran.append("main")
    Image.open("cat.png")


def forever(path):
    Image.open(path).close()
    while True:
        pass


def plain(image):
    return torch.tensor(0)
"""


def test_other_functions_say_nothing() -> None:
    files = {"vit.py": UNTOUCHED.encode()}
    loaded = load(files)
    found = own_functions(loaded, 32, 10)
    assert not found.prepared
    assert not found.predicted
    assert not next(iter(loaded.modules.values())).ran  # what needs no picture is not called
    with pytest.raises(NotApplicable, match="no function that predicts a class"):
        predictions(examination_of(UNTOUCHED))


def test_what_only_a_data_set_is_given_is_not_judged() -> None:
    text = (
        OF_A_PATH.partition("def vorhersage")[0]
        + "\n\ndata = [('train', umformung)]\nprint(data, str(umformung))\n"
    )
    text = text.replace("    transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),\n", "")
    with pytest.raises(NotApplicable, match="no function or transform"):
        preprocessing(examination_of(text))


def test_a_model_without_dropout_may_predict_in_train_mode() -> None:
    text = PROGRAMS["of a path"].replace("    netz.eval()\n", "")
    predictions(examination_of(text, "raw_parameters"))


def test_colours_may_be_kept_in_a_configuration() -> None:
    preprocessing(examination_of(OF_A_CONFIGURATION))
    scrambled = OF_A_CONFIGURATION.replace(".permute(2, 0, 1)", ".reshape(3, cfg.size, cfg.size)")
    with pytest.raises(CheckFailed) as failed:
        preprocessing(examination_of(scrambled))
    assert failed.value.mistakes == ("hwc-viewed-as-chw",)
