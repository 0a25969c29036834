"""Every mistake that can be planted, in work that is written up to the stage behind it.

Run it to count how many are told: PYTHONPATH=tests python tests/checks/prefixes.py report
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.classes.tasks import Setting, Task
from vitcheck.checks.locating.reached import LEFT_OUT
from vitcheck.checks.record.result import Result
from vitcheck.checks.tools.course.planting import plantable, reference_as_submission
from vitcheck.checks.tools.course.typical import TO_WRITE
from vitcheck.reference.stages import stages_of
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.sandbox.isolation import Isolation

_ASSIGNMENTS = {"report": "vit-debugging", "pre-norm": "vit-prenorm"}
# by the key of a stage, the function of reference/equations.py without which it is not written
_FUNCTIONS = {
    "flattened_patches": "flatten_patches",
    "tokens": "prepend_class_token",
    "positioned_tokens": "add_positions",
    "query": "split_heads",
    "attention_scores": "attention_scores",
    "attention_probabilities": "attention_probabilities",
    "attention_context": "attention_context",
    "attention_output": "merge_heads",
    "post_attention_norm": "attention_sum",
    "mlp_hidden": "gelu",
    "post_mlp_norm": "mlp_sum",
    "class_representation": "class_representation",
    "class_probabilities": "class_probabilities",
}


def prefixes(architecture: str) -> Mapping[str, str]:
    """The function that is not written, by the id of each mistake of a stage that something comes behind."""
    keys = [one.key for one in stages_of(architecture)]
    found = {}
    for id, known in plantable(architecture).items():
        behind = keys[keys.index(known.stage) + 1 :] if known.stage in keys else []
        later = [
            _FUNCTIONS[key] for key in behind if key in _FUNCTIONS and _FUNCTIONS[key] not in known.equation
        ]
        later = later[
            id.endswith(LEFT_OUT) :
        ]  # what is left out may still come, until the next stage is there
        if later and known.kind == "error":
            found[id] = later[0]
    return found


def graded(architecture: str, id: str, zygote: Zygote) -> Result:
    """The reference with the mistake in it, up to the stage behind it."""
    instead = {prefixes(architecture)[id]: TO_WRITE}
    handed = reference_as_submission(architecture, id, instead=instead)
    asked = load_assignment(_ASSIGNMENTS[architecture]).model_copy(update={"examples": 3})
    return Task(handed, id, asked, 0, setting=Setting(Isolation.NONE)).grade(zygote)


def is_told(result: Result, id: str) -> bool:
    """Is it named, or one that gives the same numbers?"""
    named = {one for found in result.mistakes for one in (found.id, *found.also)}
    return id in named | {one.id for one in result.variants}


if __name__ == "__main__":
    with Setting(Isolation.NONE).zygote() as forked:
        ids = list(prefixes(sys.argv[1]))
        told = 0
        for id in ids:
            result = graded(sys.argv[1], id, forked)
            told += is_told(result, id)
            if not is_told(result, id):
                print(id, [one.id for one in result.mistakes], result.unwritten and result.unwritten.line)
        print(f"{told} of {len(ids)} are told in unfinished work")
