"""Where the sizes of a model live, and how its constructor is given them."""

from __future__ import annotations

from ..drawing import idiom
from ..writing import SIZES, Scope, Writer

_SMALL_PRINTS = ("dropout", "ratio")
_PRESETS = {"tiny": (192, 12, 3), "small": (384, 12, 6), "base": (768, 12, 12)}  # dim, depth, heads


def choose(w: Writer) -> None:
    """Draw how the sizes are said, by every class of the program."""
    w.where_sizes = w.call("sizes")
    w.values["sizes"] = w.choices.made[-1].removeprefix("sizes: ")


@idiom("sizes", often=5)
def defaulted(w: Writer) -> str:
    return "arguments"


@idiom("sizes", often=4)
def required(w: Writer) -> str:
    return "arguments"


@idiom("sizes", often=2)
def defaults_from_constants(w: Writer) -> str:
    return "arguments"


@idiom("sizes")
def only_constants(w: Writer) -> str:
    return "globals"


@idiom("sizes")
def literals(w: Writer) -> str:
    return "literals"


@idiom("sizes")
def config_dataclass(w: Writer) -> str:
    return "namespace"


@idiom("sizes")
def config_class(w: Writer) -> str:
    return "namespace"


@idiom("sizes")
def config_dictionary(w: Writer) -> str:
    return "dictionary"


@idiom("sizes")
def arguments_of_a_command(w: Writer) -> str:
    return "namespace"


@idiom("sizes")
def table_of_presets(w: Writer) -> str:
    return "arguments"


@idiom("sizes")
def functions_by_size(w: Writer) -> str:
    return "arguments"


def _asked(w: Writer, scope: Scope) -> dict[str, str]:
    """The names of a model's sizes, in the order of the pipeline."""
    return {size: getattr(w.n, size) for size in SIZES if size in scope.asked}


def _kind(size: str) -> str:
    return "float" if size in _SMALL_PRINTS else "int"


def parameters(w: Writer, scope: Scope) -> list[str]:
    """What the model's constructor takes."""
    way, names = w.values["sizes"], _asked(w, scope)
    if w.where_sizes in ("globals", "literals"):
        return []
    if w.where_sizes in ("namespace", "dictionary"):
        given = way == "config_class" and w.choices.once_in(2)
        return [f"{w.n.cfg}={w.n.Config}()" if given else w.n.cfg]
    if way == "defaulted":
        return _defaulted(w, {size: (name, w.value(size)) for size, name in names.items()})
    if way == "defaults_from_constants":
        return _defaulted(w, {size: (name, name.upper()) for size, name in names.items()})
    small = {size: names.pop(size) for size in _SMALL_PRINTS if size in names}
    return [*names.values(), *(f"{name}={w.value(size)}" for size, name in small.items())]


def _defaulted(w: Writer, values: dict[str, tuple[str, str]]) -> list[str]:
    annotated = w.choices.once_in(4)
    return [
        f"{name}: {_kind(size)} = {value}" if annotated else f"{name}={value}"
        for size, (name, value) in values.items()
    ]


def constants(w: Writer, scope: Scope) -> tuple[list[str], str]:
    """What stands before the classes, and the call that makes the model."""
    way, names = w.values["sizes"], _asked(w, scope)
    rows = {name: w.value(size) for size, name in names.items()}
    if way == "required":
        given = ", ".join(f"{names[size]}={w.value(size)}" for size in names if size not in _SMALL_PRINTS)
        return [], f"{scope.name}({given})"
    if way in ("only_constants", "defaults_from_constants"):
        return [f"{name.upper()} = {value}" for name, value in rows.items()], f"{scope.name}()"
    if way in ("table_of_presets", "functions_by_size"):
        return _preset(w, names, scope.name)
    if way in ("defaulted", "literals"):
        return [], f"{scope.name}()"
    return _configured(w, names, rows, scope.name)


def _configured(w: Writer, names: dict[str, str], rows: dict[str, str], model: str) -> tuple[list[str], str]:
    way, config, cfg = w.values["sizes"], w.n.Config, w.n.cfg
    if way == "config_dictionary":
        lines = [f"{cfg} = {{", *(f'    "{name}": {value},' for name, value in rows.items()), "}"]
        return ["\n".join(lines)], f"{model}({cfg})"
    if way == "arguments_of_a_command":
        w.uses("import argparse")
        said = [f'"--{names[size]}", type={_kind(size)}, default={w.value(size)}' for size in names]
        lines = ["parser = argparse.ArgumentParser()", *(f"parser.add_argument({one})" for one in said)]
        return ["\n".join([*lines, f"{cfg} = parser.parse_args()"])], f"{model}({cfg})"
    lines = [f"class {config}:", *(f"    {name} = {value}" for name, value in rows.items())]
    if way == "config_dataclass":
        w.uses("from dataclasses import dataclass")
        fields = [f"    {names[size]}: {_kind(size)} = {w.value(size)}" for size in names]
        lines = ["@dataclass", f"class {config}:", *fields]
    return ["\n".join(lines)], f"{model}({config}())"


def _preset(w: Writer, names: dict[str, str], model: str) -> tuple[list[str], str]:
    """Models of several sizes: the one that is made has the program's sizes, the others are never made."""
    said = {
        preset: ", ".join(f"{names[size]}={value}" for size, value in sizes.items())
        for preset, sizes in _models(w, names).items()
    }
    made = next(iter(said))
    if w.values["sizes"] == "table_of_presets":
        name = w.choices.among("PRESETS", "CONFIGS", "MODEL_SIZES", "configs")
        rows = [f'    "{preset}": dict({sizes}),' for preset, sizes in said.items()]
        return ["\n".join([f"{name} = {{", *rows, "}"])], f'{model}(**{name}["{made}"])'
    prefix = w.choices.among("vit", "build_vit", "make_vit")
    w.after += [
        f"def {prefix}_{preset}(**kwargs):\n    return {model}({sizes}, **kwargs)"
        for preset, sizes in said.items()
    ]
    return [], f"{prefix}_{made}()"


def _models(w: Writer, names: dict[str, str]) -> dict[str, dict[str, str]]:
    """The sizes of each preset, the program's own first."""
    own = {size: w.value(size) for size in names if size not in _SMALL_PRINTS}
    known = {str(dim): preset for preset, (dim, _, _) in _PRESETS.items()}
    models = {known.get(w.values["dim"], "mini"): own}
    for preset, (dim, depth, heads) in _PRESETS.items():
        others = {"dim": dim, "depth": depth, "heads": heads, "mlp": 4 * dim}
        sizes = {size: str(others.get(size, w.values[size])) for size in own}
        models.setdefault(preset, sizes)
    return models
