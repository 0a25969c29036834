"""Attacks that use up what others need."""

from dataclasses import replace

from .attack import LIMITS, PARTS, Attack, Expected

_STOPPED = Expected(failed=frozenset({"S02"}), most=PARTS)
_LITTLE = replace(LIMITS, memory_bytes=1 << 29)  # for speed
_FEW = replace(LIMITS, processes=8)


RESOURCES = (
    Attack(
        "a huge tensor",
        Expected("not_loaded", "allocate memory", most=PARTS),
        init="torch.empty(2**36, dtype=torch.uint8)",
        limits=_LITTLE,
    ),
    Attack(
        "a leak",
        Expected("not_loaded", "emory", most=PARTS),
        init="kept = []\nwhile True: kept.append(torch.ones(2**22))",
        limits=_LITTLE,
    ),
    Attack(
        "a list without end",
        Expected("out_of_memory", "more than 0.5 GB of memory"),
        forward="kept = []\nwhile True: kept.append([0] * 10**6)",
        limits=_LITTLE,
    ),
    Attack(
        "a number without end",
        Expected("timed_out", "built and tried"),
        init="10 ** 10 ** (10 + self.training)",
        limits=replace(LIMITS, request_seconds=2),
    ),
    Attack(
        "a fork bomb",
        Expected("not_loaded", "Resource temporarily unavailable", most=PARTS),
        init="""
import os, time
while True:
    if os.fork() == 0: time.sleep(100)
""",
        limits=_FEW,
    ),
    Attack(
        "output without end",
        Expected("refused", "printed more than 1 MB"),
        forward="while torch.is_grad_enabled(): print('x' * 10**6)",
        limits=replace(LIMITS, printed_bytes=1 << 20),
    ),
    Attack(
        "a file without end",
        _STOPPED,
        forward="""
if torch.is_grad_enabled():  # and so not while it is tried
    with open('large', 'wb') as file:
        while True: file.write(bytes(2**22))
""",
    ),
    Attack(
        "files without end",
        _STOPPED,
        forward="if torch.is_grad_enabled(): kept = [open(f'file{number}', 'w') for number in range(10**4)]",
    ),
    Attack(
        "threads without end",
        Expected("not_loaded", "can't start new thread", most=PARTS),
        top="import threading, time",
        init="while True: threading.Thread(target=time.sleep, args=(100,), daemon=True).start()",
        limits=_FEW,
    ),
    Attack(
        "an answer of ten thousand tensors",
        Expected("refused", "tensors"),
        answer="if B > 1: return {str(number): probs + number for number in range(10_000)}",
        limits=_LITTLE,
    ),
    Attack(
        "a pass of forty thousand operations",
        Expected("out_of_memory", "so many operations that their list takes"),
        answer="for _ in range(40_000 * (B > 1)): logits = logits + 0",
        limits=_LITTLE,
    ),
    Attack(
        "an answer that holds itself",
        Expected(failed=frozenset({"S26"}), most=90),
        answer="logits = [logits]; logits.append(logits)",
    ),
)
