"""Nothing that a submission does decides its verdict, or harms its neighbours."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from attacks.answering import ANSWERING
from attacks.attack import Attack, Expected
from attacks.beside import BESIDE
from attacks.forging import FORGING
from attacks.handing_in import HANDING_IN, Handed
from attacks.judging import HANDED_TO_JUDGE, JUDGING
from attacks.leaving import LEAVING
from attacks.resources import RESOURCES
from attacks.shifting import SHIFTING
from attacks.spying import PORT, SECRET, SOCKET, SPYING, SPYING_ONCE, SUCCEEDED
from attacks.timing import TIMING
from attacks.using import USING
from grading import graded, graded_at, met

from vitcheck.submissions.host.process import Zygote

_NEIGHBOUR = Attack("an honest neighbour, after all of these", Expected(least=100, most=100))


def _with_neighbour(attacks: tuple[Attack, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("attack", [*attacks, _NEIGHBOUR], ids=lambda one: one.name)


@_with_neighbour(LEAVING + TIMING + FORGING + ANSWERING + SHIFTING + JUDGING + USING)
def test_an_attack_gets_what_it_earned(attack: Attack, confined: Zygote, tmp_path: Path) -> None:
    met(attack.expected, graded(attack, tmp_path, confined))


@pytest.mark.usefixtures("locks")
@_with_neighbour(RESOURCES)
def test_what_others_need_is_not_used_up(attack: Attack, confined: Zygote, tmp_path: Path) -> None:
    met(attack.expected, graded(attack, tmp_path, confined))


@pytest.fixture(scope="module")
def secrets() -> Iterator[dict[str, str]]:
    """What there is to be spied on, by the words that stand for it in the attacks: open to every user."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        folder.chmod(0o777)
        (folder / "neighbour.py").write_text("the work of another")
        (folder / "neighbour.py").chmod(0o666)
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        service = stack.enter_context(socket.socket(socket.AF_UNIX))
        service.bind(str(folder / "service"))
        service.listen()
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("VITCHECK_SECRET", "of the instructor")
        yield {SECRET: str(folder), PORT: str(server.getsockname()[1]), SOCKET: str(folder / "service")}
        assert (folder / "neighbour.py").read_text() == "the work of another"


@pytest.mark.usefixtures("locks")
def test_nothing_of_others_is_seen(confined: Zygote, secrets: dict[str, str], tmp_path: Path) -> None:
    result = graded(SPYING, tmp_path, confined, secrets)
    assert [one.text for one in result.notes if SUCCEEDED in one.text] == []
    met(SPYING.expected, result)


def test_a_spy_that_nothing_stops_is_one(secrets: dict[str, str], tmp_path: Path) -> None:
    with Zygote() as unlocked:
        result = graded(SPYING_ONCE, tmp_path, unlocked, secrets)
    assert any(SUCCEEDED in one.text for one in result.notes)


@pytest.mark.parametrize("handed", HANDING_IN + BESIDE + HANDED_TO_JUDGE, ids=lambda one: one.name)
def test_what_is_handed_in_is_read_with_care(handed: Handed, confined: Zygote, tmp_path: Path) -> None:
    met(handed.expected, graded_at(handed.make(tmp_path), confined))
