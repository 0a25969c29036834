"""Which of the tensors that a model returns are its scores, and what else it may return beside them."""

from __future__ import annotations

import pytest
from examining import examine

from vitcheck.checks.examining.shown.returned_paths import demand_returned
from vitcheck.checks.examining.verdicts import CheckFailed
from vitcheck.checks.rules.kinds.equation import check_equation
from vitcheck.checks.rules.properties.passes import scores_of

_PROBS = "probs = logits.softmax(dim=-1)"
_OTHER = "logits.flip(-1)"


def returning(answer: str, before: str = "") -> tuple[str, str]:
    return "return {\n", f"{before}\n        return {answer}\n        {{\n"


@pytest.mark.parametrize(
    "answer",
    [
        "None",
        f"({_OTHER}, logits)",
        f"({_OTHER}.unsqueeze(-1), logits)",
        f"{{'x': logits, 'logits': {_OTHER}}}",
        f"{{'x': logits, 'logits': {_OTHER}.unsqueeze(1)}}",
        f"{{'x': logits, 'class_scores': {_OTHER}}}",
        f"{{'x': logits, 'logits': {_OTHER}[:, :-1]}}",
        f"Named(logits, {_OTHER})",
        f"Slots(logits, {_OTHER})",
        f"Shown(logits, {_OTHER})",
    ],
)
def test_what_is_called_the_scores_goes_before_what_comes_first(answer: str) -> None:
    classes = """
from collections import namedtuple
Named = namedtuple("Named", "x logits")
class Slots:
    __slots__ = ("x", "logits")
    def __init__(self, x, logits): self.x, self.logits = x, logits
class Shown:
    def __init__(self, x, other): self.x, self._other = x, other
    @property
    def logits(self): return self._other
"""
    program = ("from torch import nn\n", f"from torch import nn\n{classes}")
    with pytest.raises(CheckFailed):
        check_equation(examine("report", program, returning(answer)), "logits")


@pytest.mark.parametrize(
    "extra",
    [
        _OTHER,
        "torch.ones_like(logits)",
        "2 - logits",
        f"{_OTHER}.T",
        f"{_OTHER}.flatten()",
        "logits * torch.nan",
    ],
)
def test_no_other_scores_may_stand_beside_the_scores(extra: str) -> None:
    with pytest.raises(CheckFailed, match="'1' has the shape of the logits, but is not computed"):
        demand_returned(examine("report", returning(f"(logits, {extra})")))


@pytest.mark.parametrize(
    "answer",
    [
        "probs",
        "logits.argmax(-1)",
        "[logits]",
        "([[logits]], (), None, 3, 'text')",
        "(logits / 2, logits)[::-1]",
        "{'z': logits, 'cold': (logits / 2).softmax(-1), 'log': logits.log_softmax(-1)}",
        "(logits, logits.T, logits.flatten(), logits.sort(-1).values, logits.argsort(-1))",
        "(logits, logits.float().softmax(-1), logits.bfloat16())",
        "{'logits': logits, 'prediction': nn.functional.one_hot(logits.argmax(-1), logits.shape[1])}",
        "{'loss': logits.square().mean(), 'logits': logits, 'label': logits.argmax(-1)}",
        "(cls_rep, logits, x_last, logits.argmax(-1, keepdim=True))",
        "{'logits': logits, 'log_probs': logits.log_softmax(-1), 'probs': probs, 'attn_logits': x_last}",
    ],
)
def test_what_follows_from_the_scores_may_stand_beside_them(answer: str) -> None:
    examination = examine("report", returning(answer))
    for key in ("logits", "class_probabilities"):
        check_equation(examination, key)


@pytest.mark.parametrize(
    "beside",
    [
        "logits.to(torch.int8)",
        "logits > 0",
        "logits.abs().to(torch.uint16)",
        "logits.detach().to(torch.float8_e4m3fn)",
        "logits + 1j",
        "logits.to_sparse()",
        "logits.to('meta')",
        "torch.nested.nested_tensor([logits[0], logits[1]])",
        "logits[:0]",
        "logits.sum()",
        "self",
    ],
)
@pytest.mark.filterwarnings("ignore")  # of torch: what it has is in beta
def test_a_tensor_of_any_kind_may_be_returned(beside: str) -> None:
    examination = examine("report", returning(f"{{'logits': logits, 'beside': {beside}}}"))
    demand_returned(examination)
    draw = examination.first_draw
    assert scores_of(examination, examination.plain()).shape == draw.sizes.output_shape


def test_what_cannot_be_read_is_named() -> None:
    examination = examine("report", returning("{'logits': logits, 'waves': logits + 1j}"))
    assert examination.examples[0].trace.error is None
    assert examination.left_out == ["waves is returned but not checked: it holds complex numbers"]


def test_scores_that_cannot_be_read_are_none() -> None:
    examination = examine("report", returning("{'logits': logits + 1j, 'probs': probs}"))
    with pytest.raises(CheckFailed, match="'logits' holds complex numbers"):
        demand_returned(examination)


@pytest.mark.parametrize("wrong", ["torch.full_like(logits, 0.1)", "logits", "(logits / 2).softmax(-1)"])
def test_s26_is_what_is_returned_as_probabilities(wrong: str) -> None:
    examination = examine("report", (_PROBS, f"probs = {wrong}"))
    with pytest.raises(CheckFailed):
        check_equation(examination, "class_probabilities")


@pytest.mark.parametrize("label", ["logits.argmin(-1)", "logits.argmin(-1).double()"])
def test_a_label_is_the_class_with_the_largest_score(label: str) -> None:
    examination = examine("report", returning(f"{{'logits': logits, 'label': {label}}}"))
    with pytest.raises(CheckFailed, match="'label' is one number for each image"):
        demand_returned(examination)


@pytest.mark.parametrize("other", ["other", "other + 0 * logits", "other + 1e-3 * logits"])
def test_stages_beside_another_network_earn_nothing(other: str) -> None:
    network = "other = (img.flatten(1)[:, :1] * torch.arange(1.0, logits.shape[1] + 1)).sin()"
    examination = examine("report", returning(f"{{'x': logits, 'logits': {other}}}", network))
    for key in ("patches", "attention_scores", "class_representation"):
        with pytest.raises(CheckFailed, match="what the model returns is not made from it"):
            check_equation(examination, key)


def test_a_mistake_at_the_end_costs_no_stage_before_it() -> None:
    examination = examine(
        "report", ("logits = self.head(cls_rep)", "logits = self.head(cls_rep).sin().cumsum(-1)")
    )
    for key in ("patches", "attention_scores", "class_representation"):
        check_equation(examination, key)
    with pytest.raises(CheckFailed):
        check_equation(examination, "logits")


def test_properties_compare_the_scores_and_no_other_tensor_of_two_axes() -> None:
    examination = examine("report", returning("(cls_rep, x_last, logits)"))
    assert examination.scores_path == "2"
    assert scores_of(examination, examination.plain()).shape == examination.first_draw.sizes.output_shape
