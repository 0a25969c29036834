from __future__ import annotations

from records import record
from samples import result, stage

from vitcheck.checks.record.result import StageStatus
from vitcheck.reports.views.diagram import DiagramColumn, columns
from vitcheck.reports.views.diagram_nodes import LEFT, RADIUS, WIDTH
from vitcheck.reports.views.pass_view import pass_view
from vitcheck.reports.views.stage_views import stage_views


def drawn(**stages: object) -> tuple[DiagramColumn, ...]:
    return columns(stage_views(result("x", stages=stages)), {})


def block(**stages: object) -> DiagramColumn:
    return drawn(**stages)[1]


def test_a_stage_of_another_architecture_stands_above_the_next_that_is_known() -> None:
    renamed = {name: stage(name).model_copy(update={"key": name}) for name in ("S01", "S12", "S26")}
    parts = [[node.stage.label for node in part.nodes] for part in drawn(**renamed)]
    assert [one[0] for one in parts] == ["S01", "S08", "S21"]
    assert parts[1][4:6] == ["S12", "S13"]
    assert parts[2][-1] == "S26"
    assert sum(map(len, parts)) == 26


def test_stages_of_which_none_is_known_have_a_column_of_their_own() -> None:
    unknown = stage("S12").model_copy(update={"key": "something_new"})
    (part,) = columns(stage_views(result("x", stages={"S12": unknown}))[11:12], {})
    assert (part.title, [node.stage.label for node in part.nodes]) == ("Other stages", ["S12"])


def test_residual_connections_come_back_at_a_sum_after_what_they_leave_out() -> None:
    nodes = {node.stage.label: node for node in block().nodes}
    for around, target, arc, added in zip(
        ("S08", "S16"), ("S16", "S19"), block().arcs, block().sums, strict=True
    ):
        start = nodes[around]
        assert arc.line.startswith(f"M{start.x:g} {start.y + 29:g}")
        assert start.bottom < added.y < nodes[target].y
        assert arc.head


def test_in_a_prenorm_block_the_second_connection_begins_at_the_first_sum() -> None:
    sums = stage("S19").model_copy(update={"equation": "S08 + S15 + S18"})
    part = block(S19=sums)
    assert part.arcs[1].line.startswith(f"M{part.sums[0].x:g} {part.sums[0].y + RADIUS + 5:g}")


def test_what_is_added_from_two_branches_has_a_line_from_each() -> None:
    parallel = stage("S19").model_copy(update={"equation": "S15 + S08 + S18"})
    plain = stage("S16").model_copy(update={"equation": "LayerNorm(S08)"})
    part = block(S16=plain, S19=parallel)
    starts = {node.stage.label: node for node in part.nodes}
    assert len(part.sums) == 1
    for label, arc in zip(("S08", "S15"), part.arcs, strict=True):
        assert arc.line.startswith(f"M{starts[label].x:g} {starts[label].y + 29:g}")


def test_edges_are_what_the_equations_name_and_have_arrowheads() -> None:
    edges = block().edges
    # three to Q, K and V, two to S12, one to S13, two to S14, one to S15, then through both sums to S20
    assert len(edges) == 9 + 2 + 1 + 1 + 2 + 1
    assert all(one.head for one in edges)


def test_columns_are_joined_beside_and_below_each_other() -> None:
    first, second, third = drawn()
    assert [len(one.beside) for one in (first, second, third)] == [1, 2, 1]
    assert [len(one.stacked) for one in (first, second, third)] == [1, 2, 1]
    assert first.beside[0].line.endswith(f"H{WIDTH}")
    assert f"V{first.height - 4:g}H" in first.beside[0].line
    assert second.beside[0].line.startswith(f"M0 {first.height - 4:g}")


def test_no_box_leaves_its_column_or_covers_another() -> None:
    for part in drawn():
        for node in part.nodes:
            assert LEFT <= node.x <= node.x + node.width <= WIDTH
            assert node.out < part.height
        for number, one in enumerate(part.nodes):
            for other in part.nodes[number + 1 :]:
                assert one.bottom < other.y or one.x + one.width <= other.x


def test_the_shape_below_a_box_is_the_one_that_was_seen_by_its_letters() -> None:
    wrong = stage("S02", shape=[1, 729, 3, 16, 16])
    (shown,) = (node for part in drawn(S02=wrong) for node in part.nodes if node.stage.label == "S02")
    assert shown.shape == ("B 1 × N 729 × C 3 × P 16 × P 16",)
    assert {node.stage.label: node.shape for node in block().nodes}["S09"] == ("B 1 × h 12", "T 197 × d 64")


def test_the_next_stage_to_be_written_stands_out() -> None:
    unwritten = {name: stage(name, status=StageStatus.NOT_WRITTEN) for name in ("S25", "S26")}
    assert [node.stage.label for part in drawn(**unwritten) for node in part.nodes if node.is_next] == ["S25"]


def test_boxes_show_the_tensors_that_were_kept() -> None:
    parts = pass_view(record("two_mistakes"), None).columns
    shown = {node.stage.label: node.thumbnail for part in parts for node in part.nodes}
    assert all(one.startswith("data:image/png") for one in shown.values())
    assert shown["S07"] == shown["S08"]
    assert len(set(shown.values())) > 20
