"""Passes that end for want of a layer that nobody has made yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ....submissions.host.trace import Trace
from ....submissions.reading.stand_ins import lacks_attribute


def as_unwritten(trace: Trace, files: Mapping[str, bytes]) -> Trace:
    """The same pass, as one whose end says that it is not written yet, where it does so in effect."""
    error = trace.error
    if error is None or error.type != "AttributeError" or not lacks_attribute(files, error.message):
        return trace
    return replace(trace, error=replace(error, is_placeholder=True))
