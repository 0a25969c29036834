"""By which check each mistake of the catalogue is told, or why it cannot be.

Run it to write docs/mistakes.md anew: PYTHONPATH=tests python tests/checks/coverage_table.py
"""

from __future__ import annotations

from pathlib import Path

from mutants import MUTANTS
from test_locate import NAMED

from vitcheck.checks.architecture.catalogue import Mistake, mistakes
from vitcheck.reference.stages import STAGES

DOCUMENT = Path(__file__).parents[2] / "docs" / "mistakes.md"

# Where only a property tells it: its name. Shown by test_crosscutting.py and test_own_preprocessing.py.
PROPERTY = {
    "batch-size-hard-coded": "batch-sizes",
    "squeeze-drops-batch": "batch-sizes",
    "view-on-noncontiguous": "memory-layout",
    "naive-exp-overflow": "finite-attention",
    "functional-dropout-always-on": "repeatable",
    "sdpa-dropout-in-eval": "repeatable",
    "dropout-built-in-forward": "repeatable",
    "state-leak": "repeatable",
    "input-mutated-in-place": "no-side-effects",
    "params-created-in-forward": "no-side-effects",
    "reseeds-in-forward": "no-side-effects",
    "rng-consumed-in-eval": "no-side-effects",
    "keeps-graph-in-maps": "memory-does-not-grow",
    "path-detached": "gradients",
    "no-grad-in-blocks": "gradients",
    "unused-parameter": "gradients",
    "requires-grad-off": "gradients",
    "cls-detached": "gradients",
    "residual-in-place": "gradients",
    "parameter-then-converted": "registered",
    "blocks-in-python-list": "registered",
    "mutable-default-module": "instances-of-their-own",
    "init-constant-or-zero": "initial-weights",
    "init-std-too-large": "initial-weights",
    "zero-init-head": "initial-weights",
    "pos-init-too-large": "initial-weights",
    "blocks-identical-init": "initial-weights",
    "tensor-made-on-cpu": "one-device",
    "buffer-not-registered": "one-device",
    "dtype-promoted": "dtype-kept",
    "eval-not-called": "eval-mode-in-scripts",
    "dropout-sticky-after-eval": "dropout-comes-back",
    "hard-coded-first-blocks": "one-block",
    "head-dim-floor": "width-divided-by-heads",
    "pos-grid-not-resampled": "other-resolution",
    "silent-floor-crop": "uneven-image",
    "loop-over-tokens": "operations",
    "loop-over-batch": "operations",
    "loop-over-heads": "operations",
    "norm-computed-thrice": "usual-forms",
    "repeat-instead-of-expand": "usual-forms",
    "hidden-fused-attention": "usual-forms",
    "returns-tuple-or-dict": "usual-forms",
    "result-discarded": "results-are-used",
    **dict.fromkeys(
        (
            "missing-normalisation",
            "wrong-normalisation-constants",
            "double-scaling-255",
            "bgr-channel-order",
            "hwc-viewed-as-chw",
            "missing-batch-axis",
            "grey-or-alpha-not-converted",
            "integer-input",
            "resize-policy",
        ),
        "preprocessing",
    ),
}

# Told by other checks than those that the planted mistakes go through.
OTHERWISE = {
    "pre-norm-block": "the architecture, where the assignment asks for another",
    "report-hybrid-block": "the architecture, where the assignment asks for another",
    "final-norm-after-readout": "stage equation: a form that correct programs have",
    "head-averaged-weights": "an output on request: attention maps without the axis of the heads",
    "gelu-instead-of-quick-gelu": "stage equation: the exact GELU in what is CLIP's in all else",
    "stage-recomputed-beside-model": "what is shown as a stage, beside what the model computed",
    "norm-inside-component": "component: what it computes from its input to its output",
    "residual-inside-component": "component: what it computes from its input to its output",
    "notebook-global-dependence": "a crash: the name that nothing defines, with its line",
}
OUT_OF_REACH = {
    "dropout-placement": "where to drop is the assignment's choice; in eval mode all places give the same",
    "trunc-bounds-absolute": "it is harmless: with usual spreads nothing lies near the bounds",
}
_HEAD = """# By which check each mistake is told

Written by `tests/checks/coverage_table.py`, and held true by `tests/checks/test_coverage.py`.
`vitcheck explain ID` tells what a mistake is.

- **stage equation**: the student's own tensor is what the wrong equation gives, at that stage
- **property**: a property of the whole model fails, or notes a variant
- **exercise**: a function on a trained ViT gives what the wrong equation gives
- **crash**: the forward pass raises an exception, which is told with its line

Programs that make the mistakes stand in `tests/mutants`.
"""


def told(known: Mistake) -> list[str]:
    """By what a mistake is told; empty where it is not."""
    found = ["stage equation"] if any(one.id == known.id for one in NAMED) else []
    if known.stage == "exercise":
        found.append("exercise")
    if known.id in PROPERTY:
        found.append(f"property `{PROPERTY[known.id]}`")
    if any(one.id == known.id and one.crashes for one in MUTANTS):
        found.append("crash")
    if known.id in OTHERWISE:
        found.append(OTHERWISE[known.id])
    return found


def document() -> str:
    """The text of docs/mistakes.md."""
    labels = {one.key: one.label for one in STAGES}
    reached = [one for one in mistakes().values() if one.id not in OUT_OF_REACH]
    rows = [
        f"| {one.id} | {labels.get(one.stage, one.stage)} | {one.kind} | {'; '.join(told(one))} |"
        for one in reached
    ]
    missing = [f"| {name} | {reason} |" for name, reason in OUT_OF_REACH.items()]
    return "\n".join(
        [
            _HEAD,
            f"## Told ({len(rows)})\n",
            "| id | stage | kind | told by |\n|---|---|---|---|",
            *rows,
            f"\n## Out of reach ({len(missing)})\n",
            "| id | why |\n|---|---|",
            *missing,
            "",
        ]
    )


if __name__ == "__main__":
    DOCUMENT.write_text(document(), "utf-8")
