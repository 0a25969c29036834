"""A stage is placed on the line that a student would look at."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import BASES, edited
from examining import examine

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.placing import place_of
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.code_lines import excerpt
from vitcheck.reference.sizes import preset
from vitcheck.submissions.errors import Frame
from vitcheck.submissions.host.process import Zygote


def line(examination: Examination, key: str) -> str:
    """The text of the line that a stage is placed on."""
    frame = place_of(examination, key)
    assert frame is not None
    (marked,) = [one for one in excerpt(examination.source.files, frame) if one.marked]
    return marked.text.strip()


def test_each_stage_of_plain_code_is_on_its_own_line() -> None:
    examination = examine("report")
    assert line(examination, "attention_scores").startswith("attn_scores = ")
    assert line(examination, "attention_probabilities").startswith("attn_probs = ")
    assert line(examination, "tokens").startswith("x_tokens = ")
    assert line(examination, "logits").startswith("logits = ")


def test_what_a_helper_makes_for_several_stages_is_on_its_callers_line() -> None:
    examination = examine("handwritten_norm")
    assert "self.norm2(x)" in line(examination, "post_attention_norm")
    assert "self.norm(" in line(examination, "final_sequence")


def test_what_a_helper_makes_wrong_for_every_stage_is_on_its_own_line() -> None:
    examination = examine("handwritten_norm", ("(x - mean) / torch.sqrt(var + self.eps)", "(x - mean)"))
    for key in ("query", "post_attention_norm"):
        assert line(examination, key) == "return self.gamma * x_hat + self.beta"


def test_a_mistake_in_one_block_is_placed_in_the_code_of_that_block() -> None:
    skip = "x_after_attn = x_in + attn_out\n"
    edit = (skip, f"{skip}        if self is last:\n            x_after_attn = attn_out\n")
    keep = (
        "        self.head = nn.Linear",
        "        global last\n        last = self.blocks[-1]\n        self.head = nn.Linear",
    )
    examination = examine("report", edit, keep)
    assert line(examination, "post_attention_norm") != line(examination, "attention_output")
    wrong = [one for step in examination.walk.steps for one in step.findings]
    assert {one.stage for one in wrong} == {"post_attention_norm"}


VIEWS = (  # of numbers that are right, on another line than what made them
    ("x = x.flatten(2).transpose(1, 2)", "x = x.reshape(x.shape[0], -1, x.shape[1])", "patch_embeddings"),
    ("return x[:, 0]", "return x[:, -1]", "class_representation"),
    (
        "qkv = qkv.reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)",
        "qkv = qkv.reshape(B, 3, self.num_heads, N, C // self.num_heads).transpose(0, 1)",
        "query",
    ),
)
QKV = ("qkv = self.qkv(x).reshape(", "qkv = self.qkv(x)\n        qkv = qkv.reshape(")


@pytest.mark.parametrize(("right", "wrong", "key"), VIEWS, ids=[key for _, _, key in VIEWS])
def test_a_wrong_view_of_right_numbers_is_placed_where_it_is_taken(right: str, wrong: str, key: str) -> None:
    examination = examine("prenorm", QKV, (right, wrong))
    assert [one.stage for one in examination.findings() if examination.counts(one.id)][:1] == [key]
    assert line(examination, key) == wrong


def test_how_many_blocks_run_is_placed_where_the_loop_says_so() -> None:
    examination = examine("prenorm", ("for blk in self.blocks:", "for blk in self.blocks[:-1]:"))
    assert examination.findings()[0].id == "depth-off-by-one"
    assert line(examination, "last_block_output") == "for blk in self.blocks[:-1]:"


@pytest.mark.parametrize(
    ("run", "wrong", "where"),
    [
        ("x = blk(x)\n", "x = blk(x)\n            x = blk(x)  # again\n", "x = blk(x)  # again"),
        ("for blk in self.blocks:", "for blk in self.blocks[:-1]:", "for blk in self.blocks[:-1]:"),
    ],
)
def test_how_often_blocks_run_is_placed_there_behind_a_norm_too(run: str, wrong: str, where: str) -> None:
    """A norm makes its mean and its spread behind the tensor that the first block reads."""
    normed = "x = nn.functional.layer_norm(self.pos_drop(x + self.pos_embed), x.shape[-1:])"
    examination = examine("prenorm", ("x = self.pos_drop(x + self.pos_embed)", normed), (run, wrong))
    assert "depth-off-by-one" in {one.id for one in examination.findings()}
    assert line(examination, "last_block_output") == where


def test_what_a_block_reads_is_placed_where_it_is_called() -> None:
    loop = "for blk in self.blocks:\n            x = blk(x)\n"
    each = "first = x\n        for blk in self.blocks:\n            x = blk(first)\n"
    examination = examine("prenorm", (loop, each))
    assert examination.findings()[0].id == "every-block-reads-first-input"
    assert line(examination, "second_block_output") == "x = blk(first)"


def test_what_is_no_tensor_of_its_own_is_on_the_line_of_the_next_that_is() -> None:
    examination = examine("fused_sdpa")
    assert "scaled_dot_product_attention" in line(examination, "attention_scores")


def test_a_crash_is_placed_on_the_line_that_raised() -> None:
    examination = examine("report", ("logits = self.head(cls_rep)", "logits = self.head(cls_rep.T)"))
    assert examination.stopped_at is not None
    assert line(examination, examination.stopped_at) == "logits = self.head(cls_rep.T)"


def test_an_excerpt_has_two_lines_around_and_stops_at_the_ends_of_the_file() -> None:
    files = {"vit.py": b"one\r\ntwo\r\n" + b"x" * 500}
    assert [(one.number, one.marked) for one in excerpt(files, Frame("vit.py", 1))] == [
        (1, True),
        (2, False),
        (3, False),
    ]
    assert len(excerpt(files, Frame("vit.py", 3))[-1].text) == 200
    assert excerpt(files, Frame("other.py", 1)) == []


def test_a_parameter_that_is_wrong_as_it_is_made_is_placed_where_it_is_made() -> None:
    made = "self.pos_embed = nn.Parameter(torch.zeros(1, 1, embed_dim))"
    examination = examine(
        "prenorm", ("torch.zeros(1, num_patches + 1, embed_dim)", "torch.zeros(1, 1, embed_dim)")
    )
    assert [one.id for one in examination.findings()] == ["pos-single-vector"]
    assert line(examination, "positioned_tokens") == made


def test_a_right_parameter_of_which_too_little_is_used_is_placed_where_it_is_used() -> None:
    used = "x = self.pos_drop(x + self.pos_embed[:, :1])"
    examination = examine("prenorm", ("x + self.pos_embed", "x + self.pos_embed[:, :1]"))
    assert [one.id for one in examination.findings()] == ["pos-single-vector"]
    assert line(examination, "positioned_tokens") == used


@pytest.mark.parametrize(
    ("base", "right", "wrong", "made"),
    [
        ("prenorm", "int(dim * mlp_ratio)", "2 * dim", "nn.Linear(dim, hidden_dim)"),
        ("library_stack", "nhead, dim_feedforward, dropout", "nhead, 2 * d_model, dropout", "EncoderLayer("),
    ],
)
def test_the_hidden_layer_of_the_mlp_is_placed_where_it_is_made_also_where_torch_copies_it(
    tmp_path: Path, zygote: Zygote, base: str, right: str, wrong: str, made: str
) -> None:
    asked = load_assignment("vit-prenorm").model_copy(update={"examples": 2, "full": preset("S/32")})
    text = edited(BASES[base].source(), [(right, wrong)])
    (tmp_path / "vit.py").write_text(text)
    found = grade(tmp_path / "vit.py", asked, zygote=zygote, seed=1)
    (told,) = [one for one in found.mistakes if one.id == "mlp-ratio-wrong"]
    assert told.location is not None
    assert made in text.split("\n")[told.location.line - 1]
