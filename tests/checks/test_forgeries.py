"""What wants to be graded for something that it is not, and what only looks like it."""

from __future__ import annotations

import pytest
from examining import examine

from vitcheck.checks.forgeries import refuse_forgeries
from vitcheck.checks.returned import demand_returned
from vitcheck.checks.verdicts import CheckFailed
from vitcheck.submissions.errors import Refused

_HONEST = (  # by what could make a plain pass differ from a traced one, or what is returned from the scores
    "dropout_everywhere",
    "stochastic_depth",
    "library_stack",
    "key_chunks",
    "returns_tuple",
    "config_dataclass",
    "report_cache",
    "clip_style-parameter-then-converted",
)
_LOGITS = "logits = self.head(cls_rep)"
_LOOKS = "torch._C._len_torch_dispatch_stack()"


@pytest.mark.parametrize("name", _HONEST)
def test_no_honest_model_is_taken_for_a_forgery(name: str) -> None:
    examination = examine(name)
    refuse_forgeries(examination)
    demand_returned(examination)


def test_a_model_that_is_random_in_each_pass_is_wrong_and_no_forgery() -> None:
    refuse_forgeries(examine("report", (_LOGITS, f"{_LOGITS} + torch.randn(())")))


def test_a_model_that_looks_for_the_tracer_is_refused() -> None:
    examination = examine("report", (_LOGITS, f"{_LOGITS} * (1.0 if {_LOOKS} else 2.0)"))
    with pytest.raises(Refused, match="other scores when it is watched"):
        refuse_forgeries(examination)


@pytest.mark.parametrize("answer", ["None", "(logits.flip(-1), logits)", "logits.flip(-1).unsqueeze(-1)"])
def test_right_stages_beside_another_answer_are_not_the_scores(answer: str) -> None:
    examination = examine("report", ("return {\n", f"return {answer}\n        {{\n"))
    with pytest.raises(CheckFailed, match="not made from the tensor that stands for S25"):
        demand_returned(examination)


@pytest.mark.parametrize("answer", ["probs", "logits.argmax(-1)", "(probs, logits.flip(-1))", "[logits]"])
def test_what_is_made_of_the_scores_stands_for_them(answer: str) -> None:
    demand_returned(examine("report", ("return {\n", f"return {answer}\n        {{\n")))
