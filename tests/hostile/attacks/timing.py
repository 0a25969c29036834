"""Attacks on the clock."""

from dataclasses import replace

from .attack import LIMITS, Attack, Expected

_ENDLESS = Expected("timed_out", "still running after 2 s")
_SHORT = replace(LIMITS, import_seconds=2, request_seconds=2)


def _endless(name: str, *, body: str = "", init: str = "", forward: str = "", top: str = "") -> Attack:
    return Attack(name, _ENDLESS, top=top, body=body, init=init, forward=forward, limits=_SHORT)


_SWALLOW = """
while True:
    try:
        while True: pass
    except BaseException: continue
"""

TIMING = (
    _endless(
        "a loop while the class is defined",
        body="while True: pass",
    ),
    _endless("a loop in the constructor", init="while True: pass"),
    _endless("a loop in the forward pass", forward="while True: pass"),
    _endless("a sleep in the forward pass", forward="import time; time.sleep(1000)"),
    _endless(
        "a loop that swallows every exception and signal",
        init="import signal\nfor one in set(signal.Signals) - {9, 19}: signal.signal(one, signal.SIG_IGN)\n"
        + _SWALLOW,
    ),
    _endless(
        "a loop in compiled code, where no signal handler runs",
        forward="sum(range(10**15))",
    ),
    _endless(
        "a loop only when an object dies",
        top="""
class Clingy:
    def __del__(self):
        while True: pass
""",
        forward="Clingy()",
    ),
    Attack(
        "a thread that never ends, and a good answer",
        Expected(least=100, most=100),
        top="import threading, time",
        body="threading.Thread(target=time.sleep, args=(10**6,)).start()",
    ),
    Attack(
        "a background process that outlives its parent",
        Expected(failed=frozenset({"S12"}), most=98),
        wrong=True,
        init="""
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(1000)
""",
    ),
    Attack(
        "an alarm that the code sets for itself",
        Expected("crashed", "Alarm clock"),
        forward="""
import signal; signal.setitimer(signal.ITIMER_REAL, 0.001)
sum(range(10**7))
""",
    ),
    _endless(
        "the process stopped",
        forward="import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    ),
    _endless(
        "clocks that stand still",
        init="""
import time
time.monotonic = time.perf_counter = time.time = lambda: 0.0
while True: pass
""",
    ),
    _endless(
        "a wait for a lock that nobody frees",
        init="""
import threading
lock = threading.Lock(); lock.acquire(); lock.acquire()
""",
    ),
    _endless(
        "a read of an empty pipe",
        forward="""
import os
os.read(os.pipe()[0], 1)
""",
    ),
)
