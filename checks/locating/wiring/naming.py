"""What the names of weights say where values cannot tell: which map is the query's, which the key's."""

from __future__ import annotations

import re

from ..search.parameter_search import LinearMap
from ..walk import Walk

_NAMES = {  # between dots and underscores
    "query": r"q|queries|query|wq|qw",
    "key": r"k|keys|key|wk|kw",
    "value": r"v|values|value|wv|vw",
}


def key_comes_first(walk: Walk, first: LinearMap, second: LinearMap) -> bool:
    """Says whether ``first`` is called a key and ``second`` a query."""
    return is_called(walk, first, "key") and is_called(walk, second, "query")


def is_called(walk: Walk, map_: LinearMap, role: str) -> bool:
    """Says whether the weight of ``map_`` is called as ``role``."""
    weight = walk.trace.value(walk.trace.used(map_.weight))
    return names_role(weight.called or weight.name, role)


def names_role(name: str, role: str) -> bool:
    """Says whether one word of ``name`` is that of a query, say."""
    return any(re.fullmatch(_NAMES[role], word) for word in re.split(r"[._\d]+", name.lower()))
