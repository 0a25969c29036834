"""What all tests share. Shapes and types in the reference are enforced where a test asks for it."""

from __future__ import annotations

import atexit
import gc
import signal
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from clusters import scheduler, workers
from jaxtyping import config, install_import_hook

gc.disable()  # until all tests are known: what is imported stays
install_import_hook("vitcheck.reference", "beartype.beartype")  # before anything imports it
config.update("jaxtyping_disable", True)  # a third of locating is spent on it

from nursery import started_quickly  # noqa: E402  # after the hook

from vitcheck.submissions.host.process import Zygote  # noqa: E402  # as above
from vitcheck.submissions.sandbox.isolation import (  # noqa: E402  # as above
    Isolation,
    IsolationError,
    Sandbox,
    open_sandbox,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job
    signal.signal(signal.SIGINT, signal.default_int_handler)  # or what is started here ignores Ctrl-C
torch.set_num_threads(1)  # as grading does: a second thread only waits for tensors this small

# what takes longest begins first, so that no process waits for one at the end
_LONGEST = (
    "test_attacks",
    "test_documentation",
    "test_locate",
    "test_pytest_plugin",
    "test_browser",
    "test_unlisted",
    "test_properties",
    "test_examples",
    "test_vitcheck_as_library",
    "test_architectures",
    "test_surviving",
    "test_dask",
)


# of tests whose processes start as they do for users
_STARTS = {"submissions", "hostile", "test_engines.py", "test_vitcheck_as_library.py"}

# what a test that is not fast asks for, and what its file imports from
_SLOW_FIXTURES = {"browser", "cluster", "confined", "locked_zygote", "place", "postgres", "sandbox", "zygote"}
_SLOW_IMPORTS = {
    *("corpus", "examining", "forked", "grading", "mutants", "nbclient.client", "own_picture", "quick_tasks"),
    *("subprocess", "submitting", "tracing_helpers"),
    *("vitcheck.checks.grading.grading", "vitcheck.submissions.host.process"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take long before the others, and mark the tests that start and examine nothing."""
    rank = {name: number for number, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))
    for item in items:
        if isinstance(item, pytest.Function) and not _is_slow(item):
            item.add_marker(pytest.mark.fast)


def pytest_collection_finish() -> None:
    """Leave out what is there by now whenever memory is cleared: it takes long, and forks would copy it."""
    gc.freeze()
    atexit.register(gc.unfreeze)  # libraries complain of what is left then
    gc.enable()


def _is_slow(test: pytest.Function) -> bool:
    held = {getattr(one, "__module__", getattr(one, "__name__", None)) for one in vars(test.module).values()}
    return bool(held & _SLOW_IMPORTS or _SLOW_FIXTURES.intersection(test.fixturenames))


@pytest.fixture
def enforced() -> Iterator[None]:
    """Enforce shapes and types in the reference meanwhile."""
    config.update("jaxtyping_disable", False)
    yield
    config.update("jaxtyping_disable", True)


@pytest.fixture(scope="module", autouse=True)
def starts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fork what has imported torch in place of starting processes that import it."""
    with nullcontext() if _STARTS & set(request.path.parts) else started_quickly():
        yield


@pytest.fixture(scope="module")  # no longer, since some tests look for processes that are left over
def zygote() -> Iterator[Zygote]:
    """Yield the process from which those of submissions are forked."""
    with Zygote() as zygote:
        yield zygote


@pytest.fixture(scope="module")  # as above
def postgres() -> Iterator[str]:
    """Yield the URL of a PostgreSQL server; the test is skipped where none is installed."""
    from postgres_server import server

    with server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a gradebook may be made, for each kind of database."""
    from postgres_server import new_database

    if request.param == "sqlite":
        return str(tmp_path / "gradebook.sqlite")
    return new_database(request.getfixturevalue("postgres"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a Dask scheduler with two workers."""
    with scheduler(tmp_path_factory.mktemp("dask")) as address, workers(address, 2):
        yield address


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """Yield the sandbox with all of its layers, and the handlers in ``tests/submissions`` in sight."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent / "submissions"))
        found = _required_sandbox()
        if not (found.wrapping and found.namespaces):
            pytest.skip(f"not everything works here: {dict(found.missing)}")
        yield found


@pytest.fixture(scope="module")
def locked_zygote(sandbox: Sandbox) -> Iterator[Zygote]:
    """Yield the same inside the sandbox."""
    with Zygote((), sandbox) as zygote:
        yield zygote


@pytest.fixture(scope="module")
def confined() -> Iterator[Zygote]:
    """Yield the same, locked in as far as this machine can."""
    with Zygote(sandbox=open_sandbox(Isolation.AUTO)) as zygote:
        yield zygote


@pytest.fixture(scope="session")
def locks() -> None:
    """Skip, and say why, where limits are all that this machine has."""
    _required_sandbox()


def _required_sandbox() -> Sandbox:
    try:
        found = open_sandbox(Isolation.REQUIRE)
    except IsolationError as error:
        pytest.skip(str(error))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Yield Chromium, in which pages can be opened."""
    from chromium import launched  # here: few tests need it

    with launched() as chromium:
        yield chromium
