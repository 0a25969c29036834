"""What plays a learned role changes with the parameters."""

from __future__ import annotations

import pytest
from examining import examine, forbidding

FC1 = "self.act(self.fc1(ff_in))"
ACT = "self.act = nn.GELU()"
HELD = f"{ACT}\n        self.{{}}"


@pytest.mark.parametrize(
    "base", ["report", "prenorm", "sinusoidal", "sincos_2d", "weight_normed", "fused_sdpa", "raw_parameters"]
)
def test_right_models_read_no_constants(base: str) -> None:
    assert not examine(base).constants()


def test_blocks_that_the_model_does_not_know_of_are_no_constants() -> None:
    blocks = "nn.ModuleList([EncoderBlock(embed_dim, num_heads, mlp_ratio) for _ in range(num_blocks)])"
    assert not examine("report", (blocks, blocks[len("nn.ModuleList(") : -1])).constants()


@pytest.mark.parametrize("kind", ["register_buffer('kept', {})", "kept = {}"])
def test_a_buffer_or_tensor_is_no_weight(kind: str) -> None:
    held = HELD.format(kind.format("torch.randn(int(dim * mlp_ratio), dim)"))
    examination = examine("report", (ACT, held), (FC1, "self.act(ff_in @ self.kept.mT + self.fc1.bias)"))
    assert "the weight that it uses in block 1" in examination.constants()["mlp_hidden"].message.lower()


def test_a_head_that_cannot_learn_is_wrong_at_the_logits() -> None:
    head = "self.head = nn.Linear(embed_dim, num_classes)"
    made = "self.register_buffer('kept', torch.randn(num_classes, embed_dim))"
    examination = examine("report", (head, made), ("self.head(cls_rep)", "cls_rep @ self.kept.mT"))
    assert list(examination.constants()) == ["logits"]


def test_a_norm_without_parameters_is_the_variant_that_it_is() -> None:
    plain = "nn.functional.layer_norm(x_after_attn, x_after_attn.shape[-1:])"
    assert not examine("report", ("self.norm2(x_after_attn)", plain)).constants()


def test_positions_may_be_fixed_but_not_pretend_to_be_learned() -> None:
    table = "self.pos_embed = nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))"
    fixed = "self.register_buffer('kept', torch.randn(1, num_patches + 1, embed_dim))"
    edits = (table, f"{table}\n        {fixed}")
    assert not examine("report", edits, ("x_tokens + self.pos_embed", "x_tokens + self.kept")).constants()
    sum_ = ("x_tokens + self.pos_embed", "x_tokens + (0 * self.pos_embed + self.kept)")
    examination = examine("report", edits, sum_, assignment=forbidding("pos-not-parameter"))
    assert examination.constants()["positioned_tokens"].id == "pos-not-parameter"
    assert examination.faults("positioned_tokens") == ["pos-not-parameter"]


def test_a_formula_that_is_frozen_in_a_parameter_does_not_pretend_to_learn() -> None:
    buffer = 'self.register_buffer("pe", sinusoid_table(n_positions, dim))'
    frozen = "self.pe = nn.Parameter(sinusoid_table(n_positions, dim), requires_grad=False)"
    assert examine("sinusoidal", (buffer, frozen)).faults("positioned_tokens") == []
