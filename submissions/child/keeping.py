"""Modules of the child's side that are imported late, kept in memory: their files are out of its reach then.

They are late since each needs libraries that take long to import. No model that passes is among them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import CodeType, ModuleType

_LATE = (
    *("child.scripts.script_world", "child.scripts.lending"),
    *("written.markdown", "written.notebook", "written.latex", "written.pdf", "written.word"),
)


class _KeptModules(MetaPathFinder, InspectLoader):
    def __init__(self, codes: Mapping[str, CodeType]) -> None:
        self._codes = codes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return spec_from_loader(fullname, self) if fullname in self._codes else None

    def get_code(self, fullname: str) -> CodeType:
        return self._codes[fullname]

    def get_source(self, fullname: str) -> None:
        return None

    def is_package(self, fullname: str) -> bool:
        return False


def keep_late_modules() -> None:
    """From now on this process and its forks can import them without their files."""
    sys.meta_path.insert(
        0, _KeptModules({name: _code(name) for name in (f"vitcheck.submissions.{one}" for one in _LATE)})
    )


def _code(name: str) -> CodeType:
    spec = find_spec(name)
    assert spec is not None
    assert isinstance(spec.loader, InspectLoader)
    code = spec.loader.get_code(name)
    assert code is not None  # it is none of the modules that are built in
    return code
