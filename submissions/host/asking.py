"""Parent side: questions about single components of a submission, and about its functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ..errors import Frame
from ..questions.plain_passes import student_error
from .conversation import Child
from .decoding import reading
from .session import Session, raise_loading_error

Given = Mapping[str, Sequence[object]]  # choices by role


@dataclass(frozen=True)
class Function:
    """A function that may be an exercise."""

    key: str
    number: int
    name: str
    frame: Frame


@dataclass(frozen=True)
class Model:
    """A model as an argument: the submission's own, or a sample of ours, as it was traced."""

    sizes: ModelSizes
    seed: int
    sample: str | None


@dataclass(frozen=True)
class Returned:
    """What a function gave back: every tensor or array, float64, and what dtype each had."""

    tensors: tuple[Tensor, ...]
    dtypes: tuple[str, ...]
    roles: frozenset[str]  # that its parameters play


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
    raise_loading_error(reply)
    with reading():
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
        about = {"component": [candidate.key, candidate.number]}
        super().__init__(cast(Child, _About(session.child, about)))


class SampleSession(Session):
    """Asks of a small ViT of ours, next to the submission, what Session asks of the model."""

    def __init__(self, session: Session, sample: str) -> None:
        super().__init__(cast(Child, _About(session.child, {"sample": sample})))


class _About:
    """A child to which every question is about one thing beside the model."""

    def __init__(self, child: Child, about: Mapping[str, Any]) -> None:
        self._child, self._about = child, about

    def request(
        self, header: Mapping[str, Any], tensors: Mapping[str, Tensor] | None = None, **options: Any
    ) -> tuple[Mapping[str, Any], Mapping[str, Tensor]]:
        return self._child.request({**header, **self._about}, tensors or {}, **options)


def functions(session: Session, key: str, name: str | None) -> list[Function]:
    """What may be the exercise ``key``, the likeliest first; nothing but ``name`` where it is pinned.

    Raises NotLoaded where the pinned name is not defined.
    """
    reply, _ = session.child.request({"request": "functions", "key": key, "name": name})
    raise_loading_error(reply)
    with reading():
        return [
            Function(key, number, str(one["name"]), Frame(str(one["file"]), int(one["line"])))
            for number, one in enumerate(reply["functions"])
        ]


def call(session: Session, function: Function, given: Given, seed: int) -> Returned:
    """What the function gives back; ``given`` has the choices for each role, in the order of arguments.

    Raises StudentCodeFailed for what it raises, NotLoaded where an argument plays no known role.
    """
    tensors: dict[str, Tensor] = {}
    rows = {
        role: [_encoded(one, f"{role}.{n}", tensors) for n, one in enumerate(row)]
        for role, row in given.items()
    }
    header = {"request": "call", "function": [function.key, function.number], "seed": seed, "given": rows}
    reply, out = session.child.request(header, tensors)
    with reading():
        error = student_error(reply)
    if error is not None:
        raise error
    raise_loading_error(reply)
    with reading():
        found = tuple(out[f"out.{number}"] for number in range(len(reply["dtypes"])))
        return Returned(found, tuple(map(str, reply["dtypes"])), frozenset(map(str, reply["roles"])))


def _encoded(one: object, name: str, tensors: dict[str, Tensor]) -> object:
    if isinstance(one, Tensor):
        tensors[name] = one
        return {"tensor": name}
    if isinstance(one, list):
        names = [f"{name}.{number}" for number in range(len(one))]
        tensors.update(zip(names, one))
        return {"tensors": names}
    if isinstance(one, Model):
        sample = {} if one.sample is None else {"sample": one.sample}
        return {
            "model": {
                "sizes": asdict(one.sizes),
                "seed": one.seed,
                "dtype": "float64",
                "mode": "eval",
                **sample,
            }
        }
    return one
