"""One pass through the model as a page shows it: the drawing, the stages, the figures, how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...checks.record.result import Run
from ...checks.record.snapshot import Record
from ..figures.figure_parts import Figure
from ..figures.kept import Arrays
from ..words.location_view import LocationView, place
from ..words.standing import Standing, pass_findings
from ..words.text import NAME_LIMIT, TEXT_LIMIT, clean, one_line
from ..words.wording import say
from .card import Card, Explanation, card
from .check_views import Counterexample
from .diagram import DiagramColumn, columns
from .diagram_nodes import WIDTH
from .stage_figures import figures, picture, thumbnails
from .stage_views import StageView, State, pipeline, states_of
from .strip import StageGroup, grouped

_LETTERS = "BCHWPNFTDhdMLK"  # of axes, in the order in which they come up


@dataclass(frozen=True)
class NoteView:
    """Something inferred or left out."""

    kind: str
    text: str
    place: LocationView | None


@dataclass(frozen=True)
class PassView:
    """Everything that pages about one pass have in common."""

    architecture: str
    card: Card | None
    on_card: str  # the label of the stage that it is about
    columns: tuple[DiagramColumn, ...]
    column_width: int
    legend: tuple[State, ...]
    axes: tuple[tuple[str, str], ...]
    stages: tuple[StageView, ...]
    groups: tuple[StageGroup, ...]
    explained: Mapping[str, Explanation]  # by the labels of stages that are wrong, but not on the card
    figures: Mapping[str, tuple[Figure, ...]]
    has_arrays: bool
    notes: tuple[NoteView, ...]
    facts: tuple[tuple[str, str], ...]


def pass_view(
    record: Record, stands: Standing | None, example: Counterexample | None = None, fold: bool = False
) -> PassView:
    """All text in it is cleaned, and cut where it is long. The card is about what ``stands`` is about.

    ``fold`` puts stages that stand alike into one group.
    """
    arrays, stages = Arrays.read(record.arrays), pipeline(record)
    about = stands.label if stands else ""
    drawn = next((picture(one, arrays) for one in stages if one.label == about), None)
    listed = [
        _without_card(one) if one.label == about and one.state is State.FAILED else one for one in stages
    ]
    others = [one for one in pass_findings(record) if one.label != about]
    return PassView(
        architecture=one_line(record.architecture or "", NAME_LIMIT),
        card=card(record, stands).shown(drawn, example) if stands else None,
        on_card=about,
        columns=columns(stages, thumbnails(stages, arrays)),
        column_width=WIDTH,
        legend=states_of(stages),
        axes=_axes_used(stages),
        stages=stages,
        groups=grouped(listed, fold),
        explained={one.label: told for one in others if (told := card(record, one).explanation)},
        figures={one.label: figures(one, arrays) for one in stages},
        has_arrays=bool(arrays.stages),
        notes=tuple(NoteView(one_line(n.kind), clean(n.text), place(n.location)) for n in record.notes),
        facts=_facts(record.run),
    )


def _without_card(stage: StageView) -> StageView:
    """What stands on the card is not said again."""
    return replace(stage, message="", place=None, hint="", mistakes=())


def _axes_used(stages: tuple[StageView, ...]) -> tuple[tuple[str, str], ...]:
    used = {axis.letter for stage in stages for axis in stage.expected}
    return tuple((letter, say(f"letter.{letter}")) for letter in _LETTERS if letter in used)


def _facts(run: Run) -> tuple[tuple[str, str], ...]:
    facts = {
        "seed": str(run.seed),
        "time": say("run.seconds", seconds=f"{run.seconds:.1f}"),
        "examples": say("run.drawn", examples=run.examples) if run.examples else "",
        "sizes": ", ".join(f"{name} {size}" for name, size in run.sizes.items()),
        "isolation": ", ".join(run.isolation) or say("run.none"),
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(run.versions.items())),
        "command": run.command or "",
    }
    return tuple((say(f"run.{name}"), one_line(text, TEXT_LIMIT)) for name, text in facts.items() if text)
