from __future__ import annotations

from samples import result, stage

from vitcheck.reports.diagram import WIDTH, Column, columns
from vitcheck.reports.stages import stage_views


def drawn(**stages: object) -> tuple[Column, ...]:
    return columns(stage_views(result("x", stages=stages)))


def column(title: str) -> Column:
    return next(one for one in drawn() if one.title == title)


def test_every_stage_is_drawn_once() -> None:
    unknown = stage("S12").model_copy(update={"key": "something_new"})
    parts = drawn(S12=unknown)
    assert [node.stage.label for part in parts for node in part.nodes if part.title == "Other stages"] == [
        "S12"
    ]
    assert sum(len(part.nodes) for part in parts) == 26


def test_edges_are_what_the_equations_name() -> None:
    attention = column("Block 1: attention")
    assert len(attention.edges) == 9  # three to Q, K and V, two to S12, one to S13, two to S14, one to S15
    assert {node.stage.label: node.sources for node in attention.nodes}["S08"] == ("S07",)
    (first, *others) = column("Block 1: feed-forward").nodes
    assert first.sources == ("S08", "S15")
    assert not any(node.sources for node in others)


def test_no_box_leaves_its_column_or_covers_another() -> None:
    for part in drawn():
        for node in part.nodes:
            assert 0 <= node.x <= node.x + node.width <= WIDTH
            assert node.bottom < part.height
        for number, one in enumerate(part.nodes):
            for other in part.nodes[number + 1 :]:
                assert one.bottom < other.y or one.x + one.width <= other.x


def test_the_shape_below_a_box_is_the_one_that_was_seen() -> None:
    wrong = stage("S02", shape=[1, 729, 3, 16, 16])
    (shown,) = (node for part in drawn(S02=wrong) for node in part.nodes if node.stage.label == "S02")
    assert shown.shape == "1 × 729 × 3 × 16 × 16"
