"""Child side: single components, found by their names and by trying, and built at any size.

Runs next to student code. What a class asks for is inferred as for a whole model; a function is given its
parameters as tensors, or as layers (``functions``).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, product, starmap
from typing import Any

import torch
from torch import nn

from .....reference.components import COMPONENTS, Component
from .....reference.sizes import Sizes
from ....errors import NotLoaded
from ....questions.part_questions import Fitting
from ...child import quoted
from ...loading.definitions import Definition, Definitions
from ...loading.drawn_scripts import DrawnScript, drawn_scripts
from ...loading.execution import Loaded
from ...loading.finding import pinned_model
from ...loading.function_pairs import part_pairs
from ..arguments.argument_choices import MOST_TRIES, assignments
from ..arguments.signatures import SignatureReader
from ..build_attempt import Level, fields_set
from ..calls.blueprint import Builder, Literal, MakesNoModule
from ..calls.forward_inputs import ITSELF, forward_inputs
from ..calls.observing import ModelParts, mlp_dim, observe
from ..effort import Effort
from ..probing import TRIES_ELSEWHERE
from ..recipe import Recipe
from ..trial_sizes import BASES, fit
from .component_names import is_named, may_be, named, rank
from .component_slots import OF_IMAGES, any_size, doubt, of_no_image
from .component_trial import Way, own_sizes, run_alone
from .drawn_parts import drawn_ways
from .functions import function_ways
from .one_input import one_by_one, traced_as
from .tried_on import is_of_one_image

_TRIES = 125  # of one definition, if it is small: half a second
_UNSEEN = {"heads", "depth"}
_AFFINE = re.compile(r"affine|learnable")


@dataclass
class ComponentRecipe:
    """A class or function that may be the component, and how it is built."""

    row: Component
    definition: Definition
    rank: int  # by its name, 0 is the plainest; as many as there are patterns if the name says nothing
    way: Way | None = None
    level: Level = Level.NOTHING
    sizes: Sizes = BASES[0]
    error: BaseException | None = None
    fixed: dict[str, int] = field(default_factory=dict)
    square_only: bool = False
    mlp_ratio: int = 0  # where mlp_dim is embed_dim times this, whatever is asked for

    def build(self, sizes: Sizes) -> nn.Module:
        """Build a fresh one at sizes that ``sizes_for`` gave; what the student's code raises comes out."""
        assert self.way is not None  # others are not offered to be built
        return self.way(sizes)

    def sizes_for(self, sizes: Sizes) -> Sizes:
        """Return the sizes nearest to ``sizes`` that it can be built at."""
        found = fit(replace(sizes, width=sizes.height) if self.square_only else sizes, self.fixed)
        return replace(found, mlp_dim=found.embed_dim * self.mlp_ratio) if self.mlp_ratio else found

    def describe(self) -> Fitting:
        """Say what it is."""
        return Fitting(
            name=self.definition.name,
            frame=self.definition.frame,
            function=not self.definition.is_class,
            lines=isinstance(self.definition.value, DrawnScript),
            named=is_named(self.definition.name, self.row.key),
            fits=self.level is Level.FITS,
            error=None if self.way or self.error is None else quoted(self.error),
        )


def candidates(
    loaded: Loaded, key: str, pin: str | None, whole: Recipe | None = None
) -> list[ComponentRecipe]:
    """List what may be the component, the likeliest first; what could not be built has no way.

    One that a ``whole`` model holds is taken as that makes it, and names that say nothing mean what they mean
    there. Raises NotLoaded where the pinned name is not defined.
    """
    found = map(_verified, _found(loaded, key, pin, whole))
    return sorted(found, key=lambda one: (one.level is not Level.FITS, one.rank, one.way is None))


def is_there(loaded: Loaded, key: str) -> bool:
    """Does anything fit as the component?"""
    return any(one.level is Level.FITS for one in _found(loaded, key, None, None))


def _found(loaded: Loaded, key: str, pin: str | None, whole: Recipe | None) -> Iterable[ComponentRecipe]:
    definitions = Definitions(loaded)
    row = COMPONENTS[key]
    trial = partial(_tried, loaded, definitions, row, whole)
    own = [pinned_model(definitions, pin)] if pin else named(definitions, key)
    alone_first = row.inputs == 1 and is_of_one_image(loaded, definitions)
    forms = [one_by_one] if alone_first else traced_as(row)
    found = list(starmap(trial, product(_with_parameters(own, definitions), forms)))
    if any(one.level is Level.FITS for one in found):
        return found
    every = definitions.all.values()
    others = () if found else [one for one in every if may_be(one, key, definitions)]
    scripts = () if any(one.is_module for one in every) else drawn_scripts(loaded, row.inputs)
    nameless = [*_with_parameters(others, definitions), *scripts]
    alone = [(one.definition, one_by_one) for one in found if row.inputs == 1 and one.error is not None]
    tried = starmap(trial, chain(product(nameless, traced_as(row)), alone))
    fits = (one for one in tried if one.level is Level.FITS or _is_to_come(one.error))
    return chain(found, fits)


def _with_parameters(found: Iterable[Definition], definitions: Definitions) -> Iterator[Definition]:
    """Of functions that read parameters by key, each with one that makes them."""
    for one in found:
        yield from ([] if one.is_class else part_pairs(definitions, one)) or [one]


def _tried(
    loaded: Loaded,
    definitions: Definitions,
    row: Component,
    whole: Recipe | None,
    definition: Definition,
    form: Callable[[Way], Way],
) -> ComponentRecipe:
    name = definition.pair.run if definition.pair else definition.name
    best = ComponentRecipe(row, definition, rank(name, row.key))
    effort = Effort(_TRIES)
    try:
        for number, (made, sizes, claimed) in enumerate(_ways(loaded, definitions, row, whole, definition)):
            way = form(made)
            tried = run_alone(way, row, sizes, claimed)
            level = tried.level
            effort.spend(tried.parameters, tried.computed)
            if number == 0 or (level, _is_to_come(tried.error)) > (best.level, _is_to_come(best.error)):
                best = replace(best, way=way if level else None, level=level, sizes=sizes, error=tried.error)
                best.fixed = _unclaimed(way, row, sizes, claimed) if level else {}
            if level is Level.FITS or _is_hopeless(definition, tried.error) or effort.is_spent:
                break
    except NotLoaded as error:
        best.error = best.error or error
    return best


def _is_to_come(error: BaseException | None) -> bool:
    """Does it come as far as it is written?"""
    return isinstance(error, NotImplementedError)


def _is_hopeless(definition: Definition, error: BaseException | None) -> bool:
    """Does it end as it does whatever it is given: is what it makes no layer, or is it not written yet?

    A class may say so where the model makes it, and not by itself.
    """
    is_unwritten = definition.pair is not None and _is_to_come(error)
    return is_unwritten or isinstance(error, MakesNoModule)


_Tries = Iterator[tuple[Way, Sizes, set[str]]]


def _ways(
    loaded: Loaded,
    definitions: Definitions,
    row: Component,
    whole: Recipe | None,
    definition: Definition,
) -> _Tries:
    """Yield every way to build it with sizes to try it at, and the sizes that the way sets."""
    if whole is not None and definition.is_module:
        yield partial(_held_by, whole, definition), BASES[0], fields_set(whole.controls.assignment)
    if isinstance(definition.value, DrawnScript):
        yield from ((way, sizes, set()) for way, sizes in drawn_ways(definition.value, row))
        return
    if not (definition.is_class or definition.pair):
        yield from (
            (way, BASES[0], set(vars(BASES[0]))) for way in function_ways(definition, definitions, row.key)
        )
    if definition.is_class and not definition.is_module:
        raise NotLoaded(f"{definition.name} is not an nn.Module", definition.frame)
    pins = {name: Literal(False) for name in _affine_flags(definition)} if row.parameters == "0" else {}
    blueprint = SignatureReader(loaded, definitions, pins).blueprint(definition)
    read = definitions.words_of(definition)
    meanings = whole.meanings() if whole else {}
    # of two functions one may make a whole model's
    if OF_IMAGES.isdisjoint(row.sizes) and definition.pair is None:
        blueprint = blueprint.changed(of_no_image)
    builder = Builder(
        loaded,
        blueprint.changed(partial(any_size, row, meanings, read)),
        drawn=lambda sizes: torch.randn(row.input_shape(sizes)),
    )
    ways = sorted(assignments(builder.blueprint.slots), key=doubt)
    for number, base in enumerate(BASES):
        for assignment in ways[: MOST_TRIES if number == 0 else TRIES_ELSEWHERE]:
            yield _constructing(builder, assignment), base, fields_set(assignment)
    if ways and "embed_dim" not in fields_set(ways[0]):
        way = _constructing(builder, ways[0])
        yield from ((way, sizes, fields_set(ways[0])) for sizes in own_sizes(way, BASES[0]))


def _held_by(whole: Recipe, definition: Definition, sizes: Sizes) -> nn.Module:
    """The first one in the model, which may give it other arguments than it has by default."""
    modules = whole.build(sizes).modules()
    return _called_rightly(next(one for one in modules if type(one) is definition.value))


def _constructing(builder: Builder, assignment: Mapping[Any, Any]) -> Way:
    return lambda sizes: _called_rightly(builder.build(assignment, sizes))


def _affine_flags(definition: Definition) -> list[str]:
    return [name for name in inspect.signature(definition.value).parameters if _AFFINE.search(name)]  # type: ignore[arg-type]  # is a class


def _called_rightly(module: nn.Module) -> nn.Module:
    """The module, which is given its input three times where it asks for query, key and value."""
    inputs = forward_inputs(type(module).forward)
    if inputs is not None and inputs.held is None and len(inputs.names) >= 3:
        replace(inputs, fillings=(ITSELF, ITSELF, *inputs.fillings[2:])).open(module)
    return module


def _unclaimed(way: Way, row: Component, sizes: Sizes, claimed: set[str]) -> dict[str, int]:
    """The numbers of heads and blocks that the code has of its own: no shape that comes out shows them."""
    asked = _UNSEEN.intersection(row.sizes) - claimed
    seen = observe(ModelParts.of(way(sizes))) if asked else {}
    own = {name: seen[name] for name in asked if name in seen}
    if sizes.embed_dim % own.get("heads", 1):
        del own["heads"]
    return own


def _verified(candidate: ComponentRecipe) -> ComponentRecipe:
    """Change each size on its own, and note those that it does not follow."""
    at = candidate.sizes
    if isinstance(candidate.definition.value, DrawnScript):  # which has its sizes from what it draws
        candidate.fixed = vars(at)
        return candidate
    if candidate.level < Level.RAN:
        return candidate
    changes = (
        {"channels": at.channels + 1},
        {"height": 2 * at.height, "width": 2 * at.width},
        {"patch": 1 if at.patch % 2 else at.patch // 2},  # it has to divide the image
        {"embed_dim": 2 * at.embed_dim, "mlp_dim": 2 * at.mlp_dim},
    )
    for change in changes:
        if not _works(candidate, replace(at, **change)):
            candidate.fixed |= {one: getattr(at, one) for one in change if one != "mlp_dim"}
    candidate.mlp_ratio = _own_ratio(candidate)
    candidate.square_only = not _works(candidate, replace(at, width=2 * at.width))
    return candidate


def _own_ratio(candidate: ComponentRecipe) -> int:
    """How many times wider than a token its MLP always is; 0 where it follows, or is not to be seen."""
    at = candidate.sizes
    both = at, replace(at, mlp_dim=at.mlp_dim + at.embed_dim)
    seen = {mlp_dim(ModelParts.of(candidate.build(one)), one.embed_dim) for one in both}
    own = seen.pop() if len(seen) == 1 and "mlp_dim" in candidate.row.sizes else 0
    return own // at.embed_dim if own % at.embed_dim == 0 else 0


def _works(candidate: ComponentRecipe, sizes: Sizes) -> bool:
    assert candidate.way is not None
    return run_alone(candidate.way, candidate.row, sizes).level >= candidate.level
