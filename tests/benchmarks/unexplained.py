"""What is said of mistakes that nobody has listed, and of passes that raise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from common import show
from mutants.crashing import CRASHING, Crashing
from mutants.mutant import source
from mutants.unlisted import UNLISTED, Unlisted
from tracing_helpers import sizes_of, trace_source

from vitcheck.checks.architecture.catalogue import mistakes
from vitcheck.checks.examining.crashes.crashing import diagnose
from vitcheck.checks.locating.locate import locate
from vitcheck.checks.locating.walk import Walk
from vitcheck.checks.vit.vit_family import VIT
from vitcheck.reference.stages import STAGES, stage

_Right = dict[str, bool]  # by column


def blamed_stages(walk: Walk) -> list[str]:
    """Labels of the stages where an error is seen, or that nothing explains, in order."""
    keys = [
        step.key
        for step in walk.steps
        if not step.explained or any(mistakes()[one.id].kind == "error" for one in step.findings)
    ]
    if walk.unexplained is not None:
        keys.append(walk.unexplained[0])
    return [one.label for one in STAGES if one.key in keys]


def of_unlisted(one: Unlisted) -> _Right:
    """What is right of what is said of an unlisted mistake."""
    sizes = sizes_of(one.base)
    trace = trace_source(source(one), one.base, sizes)
    walk = locate(trace, sizes, VIT)
    blamed = blamed_stages(walk)
    odd = [step.message for step in walk.steps if not step.explained]
    return {
        "detected": bool(blamed),
        "first stage right": blamed[:1] == [one.stage],
        "nothing else blamed": set(blamed) == {one.stage},
        "relation right": any(one.says in message for message in odd[:1]),
        "followed to the end": walk.unexplained is None and walk.blocks == sizes.depth,
    }


def of_crashing(one: Crashing) -> _Right:
    """What is right of what is said of a pass that raises."""
    text, sizes = source(one), sizes_of(one.base)
    trace = trace_source(text, one.base, sizes)
    if trace.error is None:
        return {}
    crash = diagnose(locate(trace, sizes, VIT), trace.error, {f"{one.base}.py": text.encode()}, VIT.by_key)
    return {
        "detected": True,
        "stage right": stage(crash.stage).label == one.stage,
        "cause right": crash.id == one.id,
        "said why": one.says in crash.message,
    }


def table(title: str, rights: Iterable[tuple[str, _Right]]) -> None:
    """Print what is not fully right, and how many are."""
    counts = Counter[str]()
    for name, right in rights:
        counts.update(["mistakes", *(column for column, is_right in right.items() if is_right)])
        if not right or not all(right.values()):
            print(f"- {name}: {', '.join(column for column, is_right in right.items() if not is_right)}")
    show((title, *counts), [("all", *counts.values())])


def main() -> None:
    """Print both tables."""
    table("unlisted", ((one.name, of_unlisted(one)) for one in UNLISTED))
    table("crashing", ((one.name, of_crashing(one)) for one in CRASHING))


if __name__ == "__main__":
    main()
