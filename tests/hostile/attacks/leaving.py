"""Attacks that leave the process, or make others leave."""

from .attack import PARTS, Attack, Expected

_CAUGHT = Expected(failed=frozenset({"S12"}), most=98)
_STOPPED = Expected(failed=frozenset({"S02"}), most=PARTS)

_EXIT = "the code ended the Python process (exit code 0, as os._exit() does)"

LEAVING = (
    Attack(
        "exit while the class is defined",
        Expected("not_loaded", "SystemExit", most=PARTS),
        body="raise SystemExit(0)",
    ),
    Attack("os._exit while the class is defined", Expected("crashed", _EXIT), body="import os; os._exit(0)"),
    Attack(
        "os._exit in the constructor",
        Expected("crashed", _EXIT),
        init="import os; os._exit(0)",
    ),
    Attack("os._exit in the forward pass", Expected("crashed", _EXIT), forward="import os; os._exit(0)"),
    Attack(
        "an exit handler that prints a good grade",
        _CAUGHT,
        wrong=True,
        top="""
import atexit
def praise():
    print('score 100')
""",
        body="atexit.register(praise)",
    ),
    Attack(
        "abort in the forward pass",
        Expected("crashed", "aborted from inside compiled code"),
        forward="import os; os.abort()",
    ),
    Attack(
        "a segmentation fault in the constructor",
        Expected("crashed", "segmentation fault"),
        init="import ctypes; ctypes.string_at(0)",
    ),
    Attack(
        "kill -9 of itself",
        Expected("crashed", "was killed"),
        forward="import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    ),
    Attack(
        "a signal to its whole group",
        Expected("crashed", "Terminated"),
        forward="import os, signal; os.killpg(0, signal.SIGTERM)",
    ),
    Attack(
        "a signal to every process that it may reach but those above it",
        Expected("crashed", "was killed"),
        forward="import os, signal; os.killpg(os.getpgrp(), signal.SIGKILL)",
    ),
    Attack(
        "an exception that is none",
        Expected("not_loaded", "Leave: no grade today", most=PARTS),
        top="""
class Leave(BaseException):
    pass
""",
        forward="raise Leave('no grade today')",
    ),
    Attack(
        "GeneratorExit in the forward pass",
        Expected("not_loaded", "GeneratorExit", most=PARTS),
        forward="raise GeneratorExit",
    ),
    Attack(
        "KeyboardInterrupt in the constructor",
        Expected("not_loaded", "KeyboardInterrupt", most=PARTS),
        init="raise KeyboardInterrupt",
    ),
    Attack(
        "recursion without end",
        _STOPPED,
        top="""
def again():
    return again()
""",
        forward="again()",
    ),
    Attack(
        "recursion beyond the limit, into the stack's end",
        Expected("crashed", "segmentation fault"),
        top="""
import sys
def again():
    return [again()]
""",
        forward="""
sys.setrecursionlimit(10**9)
class Deep:
    def __getattr__(self, name):
        return getattr(self, name + 'x')
sorted([Deep()], key=lambda one: one.x)
""",
    ),
    Attack(
        "all modules deleted",
        Expected("not_loaded", "could not be built"),
        forward="""
import sys
for name in list(sys.modules):
    if name != 'sys': del sys.modules[name]
""",
    ),
    Attack(
        "the grader's modules deleted",
        _CAUGHT,
        wrong=True,
        body="""
import sys
for _name in [one for one in sys.modules if one.startswith('vitcheck')]:
    del sys.modules[_name]
""",
    ),
    Attack(
        "an exception whose text exits",
        _STOPPED,
        top="""
class Sly(Exception):
    def __str__(self):
        raise SystemExit
""",
        forward="raise Sly",
    ),
    Attack(
        "the connection to the grader closed",
        Expected("crashed", "ended the Python process"),
        forward="""
import os
os.closerange(3, 64)
""",
    ),
)
