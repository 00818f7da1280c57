"""What widgets are given beside what their pages say."""

from typing import Any

from pages.shared import widget
from pages.shared.link import one_of


class Place:
    """Notes what it is to draw."""

    def segmented_control(self, **given: Any) -> None:
        self.given = given


def test_choices_take_another_line_where_they_have_no_room() -> None:
    place: Any = Place()
    widget.segmented("Keys").draw(place, one_of(("all keys", "without the first")), key="keys")
    assert place.given["wrap"] is True and place.given["required"] is True
    assert place.given["options"] == ("all keys", "without the first")
