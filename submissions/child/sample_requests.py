"""Child side: the requests where an exercise needs a model of ours, which no other child has in memory."""

from __future__ import annotations

from .requests import HANDLERS
from .sample_models import SAMPLES
from .subject import Submission

__all__ = ["HANDLERS"]

Submission.samples = SAMPLES
