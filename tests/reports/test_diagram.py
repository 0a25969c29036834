from __future__ import annotations

from samples import result, stage

from vitcheck.reports.views.diagram import WIDTH, DiagramColumn, columns
from vitcheck.reports.views.stage_views import stage_views


def drawn(**stages: object) -> tuple[DiagramColumn, ...]:
    return columns(stage_views(result("x", stages=stages)))


def column(title: str) -> DiagramColumn:
    return next(one for one in drawn() if one.title == title)


def test_a_stage_of_another_architecture_stands_above_the_next_that_is_known() -> None:
    renamed = {name: stage(name).model_copy(update={"key": name}) for name in ("S01", "S12", "S26")}
    parts = [[node.stage.label for node in part.nodes] for part in drawn(**renamed)]
    assert [one[0] for one in parts] == ["S01", "S08", "S16", "S21"]
    assert parts[1][4:6] == ["S12", "S13"]
    assert parts[3][-1] == "S26"
    assert sum(map(len, parts)) == 26


def test_stages_of_which_none_is_known_have_a_column_of_their_own() -> None:
    unknown = stage("S12").model_copy(update={"key": "something_new"})
    (part,) = columns(stage_views(result("x", stages={"S12": unknown}))[11:12])
    assert (part.title, [node.stage.label for node in part.nodes]) == ("Other stages", ["S12"])


def test_edges_are_what_the_equations_name() -> None:
    attention = column("Block 1: attention")
    assert len(attention.edges) == 9  # three to Q, K and V, two to S12, one to S13, two to S14, one to S15
    assert {node.stage.label: node.sources for node in attention.nodes}["S08"] == ("S07",)
    (first, *others) = column("Block 1: MLP").nodes
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
