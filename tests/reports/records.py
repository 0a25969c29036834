"""Records of real gradings, kept so that pages with figures can be tested without grading.

Run ``python tests/reports/records.py`` to make them again, after a change of what is kept.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from vitcheck.checks.result import Result

FOLDER = Path(__file__).parent / "records"
EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"
NAMES = ("fused_attention", "two_mistakes")  # nothing wrong, with implied stages; softmax over the queries


@cache
def record(name: str) -> Result:
    """The result, with its arrays."""
    result = Result.from_json((FOLDER / f"{name}.json").read_bytes())
    return result.model_copy(update={"arrays": (FOLDER / f"{name}.safetensors").read_bytes()})


def _make() -> None:
    from vitcheck.checks.assignment import load_assignment
    from vitcheck.checks.grading import grade
    from vitcheck.submissions.process import Zygote

    FOLDER.mkdir(exist_ok=True)
    with Zygote() as zygote:
        for name in NAMES:
            result = grade(EXAMPLES / f"{name}.py", load_assignment("vit-debugging"), zygote=zygote, seed=7)
            (FOLDER / f"{name}.json").write_text(result.to_json(), "utf-8")
            (FOLDER / f"{name}.safetensors").write_bytes(result.arrays or b"")


if __name__ == "__main__":
    _make()
