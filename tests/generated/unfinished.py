"""Unfinished programs: one whose forward ends too early, with or without a mistake in what is there."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .drawing import Below
from .program import Program
from .wrong import Wrong

_ENDINGS = (
    "pass",
    "...",
    "raise NotImplementedError",
    "# TODO\npass",
    "raise NotImplementedError('todo')",
    "return X",
)


@dataclass(frozen=True)
class Unfinished:
    """A program of which a part is not written yet."""

    program: Program
    source: str
    line: int  # where it ends too early
    ending: str
    mistake: Wrong | None = None  # in what is written

    def files(self) -> dict[str, bytes]:
        return self.program.files(self.source)


def unfinished_program(whole: Program | Wrong, below: Below) -> Unfinished | None:
    """The program with one forward cut short; None where that would cut a mistake away."""
    mistake = whole if isinstance(whole, Wrong) else None
    source = mistake.source if mistake else whole.source
    program = mistake.program if mistake else whole
    assert isinstance(program, Program)
    methods = [
        method
        for top in ast.parse(source).body
        if isinstance(top, ast.ClassDef)
        for method in top.body
        if isinstance(method, ast.FunctionDef) and method.name == "forward"
    ]
    method = methods[below(len(methods))]
    statement = method.body[below(len(method.body))]
    assert method.end_lineno is not None
    if mistake and any(statement.lineno <= slip.start[0] <= method.end_lineno for slip in mistake.slips):
        return None
    ending = _ENDINGS[below(len(_ENDINGS))].replace("X", method.args.args[1].arg)
    lines = source.splitlines()
    indent = lines[statement.lineno - 1][: statement.col_offset]
    written = [indent + line for line in ending.split("\n")]
    text = "\n".join([*lines[: statement.lineno - 1], *written, *lines[method.end_lineno :]]) + "\n"
    return Unfinished(program, text, statement.lineno, ending, mistake)
