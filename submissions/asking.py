"""Parent side: questions about single components of a submission, and about its functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from torch import Tensor

from ..reference.sizes import Sizes
from .conversation import Child
from .errors import Frame, NotLoaded
from .session import Session
from .trace import reading


@dataclass(frozen=True)
class Candidate:
    """A class or function that may be a component; ``error`` is why it cannot be built."""

    key: str
    number: int
    name: str
    frame: Frame
    function: bool
    fits: bool  # does it take and give the component's shapes?
    error: str | None


def candidates(session: Session, key: str, name: str | None) -> list[Candidate]:
    """What may be the component ``key``, the likeliest first; nothing but ``name`` where it is pinned.

    Raises NotLoaded where the pinned name is not defined.
    """
    reply, _ = session.child.request({"request": "components", "key": key, "name": name})
    with reading():
        if reply["failure"] is not None:
            raise NotLoaded(str(reply["failure"]["reason"]))
        return [_candidate(key, number, one) for number, one in enumerate(reply["candidates"])]


def _candidate(key: str, number: int, one: Mapping[str, Any]) -> Candidate:
    return Candidate(
        key,
        number,
        str(one["name"]),
        Frame(str(one["file"]), int(one["line"])),
        bool(one["function"]),
        bool(one["fits"]),
        None if one["error"] is None else str(one["error"]),
    )


class ComponentSession(Session):
    """Asks of one candidate what Session asks of the model."""

    def __init__(self, session: Session, candidate: Candidate) -> None:
        super().__init__(cast(Child, _About(session.child, candidate)))

    def parameter_count(self, sizes: Sizes) -> int:
        """How many trainable numbers it has. Raises StudentCodeFailed where it cannot be built."""
        reply, _ = self.child.request({"request": "parameters", "sizes": asdict(sizes)})
        with reading():
            return int(reply["count"])


class _About:
    """A child to which every question is about one component."""

    def __init__(self, child: Child, candidate: Candidate) -> None:
        self._child, self._component = child, [candidate.key, candidate.number]

    def request(
        self, header: Mapping[str, Any], tensors: Mapping[str, Tensor] | None = None, **options: Any
    ) -> tuple[Mapping[str, Any], Mapping[str, Tensor]]:
        return self._child.request({**header, "component": self._component}, tensors or {}, **options)
