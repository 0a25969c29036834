"""The assignment file: what it says, and what is said of a file that is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vitcheck.checks.architecture.catalogue import mistakes
from vitcheck.checks.assignment.assignment import (
    Assignment,
    AssignmentError,
    assignment_names,
    load_assignment,
)
from vitcheck.checks.assignment.kinds import kinds
from vitcheck.checks.points.by_group import points_of_groups
from vitcheck.reference.sizes import Sizes, preset
from vitcheck.reference.stages import ARCHITECTURES, LABEL_SETS

SMALLEST = """
name = "mine"
title = "Mine"
architectures = ["report"]
[sizes]
preset = "B/16"
[points]
equations = 26
"""


def written(folder: Path, text: str) -> str:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(AssignmentError) as caught:
        load_assignment(written(folder, text))
    return str(caught.value).replace(f"{folder / 'mine.toml'}, ", "")


@pytest.fixture
def debugging() -> Assignment:
    return load_assignment("vit-debugging")


def test_a_question_about_a_stage_that_is_none_is_refused(tmp_path: Path) -> None:
    text = SMALLEST + '[written.questions.q1]\ntext = "Why?"\nstages = ["S06", "S27"]'
    assert "[written.questions.q1] names S27, which is not a stage" in complaint(tmp_path, text)


@pytest.mark.parametrize("name", assignment_names())
def test_what_ships_can_be_loaded_and_is_worth_100_points(name: str) -> None:
    assignment = load_assignment(name)
    assert assignment.name == name
    assert assignment.possible == 100
    assert set(assignment.architectures) <= set(ARCHITECTURES)
    assert set(assignment.labels) <= set(LABEL_SETS)


def test_the_debugging_assignment_asks_for_one_image_at_base_size(debugging: Assignment) -> None:
    assert debugging.full == preset("B/16")
    assert debugging.architectures == ("report", "pre-norm")


def test_forms_that_change_a_stage_are_refused_with_a_reason(debugging: Assignment) -> None:
    assert debugging.allows("relu-instead-of-gelu") == (False, "S17 asks for GELU.")
    assert all(rule.reason for rule in debugging.variants.by_id.values())


@pytest.mark.parametrize("name", ["gelu-tanh", "layernorm-eps-1e-5", "qkv-order-swapped"])
def test_forms_that_leave_the_stages_as_they_are_cost_nothing(debugging: Assignment, name: str) -> None:
    assert debugging.allows(name) == (True, None)


def test_no_error_is_accepted_that_the_file_does_not_name(debugging: Assignment, tmp_path: Path) -> None:
    errors = [one.id for one in mistakes().values() if one.kind == "error"]
    on_other_devices = {"pos-not-parameter", "buffer-not-registered", "tensor-made-on-cpu", "dtype-promoted"}
    assert {name for name in errors if debugging.allows(name)[0]} == on_other_devices
    lenient = load_assignment(written(tmp_path, SMALLEST + '[variants]\ngrid-dims-swapped = "allow"'))
    assert [name for name in errors if lenient.allows(name)[0]] == ["grid-dims-swapped"]


def test_variants_can_be_forbidden_but_for_some(tmp_path: Path) -> None:
    text = SMALLEST + '[variants]\ndefault = "forbid"\ngelu-tanh = "allow"'
    strict = load_assignment(written(tmp_path, text))
    assert strict.allows("gelu-tanh") == (True, None)
    assert strict.allows("quick-gelu") == (False, None)


def test_an_unknown_id_is_not_judged(debugging: Assignment) -> None:
    with pytest.raises(ValueError, match="did you mean gelu-tanh"):
        debugging.allows("gelu-tan")


def test_sizes_beside_a_preset_replace_its_own(tmp_path: Path) -> None:
    text = SMALLEST.replace('"B/16"', '"S/16"\nclasses = 10\nheight = 32\nwidth = 64')
    sizes = load_assignment(written(tmp_path, text)).full
    assert (sizes.embed_dim, sizes.classes, sizes.grid, sizes.batch) == (384, 10, (2, 4), 1)


def test_all_sizes_can_be_given(tmp_path: Path) -> None:
    given = {name: size for name, size in vars(Sizes(classes=7)).items() if name != "batch"}
    text = SMALLEST.replace('preset = "B/16"', "\n".join(f"{name} = {size}" for name, size in given.items()))
    assert load_assignment(written(tmp_path, text)).full == Sizes(classes=7)


def test_a_group_shares_its_points_evenly(tmp_path: Path) -> None:
    text = SMALLEST.replace("equations = 26", "equations = 52.5\nproperties = 12.5\nprints = 2")
    ids = [f"equation[S{number:02}]" for number in range(1, 27)] + ["property[a]", "property[b]", "prints"]
    points = points_of_groups(load_assignment(written(tmp_path, text)), ids)
    assert list(points) == ids
    assert points["equation[S12]"] == pytest.approx(52.5 / 26)
    assert (points["property[a]"], points["prints"]) == (6.25, 2)
    assert sum(points.values()) == pytest.approx(52.5 + 12.5 + 2)


def test_a_share_of_its_own_comes_out_of_the_group(tmp_path: Path) -> None:
    text = SMALLEST + '[points.checks]\n"equation[S12]" = 4'
    points = points_of_groups(
        load_assignment(written(tmp_path, text)), [f"equation[S{n}]" for n in (12, 13, 14)]
    )
    assert points == {"equation[S12]": 4, "equation[S13]": 11, "equation[S14]": 11}


@pytest.mark.parametrize("kind", kinds())
def test_every_kind_of_check_is_paid_for(kind: str, tmp_path: Path) -> None:
    text = SMALLEST.replace("equations = 26", f"{kinds()[kind].group} = 8") + "[written]\n"
    ids = [f"{kind}[S01]", f"{kind}[S02]"]
    assert points_of_groups(load_assignment(written(tmp_path, text)), ids) == dict.fromkeys(ids, 4)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"mine"', "3", "line 2: name: must be a text in quotes, and is 3"),
        ('title = "Mine"', "", "line 1: title: is missing"),
        ('title = "Mine"', 'titel = "Mine"', "line 3: titel: is not a key here; did you mean title?"),
        (
            '["report"]',
            '["prenorm"]',
            "line 4: architectures: 'prenorm' is not a kind of block; did you mean pre-norm",
        ),
        ('["report"]', "[]", "line 4: architectures: must be a list with something in it, and is []"),
        ('["report"]', '["report"]\nexamples = "9"', "line 5: examples: must be a whole number, and is '9'"),
        ('["report"]', '["report"]\nexamples = 2.5', "line 5: examples: must be a whole number, and is 2.5"),
        ('["report"]', '["report"]\nexamples = 1', "line 5: examples: must be greater than or equal to 2"),
        ('"B/16"', '"B/17"', "line 5: sizes: 'B/17' is not a named size; there are S/8"),
        ('"B/16"', '"B/16"\nheads = 7', "line 5: sizes: embed_dim 768 is not a multiple of heads 7"),
        ('"B/16"', '"B/16"\nbatch = 4', "line 5: sizes: the full size is that of one image"),
        ('"B/16"', '"B/16"\nhead = 8', "line 7: sizes.head: is not a key here; did you mean heads?"),
        (
            'preset = "B/16"',
            "heads = 8",
            'line 5: sizes: needs preset = "B/16" or the like, or also channels',
        ),
        ("26", "-1", "line 8: points.equations: must be greater than or equal to 0, and is -1"),
        ("26", "nan", "line 8: points.equations: must be a finite number"),
        ("equations", "equation", "line 8: points.equation: is not a key here; did you mean equations?"),
        ("26", '1\n[points.checks]\n"equation[S12]" = 2', "line 7: points: single checks of equations get 2"),
        (
            "26",
            '26\nchecks."equations[S12]" = 2',
            "line 9: points.checks.equations[S12]: is the id of no check",
        ),
        ("26", '26\n[variants]\ngelu = "allow"', "line 10: variants.gelu: 'gelu' is not a known mistake"),
        (
            "26",
            '26\n[variants]\ngelu-tanh = "no"',
            'line 10: variants.gelu-tanh: must be "allow", "ask", "forbid", or',
        ),
        ("26", "26\n[variants.gelu-tanh]\nreason = 'x'", "line 9: variants.gelu-tanh.allow: is missing"),
        ("26", "26\n[limits]\nimport_seconds = 0", "line 9: limits: import_seconds must be more than 0"),
        (
            "26",
            "26\n[limits]\nmemory = 9",
            "line 10: limits.memory: is not a key here; did you mean memory_bytes?",
        ),
        ("26", "26\n[rules]\nprints = 1", "line 10: rules.prints: must be true or false, and is 1"),
        ("26", "26\nrules = 3", "line 9: points.rules: is not a key here"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert SMALLEST.count(old) == 1
    assert message in complaint(tmp_path, SMALLEST.replace(old, new))


PARTS = """
name = "mine"
title = "Mine"
[sizes]
preset = "B/16"
[components]
attention = { points = 20, name = "SelfAttention" }
mlp = 5
[exercises]
fuse_heads = { points = 2.5, fusion = "max" }
"""


def test_parts_are_asked_for_with_their_points_and_names(tmp_path: Path) -> None:
    assignment = load_assignment(written(tmp_path, PARTS))
    assert (assignment.architectures, assignment.possible) == ((), 27.5)
    assert assignment.components["attention"].name == "SelfAttention"
    ids = [f"component[mlp.{one}]" for one in ("values", "shape", "parameters")]
    points = points_of_groups(assignment, [*ids, "exercise[fuse_heads]"])
    assert points == pytest.approx({**dict(zip(ids, (3.5, 1, 0.5))), "exercise[fuse_heads]": 2.5})


def test_parts_and_a_whole_model_stand_in_one_file(tmp_path: Path) -> None:
    assignment = load_assignment(written(tmp_path, SMALLEST + "[components]\nmlp = 4"))
    assert assignment.possible == 30
    points = points_of_groups(assignment, ["equation[S12]", "component[mlp.values]"])
    assert points == pytest.approx({"equation[S12]": 26, "component[mlp.values]": 2.8})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "mlp = 5",
            "mpl = 5",
            "line 8: components.mpl: 'mpl' cannot be asked for; did you mean mlp",
        ),
        ("mlp = 5", "mlp = -5", "line 8: components.mlp.points: must be greater than or equal to 0"),
        ("mlp = 5", 'mlp = { name = "M" }', "line 8: components.mlp.points: is missing"),
        (
            "mlp = 5",
            'mlp = { points = 1, nam = "M" }',
            "line 8: components.mlp.nam: is not a key here; did you",
        ),
        (
            '"max"',
            '"median"',
            "line 10: exercises.fuse_heads.fusion: must be 'mean' or 'max', and is 'median'",
        ),
        ("[exercises]", "[points]\nshapes = 3\n[exercises]", "[points] pays for checks of a whole model"),
    ],
)
def test_what_is_wrong_with_parts_is_said(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert message in complaint(tmp_path, PARTS.replace(old, new))


def test_an_assignment_asks_for_something_and_pays_for_it(tmp_path: Path) -> None:
    head = PARTS.partition("[components]")[0]
    assert "asks for nothing: it needs architectures" in complaint(tmp_path, head)
    assert "points is missing" in complaint(tmp_path, SMALLEST.partition("[points]")[0])


def test_arguments_have_a_meaning_or_a_value(tmp_path: Path) -> None:
    given = {"hidden": "mlp_dim", "pool": "='cls'", "depth": 4, "drop": "=None"}
    lines = "\n".join(f"{name} = {value!r}" for name, value in given.items())
    text = f'{SMALLEST}[model]\nname = "Net"\n[model.arguments]\n{lines}'
    model = load_assignment(written(tmp_path, text)).model
    assert (model.name, model.arguments) == ("Net", given)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "embed_dm",
            "line 10: model.arguments.dim: 'embed_dm' is not a known meaning (a value"
            " has '=' before it); did you mean embed_dim",
        ),
        (
            "=os.getcwd()",
            "line 10: model.arguments.dim: what comes after '=' is not a Python value: os.get",
        ),
        ("=1 +", "line 10: model.arguments.dim: what comes after '='"),
    ],
)
def test_arguments_that_mean_nothing_are_no_students_fault(value: str, message: str, tmp_path: Path) -> None:
    assert message in complaint(tmp_path, f'{SMALLEST}[model.arguments]\ndim = "{value}"')


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    text = SMALLEST.replace("26", "'many'").replace('"Mine"', "4")
    assert complaint(tmp_path, text).splitlines() == [
        "line 3: title: must be a text in quotes, and is 4",
        "line 8: points.equations: must be a number, and is 'many'",
    ]


def test_a_file_that_is_not_toml_is_said_with_the_line(tmp_path: Path) -> None:
    assert "is not TOML: " in complaint(tmp_path, "name = \n")
    assert "line 1" in complaint(tmp_path, "name = \n")


def test_a_file_that_is_not_text_is_said(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(b"name = \xff")
    with pytest.raises(AssignmentError, match=r"mine\.toml cannot be read"):
        load_assignment(str(file))


def test_a_name_that_does_not_ship_names_those_that_do() -> None:
    with pytest.raises(AssignmentError, match=r"'vit-debuging'; did you mean vit-debugging\?"):
        load_assignment("vit-debuging")


def test_reading_an_assignment_imports_no_torch() -> None:
    code = (
        "import sys; from vitcheck.checks.assignment.assignment import *; load_assignment('vit-debugging');"
    )
    assert subprocess.run([sys.executable, "-c", code + "sys.exit('torch' in sys.modules)"]).returncode == 0


def test_the_example_in_the_documentation_works(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "instructors.md").read_text("utf-8")
    example = "name" + page.partition("```toml\nname")[2].partition("```")[0]
    assert load_assignment(written(tmp_path, example)).full.grid == (4, 4)


def test_when_a_check_is_shown_is_said_by_check_else_by_group(tmp_path: Path) -> None:
    text = SMALLEST + '[visibility]\nproperties = "after_due_date"\n"equation[S12]" = "hidden"\n'
    text += 'components = "after_published"\n"component[mlp.shape]" = "visible"\n'
    assignment = load_assignment(written(tmp_path, text))
    assert assignment.visibility_of("equation[S12]").value == "hidden"
    assert assignment.visibility_of("equation[S13]").value == "visible"
    assert assignment.visibility_of("property[batch]").value == "after_due_date"
    assert assignment.visibility_of("component[mlp.values]").value == "after_published"
    assert assignment.visibility_of("component[mlp.shape]").value == "visible"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('equation = "hidden"', "line 10: visibility.equation: 'equation' is neither a group of checks"),
        ('equations = "never"', "line 10: visibility.equations: must be 'visible', 'after_due_date'"),
    ],
)
def test_a_group_or_a_time_that_is_unknown_is_told(tmp_path: Path, entry: str, message: str) -> None:
    assert complaint(tmp_path, f"{SMALLEST}[visibility]\n{entry}\n").startswith(message)


def test_an_assignment_is_known_by_what_the_command_line_takes(tmp_path: Path) -> None:
    assert load_assignment("clip-vit").known_as == "clip-vit"
    assert load_assignment(written(tmp_path, SMALLEST)).known_as == "mine.toml"
