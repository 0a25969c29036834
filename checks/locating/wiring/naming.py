"""What the names of weights say where values cannot tell: which map is the query's, which the key's."""

from __future__ import annotations

import re

from ..search.parameter_search import LinearMap
from ..walk import Walk

_NAMES = {"query": r"q|queries|query|wq|qw", "key": r"k|keys|key|wk|kw"}  # between dots and underscores


def key_comes_first(walk: Walk, first: LinearMap, second: LinearMap) -> bool:
    """Says whether ``first`` is called a key and ``second`` a query."""
    return _is_called(_name(walk, first), "key") and _is_called(_name(walk, second), "query")


def _name(walk: Walk, map_: LinearMap) -> str:
    return walk.trace.value(walk.trace.used(map_.weight)).name


def _is_called(name: str, role: str) -> bool:
    return any(re.fullmatch(_NAMES[role], word) for word in re.split(r"[._\\d]+", name.lower()))
