"""The catalogue of known mistakes, read from the files in ``checks/mistakes``. Imports no torch."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, NoReturn

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Functions of reference/equations.py in whose place forms of this catalogue are looked for.
EQUATIONS = (
    *("cut_patches", "flatten_patches", "prepend_class_token", "add_positions", "standardise"),
    *("attention_scores", "attention_probabilities", "attention_context", "merge_heads", "attention_sum"),
    *("gelu", "mlp_sum", "class_representation", "class_probabilities"),
)

Severity = Literal["minor", "major", "critical"]


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One thing that people get wrong, as its entry in a file says it."""

    id: str
    # the key of a stage, "model" where it belongs to no single one, or "exercise" in a function that reads a
    # trained model; LayerNorms all look alike: what goes wrong inside one stands at the norm after attention
    stage: str
    # an error is wrong unless an assignment asks for it; a variant is right in some courses; a layout is the
    # same model with its weights in another order, and is wrong only where that order is asked for
    kind: Literal["error", "variant", "layout"]
    title: str  # what was written
    # a critical error leaves a model that cannot learn, or whose answer has nothing to do with the image; a
    # minor one shows in special cases alone. Where a file says nothing, errors are major, all else is minor
    severity: Severity
    hint: str  # a question that leads there
    explanation: str  # what it does
    experiment: str  # something to do that shows it
    confused_with: tuple[str, ...] = ()  # give the very same numbers: only the code can tell them apart
    # by the name of one of EQUATIONS, what it returns where the mistake is made, in terms of its arguments,
    # torch and math: so it is recognised, in each of these ways, and planted in the reference, in the first
    equation: Mapping[str, Sequence[str]] = field(default_factory=dict)
    price: float | None = None  # of recognising it so, where that is not the usual one of its kind
    # a statement at the end of the reference's __init__, which makes it make the mistake: by itself, or where
    # the model has to be of another size for the equation
    planted: str = ""
    planted_in: Sequence[str] = ("report", "pre-norm", "clip")  # elsewhere it is right, or cannot be made
    without: Sequence[str] = ()  # stages that a model rightly lacks where this is accepted
    # where an assignment asks for this: by the key of a stage, its title and equation; letters of axes
    instead: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    axes: Mapping[str, str] = field(default_factory=dict)
    property: str | None = None  # of the whole model, which tells it
    told_by: str | None = None  # anything else that does
    out_of_reach: str | None = None  # why nothing does
    # of what is to blame as it was made, such as the parameter "fc1", or "blocks": that is the line to change
    role: str = ""
    # operations of torch, such as "var": the line to change is where the first of them runs
    made_by: Sequence[str] = ()
    brings: Sequence[str] = ()  # ids of what a model shows as well that has it
    # the id that this follows from, so that it is a mistake of its own only where that one is accepted
    follows: str = ""
    excuses: Sequence[str] = ()  # ids of what is no mistake in a model that rightly has this
    may_follow: bool = False  # as a property shows it, it may be the consequence of a mistake at a stage


@cache
def mistakes() -> Mapping[str, Mistake]:
    """Return every known mistake by its id, in the order of the pipeline."""
    folder = files("vitcheck.checks").joinpath("mistakes")
    texts = sorted((one for one in folder.iterdir() if one.name.endswith(".toml")), key=lambda one: one.name)
    return MappingProxyType(
        {id: row for one in texts for id, row in read_mistakes(one.read_text("utf-8")).items()}
    )


def read_mistakes(text: str) -> Mapping[str, Mistake]:
    """Return the mistakes that TOML text lists, by id.

    Raises TypeError where an entry lacks a field, or has an equation that is not one of ``EQUATIONS``.
    """
    entries = tomllib.loads(text)
    return MappingProxyType({name: _mistake(name, **entry) for name, entry in entries.items()})


def mistake(name: str) -> Mistake:
    """Return the mistake with the id ``name``. Raises ValueError, naming near ids, where there is none."""
    return mistakes()[name] if name in mistakes() else near_to(name, mistakes())


def near_to(name: str, known: Mapping[str, Mistake]) -> NoReturn:
    """Raise ValueError, naming the ids of ``known`` that are near."""
    near = difflib.get_close_matches(name, known)
    advice = f"did you mean {' or '.join(near)}?" if near else "ids are words such as scale-missing"
    raise ValueError(f"{name!r} is not a known mistake; {advice}")


def _mistake(
    name: str,
    *,
    explanation: str,
    experiment: str,
    kind: str,
    severity: Severity | None = None,
    confused_with: Sequence[str] = (),
    equation: Mapping[str, str | Sequence[str]] = MappingProxyType({}),
    **rest: Any,
) -> Mistake:
    wrong = {key: (one,) if isinstance(one, str) else tuple(one) for key, one in equation.items()}
    rest |= {"kind": kind, "severity": severity or ("major" if kind == "error" else "minor")}
    found = Mistake(
        id=name,
        explanation=_unwrapped(explanation),
        experiment=_unwrapped(experiment),
        confused_with=tuple(confused_with),
        equation=wrong,
        **rest,
    )
    if unknown := found.equation.keys() - set(EQUATIONS):
        raise TypeError(
            f"{name} has an equation {', '.join(sorted(unknown))}, which is not one of {EQUATIONS}"
        )
    return found


def _unwrapped(text: str) -> str:
    return " ".join(text.split())  # the file wraps it
