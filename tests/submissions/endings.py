"""How a submission may end its process, in the sandbox and without: request, error and what is said."""

from __future__ import annotations

from vitcheck.submissions.errors import Crashed, Refused, SubmissionError

ENDINGS: list[tuple[str, type[SubmissionError], str]] = [
    ("exit_now", Crashed, "the code ended the Python process (exit code 3, as os._exit() does)"),
    ("daemon_and_exit", Crashed, "the code ended the Python process (exit code 0, as os._exit() does)"),
    ("abort", Crashed, "the Python process was aborted from inside compiled code"),
    ("segfault", Crashed, "the Python process crashed inside compiled code (segmentation fault)"),
    ("kill_self", Crashed, "the Python process was killed, as the system does when memory runs out"),
    ("signal_self", Crashed, "the Python process was ended by signal 35 (Real-time signal 1)"),
    ("close_connection", Refused, "the code closed its connection to the grader"),
]
