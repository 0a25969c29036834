"""The pytest plugin: ``pytest --vit FILE`` runs the checks of one submission as tests.

Every pytest run where vitcheck is installed loads this file, so it imports nothing but pytest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from vitcheck.checks.examining.examination import Examination
    from vitcheck.pytest_submission import SubmissionPlugin, Tensors

_NAME = "vitcheck-submission"
_MARKERS = (
    "stage(label, key): the check is about this stage, such as label='S12', key='attention_scores'",
    "mistake(id): the check is the one that shows this mistake, such as id='scale-missing'",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; without the first, nothing else of vitcheck is loaded."""
    group = parser.getgroup("vitcheck", "Vision Transformer assignments")
    group.addoption("--vit", metavar="FILE", help="Check this submission: a file, a folder or an archive.")
    group.addoption(
        "--vit-assignment",
        metavar="NAME|FILE",
        help="What is asked for: an assignment that ships, or a TOML file."
        "  [default: the assignment.toml beside FILE or above it, else vit]",
    )
    group.addoption(
        "--vit-seed",
        metavar="N",
        type=int,
        default=0,
        help="Sizes, weights and images are drawn from it.  [default: %(default)s]",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Name the markers, and take up the submission if there is one."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    if config.getoption("vit"):
        from vitcheck.pytest_submission import SubmissionPlugin

        config.pluginmanager.register(SubmissionPlugin(config), _NAME)


@pytest.fixture(scope="session", name="submission")
def submission_fixture(request: pytest.FixtureRequest) -> Examination:
    """The submission of ``--vit`` under examination: its traces, located stages and process."""
    return _submission(request).examination


@pytest.fixture(scope="session", name="stages")
def stages_fixture(request: pytest.FixtureRequest) -> Tensors:
    """The tensors that the submission of ``--vit`` computed in one pass, by key or label of their stage."""
    return _submission(request).stages


@pytest.fixture(scope="session", name="reference")
def reference_fixture(request: pytest.FixtureRequest) -> Tensors:
    """The same tensors of the reference that carries the submission's weights."""
    return _submission(request).reference


def _submission(request: pytest.FixtureRequest) -> SubmissionPlugin:
    found: SubmissionPlugin | None = request.config.pluginmanager.get_plugin(_NAME)
    if found is None:
        pytest.fail(f"the fixture {request.fixturename} needs a submission: pytest --vit FILE", pytrace=False)
    return found
