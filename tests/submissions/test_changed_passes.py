"""Passes with one change in the code each: as if the changed program had been loaded, and without a trace."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from examining import examine
from torch import Tensor

from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.host.session import Session
from vitcheck.submissions.questions.changes import ChangedPass, TryChanges
from vitcheck.submissions.reading.edits import Edit

SMALL = Sizes(
    batch=2, channels=1, height=4, width=6, patch=2, embed_dim=8, heads=2, mlp_dim=16, depth=2, classes=3
)  # fmt: skip
IMAGE = torch.randn(2, 1, 4, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


class Program:
    """A base, of which one text is exchanged for another in each change."""

    def __init__(self, *edits: tuple[str, str]) -> None:
        examination = examine("report", *edits)
        ((self.file, content),) = examination.source.files.items()
        self.text, self.session = content.decode(), examination.session

    def change(self, old: str, new: str) -> Edit:
        assert self.text.count(old) == 1
        before, _, _ = self.text.partition(old)
        start = len(before.encode())
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return Edit(self.file, "extra", line, column, start, start + len(old.encode()), old, new)

    def passes(self, *changes: Edit) -> Sequence[ChangedPass]:
        texts = {self.file: self.text}
        return self.session.ask(TryChanges(sizes=SMALL, seed=7, image=IMAGE, texts=texts, changes=changes))


def returned(session: Session) -> list[Tensor]:
    trace = session.trace(SMALL, 7, IMAGE)
    return [trace.tensor(where) for _, where in trace.outputs]


def test_a_change_gives_what_the_changed_program_gives() -> None:
    softmax = "attn_scores.softmax(dim=-1)"
    program = Program()
    changed, other = program.passes(
        program.change(softmax, "attn_scores.softmax(dim=-2)"),
        program.change(softmax, softmax.replace("-1", "3")),  # the same axis
    )
    expected = returned(examine("report", (softmax, "attn_scores.softmax(dim=-2)")).session)
    for one, right in zip(changed.tensors, expected):
        torch.testing.assert_close(one, right, rtol=1e-12, atol=1e-12)  # a fused kernel, and none
    for one, right in zip(other.tensors, returned(program.session)):
        torch.testing.assert_close(one, right, rtol=1e-12, atol=1e-12)


def test_letters_of_several_bytes_before_a_change_move_it_nowhere() -> None:
    softmax = "attn_scores.softmax(dim=-1)"
    program = Program((f"attn_probs = {softmax}", f"größe = 'ä'; attn_probs = {softmax}"))
    (one,) = program.passes(program.change(softmax, "attn_scores.softmax(dim=-2)"))
    expected = returned(examine("report", (softmax, "attn_scores.softmax(dim=-2)")).session)
    torch.testing.assert_close(one.tensors[0], expected[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("new", ["attn_scores.softmax(dim=9)", "nothing_of_that_name", "1 +", "exit()"])
def test_what_cannot_run_returns_nothing(new: str) -> None:
    program = Program()
    assert program.passes(program.change("attn_scores.softmax(dim=-1)", new)) == (ChangedPass(True),)


def test_what_the_model_is_built_with_is_not_tried() -> None:
    program = Program()
    assert program.passes(program.change("nn.GELU()", "nn.ReLU()")) == (ChangedPass(False),)


def test_what_no_pass_calls_changes_nothing() -> None:
    unused = "\n\ndef unused():\n    return 12345\n\n\nclass "
    program = Program(("\n\nclass EncoderBlock", f"{unused}EncoderBlock"))
    assert program.passes(program.change("12345", "54321")) == (ChangedPass(True),)


def test_a_change_that_writes_into_the_weights_leaves_them_as_they_were() -> None:
    program = Program()
    once = program.change("x_tokens + self.pos_embed", "x_tokens + self.pos_embed.add_(1)")
    nothing = program.change("x_tokens + self.pos_embed", "self.pos_embed + x_tokens")
    _, after = program.passes(once, nothing)
    for one, right in zip(after.tensors, returned(program.session)):
        torch.testing.assert_close(one, right, rtol=1e-12, atol=1e-12)
