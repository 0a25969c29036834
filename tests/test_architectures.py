"""Architectures of other packages: the GPT of docs/gpt, installed as it would be, and broken ones."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from gpt_package import PACKAGE, installed

from vitcheck import api
from vitcheck.checks.architecture.family import (
    GROUP,
    ArchitectureError,
    Family,
    family,
    family_names,
    stage_of_any,
    version_of,
)
from vitcheck.checks.assignment.assignment import (
    Assignment,
    AssignmentError,
    assignment_names,
    load_assignment,
)
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.locating.anatomy import anatomy_of
from vitcheck.checks.record.result import Result, StageStatus, Status
from vitcheck.reference.stages import STAGES
from vitcheck.submissions.host.process import Zygote

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SUBMISSIONS = PACKAGE / "submissions"
CHANGES = tomllib.loads((PACKAGE / "changes.toml").read_text("utf-8"))
RIGHT = sorted(one.stem for one in SUBMISSIONS.glob("*.py"))


@pytest.fixture(scope="module", autouse=True)
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package as pip installs it, on the search path of this process alone."""
    site = installed(tmp_path_factory.mktemp("gpt"))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        yield site
    family.cache_clear()
    for name in [one for one in sys.modules if one.partition(".")[0] == "vitcheck_gpt"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def asked() -> Assignment:
    return load_assignment("gpt-small").model_copy(update={"examples": 2})


def plugged_in(folder: Path, value: str, module: str = "") -> None:
    """A package called vitcheck-broken that adds the architecture "broken"."""
    info = folder / "vitcheck_broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vitcheck-broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nbroken = {value}\n")
    (folder / "broken_architecture.py").write_text(module)


def test_an_installed_architecture_is_found_beside_the_vit() -> None:
    assert family_names() == ["vit", "gpt"]
    assert family("gpt").stage("g09").title == "Masked scores"
    assert {*family("vit").assignments, "gpt-small"} == {*assignment_names()}


def test_a_result_is_another_ones_after_an_update_of_its_package() -> None:
    assert version_of("vit") == version("vitcheck")
    assert version_of("gpt") == f"{version('vitcheck')} with vitcheck-gpt {version('vitcheck-gpt')}"


def test_the_vit_comes_through_the_same_door() -> None:
    assert isinstance(family("vit"), Family)
    assert family("vit").stages == STAGES


def test_a_stage_of_another_architecture_can_be_asked_for() -> None:
    assert stage_of_any("G09").key == "masked_scores"
    assert stage_of_any("S12").key == "attention_scores"
    with pytest.raises(ValueError, match="there is no stage 'X99'"):
        stage_of_any("X99")


def test_it_imports_one_module_of_vitcheck_and_every_name_there_can_be_had() -> None:
    trees = [ast.parse(one.read_text("utf-8")) for one in PACKAGE.rglob("*.py")]
    imports = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    plain = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Import)]
    assert [one for node in plain for one in node.names if one.name.startswith("vitcheck")] == []
    ours = [node for node in imports if str(node.module).partition(".")[0] == "vitcheck"]
    assert {node.module for node in ours} == {"vitcheck.api"}
    assert {one.name for node in ours for one in node.names} <= set(dir(api))
    assert [name for name in dir(api) if getattr(api, name, None) is None] == []


def test_listing_its_stages_loads_no_torch(site: Path) -> None:
    code = (
        "import sys; from vitcheck.checks.assignment.assignment import load_assignment as load;"
        "print(load('gpt-small').family.stages[8].label, 'torch' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["G09", "False"]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_of_any_style_gets_all_points(name: str, asked: Assignment, zygote: Zygote) -> None:
    result = grade(SUBMISSIONS / f"{name}.py", asked, zygote=zygote, seed=5)
    assert (result.reason, result.mistakes) == (None, [])
    assert {label: one.message for label, one in result.stages.items() if not passed(result, label)} == {}
    assert result.score.earned == result.score.possible == asked.possible


@pytest.mark.parametrize("id", CHANGES)
def test_a_mistake_is_named_and_costs_the_stage_where_it_is(
    id: str, asked: Assignment, zygote: Zygote, tmp_path: Path
) -> None:
    result = grade(made_wrong(id, tmp_path), asked, zygote=zygote, seed=5)
    if CHANGES[id].get("accepted"):
        assert id in {one.id for one in result.variants}
        assert result.score.earned == result.score.possible
    else:
        stage = CHANGES[id]["stage"]
        assert (result.mistakes[0].id, result.mistakes[0].stage) == (id, stage)
        assert [label for label in result.stages if not passed(result, label)] == [stage]
        assert result.score.earned < result.score.possible


def test_of_a_model_that_cannot_be_built_no_part_of_another_architecture_is_seen(
    asked: Assignment, zygote: Zygote, tmp_path: Path
) -> None:
    head, model, rest = (SUBMISSIONS / "nanogpt.py").read_text("utf-8").partition("class GPT(")
    wrong = rest.replace("__init__()\n", "__init__()\n        count = layers\n", 1)
    (tmp_path / "gpt.py").write_text(head + model + wrong, "utf-8")
    result = grade(tmp_path / "gpt.py", asked, zygote=zygote, seed=5)
    assert (result.status, result.stages, result.score.earned) == (Status.NOT_LOADED, {}, 0)


def made_wrong(id: str, folder: Path) -> Path:
    row = CHANGES[id]
    text = (SUBMISSIONS / f"{row['program']}.py").read_text("utf-8")
    assert text.count(row["old"]) == 1
    file = folder / f"{row['program']}.py"
    file.write_text(text.replace(row["old"], row["new"]), "utf-8")
    return file


def passed(result: Result, label: str) -> bool:
    return result.stages[label].status is StageStatus.PASSED


def test_every_mistake_of_the_package_is_made_by_some_program() -> None:
    shared = family("vit").mistakes
    own = {id for id, one in family("gpt").mistakes.items() if shared.get(id) != one}
    assert own - {*CHANGES} == set()


def test_what_the_docs_show_stands_in_the_package() -> None:
    page = (PACKAGE.parent / "architectures.md").read_text("utf-8")
    files = [one.read_text("utf-8") for one in PACKAGE.rglob("*") if one.suffix in (".py", ".toml")]
    shown = re.findall(r"```(?:python|toml)\n(.*?)```", page, re.DOTALL)
    assert len(shown) > 5
    assert [one for one in shown if not any(one in text for text in files)] == []


def test_sizes_of_another_architecture_are_asked_for_by_their_own_names(tmp_path: Path) -> None:
    text = 'name = "a"\ntitle = "A"\narchitecture = "gpt"\n[points]\nshapes = 1\n[sizes]\n'
    file = tmp_path / "a.toml"
    file.write_text(f"{text}patch = 4\n")
    with pytest.raises(AssignmentError, match="line 6: sizes: needs context, vocabulary"):
        load_assignment(str(file))
    file.write_text(f"{text}context = 8\nvocabulary = 9\nembed_dim = 4\nheads = 2\nmlp_dim = 4\ndepth = 0\n")
    with pytest.raises(AssignmentError, match="line 6: sizes: depth is 0, and must be at least 1"):
        load_assignment(str(file))


@pytest.mark.parametrize(
    ("value", "module", "message"),
    [
        ("broken_architecture:X", "import nothing_of_that_name", "ModuleNotFoundError: No module named"),
        ("broken_architecture:X", "", "AttributeError: module 'broken_architecture' has no attribute 'X'"),
        ("broken_architecture:X", "X = 3", "should be a Family called 'broken', and is 3"),
        (
            "broken_architecture:X",
            "from vitcheck.checks.architecture.family import Family\n"
            "from vitcheck.reference.sizes import Sizes\n"
            "from vitcheck.reference.stages import STAGES\n"
            "X = Family('broken', {'report': STAGES[:20]}, Sizes, None, 'a:B', 'a:B')",
            "lacks second_block_output, last_block_output, logits",
        ),
    ],
)
def test_a_broken_package_is_named_and_costs_nothing_else(
    value: str, module: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugged_in(tmp_path, value, module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_architecture", raising=False)
    with pytest.raises(
        ArchitectureError, match="'broken' of the package vitcheck-broken could not be"
    ) as said:
        family("broken")
    assert message in str(said.value)
    assert "gpt-small" in assignment_names()
    assert load_assignment("vit-debugging").family is family("vit")
    with pytest.raises(AssignmentError, match=r"there is no assignment(.|\n)*the package vitcheck-broken"):
        load_assignment("broken-assignment")


def test_an_assignment_that_names_an_unknown_architecture_says_which_there_are(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('name = "a"\ntitle = "A"\narchitecture = "gtp"\n')
    with pytest.raises(AssignmentError, match="line 3: there is no architecture 'gtp'; did you mean gpt"):
        load_assignment(str(file))


def test_what_cannot_be_loaded_when_grading_begins_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = (
        "from vitcheck.checks.architecture.family import Family\n"
        "from vitcheck.reference.sizes import Sizes\n"
        "from vitcheck.reference.stages import STAGES\n"
        "from vitcheck.checks.vit.vit_family import VIT\n"
        "X = Family('broken', {'report': STAGES}, Sizes, VIT.sampling, 'no_such_module:ANATOMY', '')"
    )
    plugged_in(tmp_path, "broken_architecture:X", module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_architecture", raising=False)
    family.cache_clear()
    with pytest.raises(ArchitectureError, match=r"vitcheck-broken.*No module named 'no_such_module'"):
        anatomy_of(family("broken"))
