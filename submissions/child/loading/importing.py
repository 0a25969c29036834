"""Imports between the files of a submission.

Student modules get an ``__import__`` of their own, which serves the submission's files to them and to nobody
else: a student's ``random.py`` or ``checks.py`` cannot get in the way of torch. All else is imported as
usual.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PurePosixPath
from types import ModuleType

PACKAGE = "_submission"  # student modules are registered in sys.modules below this name
_DEBUGGERS = {"pdb", "ipdb", "pudb"}

Chain = list[str]  # the files of a, of a.b, of a.b.c; a folder without __init__.py is "a/"


def module_name(file: str) -> str:
    """Return ``_submission.models.vit`` for ``models/vit.py``, its parent for ``models/__init__.py``."""
    path = file.removesuffix("/").removesuffix(".py").removesuffix("__init__").removesuffix("/")
    return ".".join([PACKAGE, *filter(None, path.split("/"))])


class Importer:
    """The ``__import__`` of student modules.

    ``load`` executes a file and gives back its module; the second time, and while it is being executed, the
    same one.
    """

    def __init__(self, files: Collection[str], load: Callable[[str], ModuleType]) -> None:
        self._files = files
        self._load = load
        parents = {str(parent) for file in files for parent in PurePosixPath(file).parents}
        self._folders = sorted({"" if parent == "." else parent for parent in parents}, key=_depth)

    def import_for(
        self,
        file: str,
        name: str,
        namespace: Mapping[str, object] | None = None,
        scope: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Do what ``__import__`` does, for an import statement in ``file``."""
        if name in _DEBUGGERS and not level:
            return _silent_debugger(name)
        chain = self.relative(file, name, level) if level else self.near(file, name)
        if chain is None and level:
            raise ModuleNotFoundError(f"no file among those handed in for the relative import of {name!r}")
        if chain is None:
            try:
                return builtins.__import__(name, namespace, scope, fromlist or (), 0)
            except ModuleNotFoundError as error:
                chain = self.far(name) if _is_part(error.name, name) else None
                if chain is None:
                    raise
        return self._import_chain(chain, name, fromlist or ())

    def find(self, file: str, name: str, level: int) -> Chain | None:
        """Find the files that an import statement in ``file`` means, if they are of the submission."""
        return self.relative(file, name, level) if level else self.near(file, name) or self.far(name)

    def near(self, file: str, name: str) -> Chain | None:
        """Find an absolute import as Python does when run in a folder above ``file`` or in ``src``."""
        above = [str(parent) for parent in PurePosixPath(file).parents]
        roots = ["" if parent == "." else parent for parent in reversed(above)]
        chain = self._first(name, [*roots, "src"])
        return chain if chain and chain[-1].endswith(".py") and chain[-1] != file else None

    def far(self, name: str) -> Chain | None:
        """Find an absolute import that is neither near nor installed, in any folder."""
        whole_is_package = "__init__.py" in self._files
        # vit.attention, where folder vit was handed in
        inner = name.partition(".")[2] if whole_is_package else ""
        return self._first(name, self._folders) or (self._first(inner, [""]) if inner else None)

    def relative(self, file: str, name: str, level: int) -> Chain | None:
        """Find ``from ..name import``, where ``level`` counts the dots."""
        folders = file.split("/")[:-1]
        if level - 1 > len(folders):
            return None
        root = "/".join(folders[: len(folders) - level + 1])
        if name:
            return self._chain(name, root)
        package = _join(root, "__init__.py")
        return [package if package in self._files else f"{root}/"]

    def _first(self, name: str, roots: Sequence[str]) -> Chain | None:
        """Return the chain from the first root that has a file for ``name``, else with a folder."""
        chains = [chain for root in roots if (chain := self._chain(name, root))]
        return next((chain for chain in chains if chain[-1].endswith(".py")), chains[0] if chains else None)

    def _chain(self, name: str, root: str) -> Chain | None:
        parts = name.split(".")
        files = [self._file(_join(root, "/".join(parts[: count + 1]))) for count in range(len(parts))]
        return [file for file in files if file] if all(files) else None

    def _file(self, path: str) -> str | None:
        for file in (f"{path}/__init__.py", f"{path}.py"):
            if file in self._files:
                return file
        return f"{path}/" if path in self._folders else None

    def _import_chain(self, chain: Chain, name: str, fromlist: Sequence[str]) -> ModuleType:
        modules = [self._load(file) for file in chain]
        parts = name.split(".")[-len(chain) :]
        for parent, child, part in zip(modules, modules[1:], parts[1:], strict=False):
            setattr(parent, part, child)
        self._import_submodules(chain[-1], modules[-1], fromlist)
        return modules[-1] if fromlist else modules[0]

    def _import_submodules(self, file: str, package: ModuleType, names: Sequence[str]) -> None:
        """Import ``name`` of ``from package import name`` where it is a module."""
        folder = file.removesuffix("__init__.py").lstrip("/")
        if file.endswith("/") or PurePosixPath(file).name == "__init__.py":
            names = getattr(package, "__all__", ()) if "*" in names else names
            for name in names:
                inner = self._file(folder + name)
                if inner and not hasattr(package, name):
                    setattr(package, name, self._load(inner))


def _join(root: str, path: str) -> str:
    return f"{root}/{path}" if root else path


def _depth(folder: str) -> tuple[int, str]:
    return folder.count("/") + bool(folder), folder


def _is_part(missing: str | None, name: str) -> bool:
    """Tell whether ``name`` itself was not found, not something that an installed package wants."""
    return missing is not None and f"{name}.".startswith(f"{missing}.")


def _silent_debugger(name: str) -> ModuleType:
    module = ModuleType(name)
    for function in ("set_trace", "post_mortem", "pm"):
        setattr(module, function, lambda *args, **kwargs: None)
    return module
