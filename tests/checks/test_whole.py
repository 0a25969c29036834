"""Code in which stages cannot be followed is right where its scores are the reference's, and only there."""

from __future__ import annotations

import contextlib

import pytest
from examining import examine

from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable, NotReached
from vitcheck.checks.locating.locate import locate
from vitcheck.checks.rules.kinds.equation import check_equation
from vitcheck.checks.rules.kinds.property import check_property
from vitcheck.checks.rules.kinds.shape import check_shape
from vitcheck.checks.rules.properties import PROPERTIES
from vitcheck.checks.vit.vit_family import VIT
from vitcheck.reference.stages import STAGES

TOKEN_BY_TOKEN = (
    "        x = x + self.mlp(self.norm2(x))\n",
    "        h = self.norm2(x)\n"
    "        x = x + torch.stack([self.mlp(h[:, t]) for t in range(h.shape[1])], 1)\n",
)
QUERY_BY_QUERY = (
    "        attn = (q @ k.transpose(-2, -1)) * self.scale\n"
    "        attn = attn.softmax(dim=-1)\n"
    "        attn = self.attn_drop(attn)\n"
    "        x = (attn @ v).transpose(1, 2).reshape(B, N, C)\n",
    "        rows = []\n"
    "        for t in range(N):\n"
    "            weights = ((k * q[:, :, t, None]).sum(-1) * self.scale).softmax(dim=-1)\n"
    "            rows.append((weights[..., None] * v).sum(2).reshape(B, C))\n"
    "        x = torch.stack(rows, 1)\n",
)
IN_NUMPY = (
    QUERY_BY_QUERY[0],
    "        a, b, c = (one.detach().numpy() for one in (q, k, v))\n"
    "        s = a @ b.swapaxes(-2, -1) * self.scale\n"
    "        s = __import__('numpy').exp(s - s.max(-1, keepdims=True))\n"
    "        x = torch.from_numpy(s / s.sum(-1, keepdims=True) @ c).transpose(1, 2).reshape(B, N, C)\n",
)
STYLES = [(TOKEN_BY_TOKEN,), (QUERY_BY_QUERY,), (TOKEN_BY_TOKEN, QUERY_BY_QUERY), (IN_NUMPY,)]
NAMES = ["token by token", "query by query", "both", "in numpy"]


def verdicts(examination: Examination) -> set[str]:
    """How the checks of the stages ended: passed, or the name of the exception."""
    found = set()
    for one in STAGES[1:]:
        for check in (check_shape, check_equation):
            try:
                check(examination, one.key)
                found.add("passed")
            except (CheckFailed, NotApplicable, NotReached) as verdict:
                found.add(type(verdict).__name__)
    return found


@pytest.mark.parametrize("edits", STYLES, ids=NAMES)
def test_no_stage_is_failed_for_how_it_is_computed(edits: tuple[tuple[str, str], ...]) -> None:
    assert verdicts(examine("prenorm", *edits)) == {"passed"}


def test_it_is_said_by_what_a_stage_is_known() -> None:
    walk = examine("prenorm", TOKEN_BY_TOKEN, QUERY_BY_QUERY).walk
    steps = {step.key: step for step in walk.steps}
    assert steps["attention_scores"].found is None
    assert "inferred from S14" in steps["attention_scores"].message
    assert steps["query"].found is not None
    assert steps["query"].message == ""


def test_no_property_fails() -> None:
    examination = examine("prenorm", TOKEN_BY_TOKEN, QUERY_BY_QUERY)
    for name in ("gradients", "batch-independence", "identity-block", "finite-attention"):
        with contextlib.suppress(NotApplicable):
            check_property(examination, PROPERTIES[name])


WRONG = [
    ("self.scale).softmax", "1.0).softmax"),
    ("softmax(dim=-1)\n            rows", "softmax(dim=1)\n            rows"),
]


@pytest.mark.parametrize(("old", "new"), WRONG)
def test_a_mistake_in_such_code_is_not_excused(old: str, new: str) -> None:
    examination = examine("prenorm", TOKEN_BY_TOKEN, (QUERY_BY_QUERY[0], QUERY_BY_QUERY[1].replace(old, new)))
    assert examination.walk.bound is None
    assert "CheckFailed" in verdicts(examination)


def test_what_a_norm_hides_from_the_scores_is_not_excused() -> None:
    shifted = (
        "        x = self.proj(x)\n        return self.proj_drop(x)\n",
        "        return self.proj(x) + 0.25\n",
    )
    examination = examine("prenorm", shifted)
    assert examination.walk.bound is None
    assert "CheckFailed" in verdicts(examination)


def test_another_gelu_is_still_named() -> None:
    tanh = ("self.act = nn.GELU()", "self.act = nn.GELU(approximate='tanh')")
    walk = examine("prenorm", TOKEN_BY_TOKEN, tanh).walk
    assert {one.id for step in walk.steps for one in step.findings} == {"gelu-tanh"}


def test_a_walk_that_follows_every_stage_needs_no_scores() -> None:
    examination = examine("prenorm")
    assert locate(examination.walk.trace, examination.first_draw.sizes, VIT).bound is None
