"""The commands that repeat what a record tells of. Imports no torch."""

from __future__ import annotations

from .result import CheckResult, Result


def repeated_by(result: Result, command: str, of_author: str) -> Result:
    """The record with the commands that repeat it, also where a check shows what it failed with."""
    run = result.run.model_copy(update={"command": command, "command_of_author": of_author})
    return result.model_copy(
        update={"run": run, "checks": [_shown_by(one, command) for one in result.checks]}
    )


def _shown_by(check: CheckResult, command: str) -> CheckResult:
    example = check.counterexample
    if example is None or "command" not in example:
        return check
    return check.model_copy(update={"counterexample": {**example, "command": command}})
