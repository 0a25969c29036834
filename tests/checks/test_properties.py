"""Each property fails on the mistakes that it is there for, and holds on correct code of any style."""

from __future__ import annotations

import pytest
from corpus import BASES
from examining import examine

from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable, NotReached
from vitcheck.checks.rules.kinds.property import check_property
from vitcheck.checks.rules.properties import PROPERTIES

PROBS = "attn_probs = attn_scores.softmax(dim=-1)"
LOOPS = (
    "handwritten_norm",
    "query_chunks",
    "key_chunks",
    "loops",
    "all_by_hand",
    "token_loops",
    "generators",
    "query_by_query",
)
WIDER = ("vmap_heads", "query_by_query")  # whose scores cannot be foretold there
# Where no edit of weights from outside can tell heads apart, or positions lie in several tables or in none.
NOT_APPLICABLE = {
    ("per_head_modules", "head-permutation"),
    ("raw_parameters", "head-permutation"),
    ("tuple_sizes", "head-permutation"),
    ("query_chunks", "head-permutation"),
    ("loops", "head-permutation"),
    ("library_separate", "head-permutation"),
    ("all_by_hand", "head-permutation"),
    ("weight_normed", "head-permutation"),
    ("weight_normed", "identity-block"),
    ("weight_normed", "finite-attention"),
    ("weight_normed", "joint-permutation"),
    ("wide_heads", "head-permutation"),
    ("position_embedding", "joint-permutation"),
    ("token_after_positions", "joint-permutation"),
    ("clip_explicit", "joint-permutation"),
    ("generators", "head-permutation"),
    ("token_maps", "head-permutation"),
    ("position_maps", "head-permutation"),
    ("position_maps", "joint-permutation"),
    ("vmap_heads", "head-permutation"),
    ("keras_minded", "head-permutation"),
    *(("query_by_query", one) for one in ("head-permutation", "joint-permutation")),
    *(("query_by_query", one) for one in ("identity-block", "finite-attention")),
    # loops run other operations where there is more of what they go over
    *((one, "all-tokens") for one in LOOPS),
    *((one, "full-width") for one in WIDER),
}
# Where an assignment forbids a variant, and for scripts, pictures and what code says by itself.
ASKED_FOR = (
    *("other-resolution", "uneven-image", "eval-mode-in-scripts"),
    *("preprocessing", "predictions", "loss", "training", "own-sizes", "own-pass", "images-reach-scores"),
    "kept-is-scaled",
)
CAUGHT = [
    ("report-functional-dropout-always-on", "repeatable", "functional-dropout-always-on"),
    ("report-dropout-built-in-forward", "repeatable", "dropout-built-in-forward"),
    ("fused_sdpa-sdpa-dropout-in-eval", "repeatable", "sdpa-dropout-in-eval"),
    ("report-state-leak", "repeatable", "state-leak"),
    ("report-reseeds-in-forward", "no-side-effects", "reseeds-in-forward"),
    ("report-rng-consumed-in-eval", "no-side-effects", "rng-consumed-in-eval"),
    ("report-input-mutated-in-place", "no-side-effects", "input-mutated-in-place"),
    ("report-params-created-in-forward", "no-side-effects", "params-created-in-forward"),
    ("report-params-created-in-forward", "repeatable", "params-created-in-forward"),
    ("report-path-detached", "gradients", "path-detached"),
    ("report-no-grad-in-blocks", "gradients", "no-grad-in-blocks"),
    ("report-batch-size-hard-coded", "batch-sizes", "batch-size-hard-coded"),
    ("report-squeeze-drops-batch", "batch-sizes", "squeeze-drops-batch"),
]
BROKEN = [
    ("report-softmax-over-batch", "batch-independence", "attention probabilities of block 1"),
    ("library_mha-attention-over-batch-axis", "batch-independence", "attention context of block 1"),
    ("report-layernorm-over-batch", "batch-independence", "post attention norm of block 1"),
    ("report-softmax-over-batch", "batch-sizes", "in a batch of 1 than in a batch of 5"),
    ("report-pos-missing", "positions-matter", "shuffling the patches does not change"),
    ("library_mha-attention-over-batch-axis", "responds-to-the-image", "the same for every image"),
]


@pytest.mark.parametrize(("mutant", "name", "mistake"), CAUGHT)
def test_a_mistake_breaks_its_property_and_is_named(mutant: str, name: str, mistake: str) -> None:
    with pytest.raises(CheckFailed) as failed:
        PROPERTIES[name](examine(mutant))
    assert mistake in failed.value.mistakes
    assert failed.value.draw is not None


@pytest.mark.parametrize(("mutant", "name", "says"), BROKEN)
def test_a_mistake_of_values_breaks_a_property_too(mutant: str, name: str, says: str) -> None:
    with pytest.raises(CheckFailed, match=says):
        PROPERTIES[name](examine(mutant))


@pytest.mark.parametrize(
    "mutant", ["report-unused-parameter", "report-requires-grad-off"], ids=lambda one: str(one)
)
def test_a_parameter_without_a_gradient_is_named_with_the_one_cause(mutant: str) -> None:
    with pytest.raises(CheckFailed, match=r"no gradient reaches (pos_embed|blocks.0.norm4.weight)") as failed:
        PROPERTIES["gradients"](examine(mutant))
    assert failed.value.mistakes == (mutant.removeprefix("report-"),)


def test_a_table_of_sines_need_not_learn() -> None:
    drawn = "nn.init.trunc_normal_(self.pos_embed, std=0.02)"
    waves = """rates = 10000 ** (torch.arange(0, embed_dim, 2) / embed_dim)
        angles = torch.arange(num_patches + 1)[:, None] / rates
        table = torch.cat([angles.sin(), angles.cos()], dim=1)[None]
        self.pos_embed = nn.Parameter(table, requires_grad=False)"""
    PROPERTIES["gradients"](examine("report", (drawn, waves)))


@pytest.mark.parametrize("base", BASES)
def test_every_property_holds_on_correct_code(base: str) -> None:
    examination = examine(base)
    for name, check in PROPERTIES.items():
        try:
            check_property(examination, check)
        except NotApplicable:
            assert name in ASKED_FOR or (base, name) in NOT_APPLICABLE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"{PROBS}\n", f"{PROBS}\n        self.maps = attn_probs\n"),  # to be plotted
        ("self.dim = dim\n", "self.dim = dim\n        self.scale = torch.tensor(0.5)\n"),  # of no axes
        (
            "self.dim = dim\n",
            "self.dim = dim\n        self.register_buffer('steps', torch.tensor(0))\n",
        ),
    ],
)
def test_what_a_model_keeps_for_itself_is_no_side_effect(old: str, new: str) -> None:
    examination = examine("report", (old, new))
    PROPERTIES["no-side-effects"](examination)
    PROPERTIES["repeatable"](examination)


SIDE_EFFECTS = [
    ("self.head.bias.data += 1", "changes head.bias"),
    ("self.train()", "switches between train and eval mode"),
    ("torch.rand(1)", "draws random numbers"),
]


@pytest.mark.parametrize(("line", "says"), SIDE_EFFECTS)
def test_a_side_effect_is_said(line: str, says: str) -> None:
    edit = ("B = img.size(0)\n", f"B = img.size(0)\n        {line}\n")
    with pytest.raises(CheckFailed, match=says):
        PROPERTIES["no-side-effects"](examine("report", edit))


def test_a_float32_constant_in_a_bfloat16_model_is_a_promoted_dtype() -> None:
    edit = ("logits = self.head(cls_rep)", "logits = self.head(cls_rep) * torch.ones(1)")
    with pytest.raises(CheckFailed, match="a bfloat16 model returns bfloat16, float32") as failed:
        PROPERTIES["dtype-kept"](examine("report", edit))
    assert failed.value.mistakes == ("dtype-promoted",)


def test_a_model_that_fails_in_train_mode_alone_is_said_to() -> None:
    edit = ("B = img.size(0)\n", "B = img.size(0)\n        assert not self.training, 'no training'\n")
    with pytest.raises(CheckFailed, match="train mode the model fails: AssertionError: no training"):
        PROPERTIES["train-and-eval"](examine("report", edit))


def test_heads_that_cannot_be_permuted_are_passed_over() -> None:
    with pytest.raises((NotApplicable, NotReached)):
        PROPERTIES["head-permutation"](examine("report-heads-averaged"))


def test_heads_of_a_wider_model_are_permuted_too() -> None:
    PROPERTIES["head-permutation"](examine("report-pos-concatenated"))


BLOCKS = ("report-residual-doubled", "prenorm-residual-attn-missing", "report-residual-multiplied")


@pytest.mark.parametrize("mutant", BLOCKS)
def test_a_wrong_residual_does_not_hand_on_the_blocks_input(mutant: str) -> None:
    with pytest.raises(CheckFailed, match="does not return its input"):
        PROPERTIES["identity-block"](examine(mutant))


def test_patches_that_are_cut_wrongly_are_not_permuted_with_their_positions() -> None:
    with pytest.raises(CheckFailed, match="permuting the patches together with their positions"):
        PROPERTIES["joint-permutation"](examine("prenorm-conv-reshape-not-transpose"))


def test_patches_in_another_order_are_no_fault_of_their_positions() -> None:
    with pytest.raises(NotApplicable, match="column by column"):
        PROPERTIES["joint-permutation"](examine("report-patch-columns-first"))


def test_a_model_that_returns_nothing_is_told_so() -> None:
    line = BASES["scaled_query"].source().rstrip().splitlines()[-1]
    assert "return" in line
    with pytest.raises(CheckFailed, match="returns no tensor"):
        PROPERTIES["repeatable"](examine("scaled_query", (line, line.replace("return ", ""))))


def test_where_the_pass_crashes_nothing_is_said_of_it() -> None:
    edit = ("x = x_pos\n", "x = x_pos @ x_pos\n")
    examination = examine("report", edit)
    without_a_pass = {*ASKED_FOR} - {"other-resolution", "images-reach-scores", "kept-is-scaled"} | {
        "registered",
        "instances-of-their-own",
    }
    for name in PROPERTIES.keys() - without_a_pass:
        with pytest.raises(NotReached):
            PROPERTIES[name](examination)


def test_slopes_that_are_no_numbers_are_told_as_what_they_are() -> None:
    """There is no reply for them, which was told as a model that could not be built."""
    examination = examine(
        "report", ("x_tokens + self.pos_embed", "x_tokens + (self.pos_embed - self.pos_embed).sqrt()")
    )
    _, found = examination.slopes()
    assert found.error is not None
    assert found.error.type == "FloatingPointError"


def test_positions_that_are_drawn_and_kept_as_a_buffer_never_learn() -> None:
    made = "self.pos_embed = nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))"
    kept = 'self.register_buffer("pos_embed", torch.randn(1, num_patches + 1, embed_dim))'
    with pytest.raises(CheckFailed, match="drawn at random") as failed:
        PROPERTIES["registered"](examine("report", (made, kept)))
    assert tuple(failed.value.mistakes) == ("pos-not-parameter",)


def test_a_pass_that_fails_after_another_has_kept_something_of_it() -> None:
    line = "x_pos = x_tokens + self.pos_embed"
    kept = 'assert not vars(self).get("kept"), "again"\nself.kept = True\n' + line
    with pytest.raises(CheckFailed, match=r"one after it .* fails: AssertionError: again") as failed:
        PROPERTIES["repeatable"](examine("report", (line, kept.replace("\n", "\n        "))))
    assert tuple(failed.value.mistakes) == ("state-leak",)
