"""Child side: a model whose depth is written in its code, with fewer blocks.

What holds for three blocks holds for twelve, and a traced pass of twelve ViT-B blocks takes gigabytes.
"""

from __future__ import annotations

from torch import nn

BLOCKS = 3  # "every block reads the first input" shows at three, and no sooner


def shorten(model: nn.Module, depth: int) -> bool:
    """Keeps the first ``depth`` of every run of modules of one class that are held in a list or sequence.

    The answer is whether anything was left out.
    """
    shortened = False
    for parent in list(model.modules()):
        if not isinstance(parent, (nn.ModuleList, nn.Sequential)):
            continue
        if len(parent) > depth and len({type(child) for child in parent}) == 1:
            del parent[depth:]
            shortened = True
    return shortened
