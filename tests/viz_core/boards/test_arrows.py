"""Arrows of a diagram pass behind as few boxes as can be."""

from viz_core.boards.arrows import arrows_of

SIZE = (40, 20)


def test_arrows_keep_to_the_sides_where_nothing_is_in_their_way() -> None:
    boxes = [(0, 50), (60, 0), (120, 50)]
    lines = arrows_of([(boxes[0], boxes[1]), (boxes[0], boxes[2])], boxes, SIZE)
    assert lines == [((20, 50), (40, 0)), ((20, 50), (100, 50))]


def test_arrows_leave_by_the_top_where_the_way_from_the_side_leads_behind_boxes() -> None:
    boxes = [(60 * column, 50 * row) for row in range(2) for column in range(4)]
    lines = arrows_of([(boxes[4], boxes[1]), (boxes[4], boxes[3])], boxes, SIZE)
    assert lines == [((0, 40), (60, 10)), ((0, 40), (180, 10))]


def test_an_arrow_straight_up_goes_from_top_to_bottom() -> None:
    boxes = [(0, 0), (0, 50)]
    assert arrows_of([(boxes[1], boxes[0])], boxes, SIZE) == [((0, 40), (0, 10))]
