"""A submission in its process, asked in the terms of the grader; what makes no sense is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
import torch
from corpus import BASES
from examining import examine
from torch import Tensor

from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.errors import Frame, NotLoaded, Refused, StudentCodeFailed
from vitcheck.submissions.host.conversation import Child
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.host.session import Session
from vitcheck.submissions.limits import Limits
from vitcheck.submissions.questions.pins import Pins
from vitcheck.submissions.questions.plain_passes import RunPasses
from vitcheck.submissions.reading.source import Source

SMALL = Sizes(
    batch=2, channels=1, height=4, width=6, patch=2, embed_dim=8, heads=2, mlp_dim=16, depth=2, classes=3
)  # fmt: skip


def image(batch: int = 2) -> Tensor:
    return torch.randn(batch, 1, 4, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


ONE = RunPasses(sizes=SMALL, images=[image()])


class Says:
    """A child that answers everything with one reply."""

    def __init__(self, reply: object) -> None:
        self._reply = reply

    def request(self, *_: object, **__: object) -> object:
        if isinstance(self._reply, Exception):
            raise self._reply
        return self._reply


def says(reply: object) -> Session:
    return Session(cast(Child, Says(reply)))


def test_a_submission_is_loaded_asked_and_traced_in_its_process(zygote: Zygote) -> None:
    source = Source("vit", {"report.py": BASES["report"].source().encode()})
    with zygote.child(Limits(), seed=0) as child:
        session = Session(child)
        session.load(source)
        assert session.left == ()
        session.infer(Pins(None, {}))
        assert session.sizes_for(SMALL) == SMALL
        trace = session.trace(SMALL, 7, image())
        again = session.trace(SMALL, 7, image())
        other = session.trace(SMALL, 8, image())
        images = [image(), image(2) + 1]
        passes = session.ask(RunPasses(sizes=SMALL, seed=7, images=images, order=[0, 1, 0], backward=True))
    logits = next(where for path, where in trace.outputs if path == "logits")
    assert torch.equal(trace.tensor(logits), again.tensor(logits))
    assert not torch.equal(trace.tensor(logits), other.tensor(logits))
    assert len(passes.passes) == 3
    plain = dict(zip((path for path, _ in passes.passes[0].outputs), passes.passes[0].tensors))
    torch.testing.assert_close(plain["logits"], trace.tensor(logits), rtol=1e-12, atol=1e-12)
    assert passes.gradients["cls_token"].largest > 0


def test_an_exit_in_the_forward_pass_is_an_exception_of_the_code() -> None:
    examination = examine("report", ("B = img.size(0)\n", "B = img.size(0)\n        exit()\n"))
    trace = examination.session.trace(SMALL, 0, image())
    assert trace.error is not None
    assert trace.error.type == "SystemExit"
    passes = examination.session.ask(ONE)
    assert passes.error is not None


def test_weights_can_be_set_by_name() -> None:
    session = examine("report").session
    zero = {"head.weight": torch.zeros(3, 8), "head.bias": torch.arange(3.0)}
    trace = session.trace(SMALL, 0, image(), fixed=zero)
    logits = next(where for path, where in trace.outputs if path == "logits")
    assert torch.equal(trace.tensor(logits), torch.arange(3.0, dtype=torch.float64).expand(2, 3))


def test_without_an_image_there_are_shapes_alone() -> None:
    trace = examine("report").session.trace(replace(SMALL, batch=1), 0)
    logits = next(where for path, where in trace.outputs if path == "logits")
    assert logits.shape == (1, 3)
    assert trace.tensor(logits).device.type == "meta"


def test_a_model_that_cannot_be_built_is_the_codes_failure() -> None:
    failed = StudentCodeFailed("ValueError", "2", (Frame("a.py", 3),))
    with pytest.raises(StudentCodeFailed, match="ValueError: 2"):
        says(failed).trace(SMALL, 0)


def test_code_that_cannot_be_executed_says_where() -> None:
    failed = StudentCodeFailed("ValueError", "2", (Frame("vit.py", 4),))
    with pytest.raises(NotLoaded, match="could not be executed: ValueError: 2") as raised:
        says(failed).load(Source("vit", {}))
    assert raised.value.frame == Frame("vit.py", 4)


ONE_PASS: dict[str, Any] = {
    "outputs": [["", "float64"]],
    "tensors": [torch.zeros(2, 3, dtype=torch.float64)],
    "image_after": torch.zeros(1),
    "random_state_kept": True,
    "random_state": "0",
    "mode_kept": True,
}
FORWARD: dict[str, Any] = {
    "passes": [ONE_PASS],
    "changed": [],
    "created": [],
    "gradients": {},
    "graphs_kept": [],
    "error": None,
}


def test_a_reply_as_it_should_be_is_understood() -> None:
    passes = says(FORWARD).ask(ONE)
    assert passes.passes[0].tensors[0].shape == (2, 3)


@pytest.mark.parametrize(
    "change",
    [
        {"passes": []},
        {"passes": [{**ONE_PASS, "outputs": [["", "float64"]] * 2}]},
        {"passes": [{**ONE_PASS, "tensors": [torch.zeros(2, 3)]}]},
        {"passes": [{**ONE_PASS, "image_after": [0.0]}]},
        {"passes": 3},
        {"graphs_kept": [-1]},
        {"changed": None},
        {"gradients": {"w": {"asked": True, "exists": True, "finite": True, "largest": "nan", "idle": 0}}},
        {"gradients": {"w": {"asked": True, "exists": True, "finite": True, "largest": 1, "idle": 2}}},
        {"gradients": ["w"]},
        {"error": {"kind": "student"}},
        {"error": {"type": "E", "message": "", "frames": [["a.py"]]}},
    ],
)
def test_a_reply_about_passes_that_makes_no_sense_is_refused(change: Mapping[str, Any]) -> None:
    with pytest.raises(Refused, match="makes no sense"):
        says({**FORWARD, **change}).ask(ONE)


@pytest.mark.parametrize("rows", [None, [], ["many"], [{"batch": "many"}], [{"heads": -1}], [{}, {}]])
def test_sizes_that_make_no_sense_are_refused(rows: object) -> None:
    with pytest.raises(Refused, match="makes no sense"):
        says(rows).sizes_for(SMALL)


@pytest.mark.parametrize(
    "reply",
    [{}, None, 1, [{}], [{"file": "a.py", "line": "x", "text": "", "reason": ""}]],
)
def test_a_reply_about_loading_that_makes_no_sense_is_refused(reply: object) -> None:
    with pytest.raises(Refused, match="makes no sense"):
        says(reply).load(Source("vit", {}))


def test_what_was_inferred_must_be_a_list_of_notes() -> None:
    for reply in (None, {}, {"notes": 3}):
        with pytest.raises(Refused, match="makes no sense"):
            says(reply).infer(Pins(None, {}))


def test_a_refusal_names_what_makes_no_sense() -> None:
    with pytest.raises(Refused, match=r"passes\.0\.mode_kept: "):
        says({**FORWARD, "passes": [{**ONE_PASS, "mode_kept": "perhaps"}]}).ask(ONE)
