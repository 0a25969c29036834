"""Result records as grading gives them, for the tests of what is rendered from them."""

from __future__ import annotations

from typing import Any

from vitcheck.checks.record.result import (
    CheckResult,
    CodeLine,
    Evidence,
    Location,
    MistakeResult,
    Note,
    Outcome,
    Result,
    Run,
    Score,
    StageResult,
    StageStatus,
    Status,
    VariantResult,
)

SIZES = {"B": 1, "C": 3, "H": 224, "W": 224, "P": 16, "N": 196, "F": 768, "T": 197, "D": 768}
SIZES |= {"h": 12, "d": 64, "M": 3072, "K": 1000, "1": 1}

STAGES = {
    "S01": ("image", "raw input", "B C H W", "the image, resized, scaled to [0, 1] and normalised"),
    "S02": ("patches", "patches", "B N C P P", "windows of P by P of S01, row by row"),
    "S03": ("flattened_patches", "flattened patches", "B N F", "S02, each patch as one row"),
    "S04": ("patch_embeddings", "patch embeddings", "B N D", "S03 · Wᵀ + b"),
    "S05": ("class_token", "class token, before concat", "B 1 D", "a parameter, the same for every image"),
    "S06": ("tokens", "tokens with class token", "B T D", "S05 before S04"),
    "S07": ("positioned_tokens", "+ positional encoding", "B T D", "S06 + positions"),
    "S08": ("block_input", "block input", "B T D", "S07"),
    "S09": ("query", "queries per head", "B h T d", "LayerNorm(S08) · W_qᵀ + b_q, split into heads"),
    "S10": ("key", "keys per head", "B h T d", "LayerNorm(S08) · W_kᵀ + b_k, split into heads"),
    "S11": ("value", "values per head", "B h T d", "LayerNorm(S08) · W_vᵀ + b_v, split into heads"),
    "S12": ("attention_scores", "attention scores", "B h T T", "S09 · S10ᵀ / √d"),
    "S13": ("attention_probabilities", "attention probabilities", "B h T T", "softmax over keys of S12"),
    "S14": ("attention_context", "context per head", "B h T d", "S13 · S11"),
    "S15": ("attention_output", "attention output", "B T D", "heads of S14 side by side, then linear"),
    "S16": ("post_attention_norm", "residual + norm after attention", "B T D", "LayerNorm(S08 + S15)"),
    "S17": ("mlp_hidden", "MLP hidden layer", "B T M", "GELU(S16 · Wᵀ + b)"),
    "S18": ("mlp_output", "MLP output", "B T D", "S17 · Wᵀ + b"),
    "S19": ("post_mlp_norm", "residual + norm after MLP", "B T D", "LayerNorm(S16 + S18)"),
    "S20": ("block_output", "block output", "B T D", "S19"),
    "S21": ("second_block_output", "block 2 output", "B T D", "block 2 of S20"),
    "S22": ("last_block_output", "last block's output", "B T D", "blocks 3 to L of S21"),
    "S23": ("final_sequence", "final sequence", "B T D", "S22"),
    "S24": ("class_representation", "class representation", "B D", "row 0 of S23"),
    "S25": ("logits", "logits", "B K", "S24 · Wᵀ + b"),
    "S26": ("class_probabilities", "class probabilities", "B K", "softmax over classes of S25"),
}

RUN = Run(
    seed=7,
    seconds=1.4,
    isolation=["namespaces", "seccomp", "limits"],
    versions={"vitcheck": "0.1.0", "torch": "2.15.0", "python": "3.11.7"},
    examples=12,
    sizes={"batch": 2, "embed_dim": 24, "heads": 4},
    command="vitcheck check vit_transformer.py --seed 7",
)

NOTES = [
    Note(
        kind="inferred",
        text="ViT is built with img_size, patch_size and dim; 12 heads are fixed in the code.",
    ),
    Note(
        kind="skipped",
        text="A loop over a data loader was not run.",
        location=Location(file="vit_transformer.py", line=141),
    ),
]

HOSTILE = "\x1b[2J<script>alert(1)</script> {{ 7*7 }} \u202eevil\u200b =cmd()|'x' \x00\x07 &amp; \"quoted\""


def stage(label: str, **changes: Any) -> StageResult:
    """A stage that passed, with ``changes``."""
    key, title, axes, equation = STAGES[label]
    shape = [SIZES[letter] for letter in axes.split()]
    usual: dict[str, Any] = {
        "key": key,
        "title": title,
        "axes": axes,
        "equation": equation,
        "status": StageStatus.PASSED,
        "evidence": Evidence.OBSERVED,
        "expected_shape": shape,
        "shape": shape,
        "max_error": 4.4e-16,
        "tolerance": 1e-9,
    }
    return StageResult(**usual | changes)


def check(label: str, **changes: Any) -> CheckResult:
    """The check of a stage's equation, passed, with ``changes``."""
    usual: dict[str, Any] = {
        "id": f"equation.{STAGES[label][0]}",
        "stage": label,
        "title": f"{label} is what its equation predicts from your own earlier stages.",
        "outcome": Outcome.PASSED,
        "points": 3.5,
        "earned": 3.5,
    }
    return CheckResult(**usual | changes)


def whole_model_checks() -> list[CheckResult]:
    """Checks of no stage, in two groups."""
    titles = {
        "properties.batch": "An image gets the same scores alone and in a batch.",
        "properties.repeat": "Two calls on the same image give the same scores.",
        "rules.no_print": "The file prints nothing.",
    }
    return [
        CheckResult(id=name, stage=None, title=title, outcome=Outcome.PASSED, points=3, earned=3)
        for name, title in titles.items()
    ]


def result(name: str, **changes: Any) -> Result:
    """A submission that passed everything; ``stages`` and ``checks`` replace single ones."""
    stages = {label: stage(label) for label in STAGES} | changes.pop("stages", {})
    checks = {one.id: one for one in [*map(check, STAGES), *whole_model_checks()]}
    checks |= {one.id: one for one in changes.pop("checks", [])}
    usual: dict[str, Any] = {
        "submission": name,
        "assignment": "vit-debugging",
        "status": Status.GRADED,
        "score": Score(
            earned=sum(one.earned for one in checks.values()),
            possible=sum(one.points for one in checks.values()),
        ),
        "architecture": "report",
        "stages": stages,
        "checks": list(checks.values()),
        "notes": NOTES,
        "run": RUN,
    }
    return Result(**usual | changes)


def excerpt(file: str, first: int, marked: int, *lines: str) -> Location:
    """A location with its lines of code."""
    code = [CodeLine(number=n, text=text, marked=n == marked) for n, text in enumerate(lines, first)]
    return Location(file=file, line=marked, excerpt=code)


def all_passed() -> Result:
    """Fused attention, so that scores and probabilities are implied; one accepted variant."""
    implied = {"evidence": Evidence.IMPLIED, "shape": None, "max_error": None}
    return result(
        "adams-zoe",
        stages={label: stage(label, **implied) for label in ("S12", "S13")}
        | {
            "S07": stage(
                "S07",
                values=[[0.1274, -1.0311, 0.552], [0.91, 0.0042, -0.23]],
                expected_values=[[0.1274, -1.0311, 0.552], [0.91, 0.0042, -0.23]],
                values_of="image 0, tokens 0-1 by features 0-2",
            )
        },
        variants=[
            VariantResult(
                id="gelu-tanh",
                stage="S17",
                title="GELU by its tanh approximation",
                allowed=True,
                reason="The course names no form of GELU.",
            )
        ],
    )


def scaled_by_embed_dim() -> Result:
    """One mistake, at S12."""
    hint = "Which two vectors are multiplied to give one score, and how many numbers has each of them?"
    where = excerpt(
        "vit_transformer.py",
        56,
        58,
        "        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in (q, k, v))",
        "        # BREAKPOINT S12",
        "        attn_scores = q @ k.transpose(-2, -1) / math.sqrt(self.embed_dim)",
        "        attn_probs = attn_scores.softmax(dim=-1)",
        "        # BREAKPOINT S13",
    )
    message = (
        "Your scores are 0.289 times what S09 · S10ᵀ / √d gives, in every cell. At 12 heads 0.289 is 1 / √12."
    )
    right = [[0.8412, -1.2071, 0.1190], [1.5526, 0.0483, -0.7734], [-0.2210, 0.9942, 2.0417]]
    return result(
        "brown-li",
        stages={
            "S12": stage(
                "S12",
                status=StageStatus.FAILED,
                max_error=3.1,
                mistakes=["scale-by-embed-dim"],
                location=where,
                hint=hint,
                message=message,
                values=[[one / 12**0.5 for one in row] for row in right],
                expected_values=right,
                values_of="image 0, head 0, tokens 0-2 by tokens 0-2",
            )
        },
        checks=[
            check(
                "S12",
                outcome=Outcome.FAILED,
                earned=0,
                message=message,
                counterexample={
                    "batch": 2,
                    "embed_dim": 24,
                    "heads": 4,
                    "seed": 7,
                    "command": "vitcheck check vit_transformer.py --stage S12 --seed 7",
                },
            )
        ],
        mistakes=[
            MistakeResult(
                id="scale-by-embed-dim",
                stage="S12",
                kind="error",
                title="scores divided by the square root of the full width",
                hint=hint,
                location=where,
                blocks="all blocks",
            )
        ],
    )


def two_mistakes() -> Result:
    """A wrong shape at S02, a mistake without a name at S18, and stages after it that were not reached."""
    missing = {
        "status": StageStatus.NOT_REACHED,
        "evidence": Evidence.ABSENT,
        "shape": None,
        "max_error": None,
    }
    hint = "How far does the window move from one patch to the next?"
    where = excerpt(
        "vit.ipynb[4]",
        7,
        8,
        "p = self.patch",
        "x = x.unfold(2, p, p // 2).unfold(3, p, p // 2)",
        "x = x.flatten(1)",
    )
    return result(
        "chen.omar",
        stages={
            "S02": stage(
                "S02",
                status=StageStatus.FAILED,
                shape=[1, 729, 3, 16, 16],
                max_error=None,
                mistakes=["overlapping-patches"],
                location=where,
                hint=hint,
                message="729 patches where 196 fit side by side.",
            ),
            "S03": stage("S03", status=StageStatus.FAILED, shape=[729, 768], evidence=Evidence.ABSENT),
            "S18": stage(
                "S18",
                status=StageStatus.FAILED,
                max_error=2e-5,
                values=[[0.123456701, None, 2.5]],
                expected_values=[[0.123456789, 1.0, 2.5]],
            ),
            "S26": stage("S26", **missing | {"status": StageStatus.NOT_APPLICABLE}),
        }
        | {label: stage(label, **missing) for label in ("S21", "S22", "S23")},
        checks=[
            check("S02", outcome=Outcome.FAILED, earned=0, message="729 patches where 196 fit side by side."),
            check("S18", outcome=Outcome.ERRORED, earned=0, message="RuntimeError: shapes do not fit"),
            check("S21", outcome=Outcome.NOT_REACHED, earned=0),
            check("S26", outcome=Outcome.SKIPPED, points=0, earned=0),
        ],
        mistakes=[
            MistakeResult(
                id="overlapping-patches",
                stage="S02",
                kind="variant",
                title="windows that overlap",
                hint=hint,
                location=where,
                also=["strided-pixel-patches"],
            )
        ],
        variants=[
            VariantResult(id="overlapping-patches", stage="S02", title="windows overlap", allowed=False)
        ],
    )


def stopped(name: str, status: Status, reason: str, location: Location | None = None) -> Result:
    """A submission that could not be graded."""
    return result(name, stages={}, checks=[]).model_copy(
        update={
            "status": status,
            "reason": reason,
            "location": location,
            "score": Score(earned=0, possible=100),
            "architecture": None,
            "stages": {},
            "checks": [],
            "notes": [],
        }
    )


def not_loaded() -> Result:
    """A syntax error."""
    where = excerpt("vit_transformer.py", 11, 12, "class ViT(nn.Module):", "    def __init__(self, dim=768:")
    return stopped("diaz_2", Status.NOT_LOADED, "syntax error: '(' was never closed", where)


def timed_out() -> Result:
    """A loop that never ends."""
    return stopped("evans", Status.TIMED_OUT, "the code was still running after 20 s while importing")


def hostile() -> Result:
    """Every text that a student can reach tries to be something else."""
    where = excerpt(HOSTILE, 1, 1, HOSTILE + "\n</code></pre><img src=http://example.com/x onerror=alert(2)>")
    return result(
        '=HYPERLINK("http://example.com")' + HOSTILE,
        architecture=HOSTILE,
        stages={
            "S12": stage(
                "S12",
                status=StageStatus.FAILED,
                message=HOSTILE * 200,
                hint=HOSTILE,
                location=where,
                mistakes=[HOSTILE],
                values=[[float("nan"), float("inf")]],
                values_of=HOSTILE,
            )
        },
        checks=[
            check("S12", outcome=Outcome.FAILED, earned=0, message=HOSTILE, counterexample={HOSTILE: HOSTILE})
        ],
        mistakes=[
            MistakeResult(id=HOSTILE, stage="S12", kind=HOSTILE, title=HOSTILE, hint=HOSTILE, also=[HOSTILE])
        ],
        variants=[VariantResult(id=HOSTILE, stage="S17", title=HOSTILE, allowed=False, reason=HOSTILE)],
        notes=[Note(kind=HOSTILE, text=HOSTILE, location=where)],
    )


def a_class() -> list[Result]:
    """One of each, not in order."""
    return [timed_out(), hostile(), two_mistakes(), all_passed(), not_loaded(), scaled_by_embed_dim()]
