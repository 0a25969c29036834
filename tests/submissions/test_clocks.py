"""What is counted against a process, and what against the machine that it shares."""

from __future__ import annotations

import os
import time

from vitcheck.submissions.host.clocks import Clock, kept_waiting


def test_what_sleeps_runs_out() -> None:
    clock = Clock(0.05, float)
    time.sleep(0.1)
    assert clock.left < 0
    assert not clock.is_far_beyond


def test_what_is_kept_waiting_has_its_time_left() -> None:
    waited = iter([3.0, 7.0, 7.0])
    clock = Clock(0.05, lambda: next(waited))
    time.sleep(0.1)
    assert clock.left > 3
    assert clock.used < 0


def test_nobody_is_waited_for_for_ever() -> None:
    clock = Clock(0.01, time.monotonic)  # as if it were never let run
    time.sleep(0.2)
    assert clock.is_far_beyond
    assert clock.left < 0


def test_one_that_has_ended_was_not_kept_waiting() -> None:
    assert kept_waiting(2**22 + 1) == 0
    assert kept_waiting(os.getpid()) >= 0
