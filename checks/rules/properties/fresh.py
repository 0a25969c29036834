"""A model as it is before it learns anything: what it holds, and what values that has."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from itertools import islice

from ....submissions.errors import Frame
from ....submissions.host.trace import Value
from ....submissions.questions.inventory import Inventory, ModelTensor
from ....submissions.reading.code import parsed
from ....submissions.reading.code_scopes import called, given_at, last_name
from ....submissions.reading.initial_values import spread_as_mean
from ...examining.examination import Examination
from ...examining.placing import stored_at
from ...examining.verdicts import CheckFailed
from ...locating.search.linear_maps import LinearMap
from ...locating.search.norms import Norm
from ...locating.search.origins import origin
from . import holds
from .passes import example_of, leaves_of

_TOO_LARGE = 0.5, 3.0  # spread of a matrix, and times the root of its inputs: He's for fan-out reaches 2.8
_FILLING = ("zeros_", "constant_")  # of torch.nn.init
_AT_A_STAGE = {"positions": "pos-not-parameter", "class_token": "cls-not-parameter"}  # by role
_LINEAR = "torch.nn.modules.linear.Linear"
_LIBRARY_STACK = "torch.nn.modules.transformer.TransformerEncoder"  # copies one layer, as it documents


@holds(order=50, begun=True, of_parts=True)
def registered(examination: Examination) -> None:
    """Everything learnable is registered as a parameter.

    Else: Something learnable is not registered as a parameter
    """
    inventory = examination.inventory()
    tensors = inventory.tensors
    tables = [one.name for row in examination.examples[:1] for one in leaves_of(row, "positions")]
    if drawn := next((name for name in tables if name in inventory.redrawn), None):
        text = f"{drawn} is drawn at random, but kept as a buffer: it is never trained"
        raise CheckFailed(text, ("pos-not-parameter",))
    for held in tensors:
        if held.kind == "tensor" and held.computed:
            text = (
                f"{held.name} is computed from a parameter, but is not a parameter"
                " itself: it is neither trained nor saved"
            )
            raise CheckFailed(text, ("parameter-then-converted", *_shown_at_a_stage(examination, held)))
    for held, leaf in _plain_weights(examination, inventory):
        text = f"{held.name} is a plain tensor, not a parameter: it is neither trained nor saved"
        raise CheckFailed(text, ("weight-not-parameter",), frame=stored_at(examination, leaf))
    leaves = [leaf for one in examination.examples for leaf in one.trace.leaves]
    are_read = not leaves or any(one.kind == "tensor" and one.cells is not None for one in leaves)
    hidden = [one.name for one in tensors if one.kind == "hidden"]
    if hidden and are_read:  # a pattern for others holds some that no pass reads
        text = (
            f"{len(hidden)} parameters, such as {hidden[0]}, are in modules"
            " that are not registered with the model"
        )
        place = _listed_at(examination, hidden[0].split("."), inventory)
        raise CheckFailed(text, ("blocks-in-python-list",), frame=place)


def _plain_weights(examination: Examination, inventory: Inventory) -> Iterator[tuple[ModelTensor, Value]]:
    """What layers and norms read of plain attributes: what the model holds, and the leaf of the pass.

    A pass knows registered tensors alone by name, and has others in other sizes than the inventory.
    """
    plain = {len(one.shape): one for one in inventory.tensors if one.kind == "tensor"}
    for example in examination.examples[:1] if plain else ():
        trace, layers = example.trace, example.walk.roles.values()
        uses = (use for one in layers if isinstance(one, (LinearMap, Norm)) for use in (one.weight, one.bias))
        for leaf in (leaf for use in uses if use for leaf in origin(trace, trace.used(use)).leaves):
            if leaf.kind == "tensor" and len(leaf.shape) in plain:
                yield plain[len(leaf.shape)], leaf


def _listed_at(examination: Examination, path: list[str], inventory: Inventory) -> Frame | None:
    """Where the first list of a parameter's path is made that the model does not know.

    None where several lines may have made it.
    """
    lists = (path[:place] for place, one in enumerate(path) if one.isdigit())
    unknown = next((one[-1:] for one in lists if ".".join(one) not in inventory.modules), [])
    trees = parsed(examination.source.files)
    frames = [Frame(file, line) for file, tree in trees for one in unknown for line in given_at(tree, one)]
    return frames[0] if len(frames) == 1 else None


def _shown_at_a_stage(examination: Examination, held: ModelTensor) -> list[str]:
    """Ids by which a stage tells the same: of what it reads, if that has its axes of one where this has."""
    ones = [size == 1 for size in held.shape]
    return [
        id
        for example in examination.examples[:1]
        for role, id in _AT_A_STAGE.items()
        if id in example.walk.ids
        and any([size == 1 for size in leaf.shape] == ones for leaf in leaves_of(example, role))
    ]


@holds(order=50, begun=True)
def instances_of_their_own(examination: Examination) -> None:
    """Two models that are built one after the other share no parameters.

    Else: All models that are built share parameters
    """
    shared = examination.inventory().shared
    if shared:
        text = f"all models that are built share {shared[0]}: it is created only once, before them"
        raise CheckFailed(text, ("mutable-default-module",))


@holds(order=50, begun=True)
def initial_weights(examination: Examination) -> None:
    """Initial weights are random, different per layer, of a reasonable scale.

    Else: Initial weights are constant or copied
    """
    for frame in islice(spread_as_mean(examination.source.files), 1):
        text = "the standard deviation is given where the mean is expected, and stays 1 as by default"
        raise CheckFailed(f"line {frame.line}: {text}", ("init-spread-given-as-mean",), frame=frame)
    inventory = examination.inventory()
    matrices = _matrices(examination)
    if examination.unfinished:
        _demand_blocks_of_their_own(inventory)
        matrices = {**_to_be_read(inventory), **matrices}
    for name, where in matrices.items():
        held = inventory.named(name)
        if held is not None and held.constant and not (held.zero and where == "out"):
            text = f"all initial values of {name} are the same number, so all its units learn the same"
            raise CheckFailed(text, ("init-constant-or-zero",), frame=_filled_at(examination, name))
    _no_silent_norms(examination, inventory)
    _copies(examination, inventory)
    _sizes_of(examination, inventory)


def _demand_blocks_of_their_own(inventory: Inventory) -> None:
    """Raises CheckFailed where a list holds one block several times; of a finished model the pass tells."""
    for path in inventory.repeated:
        text = f"one module is in {path} several times, so that what it learns in one place holds in all"
        raise CheckFailed(text, ("blocks-share-one-instance",))


def _to_be_read(inventory: Inventory) -> dict[str, str]:
    """Weights of layers in lists of blocks, which torch fills with random numbers, as ``_matrices`` has them.

    One with fewer outputs than inputs may end a branch, and start at zero.
    """
    held = [one for one in inventory.tensors if one.kind == "parameter" and len(one.shape) == 2]
    layers = [one for one in held if _LINEAR in inventory.modules.get(one.name.removesuffix(".weight"), ())]
    inside = [one for one in layers if any(part.isdigit() for part in one.name.split("."))]
    return {one.name: "in" if one.shape[0] > one.shape[1] else "out" for one in inside}


def _filled_at(examination: Examination, name: str) -> Frame | None:
    """The line that fills this weight with one number; of any weight, if one line alone does.

    Where none does, it was made so.
    """
    filled = [
        (Frame(file, call.lineno), last_name(weight.value))
        for file, tree in parsed(examination.source.files)
        for call in (one for one in ast.walk(tree) if isinstance(one, ast.Call) and called(one) in _FILLING)
        for weight in call.args[:1]
        if isinstance(weight, ast.Attribute) and weight.attr == "weight" and not _fills_with_ones(call)
    ]
    if not filled:
        return next((one.made_at for one in example_of(examination).trace.leaves if one.name == name), None)
    own = [frame for frame, owner in filled if owner in name.split(".")]
    return own[0] if own else filled[0][0] if len(filled) == 1 else None


def _fills_with_ones(call: ast.Call) -> bool:
    """As a norm's weight begins."""
    return any(isinstance(one, ast.Constant) and one.value == 1 for one in call.args[1:])


def _matrices(examination: Examination) -> dict[str, str]:
    """The names of the weights that multiply tokens, each with "out" where a branch may start at zero."""
    example = example_of(examination)
    roles = ["projection", *(role for role in example.walk.roles if role.startswith("block"))]
    return {
        leaf.name: "out" if role.endswith(("out", "fc2")) else "in"
        for role in roles
        if "norm" not in role
        for leaf in leaves_of(example, role)
        if leaf.kind == "parameter" and len(leaf.shape) > 1
    }


def _no_silent_norms(examination: Examination, inventory: Inventory) -> None:
    """Raises where every norm starts with a scale of 0, or the one before the head.

    Some models let the last norm of a branch start so, and in some 1 is added to what is kept.
    """
    example = example_of(examination)
    norms = {role: one.weight for role, one in example.walk.roles.items() if isinstance(one, Norm)}
    scales = {role: example.trace.used(use) for role, use in norms.items() if use is not None}
    kept = {role: example.trace.value(one).name for role, one in scales.items() if one.kind == "leaf"}
    held = {role: one for role, name in kept.items() if (one := inventory.named(name)) is not None}
    silent = [role for role, one in held.items() if one.zero]
    of = "every norm" if len(silent) == len(scales) else "the last norm"
    if silent and (of == "every norm" or "final_norm" in silent):
        text = f"the scale of {of}, {held[silent[-1]].name}, starts at 0: all that follows is 0 at first"
        raise CheckFailed(text, ("init-constant-or-zero",))


def _copies(examination: Examination, inventory: Inventory) -> None:
    """Notes that two matrices start with the same random numbers, as those of a library's stack do."""
    stacks = [path for path, classes in inventory.modules.items() if _LIBRARY_STACK in classes]
    seen: dict[str, ModelTensor] = {}
    for held in inventory.tensors:
        if held.kind not in ("parameter", "hidden") or len(held.shape) < 2 or held.constant:
            continue
        if any(held.name.startswith(f"{path}." if path else "") for path in stacks):
            continue
        if held.digest in seen:
            text = f"{held.name} has the same initial values as {seen[held.digest].name}: it is a copy"
            examination.variant("blocks-identical-init", text)
            return
        seen[held.digest] = held


def _sizes_of(examination: Examination, inventory: Inventory) -> None:
    """Notes how large or small weights are at first, where that is unusual."""
    example = example_of(examination)
    for name in _matrices(examination):
        held = inventory.named(name)
        if held is None or held.spread < _TOO_LARGE[0]:
            continue
        fan_in = math.prod(held.shape) / held.shape[0]
        if held.spread * math.sqrt(fan_in) > _TOO_LARGE[1]:
            text = f"the initial standard deviation of {name} is {held.spread:.2g}, for {fan_in:.0f} inputs"
            examination.variant("init-std-too-large", text)
    for role, id, unusual in (("positions", "pos-init-too-large", _large), ("head", "zero-init-head", _zero)):
        for leaf in leaves_of(example, role):
            held = inventory.named(leaf.name)
            if held is not None and held.kind == "parameter" and len(held.shape) > 1 and unusual(held):
                examination.variant(id, f"the initial standard deviation of {leaf.name} is {held.spread:.2g}")


def _large(held: ModelTensor) -> bool:
    """As large as patch embeddings are at first, or larger: they have a spread of about 0.6."""
    return held.spread >= _TOO_LARGE[0] and not held.waves


def _zero(held: ModelTensor) -> bool:
    return held.zero
