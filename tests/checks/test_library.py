"""A model that is a library's is recognised by what it is, and a copy by its lines."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torchvision
from corpus import BASES

from vitcheck.checks.assignment import Rules, load_assignment
from vitcheck.checks.grading import grade
from vitcheck.checks.library import taken_from_a_library
from vitcheck.checks.result import CheckResult, Outcome
from vitcheck.submissions.answers import Inventory, inventory_in
from vitcheck.submissions.inventory import inventory
from vitcheck.submissions.process import Zygote

FILE = Path(torchvision.__file__).parent / "models" / "vision_transformer.py"
NOTHING = Inventory((), {}, ())
DERIVED = """
import torch
from torchvision.models import VisionTransformer

class ViT(VisionTransformer):
    def __init__(self, image_size=32, patch_size=16, depth=2, heads=2, dim=8, mlp_dim=16, num_classes=5):
        super().__init__(image_size, patch_size, depth, heads, dim, mlp_dim, num_classes=num_classes)
"""


def of(model: torch.nn.Module) -> Inventory:
    return inventory_in(inventory(lambda: model))


def model(code: str) -> Inventory:
    namespace: dict[str, type[torch.nn.Module]] = {}
    exec(code, namespace)
    return of(namespace["ViT"]())


def test_a_librarys_model_and_what_is_derived_from_it_are_named() -> None:
    name = "torchvision.models.vision_transformer.VisionTransformer"
    plain = torchvision.models.VisionTransformer(32, 16, 1, 2, 8, 16)
    assert taken_from_a_library(of(plain), {}) == f"the model is {name}"
    assert taken_from_a_library(model(DERIVED), {}) == f"the model is derived from {name}"


def test_a_librarys_block_inside_is_named_with_its_place() -> None:
    plain = torchvision.models.VisionTransformer(32, 16, 1, 2, 8, 16)
    found = taken_from_a_library(of(torch.nn.Sequential(torch.nn.Identity(), plain.encoder)), {})
    assert found == "1 is torchvision.models.vision_transformer.Encoder"


def test_a_copy_with_a_few_changes_is_told_by_its_lines() -> None:
    text = FILE.read_text("utf-8").replace("self.image_size", "self.img_size").replace("dropout", "drop")
    found = taken_from_a_library(NOTHING, {"vit.py": text.encode()})
    assert found is not None
    assert "stand in torchvision's own file" in found


@pytest.mark.parametrize("base", BASES)
def test_no_base_is_taken_for_a_copy(base: str) -> None:
    assert taken_from_a_library(NOTHING, {"vit.py": BASES[base].source().encode()}) is None


@pytest.mark.parametrize("allow", [True, False])
def test_the_assignment_says_whether_it_may_be_one(allow: bool, tmp_path: Path, zygote: Zygote) -> None:
    (tmp_path / "vit.py").write_text(DERIVED)
    rules = Rules.model_validate({"library_model": {"allow": allow, "reason": "Write it yourself."}})
    brief = load_assignment("vit-debugging").model_copy(update={"examples": 2, "rules": rules})
    check = rule(grade(tmp_path / "vit.py", brief, zygote=zygote).checks)
    if allow:
        assert check.outcome is Outcome.SKIPPED
    else:
        assert check.outcome is Outcome.FAILED
        assert check.message.startswith(
            "Write it yourself. Here the model is derived from torchvision.models"
        )


def rule(checks: list[CheckResult]) -> CheckResult:
    return next(one for one in checks if one.id == "library_model")
