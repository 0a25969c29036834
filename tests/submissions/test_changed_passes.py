"""Passes with one change in the code each: as if the changed program had been loaded, and without a trace."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import pytest
import torch
from examining import examine
from torch import Tensor

from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.host.session import Session
from vitcheck.submissions.questions.changes import ChangedPass, TryChanges, WatchNames
from vitcheck.submissions.reading.edits.edit import Edit

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

    def passes(self, *changes: Edit, numbers: int = 0) -> Sequence[ChangedPass]:
        texts = {self.file: self.text}
        asked = TryChanges(sizes=SMALL, seed=7, image=IMAGE, texts=texts, changes=changes, numbers=numbers)
        return self.session.ask(asked)


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
    assert program.passes(program.change("attn_scores.softmax(dim=-1)", new)) == (ChangedPass(1),)


def test_of_a_change_in_what_it_is_built_with_the_model_is_built_anew() -> None:
    program = Program()
    changed, again = program.passes(
        program.change("nn.GELU()", "nn.ReLU()"), program.change("nn.GELU()", "nn.GELU(approximate='none')")
    )
    expected = returned(examine("report", ("nn.GELU()", "nn.ReLU()")).session)
    for one, right in zip(changed.tensors, expected):
        torch.testing.assert_close(one, right, rtol=1e-12, atol=1e-12)  # a fused kernel, and none
    for one, right in zip(again.tensors, returned(program.session)):
        torch.testing.assert_close(one, right, rtol=1e-12, atol=1e-12)


def test_what_runs_where_a_file_is_executed_is_not_tried() -> None:
    program = Program()
    assert program.passes(program.change("import math", "import math as math")) == (ChangedPass(1),)
    raising = Program(("attn_scores.softmax(dim=-1)", "attn_scores.softmax(dim=9)"))
    assert raising.passes(raising.change("import math", "import math as math")) == (ChangedPass(0),)


def test_sums_tell_which_tensors_a_changed_pass_computes_in_whatever_layout() -> None:
    """With the softmax over keys instead of queries, the probabilities are those of the right program."""
    program = Program(("attn_scores.softmax(dim=-1)", "attn_scores.softmax(dim=-2)"))
    right = examine("report").session.trace(SMALL, 7, IMAGE)
    shape = (SMALL.batch, SMALL.heads, SMALL.tokens, SMALL.tokens)
    probabilities = next(
        one
        for one in right.records
        if one.shape == shape and abs(float(one.cells.sum()) - prod(shape[:3])) < 1e-9
    )
    change = program.change("attn_scores.softmax(dim=-2)", "attn_scores.mT.softmax(-2).mT.contiguous()")
    nothing = program.change("attn_scores.softmax(dim=-2)", "attn_scores.softmax(2)")
    for one, is_there in ((change, True), (nothing, False)):
        (found,) = program.passes(one, numbers=prod(shape))
        squares = float(probabilities.cells.square().sum())
        assert any(abs(each - squares) < 1e-9 for _, each in found.sums) is is_there
    assert program.passes(change)[0].sums == ()


def test_names_hold_what_they_do_just_before_their_line_first_runs() -> None:
    examination = examine("report")
    told = examination.session.ask(WatchNames(sizes=SMALL, seed=7, image=IMAGE))
    lines = examination.source.files["report.py"].decode().splitlines()
    held = {lines[one.line - 1].strip(): one.names for one in told}
    forward = held["x = x_pos"]
    assert (forward["img"], forward["self"], forward["B"]) == ("tensor 2 1 4 6", "layer ViT", "number")
    assert (forward["x_pos"], forward["self.blocks"]) == ("tensor 2 7 8", "layer ModuleList")
    assert "x" not in forward  # it is bound on that line


def test_where_a_pass_raises_names_are_known_up_to_there() -> None:
    examination = examine("report", ("attn_scores.softmax(dim=-1)", "attn_scores.softmax(dim=9)"))
    told = examination.session.ask(WatchNames(sizes=SMALL, seed=7, image=IMAGE))
    assert any(one.names.get("attn_scores") == "tensor 2 2 7 7" for one in told)


def test_what_no_pass_calls_changes_nothing() -> None:
    unused = "\n\ndef unused():\n    return 12345\n\n\nclass "
    program = Program(("\n\nclass EncoderBlock", f"{unused}EncoderBlock"))
    assert program.passes(program.change("12345", "54321")) == (ChangedPass(1),)


def test_a_change_that_writes_into_the_weights_leaves_them_as_they_were() -> None:
    program = Program()
    once = program.change("x_tokens + self.pos_embed", "x_tokens + self.pos_embed.add_(1)")
    nothing = program.change("x_tokens + self.pos_embed", "self.pos_embed + x_tokens")
    _, after = program.passes(once, nothing)
    for one, right in zip(after.tensors, returned(program.session)):
        torch.testing.assert_close(one, right, rtol=1e-12, atol=1e-12)
