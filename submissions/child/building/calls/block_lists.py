"""How many blocks a model has, by the modules that are alike in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torch import nn

_PARAMETERS_OF_A_LAYER = 2  # weight and bias
CONTAINERS = (nn.ModuleList, nn.Sequential, nn.ModuleDict)


def depth_of(modules: Iterable[nn.Module], width: int) -> int:
    """Return how many modules of one class are side by side, or nested, where those hold most parameters."""
    found = (group for module in modules for group in (*_alike(module), *_nested(module)))
    groups = [(_numel(group), len(group)) for group in found if not _is_head(group[0], width)]
    repeated = [group for group in groups if group[1] > 1]
    return max(repeated or groups, default=(0, 0))[1]


def _alike(module: nn.Module) -> Iterator[list[nn.Module]]:
    """Yield the parts of a module by class: all that a container holds, or attributes that are alike."""
    if isinstance(module, CONTAINERS):
        held, least = list(module.values() if isinstance(module, nn.ModuleDict) else module), 1
    else:
        no_part = (*CONTAINERS, nn.ParameterList)  # which holds the same weight of all blocks
        held, least = [one for one in module.children() if not isinstance(one, no_part)], 2
    parts = [one for one in held if len(list(one.parameters())) > _PARAMETERS_OF_A_LAYER]
    for kind in dict.fromkeys(map(_kind, parts)):
        group = [one for one in parts if _kind(one) == kind]
        if len(group) >= least:
            yield group


def _kind(module: nn.Module) -> tuple[type, ...]:
    """Its class; of containers also what they hold, in which all norms differ from all maps."""
    held = module.children() if isinstance(module, CONTAINERS) else ()
    return (type(module), *map(type, held))


def _nested(module: nn.Module) -> Iterator[list[nn.Module]]:
    """Yield a chain of modules of one class, each of which holds the next: a block, and all that follow."""
    within = [one for one in module.modules() if type(one) is type(module)]
    if isinstance(module, CONTAINERS) or len(within) < 2:
        return
    chain = [one for one in within if len(list(one.parameters())) > _PARAMETERS_OF_A_LAYER]
    if len(chain) > 1:
        yield chain


def _is_head(module: nn.Module, width: int) -> bool:
    """Does it only give less than a token? Then it is a head of a block, and no list of all heads."""
    parts = module.children() if isinstance(module, CONTAINERS) else [module]
    outputs = sum(max(_outputs(one), default=0) for one in parts)
    return 0 < outputs < width


def _outputs(module: nn.Module) -> list[int]:
    return [one.out_features for one in module.modules() if isinstance(one, nn.Linear)]


def _numel(modules: list[nn.Module]) -> int:
    return sum(parameter.numel() for one in modules for parameter in one.parameters())
