"""What wants to be graded for something that it is not, and what only looks like it."""

from __future__ import annotations

import pytest
from examining import examine

from vitcheck.checks.examining.shown.returned_paths import demand_returned
from vitcheck.checks.examining.verdicts import CheckFailed
from vitcheck.checks.rules.forgeries import refuse_forgeries
from vitcheck.submissions.errors import Crashed, Refused

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


def test_a_random_number_beside_the_scores_excuses_nothing_but_itself() -> None:
    beside = ("return {\n", 'return {\n            "random": torch.tensor(_RNG.random()),\n')
    drawn = ("from torch import nn\n", "from torch import nn\nimport random\n_RNG = random.Random()\n")
    refuse_forgeries(examine("report", drawn, beside))
    forged = (_LOGITS, f"{_LOGITS} * (1.0 if {_LOOKS} else 2.0)")
    with pytest.raises(Refused, match="different logits when it is being recorded"):
        refuse_forgeries(examine("report", drawn, beside, forged))


def test_scores_that_vary_among_recorded_passes_are_wrong() -> None:
    drawn = ("from torch import nn\n", "from torch import nn\nimport random\n_RNG = random.Random()\n")
    examination = examine("report", drawn, (_LOGITS, f"{_LOGITS} + _RNG.random()"))
    refuse_forgeries(examination)
    with pytest.raises(CheckFailed, match="change from pass to pass"):
        demand_returned(examination)


@pytest.mark.parametrize(
    "condition",
    [
        f"not {_LOOKS} and torch.is_grad_enabled()",
        f"not {_LOOKS} and not torch.is_grad_enabled()",
        f"not {_LOOKS} and len(img) != {{batch}}",  # of the first example
    ],
)
def test_a_forgery_shows_wherever_it_is_used(condition: str) -> None:
    first = examine("report").first_draw.sizes.batch
    doubled = f"{_LOGITS} * (2.0 if {condition.format(batch=first)} else 1.0)"
    with pytest.raises(Refused, match="different logits when it is being recorded"):
        refuse_forgeries(examine("report", (_LOGITS, doubled)))


def test_a_model_that_fails_whenever_it_is_not_watched_is_of_no_use() -> None:
    raising = (_LOGITS, f"{_LOGITS} if {_LOOKS} else undefined")
    with pytest.raises(Crashed, match="unless its operations are recorded: NameError"):
        refuse_forgeries(examine("report", raising))


def test_a_model_that_fails_without_gradients_is_compared_with_them() -> None:
    hooked = (_LOGITS, f"{_LOGITS}; logits.retain_grad()")
    refuse_forgeries(examine("report", hooked))


def test_a_model_that_is_random_in_each_pass_is_wrong_and_no_forgery() -> None:
    refuse_forgeries(examine("report", (_LOGITS, f"{_LOGITS} + torch.randn(())")))


def test_a_model_that_looks_for_the_tracer_is_refused() -> None:
    examination = examine("report", (_LOGITS, f"{_LOGITS} * (1.0 if {_LOOKS} else 2.0)"))
    with pytest.raises(Refused, match="different logits when it is being recorded"):
        refuse_forgeries(examination)
