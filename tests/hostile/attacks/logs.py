"""Attacks on whoever reads the log of a job, and on what follows commands in it."""

from .attack import PARTS, Attack, Expected

COMMANDS = (
    "::error file=vit.py,line=1::forged",
    "::stop-commands::x",
    "  ::add-mask::e",
    "##[error]forged",
    "##vso[task.complete result=Succeeded;]",
    "##teamcity[testFinished name='all']",
    "section_end:1:step_script\r\x1b[0K",
    "\x85::warning::x",
    "✓ Nothing wrong was found",
    "ann  100 of 100 points",
    "FAILED vit.py::S12",
)
_STOPPED = Expected(failed=frozenset({"S02"}), most=PARTS)
_LINES = "\n".join(COMMANDS)
_FOLDED = " ".join(f"{'x' * length} {one}" for length, one in enumerate(COMMANDS * 12, 1))  # at any width


def _raises(name: str, raised: str) -> Attack:
    return Attack(name, _STOPPED, forward=f"if torch.is_grad_enabled(): raise {raised}")


LOGGING = (
    _raises("commands in the lines of an exception", f"ValueError({_LINES!r})"),
    _raises("commands where a long exception is folded", f"ValueError({_FOLDED!r})"),
    _raises("a command as the name of an exception", "type('::error::x', (Exception,), {})('y')"),
    _raises("commands in a key that is missing", f"KeyError({_LINES!r})"),
    Attack(
        "commands in the names of what is returned",
        Expected(failed=frozenset({"S12"}), most=98),
        wrong=True,
        answer=f"return {{'logits': logits, {_LINES!r}: logits + 1}}",
    ),
)
