"""``import vitcheck``: what Python code can ask of it, with real submissions."""

from __future__ import annotations

import asyncio
import importlib
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent
from types import FrameType, ModuleType

import psutil
import pytest
from PIL import Image
from quick_tasks import quick

import vitcheck
from vitcheck import library
from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.examining.passes.pictures import PictureError
from vitcheck.checks.parts.alone import asked_alone
from vitcheck.checks.record.result import Outcome, StageStatus, Status
from vitcheck.reference.stages import stage
from vitcheck.warm import WarmGrader

EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"
PARTS = Path(__file__).parents[2] / "submissions" / "examples-basics" / "components.py"


@pytest.fixture(scope="module", autouse=True)
def _stopped() -> Iterator[None]:
    """Other tests look for processes that are left over."""
    yield
    library._grader().stop()


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """Import the components of a student who forgot the scale in a second kind of attention."""
    folder = tmp_path_factory.mktemp("parts")
    text = PARTS.read_text(encoding="utf-8")
    start, end = text.index("class MultiHeadSelfAttention"), text.index("class MLP")
    wrong = text[start:end].replace("class MultiHeadSelfAttention", "class Unscaled")
    assert " / math.sqrt(self.head_dim)" in wrong
    block = text[text.index("class EncoderBlock") :]
    text += "\n\n" + wrong.replace(" / math.sqrt(self.head_dim)", "")
    text += "\n\n" + block.replace("EncoderBlock", "Wrong").replace("MultiHeadSelfAttention", "Unscaled")
    text += dedent("""
        def feed_forward(x, w1, b1, w2, b2):
            return nn.functional.gelu(x @ w1.T + b1) @ w2.T + b2
    """)
    (folder / "my_parts.py").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(sys, "dont_write_bytecode", True)
        yield importlib.import_module("my_parts")
    del sys.modules["my_parts"]


def running(name: str) -> set[int]:
    """Ids of the processes below this one that run the module ``name``."""
    below = psutil.Process().children(recursive=True)
    return {one.pid for one in below if f"vitcheck.{name}" in one.cmdline()}


def test_the_import_costs_nothing_and_offers_everything() -> None:
    code = """if True:
        import sys, vitcheck
        assert {*vitcheck.__all__} <= {*dir(vitcheck)}
        assert not {"torch", "pydantic", "rich", "IPython"} & {*sys.modules}
        for name in vitcheck.__all__:
            getattr(vitcheck, name)
        assert "torch" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_name_is_in_the_documentation_and_no_other() -> None:
    text = (EXAMPLES.parents[1] / "docs" / "library.md").read_text(encoding="utf-8")
    assert {*re.findall(r"vitcheck\.(\w+)", text)} == {*vitcheck.__all__}


def test_what_the_documentation_says_of_parts_is_so() -> None:
    told = {
        "patches": "S02 S03",
        "patch_embedding": "S02 S03 S04",
        "class_token": "S05 S06",
        "positions": "S07",
        "mlp": "S17 S18",
    }
    told |= {"attention": "S09 S10 S11 S12 S13 S14 S15", "layer_norm": "S16"}
    base = load_assignment("vit-basics")
    for number in range(2, 21):
        components = [[*one.components] for one in asked_alone(base, stage(f"S{number:02}").key, "X")]
        expected = [key for key, labels in told.items() if f"S{number:02}" in labels]
        assert [key for (key,) in components][: len(expected)] == expected
        assert (["block"] in components) == (number >= 8)


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AttributeError, match="module 'vitcheck' has no attribute 'chek'"):
        vitcheck.chek  # noqa: B018  # what is tested


def test_a_path_is_checked_and_the_next_one_by_the_same_processes() -> None:
    result = vitcheck.check(EXAMPLES / "scale_by_width.py")
    assert isinstance(result, vitcheck.Result)
    assert result.stages["S12"].mistakes == ["scale-by-embed-dim"]
    assert "\nS12 Attention scores · " in repr(result)
    assert "\x1b" not in repr(result)
    before = running("checks.classes.engines.serving"), running("submissions.child.zygote")
    again = vitcheck.check(str(EXAMPLES / "scale_by_width.py"), stage="attention_scores")
    assert (running("checks.classes.engines.serving"), running("submissions.child.zygote")) == before
    assert [*map(len, before)] == [1, 1]
    assert repr(again).startswith("✗ S12: Attention scores, wrong")
    assert again.score == result.score
    assert vitcheck.Result.from_json(result.to_json(), result.arrays) == result


def test_a_slow_package_is_imported_before_the_code_that_wants_it(tmp_path: Path) -> None:
    """It takes longer than all the rest of a check, and is paid for once."""
    text = (EXAMPLES / "report_block.py").read_text(encoding="utf-8")
    head, scale, rest = text.partition("math.sqrt(self.head_dim)")
    lazily = f"({scale} if 'torchvision' in sys.modules else 1)"
    file = tmp_path / "vit.py"
    file.write_text(
        f"{head}{lazily}{rest}\n\nimport sys\n\ndef show():\n    import torchvision\n", encoding="utf-8"
    )
    assert vitcheck.check(file).stages["S12"].status is StageStatus.PASSED
    assert subprocess.run([sys.executable, "-m", "vitcheck", "check", file]).returncode == 0


def test_a_picture_is_followed_through_every_stage(tmp_path: Path) -> None:
    picture = tmp_path / "cat.png"
    Image.effect_noise((30, 20), 90).convert("RGB").save(picture)
    traced = vitcheck.trace(EXAMPLES / "scale_by_width.py", picture)
    assert traced.stages["S12"].shape == [1, 12, 197, 197]
    assert traced.tensors["S12"].shape == (12, 32, 32)
    assert traced.tensors["S24"].shape == (768,)
    assert "\nS12 Attention scores · " in repr(traced)
    assert "cat.png (30 by 20 pixels)" in repr(traced)


def test_a_picture_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    file, picture = tmp_path / "vit.py", tmp_path / "cat.png"
    file.touch()
    Image.new("RGB", (9, 9)).save(picture)
    with pytest.raises(PictureError, match=r"vit.py is not an image that can be read"):
        vitcheck.trace(file, file)
    with pytest.raises(PictureError, match="vit-basics asks for parts of a model alone"):
        vitcheck.trace(file, picture, "vit-basics")


def test_what_cannot_be_checked_is_said_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "vit.py").touch()
    with pytest.raises(FileNotFoundError, match=r"there is no file or folder .*vti.py; did you mean vit.py?"):
        vitcheck.check(tmp_path / "vti.py")
    with pytest.raises(ValueError, match="there is no stage 'S99'"):
        vitcheck.check(tmp_path / "vit.py", stage="S99")
    with pytest.raises(
        ValueError, match=r"S01 \(image\) is not computed by a single part: .* one of S02, S03"
    ):
        vitcheck.check(WarmGrader, stage="S01")


class TestParts:
    def test_a_right_one_is_right(self, parts: ModuleType) -> None:
        result = vitcheck.check(parts.MultiHeadSelfAttention, stage="S15")
        assert (result.score.earned, result.score.possible) == (100, 100)
        assert repr(result).startswith("✓ S15: Attention output, right")

    def test_the_first_stage_that_is_wrong_is_shown_whichever_was_asked_about(
        self, parts: ModuleType
    ) -> None:
        result = vitcheck.check(parts.Unscaled, stage="S15")
        assert result.stages["S15"].status is StageStatus.PASSED
        assert result.stages["S12"].mistakes == ["scale-missing"]
        assert repr(result).startswith("✗ S12: Attention scores, wrong")

    @pytest.mark.parametrize("name", ["EncoderBlock", "Wrong"])
    def test_a_block_is_told_from_an_attention(self, parts: ModuleType, name: str) -> None:
        result = vitcheck.check(getattr(parts, name), stage="S12")
        assert {one.id.partition(".")[0] for one in result.checks} == {"component[block", "imports"}
        right = StageStatus.PASSED if name == "EncoderBlock" else StageStatus.FAILED
        assert result.stages["S12"].status is right
        assert result.stages["S20"].status is StageStatus.PASSED

    def test_a_function_is_a_part_too(self, parts: ModuleType) -> None:
        result = vitcheck.check(parts.feed_forward, stage="mlp_output")
        assert result.stages["S18"].status is StageStatus.PASSED
        assert {one.outcome for one in result.checks} == {Outcome.PASSED, Outcome.SKIPPED}


def test_the_class_that_is_given_is_graded_and_not_its_neighbour(tmp_path: Path) -> None:
    text = (EXAMPLES / "prenorm_conv.py").read_text(encoding="utf-8")
    code = f"""if True:
        import sys, vitcheck
        sys.path.insert(0, {str(tmp_path)!r})
        import two_models
        result = vitcheck.check(two_models.Strange(frozenset()))
        print(result.status.value, result.reason)
        print(vitcheck.check(two_models.{model_in(text)}).status.value)
    """
    strange = """

class Strange(nn.Module):
    def __init__(self, zzz):
        super().__init__()
        if not isinstance(zzz, frozenset):
            raise ValueError(zzz)
"""
    (tmp_path / "two_models.py").write_text(text + strange, encoding="utf-8")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = run.stdout.splitlines()
    assert first.startswith("not_loaded Strange (two_models.py, line ")
    assert "'zzz'" in first
    assert first.endswith("its class, which is built anew, without the arguments that it was given.")
    assert second == "graded"


def model_in(text: str) -> str:
    return next(name for name in ("VisionTransformer", "ViT") if f"class {name}(" in text)


def test_it_works_inside_of_a_running_loop_and_in_a_thread_that_ends() -> None:
    async def asked() -> vitcheck.Result:
        return vitcheck.check(EXAMPLES / "syntax_error.py")

    library._grader().stop()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(vitcheck.check, EXAMPLES / "syntax_error.py").result().status is Status.NOT_LOADED
    assert asyncio.run(asked()).status is Status.NOT_LOADED


def test_a_class_is_graded_by_a_script_that_protects_nothing(tmp_path: Path) -> None:
    script = tmp_path / "grade_all.py"
    script.write_text(
        "import vitcheck\nprint('begin')\n"
        f"found = {str(EXAMPLES / 'syntax_error.py')!r}\n"
        "results = vitcheck.grade(found, out='out', isolation='none', jobs=1)\n"
        "print(*[f'{one.submission} {one.status.value}' for one in results])\n"
    )
    run = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
    )
    assert (run.stdout, run.stderr) == ("begin\nsyntax_error not_loaded\n", "")
    assert (tmp_path / "out" / "syntax_error" / "report.html").is_file()
    again = vitcheck.grade([EXAMPLES / "syntax_error.py"], out=tmp_path / "out", isolation="none", jobs=1)
    assert [type(one) for one in again] == [vitcheck.Result]
    assert (
        again[0].run.seed
        == vitcheck.Result.from_json(
            (tmp_path / "out" / "syntax_error" / "result.json").read_bytes()
        ).run.seed
    )


def test_a_class_without_submissions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no folder, .py, .ipynb or archive inside"):
        vitcheck.grade(tmp_path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


class TestWarmGrader:
    @pytest.fixture(autouse=True)
    def _alone(self) -> None:
        library._grader().stop()

    def test_after_an_interrupt_the_next_answer_is_its_own(self, tmp_path: Path) -> None:
        def interrupt(number: int, frame: FrameType | None) -> None:
            raise KeyboardInterrupt

        waiting, fine = quick(a=f"wait {tmp_path / 'never'}", b="fine")
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            with WarmGrader() as grader:
                signal.setitimer(signal.ITIMER_REAL, 0.5)
                with pytest.raises(KeyboardInterrupt):
                    grader.grade(waiting)
                assert grader.grade(fine).submission == "b"
        finally:
            signal.signal(signal.SIGALRM, before)
        assert not running("checks.classes.engines.serving")

    def test_a_picture_that_the_model_does_not_read_is_no_fault_of_the_grader(self) -> None:
        refusing, fine = quick(a="refuse", b="fine")
        with WarmGrader() as grader:
            with pytest.raises(PictureError, match="the model reads no such picture"):
                grader.grade(refusing)
            before = running("checks.classes.engines.serving")
            assert grader.grade(fine).submission == "b"
            assert running("checks.classes.engines.serving") == before

    def test_a_grader_that_dies_is_said_and_started_again(self) -> None:
        dying, fine = quick(a="die", b="fine")
        with WarmGrader() as grader:
            with pytest.raises(
                RuntimeError, match="the grader itself failed, which says nothing of the work"
            ):
                grader.grade(dying)
            assert grader.grade(fine).submission == "b"
            (worker,) = running("checks.classes.engines.serving")
            psutil.Process(worker).kill()
            psutil.Process(worker).wait()
            assert grader.grade(fine).submission == "b"
