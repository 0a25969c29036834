"""The arrays for figures: what was measured while grading, small, and beside the record alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load
from torch import Tensor

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.result import Result
from vitcheck.submissions.host.process import Zygote

FOLDER = Path(__file__).parents[2] / "submissions" / "examples"
ASSIGNMENT = load_assignment("vit-debugging").model_copy(update={"examples": 2})


@pytest.fixture(scope="module")
def results(zygote: Zygote) -> dict[str, Result]:
    names = ("report_block", "two_mistakes", "token_at_end", "syntax_error")
    return {name: grade(FOLDER / f"{name}.py", ASSIGNMENT, zygote=zygote, seed=7) for name in names}


def arrays(result: Result) -> dict[str, Tensor]:
    assert result.arrays is not None
    return load(result.arrays)


def metadata(result: Result, label: str) -> dict[str, object]:
    file = result.arrays or b""
    header = json.loads(file[8 : 8 + int.from_bytes(file[:8], "little")])
    told: dict[str, object] = json.loads(header["__metadata__"]["stages"])[label]
    return told


def test_every_stage_of_a_right_submission_is_kept_without_a_comparison(results: dict[str, Result]) -> None:
    kept = arrays(results["report_block"])
    assert {name.split("/")[0] for name in kept} == {f"S{number:02d}" for number in range(2, 27)}
    assert not {name for name in kept if name.endswith(("/expected", "/error"))}
    colours = {"S02/pixels", "S13/pixels"}
    assert {name for name, one in kept.items() if one.dtype is torch.uint8} == colours
    assert all(one.dtype is torch.float32 for name, one in kept.items() if name not in colours)


def test_of_a_wrong_stage_the_image_with_the_largest_error_is_kept(results: dict[str, Result]) -> None:
    result = results["two_mistakes"]
    kept, stage = arrays(result), result.stages["S13"]
    assert float(kept["S13/error"].max()) == pytest.approx(stage.max_error, rel=1e-5)
    difference = (kept["S13/student"] - kept["S13/expected"]).abs()
    assert torch.allclose(difference, kept["S13/error"], atol=1e-6)
    assert f"image {metadata(result, 'S13')['image']}," in (stage.message or "")


def test_softmax_over_the_queries_shows_in_the_sums_of_rows(results: dict[str, Result]) -> None:
    kept = arrays(results["two_mistakes"])
    assert torch.allclose(kept["S13/row_sums"], kept["S13/student"].sum(-1))
    assert float((kept["S13/row_sums"] - 1).abs().max()) > 0.1
    right = arrays(results["report_block"])
    assert torch.allclose(right["S13/row_sums"], torch.ones_like(right["S13/row_sums"]))


def test_each_number_of_a_right_patch_comes_from_its_square(results: dict[str, Result]) -> None:
    sources = arrays(results["report_block"])["S02/sources"]
    numbers = torch.arange(len(sources)).reshape(-1, 1, 1, 1).expand_as(sources)
    assert torch.equal(sources.floor(), numbers.float())


def test_a_norm_leaves_tokens_with_mean_0_and_deviation_1(results: dict[str, Result]) -> None:
    for label in ("S16", "S19"):
        before, after = arrays(results["report_block"])[f"{label}/statistics"]
        assert torch.allclose(after[0], torch.zeros_like(after[0]), atol=1e-5)
        assert torch.allclose(after[1], torch.ones_like(after[1]), atol=1e-3)  # eps
        assert not torch.allclose(before[1], torch.ones_like(before[1]), atol=1e-2)


def test_the_activation_is_measured_in_order(results: dict[str, Result]) -> None:
    before, after, right = arrays(results["report_block"])["S17/curve"]
    assert torch.equal(before, before.sort().values)
    assert torch.allclose(after, torch.nn.functional.gelu(before), atol=1e-5)
    assert torch.allclose(after, right, atol=1e-6)


def test_the_class_token_is_followed_wherever_it_stands(results: dict[str, Result]) -> None:
    for name, row in (("report_block", 0), ("token_at_end", -1)):
        kept = arrays(results[name])
        attention = kept["S13/student"][:, row]
        patches = attention[:, 1:] if row == 0 else attention[:, :-1]
        assert torch.equal(kept["S13/class_attention"].flatten(1), patches)
        last = kept["S22/student"][row].norm()
        assert float(kept["S22/stream"][-1, 0]) == pytest.approx(float(last), rel=1e-5)


def test_the_arrays_stay_small_and_out_of_the_document(results: dict[str, Result]) -> None:
    assert all(len(result.arrays or b"") < 300_000 for result in results.values())
    assert "arrays" not in json.loads(results["two_mistakes"].to_json())


def test_where_nothing_was_seen_nothing_is_kept(results: dict[str, Result]) -> None:
    assert results["syntax_error"].arrays is None
