"""A pass of the reference, with everything that is measured on a student's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from ....reference.sizes import Sizes
from ....reference.vit import CLIP, POST_NORM, PRE_NORM, REPORT, Block, LayerNorm, ReferenceViT, Stages
from ....submissions.questions.randomise import randomise
from ...locating.steps import Step
from ...locating.walk import stage_of
from .replay import Seen

VARIANTS = {one.name: one for one in (REPORT, PRE_NORM, POST_NORM, CLIP)}


@dataclass(frozen=True)
class ReferencePass:
    """Every stage by key; of S08 to S20, those of block 1."""

    model: ReferenceViT
    stages: Stages
    stream: Sequence[Tensor]  # the tokens before the first block, and after every block
    class_row: int = 0

    @property
    def sizes(self) -> Sizes:
        return self.model.sizes

    def seen(self, key: str) -> Seen:
        """Return a stage as that of a student is seen: here what is there is what is right."""
        read = stage_of(key, 1)
        return Seen(Step(key, 1, read, read, None), self.stages[key], self.stages[key])

    def stage(self, key: str, block: int = 0) -> Tensor:
        return self.stages[key]

    def around_norm(self, role: str, seen: Seen) -> tuple[Tensor, Tensor]:
        norm = getattr(self._block, role)
        if not isinstance(norm, LayerNorm):
            raise ValueError(f"{self.model.variant.name} has no {role}")
        sums = {
            "norm2": self.stages["block_input"] + self.stages["attention_output"],
            "norm3": self.stages["post_attention_norm"] + self.stages["mlp_output"],
        }
        return sums[role], (seen.student - norm.bias) / norm.weight

    def before_activation(self, block: int) -> Tensor:
        hidden: Tensor = self._block.mlp.fc1(self.stages["post_attention_norm"])
        return hidden

    @property
    def _block(self) -> Block:
        block = self.model.blocks[0]
        assert isinstance(block, Block)  # as the model made it
        return block


def reference_pass(architecture: str, sizes: Sizes, image: Tensor, seed: int) -> ReferencePass:
    """Run the reference in float32 on ``image``, with weights drawn at random from ``seed``.

    Raises KeyError for an architecture that it does not have.
    """
    model = ReferenceViT(sizes, VARIANTS[architecture]).eval().requires_grad_(False)
    randomise(model, seed, {})
    outputs: list[Tensor] = []
    for block in model.blocks:
        block.register_forward_hook(lambda _module, _inputs, made: outputs.append(made["block_output"]))
    stages = model(image.float())
    return ReferencePass(model, stages, [stages["block_input"], *outputs])
