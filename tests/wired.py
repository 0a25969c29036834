"""What a submission's process would be told and would answer, on the wire and back, in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, cast

from vitcheck.submissions.child.child import failure_of
from vitcheck.submissions.errors import StudentCodeFailed, SubmissionError
from vitcheck.submissions.limits import FrameLimits
from vitcheck.submissions.questions.wire import Stream, parts, receive

Handlers = Mapping[str, Callable[[dict[str, Any]], object]]


def encode(header: Mapping[str, Any]) -> bytes:
    """One frame."""
    return b"".join(parts(header))


def sent(value: object) -> Any:
    """``value`` as it arrives."""
    return receive(cast(Stream, BytesIO(encode({"sent": value}))), FrameLimits())["sent"]


def answered(handlers: Handlers, header: Mapping[str, Any]) -> Any:
    """The reply of the handler that ``header`` names; raises what the host would."""
    request = sent(dict(header))
    try:
        return sent(handlers[request.pop("request")](request))
    except (SubmissionError, StudentCodeFailed):
        raise
    except Exception as error:  # as the child does
        raise failure_of(error) from None
