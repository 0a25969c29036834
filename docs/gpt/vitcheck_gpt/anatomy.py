"""How the stages of a GPT are found."""

from __future__ import annotations

from vitcheck.api import Anatomy

from .embedding import embed
from .forms import BLOCKS
from .readout import answers, read_out

GPT_ANATOMY = Anatomy(
    embed=embed,
    read_out=read_out,
    answers=answers,
    blocks=BLOCKS,
)
