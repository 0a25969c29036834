"""What a submission's process prints, taken in as it comes. Imports no torch."""

from __future__ import annotations

import os

from ..limits import Limits

_PIECE = 1 << 20  # bytes to read at once


class Printed:
    """``pipes`` are those of its output and its errors; of both, what is within the limits is kept."""

    def __init__(self, pipes: tuple[int, int], limits: Limits) -> None:
        self.pipes, self._limits = pipes, limits
        self._kept, self._bytes = b"", 0
        self.output_bytes = 0  # without the errors, where libraries warn
        for one in pipes:
            os.set_blocking(one, False)

    @property
    def text(self) -> str:
        """So far, cut at the limit."""
        return self._kept.decode("utf-8", "replace")

    @property
    def is_too_much(self) -> bool:
        return self._bytes > self._limits.printed_bytes

    def read(self, pipe: int) -> bytes | None:
        """Take in a piece, empty at the end of the pipe; None where there is none for now."""
        try:
            text = os.read(pipe, _PIECE)
        except BlockingIOError:
            return None
        self.output_bytes += len(text) if pipe == self.pipes[0] else 0
        self._kept += text[: self._limits.printed_bytes_kept - len(self._kept)]
        self._bytes += len(text)
        return text

    def drain(self) -> None:
        """Take in all that there is."""
        for pipe in self.pipes:
            while self.read(pipe) and not self.is_too_much:
                pass
