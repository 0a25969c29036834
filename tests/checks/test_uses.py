"""What is right where it is graded is found out where it is wrong elsewhere, and right code is let be."""

from __future__ import annotations

import pytest
from examining import BRIEF, examine

from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable
from vitcheck.checks.rules.kinds.property import check_property
from vitcheck.checks.rules.properties import PROPERTIES

_ANSWER = "        return self.head(x)"
_READ = "        x = self.patch_embed(x)\n"
_TOKENS = "        x = self.pos_drop(x + self.pos_embed)\n"
_LOOP = "        for blk in self.blocks:\n            x = blk(x)\n"
_MADE = "        self.norm = nn.LayerNorm(embed_dim, eps=1e-6)\n        self.head"
_LOADS = """    def load_state_dict(self, state):
        return super().load_state_dict({key: one * 0.5 for key, one in state.items()})

    def forward(self, x):
"""


def answer(line: str) -> tuple[str, str]:
    """Another line between the scores and what is returned."""
    return _ANSWER, f"        x = self.head(x)\n        {line}\n        return x"


def loop(line: str) -> tuple[str, str]:
    """Another line in place of the one that runs a block."""
    return _LOOP, f"        for i, blk in enumerate(self.blocks):\n            {line}\n"


ELSEWHERE = {
    "a large batch": (
        "large-batch",
        answer("x = torch.cat([x[:8], 2 * x[8:]])"),
        "image 9 gets other logits",
    ),
    "a large batch, exchanged": (
        "large-batch",
        answer("x = x.flip(0) if len(x) > 8 else x"),
        "in a batch of 67",
    ),
    "float32": (
        "single-precision",
        answer("x = x * 1.01 if x.dtype == torch.float32 else x"),
        "in float32 the result is off",
    ),
    "train mode": ("train-and-eval", answer("x = x * 1.01 if self.training else x"), "in train mode"),
    "train mode, behind noise": (
        "train-and-eval",
        answer("x = x * 2 + 1e-3 * torch.rand_like(x) if self.training else x"),
        "in train mode",
    ),
    "pixels of files": (
        "pixel-ranges",
        (_READ, "        x = self.patch_embed(x if x.max() < 20 else x / 255)\n"),
        "for pixels from 0 to 255",
    ),
    "pixels of ToTensor": (
        "pixel-ranges",
        (_READ, "        x = self.patch_embed(x if x.min() < 0 or x.max() > 1 else 2 * x)\n"),
        "for pixels from 0 to 1 ",
    ),
    "gradients off": (
        "with-and-without-gradients",
        answer("x = x if not torch.is_inference_mode_enabled() else 2 * x"),
        "in inference mode",
    ),
    "weights that are loaded": (
        "saved-and-loaded",
        (
            "    def forward(self, x):\n        x = self.forward_features(x)\n",
            f"{_LOADS}        x = self.forward_features(x)\n",
        ),
        "with the saved weights loaded",
    ),
    "weights that are kept from the first pass": (
        "saved-and-loaded",
        (
            _ANSWER,
            "        self.kept = getattr(self, 'kept', self.head.weight + 0)\n"
            "        return x @ self.kept.mT + self.head.bias",
        ),
        "with the saved weights loaded",
    ),
    "full width": ("full-width", answer("x = x * (1 + (self.head.in_features > 500))"), "a width of 768"),
    "full width, by other operations": (
        "full-width",
        answer("x = x * 2 if self.head.in_features > 500 else x"),
        "a width of 768",
    ),
    "many tokens": (
        "all-tokens",
        (_TOKENS, f"{_TOKENS}        x = x.flip(1) if x.shape[1] > 60 else x\n"),
        "197 tokens",
    ),
    "the backward pass": (
        "backward-pass",
        answer("x.requires_grad and x.register_hook(lambda gradient: -3 * gradient)"),
        "by the gradients",
    ),
    "the backward pass of one parameter": (
        "backward-pass",
        (_MADE, f"        self.cls_token.register_hook(lambda gradient: -gradient)\n{_MADE}"),
        "by the gradients",
    ),
    "three blocks of all": (
        "every-block",
        loop("x = blk(x) if i < 3 else x"),
        "no gradient reaches blocks.3",
    ),
    "every other block": ("every-block", loop("x = blk(x) if i < 3 or i % 2 else x"), "blocks.4"),
    "blocks that share weights from the fourth on": (
        "every-block",
        (_MADE, f"        for i in range(3, depth): self.blocks[i] = self.blocks[2]\n{_MADE}"),
        "only 3 of 12 blocks have",
    ),
    "fewer blocks than asked for": (
        "every-block",
        ("for _ in range(depth)]", "for _ in range(min(depth, 8))]"),
        "only 8 of 12 blocks have",
    ),
    "later blocks without a residual": (
        "every-block",
        loop("x = blk(x) if i < 3 else blk(x) - x"),
        r"with [567] blocks S\d+ .*in another way",
    ),
    "later blocks that only seem to move the scores": (
        "every-block",
        loop("x = blk(x) if i < 3 else x + blk(x) - blk(x).detach()"),
        r"with [567] blocks S\d+ ",
    ),
}


@pytest.mark.parametrize(("name", "edit", "says"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_is_wrong_only_elsewhere_is_wrong(name: str, edit: tuple[str, str], says: str) -> None:
    with pytest.raises(CheckFailed, match=says):
        check_property(examine("prenorm", edit), PROPERTIES[name])


def test_a_gradient_of_the_wrong_size_in_train_mode_alone_is_found() -> None:
    line = "x.requires_grad and self.training and x.register_hook(lambda gradient: -3 * gradient)"
    with pytest.raises(CheckFailed, match="by the gradients"):
        check_property(examine("prenorm", answer(line)), PROPERTIES["backward-pass"])


HONEST = {
    "scores while training, probabilities after": answer("x = x if self.training else x.softmax(-1)"),
    "a way to drop branches that nobody knows": answer(
        "x = x * (torch.rand(len(x), 1) > 0.1) / 0.9 if self.training else x"
    ),
    "what is kept to be plotted": answer("self.last = x"),
    "what is returned to be plotted": (_ANSWER, f"{_ANSWER}, x.detach()"),
    "a norm of the batch": (_ANSWER, f"{_ANSWER} + 0 * nn.BatchNorm1d(x.shape[1])(x).sum()"),
    "numbers in float32 on the way": answer("x = x * torch.tensor(1.0, dtype=torch.float32)"),
    "images that are checked": (_READ, f"        assert x.dim() == 4\n{_READ}"),
}
_WITH_AND_WITHOUT = ("train-and-eval", "saved-and-loaded", "single-precision", "with-and-without-gradients")


@pytest.mark.parametrize("edit", HONEST.values(), ids=HONEST)
def test_honest_code_is_right_wherever_it_is_used(edit: tuple[str, str]) -> None:
    examination = examine("prenorm", edit)
    for name in (*_WITH_AND_WITHOUT, "large-batch", "backward-pass", "every-block"):
        holds(examination, name)


def test_what_is_dropped_in_few_passes_comes_back() -> None:
    line = (
        "self.n = getattr(self, 'n', 0) + 1; x = x * (0.5 if self.training and self.n % 20 in (2, 15) else 1)"
    )
    holds(examine("prenorm", answer(line)), "dropout-comes-back")


@pytest.mark.parametrize("base", ["dropout_everywhere", "stochastic_depth", "library_stack", "checkpointed"])
def test_what_is_random_in_train_mode_is_not_held_against_it(base: str) -> None:
    holds(examine(base), "train-and-eval")


def holds(examination: Examination, name: str) -> None:
    """Asserts that a property does not fail."""
    try:
        check_property(examination, PROPERTIES[name])
    except NotApplicable:
        return


def test_blocks_that_go_on_alike_are_not_located_again() -> None:
    assert examine("report").deeper() is None


def test_weights_that_are_computed_are_followed_to_full_width() -> None:
    check_property(examine("raw_parameters"), PROPERTIES["full-width"])


def test_patches_of_one_channel_do_not_say_in_which_order_those_of_three_are() -> None:
    assignment = BRIEF.model_copy(update={"examples": 3})
    examination = examine("channel_last_patches", assignment=assignment, seed=241)
    assert [one.draw.sizes.channels for one in examination.examples] == [1, 3, 1]
    check_property(examination, PROPERTIES["full-width"])


def test_a_loop_over_tokens_is_no_reason_to_fail() -> None:
    with pytest.raises(NotApplicable, match="a loop that runs more often"):
        check_property(examine("query_by_query"), PROPERTIES["all-tokens"])
