"""A model that is a library's is recognised by what it is, and a copy by its lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torchvision
import torchvision.models.vision_transformer as tv
from corpus import BASES

import vitcheck
from vitcheck.checks.assignment.asked_rules import Rules
from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.result import CheckResult, Outcome
from vitcheck.checks.rules.model_origin import taken_from_a_library, taken_from_us
from vitcheck.reference.sizes import preset
from vitcheck.reference.vit import REPORT, ReferenceViT
from vitcheck.submissions.child import sample_models
from vitcheck.submissions.child.passes.model_inventory import inventory
from vitcheck.submissions.child.tracing.tracing import RAN, Tracer
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.questions.code_places import codes_of
from vitcheck.submissions.questions.inventory import Inventory

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
    return inventory(lambda: model)


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


WAYS = {  # by which a library's classes come under names of the submission's own
    "its file executed": """
text = pathlib.Path(tv.__file__).read_text("utf-8").partition("class ViT_B_16_Weights")[0]
text = text.replace("from ..", "from torchvision.").replace("from ._", "from torchvision.models._")
names = {"__name__": "mine"}
exec(text, names)
Inner = names["VisionTransformer"]
""",
    "its classes executed as a file of the submission": """
names = {**vars(tv), "__name__": "mine"}
for one in CLASSES:
    exec(compile(inspect.getsource(one), "<submission>/vit.py", "exec"), names)
Inner = names["VisionTransformer"]
""",
    "its file loaded under another name": """
spec = importlib.util.spec_from_file_location("torchvision.models.mine", tv.__file__)
module = importlib.util.module_from_spec(spec)
with contextlib.suppress(ValueError):  # its models are registered already
    spec.loader.exec_module(module)
for one in CLASSES:
    getattr(module, one.__name__).__module__ = "mine"
Inner = module.VisionTransformer
""",
    "its classes with another module": """
Inner = type("Inner", (tv.VisionTransformer,), {})
for one in CLASSES:
    one.__module__ = "mine"
""",
    "its functions in classes made anew": """
names = dict(vars(tv))
def anew(one, base):
    def moved(value):
        if not isinstance(value, types.FunctionType):
            return value
        cell = types.CellType()
        code = value.__code__.replace(co_filename="<submission>/vit.py")
        cells = tuple(cell for _ in code.co_freevars)
        copy = types.FunctionType(code, names, value.__name__, value.__defaults__, cells)
        copy.cell = cell
        return copy
    held = {k: moved(v) for k, v in vars(one).items() if k not in ("__dict__", "__weakref__")}
    made = names[one.__name__] = type(one.__name__, (base,), {**held, "__module__": "mine"})
    for value in held.values():
        if hasattr(value, "cell"):
            value.cell.cell_contents = made
    return made
for one in CLASSES:
    Inner = anew(one, one.__mro__[1])
""",
    "it compiled": """
def Inner(*given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.script(tv.VisionTransformer(*given))
""",
}
_AROUND = """
import contextlib, importlib.util, inspect, pathlib, types, warnings
import torch
import torchvision.models.vision_transformer as tv
CLASSES = (tv.MLPBlock, tv.EncoderBlock, tv.Encoder, tv.VisionTransformer)
before = [one.__module__ for one in CLASSES]
{way}
class ViT(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner(32, 16, 1, 2, 8, 16)
    def forward(self, x):
        return self.inner(x)
"""


@pytest.fixture(autouse=True)
def _nothing_ran_before() -> None:
    RAN.clear()  # as in the process of a submission: other tests trace in this one


@pytest.fixture
def names_kept() -> Iterator[None]:
    classes = (tv.MLPBlock, tv.EncoderBlock, tv.Encoder, tv.VisionTransformer)
    before = [one.__module__ for one in classes]
    yield
    for one, name in zip(classes, before, strict=True):
        one.__module__ = name


@pytest.mark.usefixtures("names_kept")
@pytest.mark.parametrize("way", WAYS)
def test_no_other_name_hides_whose_code_it_is(way: str) -> None:
    found = taken_from_a_library(model(_AROUND.replace("{way}", WAYS[way])), {})
    assert found is not None
    assert "torchvision" in found


def test_what_a_pass_runs_counts_where_no_module_shows_it() -> None:
    hidden = tv.VisionTransformer(32, 16, 1, 2, 8, 16)
    plain = torch.nn.Linear(2, 2)
    with Tracer(plain, None):
        hidden(torch.rand(1, 3, 32, 32))
    found = taken_from_a_library(of(plain), {})
    assert found is not None
    assert found.startswith("the model runs torchvision.models.vision_transformer.")


@pytest.mark.parametrize("file", ["reference/vit.py", "submissions/child/sample_models.py"])
def test_our_own_models_are_no_work_of_a_student_on_whatever_way(file: str) -> None:
    text = (Path(vitcheck.__file__).parent / file).read_bytes()
    executed = Inventory((), {}, (), tuple(codes_of(text)))
    assert taken_from_us(executed)
    assert not taken_from_a_library(executed, {})
    sample = sample_models.SAMPLES["timm"].build(preset("S/32"))
    assert taken_from_us(of(sample if "sample" in file else ReferenceViT(preset("S/32"), REPORT)))
    assert not taken_from_us(of(torch.nn.Linear(2, 2)))


def test_a_copy_with_a_few_changes_is_told_by_its_lines() -> None:
    text = FILE.read_text("utf-8").replace("self.image_size", "self.img_size").replace("dropout", "drop")
    found = taken_from_a_library(NOTHING, {"vit.py": text.encode()})
    assert found is not None
    assert "copied from torchvision" in found


@pytest.mark.parametrize("base", BASES)
def test_no_base_is_taken_for_a_copy(base: str) -> None:
    text = BASES[base].source().encode()
    executed = Inventory((), {}, (), tuple(codes_of(text)))  # as if none of it had been handed in
    assert taken_from_a_library(executed, {"vit.py": text}) is None
    assert not taken_from_us(executed)


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
