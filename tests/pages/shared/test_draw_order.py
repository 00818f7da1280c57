"""The order in which a page's parts are sent."""

from contextlib import nullcontext

import pytest

from pages.shared import draw_order


@pytest.mark.parametrize(
    ("again", "order"),
    [(False, ["texts", "controls", "figure"]), (True, ["figure", "pause", "controls", "texts"])],
)
def test_the_figure_is_sent_first_when_a_page_runs_again(
    monkeypatch: pytest.MonkeyPatch, again: bool, order: list[str]
) -> None:
    done: list[str] = []
    monkeypatch.setattr(draw_order.time, "sleep", lambda _: done.append("pause"))
    parts = [(nullcontext(), lambda name=name: done.append(name)) for name in ("texts", "controls", "figure")]
    draw_order.draw(parts, again=again)
    assert done == order
