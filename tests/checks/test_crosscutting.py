"""What no stage shows is told by the property that is there for it, with its id and its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from corpus import BASES, edited
from coverage_table import PROPERTY
from examining import examine, forbidding
from mutants import MUTANTS, Mutant
from one_file import graded_file
from test_unfinished import FINISHED, VIT

from vitcheck.checks.architecture.catalogue import mistakes
from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable, NotAsked
from vitcheck.checks.rules.kinds.property import check_property
from vitcheck.checks.rules.properties import PROPERTIES
from vitcheck.submissions.host.process import Zygote

TOLD = [one for one in MUTANTS if one.id in PROPERTY and not one.crashes]
ERRORS = [one for one in TOLD if mistakes()[one.id].kind == "error"]
VARIANTS = [one for one in TOLD if mistakes()[one.id].kind != "error"]


def _name(mutant: Mutant) -> str:
    return mutant.name


def _failure(mutant: str, property_name: str, *forbidden: str) -> CheckFailed:
    with pytest.raises(CheckFailed) as failed:
        check_property(examine(mutant, assignment=forbidding(*forbidden)), PROPERTIES[property_name])
    return failed.value


@pytest.mark.parametrize("mutant", ERRORS, ids=_name)
def test_a_mistake_fails_its_property_and_is_named_first(mutant: Mutant) -> None:
    assert _failure(mutant.name, PROPERTY[mutant.id]).mistakes[0] == mutant.id


@pytest.mark.parametrize("mutant", VARIANTS, ids=_name)
def test_a_variant_is_noted_and_costs_something_only_where_it_is_forbidden(mutant: Mutant) -> None:
    examination = examine(mutant.name)
    check_property(examination, PROPERTIES[PROPERTY[mutant.id]])
    assert mutant.id in [one.id for one in examination.noted]
    assert _failure(mutant.name, PROPERTY[mutant.id], mutant.id).mistakes == (mutant.id,)


def test_rows_of_a_weight_that_no_gradient_reaches_are_told_though_others_have_one(
    zygote: Zygote, tmp_path: Path
) -> None:
    """Queries, keys and values have one weight, and only the values still learn."""
    program = edited(FINISHED, [("scores.softmax(-1) @ v", "scores.softmax(-1).detach() @ v")])
    (told,) = graded_file(program, VIT, zygote, tmp_path).mistakes
    assert told.id == "path-detached"
    assert told.location is not None
    assert ".detach()" in program.splitlines()[told.location.line - 1]


LINES = [
    ("fused_sdpa-tensor-made-on-cpu", "one-device", "torch.zeros(len(x), 1, 1) + self.cls"),
    ("clip_style-tensor-made-on-cpu", "one-device", "cls = self.class_embedding + torch.zeros"),
    ("sinusoidal-buffer-not-registered", "one-device", "return x + self.pe"),
    ("einsum_style-path-detached", "gradients", "attn(ln1(x)).data + x"),
    ("prenorm-cls-detached", "gradients", "self.cls_token.data.expand"),
    ("prenorm-dropout-built-in-forward", "repeatable", "nn.Dropout(0.1)(x)"),
    ("prenorm-rng-consumed-in-eval", "no-side-effects", "torch.randn(3)"),
    ("einsum_style-input-mutated-in-place", "no-side-effects", "img[:, 0] *= 2"),
    ("separate_qkv-result-discarded", "results-are-used", "context.permute(0, 2, 1, 3)"),
]


@pytest.mark.parametrize(("mutant", "property_name", "code"), LINES)
def test_the_line_is_said(mutant: str, property_name: str, code: str) -> None:
    examination = examine(mutant)
    with pytest.raises(CheckFailed) as failed:
        check_property(examination, PROPERTIES[property_name])
    frame = failed.value.frame
    assert frame is not None
    assert code in examination.source.files[frame.file].decode().splitlines()[frame.line - 1]


@pytest.mark.parametrize(
    ("mutant", "says"),
    [
        ("prenorm-path-detached", "the backward pass stops after S15 of block 3"),
        ("prenorm-cls-detached", "the backward pass stops after S05"),
    ],
)
def test_it_is_said_where_the_backward_path_stops(mutant: str, says: str) -> None:
    assert says in _failure(mutant, "gradients").message


NATURAL = [  # forms that correct bases have by themselves
    ("per_head_modules", "loop-over-heads"),
    ("fused_sdpa", "hidden-fused-attention"),
    ("library_encoder", "hidden-fused-attention"),
    ("returns_tuple", "returns-tuple-or-dict"),
    ("raw_parameters", "repeat-instead-of-expand"),
    ("scaled_query", "zero-init-head"),
]


@pytest.mark.parametrize(("base", "id"), NATURAL)
def test_a_form_of_a_correct_base_is_noted(base: str, id: str) -> None:
    examination = examine(base)
    check_property(examination, PROPERTIES[PROPERTY[id]])
    assert id in [one.id for one in examination.noted]


@pytest.mark.parametrize(
    ("base", "id"),
    [("prenorm", "silent-floor-crop"), ("interleaved_qkv", "pos-grid-not-resampled")],
)
def test_what_is_looked_for_only_where_it_is_forbidden(base: str, id: str) -> None:
    with pytest.raises(NotApplicable):
        check_property(examine(base), PROPERTIES[PROPERTY[id]])
    assert _failure(base, PROPERTY[id], id).mistakes == (id,)


def test_an_image_that_patches_do_not_divide_may_be_refused() -> None:
    edit = (
        "B = x.shape[0]\n",
        "B = x.shape[0]\n        assert x.shape[2] % self.patch_embed.proj.stride[0] == 0\n",
    )
    check_property(
        examine("prenorm", edit, assignment=forbidding("silent-floor-crop")), PROPERTIES["uneven-image"]
    )


def test_an_error_that_the_assignment_accepts_is_not_applicable() -> None:
    brief = forbidding()
    by_id = {
        "tensor-made-on-cpu": next(iter(brief.variants.by_id.values())).model_copy(update={"allow": True})
    }
    brief = brief.model_copy(update={"variants": brief.variants.model_copy(update={"by_id": by_id})})
    examination = examine("report-tensor-made-on-cpu", assignment=brief)
    with pytest.raises(NotApplicable, match="the assignment accepts it: a tensor is created on the CPU"):
        check_property(examination, PROPERTIES["one-device"])


def test_a_number_without_axes_may_stay_on_the_cpu() -> None:
    edit = ("/ math.sqrt(self.head_dim)", "/ torch.tensor(self.head_dim).sqrt()")
    check_property(examine("report", edit), PROPERTIES["one-device"])


def test_a_tensor_that_is_moved_to_the_image_is_on_its_device() -> None:
    edit = ("expand(B, -1, -1)", "expand(B, -1, -1) + torch.zeros(B, 1, 1).to(img.device)")
    check_property(examine("report", edit), PROPERTIES["one-device"])


SCRIPT = "\nmodel = VisionTransformer()\nscores = model(torch.randn(1, 3, 224, 224))\n"
TELLS = "print(scores.argmax(-1))\n"


@pytest.mark.parametrize("base", ["library_mha", "dropout_everywhere"])
def test_a_script_that_tells_a_class_in_train_mode_is_told_its_line(base: str) -> None:
    examination = examine(base)
    (file, code) = next(iter(examination.source.files.items()))
    examination.source = replace(examination.source, files={file: code + (SCRIPT + TELLS).encode()})
    with pytest.raises(CheckFailed) as failed:
        PROPERTIES["eval-mode-in-scripts"](examination)
    assert failed.value.mistakes == ("eval-not-called",)
    assert failed.value.frame is not None
    assert failed.value.frame.line == len((code + SCRIPT.encode()).splitlines())


def test_a_script_that_prints_a_shape_may_do_so_in_train_mode() -> None:
    examination = examine("library_mha")
    (file, code) = next(iter(examination.source.files.items()))
    script = "\ndef best(of):\n    return of.softmax(-1).argmax(-1)\n" + SCRIPT + "print(scores.shape)\n"
    examination.source = replace(examination.source, files={file: code + script.encode()})
    with pytest.raises(NotAsked):
        PROPERTIES["eval-mode-in-scripts"](examination)


@pytest.mark.parametrize(
    ("base", "script"),
    [
        ("library_mha", SCRIPT.replace("()\n", "().eval()\n")),
        ("library_mha", SCRIPT + "scores.sum().backward()\n"),
        ("prenorm", SCRIPT),  # without dropout nothing depends on the mode
    ],
)
def test_a_script_may_run_the_model_in_eval_mode_or_train_it(base: str, script: str) -> None:
    examination = examine(base)
    (file, code) = next(iter(examination.source.files.items()))
    examination.source = replace(examination.source, files={file: code + (script + TELLS).encode()})
    PROPERTIES["eval-mode-in-scripts"](examination)


def test_fewer_blocks_than_asked_for_are_said() -> None:
    examination = examine("prenorm")
    examination.session.whole_sizes_for = lambda sizes: type(sizes)(**{**vars(sizes), "depth": 2})  # type: ignore[method-assign]  # a code that fixes it
    with pytest.raises(CheckFailed, match="expected 12 blocks, got 2"):
        PROPERTIES["number-of-blocks"](examination)


def test_more_blocks_than_asked_for_are_said() -> None:
    examination = examine("prenorm", ("range(depth)", "range(depth + 1)"))
    with pytest.raises(CheckFailed, match=r"^expected \d blocks, but \d run$") as failed:
        PROPERTIES["number-of-blocks"](examination)
    assert failed.value.mistakes == ("depth-off-by-one",)


def test_bases_are_all_looked_at() -> None:
    assert len(BASES) > 30
