"""The generator: what it writes is what it says, and varies as it should."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from generated import odd, proving
from generated.composing import right_model, right_program
from generated.drawing import IDIOMS, Choices, by_seed
from generated.facts import Facts
from generated.layouts import LAYOUTS
from generated.mutating import candidates, mutated
from generated.oracle import RIGHT, State, Weights, result
from generated.program import Program
from generated.proving import distances, proven
from generated.samples import KINDS, sample
from generated.shrinking import recorded, replayed, smallest
from generated.slips import SLIPS
from generated.strategies import right_programs
from generated.unfinished import unfinished_program
from generated.words import _CONCEPTS, LANGUAGES, Names
from generated.write import write
from generated.wrong import _Measured
from vitcheck.reference.sizes import Sizes
from vitcheck.reference.vit import CLIP, PRE_NORM, REPORT, ReferenceViT, Variant

FOLDER = Path(__file__).parent


def _programs(count: int) -> list[Program]:
    return [right_program(by_seed(f"occurs-{number}")) for number in range(count)]


def test_each_idiom_occurs() -> None:
    seen = {name for program in _programs(800) for name in program.idioms}
    written = {one.name for slot, idioms in IDIOMS.items() if slot != "odd" for one in idioms}
    assert written - seen == set()


def test_no_constant_is_called_as_a_class_is() -> None:
    for number in range(300):
        names = Names(Choices(by_seed(number)))
        classes = {getattr(names, concept) for concept in ("MLP", "Norm")}
        assert classes.isdisjoint(getattr(names, size).upper() for size in ("mlp", "dim"))


def test_each_slip_occurs() -> None:
    seen = {name for program in _programs(30) for name in candidates(program.source)}
    assert set(SLIPS) - seen == set()


def test_each_odd_surrounding_occurs_and_is_python() -> None:
    seen = set()
    for number in range(120):
        below = by_seed(f"odd-{number}")
        made = odd.odd_program(right_model(below), below)
        seen.add(made.what)
        for name, content in made.files.items():
            if name.endswith(".py"):
                ast.parse(content)
    assert seen == {one.name for one in IDIOMS["odd"]}


def test_each_file_of_each_layout_is_python() -> None:
    program = right_model(by_seed("laid out"))
    for layout in LAYOUTS:
        files = replace(program, layout=layout).files()
        for name, content in files.items():
            if name.endswith(".py"):
                ast.parse(content)
    assert {"models/__init__.py", "models/layers.py", "models/vit.py"} <= set(files)


def test_what_a_package_imports_it_has(tmp_path: Path) -> None:
    code = []
    for number in range(20):
        program = replace(right_model(by_seed(f"package-{number}")), layout="package")
        folder = tmp_path / f"package_{number}"
        write(folder, {"__init__.py": b"", **program.files()})
        if (folder / "models").exists() and "argparse" not in program.source:
            code.append(f"from package_{number}.models import {program.model}")
    assert len(code) > 5
    run = [sys.executable, "-c", "\n".join(code)]
    ran = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_a_program_that_fails_is_shrunk_to_the_simplest_that_still_does() -> None:
    draws: list[int] = []
    name = "scale: by_float32_tensor"
    seeds = (by_seed(f"shrunk-{number}") for number in range(500))
    while name not in right_model(recorded(next(seeds), draws)).idioms:
        draws.clear()
    shrunk = smallest(draws, lambda simpler: name in right_model(replayed(simpler)).idioms)
    program = right_model(replayed(shrunk))
    assert name in program.idioms
    assert sum(map(bool, shrunk)) < sum(map(bool, draws)) / 4
    assert proven(program)


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(right_programs())
def test_a_right_program_computes_what_the_equations_do(program: Program) -> None:
    assert proven(program), distances(program)


def test_a_proof_catches_a_wrong_program() -> None:
    changes = (("math.sqrt(", "("), (".softmax(dim=-1)", ".softmax(dim=-2)"), (" + ", " - "))
    caught = [0] * len(changes)
    for number in range(60):
        program = right_model(by_seed(f"caught-{number}"))
        for index, (right, wrong) in enumerate(changes):
            place = program.text.rfind(right, program.text.find("def forward"))
            if place > 0 and caught[index] < 3:
                text = program.text[:place] + wrong + program.text[place + len(right) :]
                caught[index] += not _holds(replace(program, text=text))
    assert all(caught)


def _holds(program: Program) -> bool:
    try:
        return proven(program)
    except Exception:
        return False


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_program_again(kind: str) -> None:
    first, again = sample(kind, 3, 1), sample(kind, 3, 1)
    assert (first.files, first.known) == (again.files, again.known)


def test_a_wrong_program_differs_from_the_right_one_where_it_says() -> None:
    for number in range(6):
        made = sample("wrong", 5, number)
        assert made.wrong is not None
        right, wrong = made.program.source.splitlines(), made.wrong.source.splitlines()
        changed = next(index for index, (one, other) in enumerate(zip(right, wrong), 1) if one != other)
        first = min(made.wrong.slips, key=lambda slip: slip.start)
        assert first.start[0] <= changed <= first.end[0] + 1  # of a doubled line the second is new
        assert made.wrong.differs


_HARMLESS = ("a doubled statement", "two lines exchanged")


def test_layers_made_twice_or_in_another_order_are_no_mistake() -> None:
    judged = []
    for number in range(40):
        program = right_model(by_seed(f"harmless-{number}"))
        measured = _Measured(program)
        for candidate in chain(*(candidates(program.source).get(name, [])[:2] for name in _HARMLESS)):
            slip = mutated(program.source, candidate)
            if slip and re.match(r"self\.\w+ = nn\.\w+\(.*\)(\n\s*self\.\w+ = nn\.\w+\(.*\))?$", slip.old):
                judged.append(measured.judged(slip.source, (slip,)))
    assert len(judged) > 10
    assert judged == [None] * len(judged)


def test_the_numbers_of_a_patch_in_another_order_are_no_mistake() -> None:
    program = right_model(by_seed("reordered-14"))  # which cuts its patches by reshape and permute
    made = [mutated(program.source, one) for one in candidates(program.source)["the order of axes"]]
    slips = {one.new.rpartition("permute")[2]: one for one in made if one}
    judged = {
        axes: _Measured(program).judged(slips[axes].source, (slips[axes],))
        for axes in ("(0, 2, 4, 3, 1, 5)", "(0, 2, 1, 4, 3, 5)")
    }
    same, of_other_patches = judged.values()
    assert same is None
    assert of_other_patches is not None


def test_an_unfinished_program_is_python_and_ends_where_it_says() -> None:
    for number in range(20):
        below = by_seed(f"unfinished-{number}")
        made = unfinished_program(right_model(below), below)
        assert made is not None
        ast.parse(made.source)
        assert made.ending.split("\n")[0] in made.source.splitlines()[made.line - 1]


_FACTS = {
    "report": (Facts(placement="report", final_norm=None), REPORT),
    "pre-norm": (Facts(eps=dict.fromkeys(("norm1", "norm2", "norm"), 1e-6)), PRE_NORM),
    "clip": (Facts(norm_before=True, final_norm="representation", activation="quick-gelu"), CLIP),
}


@pytest.mark.parametrize(("facts", "variant"), _FACTS.values(), ids=_FACTS.keys())
def test_the_equations_are_those_of_the_reference(facts: Facts, variant: Variant) -> None:
    sizes = Sizes(
        batch=2, height=12, width=12, patch=4, embed_dim=24, heads=3, mlp_dim=96, depth=3, classes=5
    )
    model = ReferenceViT(sizes, variant).double()
    proving.randomise(model)
    images = proving.given("model", torch.float64)
    state = State(Weights(_reference_weights(model)), facts, 4, 3, 3, RIGHT)
    with torch.no_grad():
        assert torch.allclose(result(state, images), model(images)["logits"], rtol=0, atol=1e-12)


def _reference_weights(model: ReferenceViT) -> Callable[[str, int], Tensor | None]:
    names = {"patch": "patch_embed", "out": "attn.proj", "fc1": "mlp.fc1", "fc2": "mlp.fc2"}
    known = dict(model.named_parameters())

    def of(role: str, number: int) -> Tensor | None:
        if role in ("token", "positions"):
            return known[{"token": "cls_token", "positions": "pos_embed"}[role]]
        layer, _, what = role.rpartition(".")
        if layer in ("query", "key", "value"):
            packed = known[f"blocks.{number}.attn.qkv.{what}"]
            return packed.chunk(3)[("query", "key", "value").index(layer)]
        name = f"{names.get(layer, layer)}.{what}"
        return known.get(name, known.get(f"blocks.{number}.{name}"))

    return of


def test_nothing_of_the_checks_is_imported() -> None:
    sources = [path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.py")]
    assert not [
        text
        for text in sources
        if re.search(r"^\s*(from|import) .*vitcheck\.(checks|submissions)", text, re.M)
    ]


def test_each_variable_has_words_in_each_language() -> None:
    for line in _CONCEPTS[0].splitlines():
        assert len(line.split(": ", 1)[1].split(" | ")) == len(LANGUAGES), line
