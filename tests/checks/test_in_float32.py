"""Constants and casts of float32, as students write them, are right; what is wrong in float32 is not."""

from __future__ import annotations

import pytest
from accepted_forms import accepting, written
from examining import examine

from vitcheck.checks.classes.tasks import Task
from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable, NotAsked, NotReached
from vitcheck.checks.rules.kinds.equation import check_equation
from vitcheck.checks.rules.kinds.reference import check_reference
from vitcheck.reference.stages import STAGES
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.reading.packing import HandIn

ROOT = "math.sqrt(self.head_dim)"


def of(wanted: str) -> str:
    return f"torch.tensor(float({wanted}), dtype=torch.float32)"


RIGHT = {
    "a root of a float32 number": (ROOT, f"torch.sqrt({of('self.head_dim')})"),
    "a float32 factor": (f"/ {ROOT}", f"* {of('self.head_dim ** -0.5')}"),
    "a cast and back": (
        "weights = torch.softmax(scores, dim=-1)",
        "weights = scores.float().softmax(-1).to(scores)",
    ),
}
WRONG = {
    "attention_scores": (ROOT, f"torch.sqrt({of('self.embed_dim')})"),
    "attention_probabilities": (
        "weights = torch.softmax(scores, dim=-1)",
        "weights = scores.float().softmax(-2).to(scores)",
    ),
}


def failed(*edits: tuple[str, str]) -> set[str]:
    """The stages that are not what their equation or the reference gives."""
    examination, found = examine("separate_qkv", *edits), set()
    for one in STAGES[1:]:
        for check in (check_equation, check_reference):
            try:
                check(examination, one.key)
            except CheckFailed:
                found.add(one.key)
            except (NotApplicable, NotAsked, NotReached):
                continue
    return found


@pytest.mark.parametrize("edit", RIGHT.values(), ids=RIGHT)
def test_what_differs_by_the_digits_of_float32_is_right(edit: tuple[str, str]) -> None:
    assert failed(edit) == set()


@pytest.mark.parametrize(
    ("key", "exact"),
    [
        ("attention_scores", (ROOT, "math.sqrt(self.embed_dim)")),
        ("attention_probabilities", ("torch.softmax(scores, dim=-1)", "scores.softmax(-2)")),
    ],
)
def test_a_known_mistake_in_float32_has_its_name(key: str, exact: tuple[str, str]) -> None:
    (name,) = examine("separate_qkv", exact).faults(key)
    assert examine("separate_qkv", WRONG[key]).faults(key) == [name]


@pytest.mark.parametrize(("key", "edit"), WRONG.items(), ids=WRONG)
def test_what_is_wrong_in_float32_is_wrong(key: str, edit: tuple[str, str]) -> None:
    assert failed(edit) == {key}


SCALE = "scores = q @ k.transpose(-2, -1) / "
SOFTMAX = "weights = scores.softmax(dim=-1)"
CASTS = {
    "a root of a float32 tensor": (
        SCALE,
        "scores = q @ k.mT / torch.tensor(1.0, dtype=torch.float32).sqrt() / ",
    ),
    "a FloatTensor": (SCALE, "scores = q @ k.transpose(-2, -1) / torch.FloatTensor([1.0]) / "),
    "a cast": (SOFTMAX, "weights = scores.float().softmax(dim=-1)"),
    "a type for softmax": (SOFTMAX, "weights = F.softmax(scores, dim=-1, dtype=torch.float32)"),
    "a cast and back": (SOFTMAX, "weights = scores.to(torch.float32).softmax(dim=-1).to(q.dtype)"),
    "a type by its name": ("h = self.fc1(x)", 'h = self.fc1(x.type("torch.FloatTensor"))'),
    "the image": ("x = self.patch(image)", "x = self.patch(image.float())"),
    "a norm": (
        "x = x + self.attend(self.norm1(x))",
        "n, weight, bias = x.float(), self.norm1.weight.float(), self.norm1.bias.float()\n"
        "        n = F.layer_norm(n, x.shape[-1:], weight, bias, 1e-6)\n"
        "        x = x + self.attend(n.type_as(x))",
    ),
}


@pytest.mark.parametrize("edit", CASTS.values(), ids=CASTS)
def test_a_program_that_says_float32_gets_all_points(edit: tuple[str, str], zygote: Zygote) -> None:
    text = written("pre-norm").files["vit.py"].decode()
    assert text.count(edit[0]) == 1
    handed_in = HandIn("vit", True, {"vit.py": text.replace(*edit).encode()})
    result = Task(handed_in, "vit", accepting("pre-norm"), 0).grade(zygote)
    assert result.score.earned == pytest.approx(result.score.possible, abs=1e-6)
    assert result.mistakes == []
