"""Architectures: one table of stages each, with all that is needed to grade models by it. Imports no torch.

The ViT's comes with vitcheck; other packages add theirs by an entry point of the group ``GROUP``, whose name
is the one that assignments ask for. docs/architectures.md tells how one is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points, version
from importlib.resources import files
from pkgutil import resolve_name
from typing import TYPE_CHECKING, TypeVar

from ...reference.model_sizes import ModelSizes
from ...reference.stages import Stage, stage
from .catalogue import Mistake, mistakes, near_to, read_mistakes
from .complaints import near
from .sampling import Sampling

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable  # which Python 3.10 has elsewhere

GROUP = "vitcheck.architectures"
_OWN = EntryPoint("vit", "vitcheck.checks.vit.vit_family:VIT", GROUP)  # found without a search
_OF_BLOCKS = (  # what the walk settles in every block; between a norm of the block's input and its output
    "block_input",
    *("query", "key", "value", "attention_scores", "attention_probabilities", "attention_context"),
    *("attention_output", "post_attention_norm", "mlp_hidden", "mlp_output", "post_mlp_norm", "block_output"),
)
_AROUND_BLOCKS = ("positioned_tokens", "second_block_output", "last_block_output", "logits")

Part = TypeVar("Part")
LabelSets = Mapping[str, Mapping[str, tuple[str, ...]]]


class ArchitectureError(Exception):
    """An architecture that cannot be used; the message names it, its package and what to do."""


@dataclass(frozen=True, eq=False)
class Family:
    """One architecture in the kinds of blocks that it may be built of.

    Raises ValueError where the table lacks a stage that the blocks have, or names one twice.
    """

    name: str
    blocks: Mapping[str, tuple[Stage, ...]]  # by kind, all stages as they are there; the first is the table
    sizes: type[ModelSizes]
    sampling: Sampling
    # "module:NAME" of what loads torch, and is imported when grading begins
    anatomy_at: str
    rules_at: str
    small: ModelSizes | None = None  # to try a model at; None for the ViT, which the child knows
    preset: Callable[[str], ModelSizes] | None = None  # of sizes with a name
    numberings: LabelSets | None = None  # other labels than the table's; by name and label, the stages
    texts: str | None = None  # a package with mistakes.toml, and assignments in a folder of that name

    def __post_init__(self) -> None:
        keys = [one.key for one in self.stages]
        twice = {key for key in keys if keys.count(key) > 1}
        missing = [key for key in (*_AROUND_BLOCKS, *_OF_BLOCKS) if key not in keys]
        if twice or missing:
            told = f"has {', '.join(sorted(twice))} twice" if twice else f"lacks {', '.join(missing)}"
            raise ValueError(f"the table of stages of the architecture {self.name!r} {told}")

    def __repr__(self) -> str:
        return f"Family({self.name!r})"

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The table; the input is the first row."""
        return next(iter(self.blocks.values()))

    @cached_property
    def by_key(self) -> Mapping[str, Stage]:
        return {one.key: one for one in self.stages}

    @property
    def input_key(self) -> str:
        return self.stages[0].key

    def stage(self, id: str) -> Stage:
        """Return the stage with this key or label, in any case. Raises ValueError where there is none."""
        if found := self._by_id.get(id.lower()):
            return found
        keys = get_close_matches(id.lower(), self.by_key, n=3)  # a number that is near is no help
        labels = f"its stages are {self.stages[0].label} to {self.stages[-1].label}"
        advice = f"did you mean {' or '.join(keys)}?" if keys else labels
        raise ValueError(f"the architecture {self.name!r} does not have the stage {id!r}; {advice}")

    @cached_property
    def _by_id(self) -> Mapping[str, Stage]:
        return {**self.by_key, **{one.label.lower(): one for one in self.stages}}

    @property
    def label_sets(self) -> LabelSets:
        """Return each numbering by name: by label, the keys of the stages. The table's is "report"."""
        return {"report": {one.label: (one.key,) for one in self.stages}, **(self.numberings or {})}

    def keys_of(self, sets: Sequence[str], label: str) -> list[str]:
        """Return the keys of the stages that ``label`` may mean in the label sets called ``sets``."""
        chosen = [one for name, one in self.label_sets.items() if name in sets]
        return list(dict.fromkeys(key for one in chosen for key in one.get(label, ())))

    def labels_of(self, key: str, label_set: str) -> tuple[str, ...]:
        """Return every label that stands for the stage in this numbering."""
        return tuple(label for label, keys in self.label_sets[label_set].items() if key in keys)

    @cached_property
    def mistakes(self) -> Mapping[str, Mistake]:
        """Every known mistake by its id: vitcheck's, and over them those of the architecture's package."""
        if self.texts is None:
            return mistakes()
        own = files(self.texts) / "mistakes.toml"
        return {**mistakes(), **read_mistakes(own.read_text("utf-8"))}

    def mistake(self, name: str) -> Mistake:
        """Return the mistake with the id ``name``. Raises ValueError, with near ids, where there is none."""
        return self.mistakes[name] if name in self.mistakes else near_to(name, self.mistakes)

    @property
    def assignments(self) -> Mapping[str, Traversable]:
        """The files of the assignments that ship with the architecture, by name."""
        folder = files(self.texts or "vitcheck.checks") / "assignments"
        found = folder.iterdir() if folder.is_dir() else ()
        return {one.name.removesuffix(".toml"): one for one in found if one.name.endswith(".toml")}

    def loaded(self, at: str, kind: type[Part]) -> Part:
        """Return what stands ``at`` a "module:NAME". Raises ArchitectureError where no ``kind`` does."""
        try:
            found = resolve_name(at)
        except Exception as error:
            raise _broken(self.name, error) from error
        if not isinstance(found, kind):
            raise _broken(
                self.name, TypeError(f"{at} should be of the type {kind.__name__}, and is {found!r:.80}")
            )
        return found


def family_names() -> list[str]:
    """Return the names of all architectures, installed ones too, without loading any."""
    return [_OWN.name, *sorted(one.name for one in entry_points(group=GROUP))]


@cache
def family(name: str) -> Family:
    """Return the architecture with this name.

    Raises ArchitectureError, naming its package, where it cannot be loaded, or where there is none.
    """
    point = _OWN if name == _OWN.name else _installed(name)
    if point is None:
        raise ArchitectureError(f"there is no architecture {name!r}; {near(name, family_names())}")
    try:
        found = point.load()
    except Exception as error:
        raise _broken(name, error) from error
    if not isinstance(found, Family) or found.name != name:
        said = f"{point.value} should be a Family called {name!r}, and is {found!r:.80}"
        raise _broken(name, TypeError(said))
    return found


def stage_of_any(id: str) -> Stage:
    """Return the stage with this key or label, of the ViT or else of another architecture.

    Raises ValueError, with near names of the ViT's, where there is none.
    """
    for name in family_names():
        with suppress(ValueError, ArchitectureError):  # a broken one has no stage to be shown
            return family(name).stage(id)
    return stage(id)


def version_of(name: str) -> str:
    """Return vitcheck's version, and that of the package which the architecture comes with."""
    point = None if name == _OWN.name else _installed(name)
    brought = "" if point is None or point.dist is None else f" with {point.dist.name} {point.dist.version}"
    return version("vitcheck") + brought


def _installed(name: str) -> EntryPoint | None:
    return next(iter(entry_points(group=GROUP, name=name)), None)


def _broken(name: str, error: Exception) -> ArchitectureError:
    point = _installed(name)
    package = "vitcheck itself" if point is None or point.dist is None else f"the package {point.dist.name}"
    return ArchitectureError(
        f"the architecture {name!r} of {package} could not be loaded ({type(error).__name__}: {error}); "
        "update or uninstall that package. Assignments of other architectures are not affected"
    )
