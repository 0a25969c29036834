"""What a student's constructor asks for: every value to fill in, and what each of them may mean."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from .....reference.model_sizes import ModelSizes
from .....reference.sizes import Sizes
from ....errors import NotLoaded
from ....reading.code_scopes import last_name
from ...loading.definitions import Definition, Definitions, constructor
from ...loading.execution import Loaded
from ...loading.keys import Keys, keys_read, passed_on, unpacked
from ..calls.blueprint import (
    Argument,
    Blueprint,
    BlueprintSlot,
    Call,
    Choice,
    DefinitionName,
    Literal,
    name_of,
)
from ..calls.parameter_names import is_guessed, is_known
from .argument_choices import choices
from .declared import (
    annotation_text,
    attributes_held,
    constants_held,
    may_be_a_size,
    parameters_of,
    part_of,
)
from .no_sizes import no_sizes
from .put_over import defaults_of, held_instead

_EMPTY = inspect.Parameter.empty
_PLAIN = (int, float, str, tuple, torch.Tensor, nn.Module)  # what an argument that is no configuration may be
_TOLD = (bool, str, tuple, list, dict)  # values that say of what kind an argument is, as a number does not
_MANY = re.compile(r"(list|sequence|iterable|tuple|dict|mapping|callable|type)\[", re.IGNORECASE)
_SETTINGS_NAME = re.compile(r"(config|cfg|conf|args|kwargs|params|settings|options|opts?|hp)$")


class SignatureReader:
    """Reads the blueprint of a definition; ``pins`` say what some arguments mean, by path.

    ``kind`` is the class of the sizes that the model is asked for.
    """

    def __init__(
        self,
        loaded: Loaded,
        definitions: Definitions,
        pins: Mapping[str, Choice],
        kind: type[ModelSizes] = Sizes,
    ) -> None:
        self.loaded = loaded
        self.definitions = definitions
        self.pins = pins
        self.kind = kind

    def blueprint(self, definition: Definition) -> Blueprint:
        """Read everything that building ``definition`` depends on.

        Raises NotLoaded where an argument is needed that cannot be made up, or a pinned one does not exist.
        """
        call = self._call(definition, "")
        reachable = self.definitions.reachable(definition)
        names = self.definitions.module_names(reachable)
        constants = [
            self._own_slot(name, name, self.loaded.constants[name])
            for name in sorted(names & self.loaded.constants.keys())
        ]
        blueprint = Blueprint(
            call,
            tuple(one for one in constants if one),
            tuple(self._settings_read(reachable, names - set(call.keywords))),
        )
        self._check_pins(definition, blueprint)
        return blueprint

    def _call(self, definition: Definition, prefix: str) -> Call:
        if definition.is_class and not definition.is_module and not parameters_of(definition.value):
            return self._filled(definition, prefix)
        positional: list[Argument] = []
        keywords: dict[str, Argument] = {}
        for parameter in parameters_of(definition.value):
            if parameter.kind == parameter.VAR_KEYWORD:
                keywords |= self._rest(definition, prefix, parameter.name, keywords)
            elif parameter.kind == parameter.VAR_POSITIONAL:
                names = unpacked(definition.node, parameter.name)
                positional += [self._needed(definition, f"{prefix}{name}", name, "") for name in names]
            elif (argument := self._argument(definition, prefix, parameter)) is not None:
                if parameter.kind == parameter.POSITIONAL_ONLY:
                    positional.append(argument)
                else:
                    keywords[parameter.name] = argument
        return Call(name_of(definition), tuple(positional), keywords)

    def _filled(self, definition: Definition, prefix: str) -> Call:
        """A configuration whose constructor takes nothing: its attributes are set."""
        held = {name: one for name, one in attributes_held(definition).items() if not name.startswith("_")}
        slots = {name: self._own_slot(prefix + name, name, one) for name, one in held.items()}
        found = {name: slot for name, slot in slots.items() if slot is not None}
        return Call(DefinitionName(definition.module, definition.name), (), found, sets=True)

    def _argument(self, definition: Definition, prefix: str, parameter: inspect.Parameter) -> Argument | None:
        path, annotation = prefix + parameter.name, annotation_text(parameter.annotation)
        if path in self.pins:
            return self._slot(path, ())
        written = self._written(definition, parameter.name) if parameter.default is _EMPTY else None
        default = written.value if written else parameter.default
        if (settings := self._settings(definition, path, parameter.name, annotation, default)) is not None:
            return settings
        if parameter.default is _EMPTY:
            return self._needed(definition, path, parameter.name, annotation)
        return self._own_slot(path, parameter.name, parameter.default, annotation)

    def _needed(self, definition: Definition, path: str, name: str, annotation: str) -> Argument:
        """Read an argument that has no default."""
        own = self._written(definition, path.rpartition(".")[2])
        as_is = own.value if own is not None and isinstance(own.value, _TOLD) else _EMPTY
        if isinstance(as_is, dict):
            return self._held(path, as_is)
        part = None if isinstance(as_is, str) else part_of(self.definitions, definition, name, annotation)
        found = () if part and not is_known(name, self.kind) else self._choices(name, annotation, as_is)
        slot = self._slot(path, found, own)
        if slot is not None:
            return replace(slot, needed=True, full_name=name)
        if part is not None:
            return self._call(part, f"{path}.")
        used_in, passed_on = self.definitions.reachable(definition), self.loaded.program.passed_on
        known = (*([own] if own else []), *no_sizes(used_in, name, annotation, passed_on))
        return BlueprintSlot(path, known, own, named=bool(known), needed=True)

    def _held(self, path: str, held: Mapping[Any, object]) -> Call:
        """Read a configuration inside of another, as it is written."""
        inner = {key: (f"{path}.{key}", one) for key, one in held.items() if isinstance(key, str)}
        keywords: dict[str, Argument] = {
            key: self._held(at, one)
            if isinstance(one, dict)
            else self._own_slot(at, self._in_full(path, key), one)
            or BlueprintSlot(at, (Literal(one),), Literal(one))
            for key, (at, one) in inner.items()
        }
        return Call(None, (), keywords)

    def _in_full(self, path: str, key: str) -> str:
        """``patch_size`` for the size in a configuration of the patches, if that says more."""
        name = f"{path.rpartition('.')[2]}_{key}"
        return name if is_known(name, self.kind) else key

    def _written(self, definition: Definition, name: str) -> Literal | None:
        try:
            return Literal(self.definitions.written_value(name, definition))
        except LookupError:
            return None

    def _choices(self, name: str, annotation: str, default: object) -> tuple[Choice, ...]:
        return choices(name, annotation, default, self.kind)

    def _own_slot(self, path: str, name: str, own: object, annotation: str = "") -> BlueprintSlot | None:
        slot = self._slot(path, self._choices(name, annotation, own), Literal(own))
        return slot and replace(slot, full_name=name)

    def _slot(self, path: str, found: tuple[Choice, ...], own: Literal | None = None) -> BlueprintSlot | None:
        found = (self.pins[path],) if path in self.pins else found
        may_be = own is not None and self.kind is Sizes and may_be_a_size(own.value)
        if found:
            guessed = is_guessed(path.rpartition(".")[2], self.kind) and path not in self.pins
            return BlueprintSlot(path, found, own, named=not (guessed and (may_be or own is None)))
        return BlueprintSlot(path, (own,), own, named=False) if own and may_be else None

    def _settings(
        self, definition: Definition, path: str, name: str, annotation: str, default: object
    ) -> Call | None:
        """Read an argument that is a configuration: a class of the student's, or a mapping."""
        annotated = (
            None if _MANY.search(annotation) else part_of(self.definitions, definition, "", annotation)
        )
        if annotated is not None and not annotated.is_module:
            return self._call(annotated, f"{path}.")
        if not (
            _SETTINGS_NAME.search(name) or isinstance(default, dict) or self._is_read_from(definition, name)
        ):
            return None
        if default is None and (held := held_instead(definition, self.loaded, name)):
            return self._held(path, held)
        keys = self._keys(definition, name)
        holder = self._settings_class(keys) if keys else None
        if holder is not None:
            return self._call(holder, f"{path}.")
        return self._group(definition, f"{path}.", keys) if keys else None

    def _is_read_from(self, definition: Definition, name: str) -> bool:
        """Do constructors read of an argument what neither a number, a text nor a module has?"""
        if part_of(self.definitions, definition, name, "") is not None:
            return False
        reachable = self.definitions.reachable(definition)
        called = self.definitions.names_given(reachable, name)
        built = ((constructor(one.node), called[one.name]) for one in reachable)
        read = keys_read((node, names) for node, names in built if node is not None)
        return any(not any(hasattr(one, key) for one in _PLAIN) for key, *_ in read)

    def _keys(self, definition: Definition, name: str) -> dict[Keys, bool]:
        reachable = self.definitions.reachable(definition)
        called = self.definitions.names_given(reachable, name)
        inside = (node for one in reachable for node in ast.walk(one.node))
        arguments = {node.arg for node in inside if isinstance(node, ast.arg)}
        settings = {one for one in arguments if _SETTINGS_NAME.search(one)}
        return keys_read((one.node, settings | called[one.name]) for one in reachable)

    def _settings_class(self, keys: Mapping[Keys, bool]) -> Definition | None:
        """Find the student's class whose instances hold all ``keys``."""
        for definition in self.definitions.all.values():
            if definition.is_class and not definition.is_module:
                parameters = {parameter.name for parameter in parameters_of(definition.value)}
                if {first for first, *_ in keys} <= parameters | attributes_held(definition).keys():
                    return definition
        return None

    def _group(self, definition: Definition, prefix: str, keys: Mapping[Keys, bool]) -> Call:
        keywords: dict[str, Argument] = {}
        for first in dict.fromkeys(one[0] for one in keys):
            inner = {
                rest[1:]: optional for rest, optional in keys.items() if rest[0] == first and len(rest) > 1
            }
            if inner:
                keywords[first] = self._group(definition, f"{prefix}{first}.", inner)
            elif not keys[first,] or self._choices(first, "", None):
                name = self._in_full(prefix[:-1], first)
                keywords[first] = self._needed(definition, prefix + first, name, "")
        return Call(None, (), keywords)

    def _rest(
        self, definition: Definition, prefix: str, name: str, known: Mapping[str, Argument]
    ) -> dict[str, Argument]:
        """Read ``**name``: keys that are read from it, and the arguments of what it is passed on to."""
        keywords = dict(self._group(definition, prefix, keys_read([(definition.node, {name})])).keywords)
        own = defaults_of(definition, self.definitions, name).items()
        keywords |= {key: slot for key, one in own if (slot := self._own_slot(prefix + key, key, one))}
        for target, placed, named in passed_on(definition.node, name):
            for used in self._targets(definition, target):
                given = {*known, *named, *(one.name for one in parameters_of(used.value)[:placed])}
                taken = self._call(used, prefix).keywords.items()
                keywords |= {key: one for key, one in taken if key not in given}
        extra = {
            path: BlueprintSlot(path, (pin,))
            for path, pin in self.pins.items()
            if "." not in path and not prefix
        }
        return {**{path: slot for path, slot in extra.items() if path not in known}, **keywords}

    def _targets(self, definition: Definition, target: ast.expr) -> Iterator[Definition]:
        """Yield the student's classes that ``target(**kwargs)`` calls: ``super().__init__`` the bases."""
        if isinstance(target, ast.Attribute) and target.attr == "__init__":
            bases = definition.node.bases if isinstance(definition.node, ast.ClassDef) else []
        else:
            bases = [target]
        names = [last_name(base) for base in bases]
        yield from (self.definitions.all[name] for name in names if name in self.definitions.all)

    def _class_constants(self, reachable: list[Definition]) -> Iterator[BlueprintSlot]:
        """Yield the sizes that the classes of modules keep themselves, such as ``HEADS = 4``."""
        for one in (each for each in reachable if each.is_module):
            held = constants_held(one).items()
            yield from filter(None, (self._own_slot(f"{one.name}.{key}", key, own) for key, own in held))

    def _settings_read(self, reachable: list[Definition], names: set[str]) -> Iterator[BlueprintSlot]:
        """Yield what is read from module-level configurations, ``CONFIG["dim"]``, and of modules' classes."""
        yield from self._class_constants(reachable)
        types = {one.name: one.value for one in reachable if isinstance(one.value, type)}
        modules = self.loaded.modules.values()
        values = {name: value for module in modules for name, value in vars(module).items()}
        for name in sorted(names | types.keys()):
            holder = values.get(name)
            if isinstance(holder, type) and issubclass(holder, nn.Module):
                continue
            for keys in keys_read((one.node, {name}) for one in reachable):
                current = holder.get(keys[0]) if isinstance(holder, dict) else getattr(holder, keys[0], None)
                if len(keys) == 1 and current is not None:
                    slot = self._own_slot(f"{name}.{keys[0]}", keys[0], current)
                    yield from [slot] if slot else []

    def _check_pins(self, definition: Definition, blueprint: Blueprint) -> None:
        paths = [slot.path for slot in blueprint.slots]
        for path in self.pins.keys() - set(paths):
            raise NotLoaded(
                f"the assignment pins the argument {path!r} of {definition.name}, which has none of that"
                f" name: it has {', '.join(paths) or 'none'}",
                definition.frame,
            )
