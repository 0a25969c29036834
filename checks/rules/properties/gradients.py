"""Every parameter learns: a gradient reaches it, and where none does, the place where the path stops."""

from __future__ import annotations

from math import prod

from ....submissions.errors import Frame
from ....submissions.questions.plain_passes import Passes
from ....submissions.reading.method_calls import read_apart
from ...examining.copied_layers import patterns
from ...examining.examination import Examination
from ...examining.passes.example import Example
from ...examining.placing import place_of
from ...examining.verdicts import CheckFailed, NotApplicable, NotReached
from ...locating.search.norms import Norm
from ...locating.search.origins import origin
from ...locating.search.parameter_search import LinearMap
from . import holds
from .passes import example_of, leaves_of, line_of, some, sound

# Softmax does not see a constant added to all keys, or to what weighs the tokens: their gradient is rounding
# (2.8e-18).
NO_GRADIENT = 1e-14
_ONE_OF_THREE = 0.3  # of a weight that makes queries, keys and values
_IN_PLACE = "modified by an inplace operation"


@holds(order=40, begun=True, of_parts=True)
def gradients(examination: Examination) -> None:
    """Every parameter gets a finite, non-zero gradient (except the bias of the keys).

    Else: Not every parameter gets a gradient
    """
    draw = example_of(examination).draw
    if examination.is_of_lines:
        raise NotApplicable("lines of a script train nothing")
    if any(one.id == "classes-returned" for one in examination.findings()):
        raise NotApplicable("the number of a class has no gradient")
    passes = _backward(examination)
    if _is_some(examination):
        _demand_no_cut(examination, passes)
        return
    if not passes.gradients:
        raise CheckFailed("the model has no registered parameters", ("blocks-in-python-list",))
    missing = [name for name, one in passes.gradients.items() if not one.exists]
    fixed = {name for name in missing if _is_fixed(examination, passes, name)}
    fixed |= patterns(examination.inventory(), missing) if missing else set()
    fixed |= _of_other_tasks(examination, missing) if missing else set()
    if missing := [name for name in missing if name not in fixed]:
        id, where, frame = _why_no_gradient(examination, passes, missing)
        raise CheckFailed(f"no gradient reaches {some(missing)}{where}", (id,), draw, frame)
    infinite = [name for name, one in passes.gradients.items() if not one.finite]
    if infinite:
        raise CheckFailed(f"the gradient is not finite in {some(infinite)}", (), draw)
    exempt = fixed | _unseen_biases(example_of(examination))
    zero = [
        name for name, one in passes.gradients.items() if one.largest < NO_GRADIENT and name not in exempt
    ]
    if zero:
        ids = ("unused-parameter",) if _read(example_of(examination)).isdisjoint(zero) else ()
        raise CheckFailed(f"the gradient is zero in {some(zero)}", ids, draw)
    _demand_all_rows(examination, passes)


def _is_some(examination: Examination) -> bool:
    """Is it only some of a model, of which more may be computed with what is there?"""
    return examination.is_part or bool(examination.unfinished)


def _demand_no_cut(examination: Examination, passes: Passes) -> None:
    """Raises CheckFailed where the code cuts off what its stages are made of: the rest may be beside them."""
    read = _made_of(example_of(examination))
    cut_off = [name for name, one in passes.gradients.items() if not one.exists and name in read]
    missing = [name for name in cut_off if not _is_fixed(examination, passes, name)]
    if missing:
        id, where, frame = _why_no_gradient(examination, passes, missing)
        if frame is not None or id == "requires-grad-off":
            raise CheckFailed(f"no gradient reaches {some(missing)}{where}", (id,), None, frame)


def _demand_all_rows(examination: Examination, passes: Passes) -> None:
    """Raises CheckFailed where of a weight of queries, keys and values only some are reached."""
    example = example_of(examination)
    roles = [role for role in example.walk.roles if ".projection" in role]
    names = {leaf.name for role in roles for leaf in leaves_of(example, role)} & passes.gradients.keys()
    idle = {name: passes.gradients[name].idle for name in sorted(names)}
    if partly := [name for name, share in idle.items() if share >= _ONE_OF_THREE]:
        text = f"no gradient reaches {idle[partly[0]]:.0%} of {some(partly)}"
        _, told, frame = cut(examination) or ("", "", None)
        raise CheckFailed(text + told, ("path-detached",), example.draw, frame)
    if "cls-without-position" in example.walk.ids:
        _demand_no_row_of_token(examination, passes)


def _demand_no_row_of_token(examination: Examination, passes: Passes) -> None:
    """Raises CheckFailed where a table of positions has a row for a class token that has no position."""
    example = example_of(examination)
    T = example.draw.sizes.tokens
    tables = [one.name for one in leaves_of(example, "positions") if T in one.shape]
    found = {name: passes.gradients[name].idle for name in tables if name in passes.gradients}
    if idle := [name for name, share in found.items() if round(T * share) == 1]:
        text = f"{idle[0]} has a row for each token, but that of the class token is never used"
        raise CheckFailed(text, (), example.draw, place_of(examination, "positioned_tokens"))


def _read(example: Example) -> set[str]:
    """Names of the parameters and buffers that the pass reads."""
    return {leaf.name for leaf in example.trace.leaves}


def _made_of(example: Example) -> set[str]:
    """Names of the parameters and buffers that what was found is computed from."""
    trace = example.trace
    found = {step.found.record for step in example.walk.steps if step.found is not None}
    records = frozenset[int]().union(*(trace.ancestors(trace.records[one].reference) for one in found))
    inputs = (one for number in records for one in trace.records[number].inputs)
    return {trace.leaves[one.number].name for one in inputs if one.kind == "leaf"}


def _is_fixed(examination: Examination, passes: Passes, name: str) -> bool:
    """Is it a table of sines and cosines, which is not meant to learn?"""
    held = examination.inventory().named(name)
    return held is not None and held.waves and not passes.gradients[name].asked


def _of_other_tasks(examination: Examination, missing: list[str]) -> set[str]:
    """Those that no pass reads, but a method for something else, such as pretraining."""
    read = _read(example_of(examination))
    apart = read_apart(examination.source.files)
    return {name for name in missing if name not in read and name.rpartition(".")[2] in apart}


def _backward(examination: Examination) -> Passes:
    draw = example_of(examination).draw
    passes = examination.backward()
    if passes.passes and passes.error is not None:
        ids = ("residual-in-place",) if _IN_PLACE in passes.error.message else ()
        if _is_some(examination) and not ids:
            raise NotReached("what is computed so far has no backward pass")
        raise CheckFailed(f"the backward pass fails: {passes.error}", ids, draw, passes.error.frame)
    if passes.error is None and not any(one.tensors for one in passes.passes):
        raise NotReached("the forward pass returns no tensor")
    return sound(passes, draw) if passes.error is not None else passes


def _why_no_gradient(
    examination: Examination, passes: Passes, missing: list[str]
) -> tuple[str, str, Frame | None]:
    """The id, the rest of the sentence, and the line."""
    example = example_of(examination)
    if not any(passes.gradients[name].asked for name in missing):
        return "requires-grad-off", ": they are set to need none", None
    if _read(example).isdisjoint(missing):
        return "unused-parameter", ": not used in the forward pass", None
    where = _where_it_stops(example, missing)
    found = cut(examination)
    if found is None:
        return "path-detached", where, None
    id, told, frame = found
    is_token = {leaf.name for leaf in leaves_of(example, "class_token")} >= set(missing)
    return "cls-detached" if is_token else id, where + told, frame


def cut(examination: Examination) -> tuple[str, str, Frame] | None:
    """The id, the end of the sentence and the line, where the code keeps a gradient from going on."""
    stops = [one for one in examination.habits() if one.kind in ("no_grad", "detach")]
    if not stops:
        return None
    stop = next((one for one in stops if one.kind == "no_grad"), stops[0])
    id = "no-grad-in-blocks" if stop.kind == "no_grad" else "path-detached"
    return id, f": see {stop.what} in {line_of(stop)}", stop.frames[0]


def _where_it_stops(example: Example, missing: list[str]) -> str:
    """The last stage that is computed with a parameter that gets no gradient."""
    starved = {leaf.number for leaf in example.trace.leaves if leaf.name in missing}
    last = max(
        (
            use.record
            for use in example.trace.all_uses
            if _reads(example, use.record, use.position) in starved
        ),
        default=-1,
    )
    after = [step for step in example.walk.steps if step.found is not None and step.found.record >= last >= 0]
    if not after:
        return ""
    row = example.walk.family.stage(after[0].key)
    block = f" of block {after[0].block}" if after[0].block else ""
    return f"; the backward pass stops after {row.label}{block}"


def _reads(example: Example, record: int, position: int) -> int:
    """The number of the leaf that an operation reads there, or -1."""
    reference = example.trace.records[record].inputs[position]
    return reference.number if reference.kind == "leaf" else -1


def _unseen_biases(example: Example) -> set[str]:
    """Names of the biases of separate projections, of which one is the keys', and of their norms.

    That of the score of each token, where these weigh the tokens, is one number.
    """
    found = set() if example.walk.bound is None else set(example.walk.bound.key_biases)
    if "attention-pooling" in example.walk.ids:
        found |= {leaf.name for leaf in example.trace.leaves if leaf.name and prod(leaf.shape) == 1}
    for role, player in example.walk.roles.items():
        is_meant = ".projection" in role or ".key_norm" in role
        if is_meant and isinstance(player, (LinearMap, Norm)) and player.bias is not None:
            found |= {leaf.name for leaf in origin(example.trace, example.trace.used(player.bias)).leaves}
    return found
