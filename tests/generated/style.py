"""What one writer does alike in all classes: docstrings, annotations, how a base is initialised."""

from __future__ import annotations

from .drawing import Choices
from .marking import plain

_WIDTH = 88  # of a line, for those who break it

_DOCUMENTED = {
    "vit": (
        "Vision Transformer",
        "ViT for image classification.",
        "Vision Transformer (Dosovitskiy et al., 2021)",
    ),
    "Patch": ("Split the image into patches and embed them.", "Image to patch embeddings", "patch embedding"),
    "Embed": ("Patch embedding, class token and position embedding.", "everything before the encoder"),
    "Attention": (
        "Multi-head self-attention",
        "Multi-Head Self Attention.",
        "self attention over all tokens",
    ),
    "MLP": ("Two layer MLP.", "position-wise feed forward network", "Feed forward block"),
    "Block": ("One encoder block: attention and MLP.", "Transformer encoder block", "encoder layer"),
    "Encoder": ("A stack of encoder blocks.", "Transformer encoder", "all blocks"),
    "Single": ("One attention head", "a single head of self-attention"),
}


class Style:
    """Drawn once a program."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._old_super = choices.once_in(5)
        self._documents = choices.once_in(3)
        self.annotation = choices.among("", "", "", "", ": torch.Tensor")
        self._wraps = choices.once_in(3)
        self.underscored = choices.once_in(2)  # what is unpacked and not read is called _

    def super(self, name: str) -> str:
        """The call of the base's constructor."""
        return f"super({name}, self).__init__()" if self._old_super else "super().__init__()"

    def documented(self, what: str) -> list[str]:
        """The docstring of a class: most writers have none, no writer has one everywhere."""
        if not self._documents or self._choices.once_in(3):
            return []
        return [f'    """{self._choices.among(*_DOCUMENTED[what])}"""', ""]

    def constructor(self, parameters: list[str]) -> list[str]:
        """The first line of a constructor; some writers break a long one."""
        line = f"    def __init__({', '.join(['self', *parameters])}):"
        if not self._wraps or len(plain(line)) <= _WIDTH:
            return [line]
        return ["    def __init__(", "        self,", *(f"        {one}," for one in parameters), "    ):"]
