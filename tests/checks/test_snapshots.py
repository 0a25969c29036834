"""A picture at every stage: of the reference, which is the answer key, and of a student's code."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import torch
from own_picture import SMALL, painted, small
from PIL import Image
from safetensors.torch import load
from torch import Tensor

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.classes.tasks import Task
from vitcheck.checks.examining.passes.pictures import Picture, PictureError, read_picture
from vitcheck.checks.record.result import Evidence, StageStatus, Status
from vitcheck.checks.record.snapshot import Snapshot
from vitcheck.checks.tools.snapshots import answer_key, trace
from vitcheck.reference.preprocessing import to_input
from vitcheck.reference.vit import CLIP, REPORT, ReferenceViT
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.questions.randomise import randomise

FOLDER = Path(__file__).parents[2] / "submissions" / "examples"


@pytest.fixture
def picture(tmp_path: Path) -> Picture:
    return read_picture(painted(tmp_path))


@pytest.fixture(scope="module")
def traced(zygote: Zygote, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Snapshot]:
    sun = read_picture(painted(tmp_path_factory.mktemp("picture")))
    names = ("report_block.py", "two_mistakes.py", "script.py", "notebook.ipynb", "fused_attention.py")
    judge = partial(Task.grade, zygote=zygote)
    found = {name: trace(FOLDER / name, sun, small(), judge=judge, seed=7) for name in names}
    return found | {"syntax_error.py": trace(FOLDER / "syntax_error.py", sun, small(), judge=judge)}


def arrays(snapshot: Snapshot) -> dict[str, Tensor]:
    assert snapshot.arrays is not None
    return load(snapshot.arrays)


def test_the_answer_key_is_what_the_reference_computes(picture: Picture) -> None:
    key = answer_key(picture, small(), seed=3)
    model = ReferenceViT(SMALL, REPORT).eval()
    randomise(model, 3, {})
    stages = model(to_input(picture.image, SMALL.height))
    kept = arrays(key)
    assert [one.key for one in key.stages.values()] == list(stages)
    for label, stage in key.stages.items():
        tensor = stages[stage.key]
        assert stage.shape == stage.expected_shape == list(tensor.shape)
        corner = tensor[(0,) * (tensor.dim() - 2)][:4, :6] if stage.axes != "B K" else tensor[:4, :6]
        assert stage.values is not None
        assert torch.allclose(torch.tensor(stage.values), corner, atol=1e-5)
        cut = (
            tensor[0] if tensor[0].numel() <= 2**13 else tensor[0][tuple(slice(32) for _ in tensor[0].shape)]
        )
        assert torch.equal(kept[f"{label}/student"], cut.detach())


def test_the_answer_key_goes_through_all_blocks(picture: Picture) -> None:
    kept = arrays(answer_key(picture, small()))
    assert kept["S22/stream"].shape == (SMALL.depth + 1, SMALL.tokens)
    assert torch.allclose(kept["S22/stream"][-1], kept["S22/student"].norm(dim=-1), atol=1e-4)


def test_the_answer_key_has_each_stage_of_its_architecture(picture: Picture) -> None:
    key = answer_key(picture, small("clip-vit"))
    assert key.architecture == CLIP.name
    assert "S26" not in key.stages
    assert key.stages["S24"].equation == "LayerNorm(row 0 of S23)"


def test_an_answer_key_has_its_seed_and_other_seeds_other_weights(picture: Picture) -> None:
    one, again, other = (answer_key(picture, small(), seed=seed) for seed in (1, 1, 2))
    assert one.stages == again.stages
    assert one.stages["S01"] == other.stages["S01"]
    assert one.stages["S04"].values != other.stages["S04"].values
    assert (one.run.seed, other.run.seed) == (1, 2)


def test_an_assignment_without_a_model_has_no_answer_key(picture: Picture) -> None:
    with pytest.raises(PictureError, match="vit-basics asks for parts of a model alone"):
        answer_key(picture, load_assignment("vit-basics"))
    with pytest.raises(PictureError, match="vit-basics asks for parts of a model alone"):
        trace(FOLDER / "report_block.py", picture, load_assignment("vit-basics"), judge=Task.lost)


@pytest.mark.parametrize("name", ["report_block.py", "script.py", "notebook.ipynb"])
def test_a_students_stages_are_those_of_the_picture(traced: dict[str, Snapshot], name: str) -> None:
    found, kept = traced[name], arrays(traced[name])
    assert all(one.status is StageStatus.PASSED for one in found.stages.values())
    assert {label for label, one in found.stages.items() if one.shape != one.expected_shape} == set()
    side = found.run.sizes["height"]
    image = to_input(Image.new("RGB", (8, 8), (120, 170, 235)), side)  # the sky, at its upper left corner
    assert found.stages["S01"].values is not None
    assert torch.allclose(torch.tensor(found.stages["S01"].values), image[0, 0, :4, :6], atol=1e-2)
    assert torch.allclose(kept["S13/row_sums"], torch.ones_like(kept["S13/row_sums"]), atol=1e-5)


def test_a_model_of_any_size_is_traced_at_full_size_with_three_blocks(traced: dict[str, Snapshot]) -> None:
    sizes = vars(SMALL) | {"depth": 3}
    assert traced["report_block.py"].run.sizes == traced["notebook.ipynb"].run.sizes == sizes


def test_a_mistake_is_named_where_it_is_and_its_numbers_are_of_the_picture(
    traced: dict[str, Snapshot],
) -> None:
    found = traced["two_mistakes.py"]
    wrong = [label for label, one in found.stages.items() if one.status is StageStatus.FAILED]
    assert wrong[0] == "S13"
    stage, kept = found.stages["S13"], arrays(found)
    assert stage.mistakes == ["softmax-over-queries"]
    assert stage.location is not None
    assert stage.max_error == pytest.approx(float(kept["S13/error"].max()), rel=1e-4)
    assert kept["S13/student"].shape == (SMALL.heads, SMALL.tokens, SMALL.tokens)


def test_equal_pixels_hide_no_stage(traced: dict[str, Snapshot]) -> None:
    stages = traced["two_mistakes.py"].stages  # the whole of S02 is blue, yellow and green
    assert {label for label, one in stages.items() if one.evidence is not Evidence.OBSERVED} == set()


def test_a_stage_that_the_code_never_makes_is_implied(traced: dict[str, Snapshot]) -> None:
    stages = traced["fused_attention.py"].stages
    assert {one.evidence for one in stages.values()} == {Evidence.OBSERVED, Evidence.IMPLIED}


def test_code_that_does_not_load_says_why(traced: dict[str, Snapshot]) -> None:
    found = traced["syntax_error.py"]
    assert (found.status, found.stages) == (Status.NOT_LOADED, {})
    assert found.reason == "syntax error: '(' was never closed"


def test_a_snapshot_says_how_to_repeat_it(traced: dict[str, Snapshot], picture: Picture) -> None:
    options = "--image sun.png --assignment vit-debugging --seed 7"
    assert traced["two_mistakes.py"].run.command == f"vitcheck trace two_mistakes.py {options}"
    assert answer_key(picture, small(), seed=7).run.command == f"vitcheck snapshot {options}"


def test_a_snapshot_is_read_as_it_was_written(traced: dict[str, Snapshot]) -> None:
    found = traced["two_mistakes.py"]
    assert Snapshot.from_json(found.to_json(), found.arrays) == found


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not an image that can be read"),
        (b"<html>", "not an image that can be read"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "not an image that can be read"),
    ],
)
def test_a_file_that_is_no_picture_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "cat.jpg").write_bytes(content)
    with pytest.raises(PictureError, match=rf"cat\.jpg is {message}.*give it as PNG or JPEG"):
        read_picture(tmp_path / "cat.jpg")


def test_a_picture_that_ends_early_is_refused(tmp_path: Path) -> None:
    file = painted(tmp_path)
    file.write_bytes(file.read_bytes()[:-60])
    with pytest.raises(PictureError, match=r"sun\.png is not an image"):
        read_picture(file)


def test_a_picture_with_more_pixels_than_memory_is_refused(tmp_path: Path) -> None:
    Image.new("1", (12000, 9000)).save(tmp_path / "large.png")
    with pytest.raises(PictureError, match=r"large\.png has more pixels than Pillow opens: save a smaller"):
        read_picture(tmp_path / "large.png")


def test_a_model_that_reads_no_square_colour_image_is_said(picture: Picture) -> None:
    with pytest.raises(
        PictureError, match=r"sun\.png becomes a square RGB image, but the model reads 1 × 48 × 48"
    ):
        answer_key(
            picture, small().model_copy(update={"full": SMALL.__class__(**vars(SMALL) | {"channels": 1})})
        )
