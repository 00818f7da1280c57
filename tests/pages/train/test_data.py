"""The panel of a run's data: what a file says reaches HTML escaped, and a cut is drawn where it is."""

import numpy as np

from attention_lab.models.data.data_summary import DataSummary, ExamplePreview, TokenPreview
from attention_lab.pages.train import data
from attention_lab.viz_core.boards import Bars


def test_what_a_file_says_is_text_and_no_markup() -> None:
    shown = ExamplePreview({"encoder": (TokenPreview("<b>", True, "<i>\n", True),)}, "<u>", "<script>", 3)
    html = data.examples([shown])
    assert "<script>" not in html and "&lt;script&gt;" in html and "&lt;u&gt;" in html
    cell = '<span class="cell special unknown">&lt;b&gt;<b class="target">&lt;i&gt;↵</b></span>'
    assert cell in html and "… and 3 more tokens" in html


def test_numbers_and_figures_say_what_was_measured() -> None:
    look = DataSummary(
        sizes={"training": 80, "held out": None, "test": 0}, classes={"a": 3, "b": 1}, lengths=(5, 4, 1),
        ends=(4, 8, 12), measured=10, median=4.5, longest=12, room=8, cut=0.1, padding=0.25, batch_size=32,
        vocabulary=1_000,
    )  # fmt: skip
    assert data.facts_of(look) == [
        ("training", "80 examples"), ("held out", "made at random"),
        ("tokens, median and longest", "4 and 12"), ("cut at 8 tokens", "10.0 %"),
        ("padding, in batches of 32", "25.0 %"), ("vocabulary", "1,000 tokens"),
    ]  # fmt: skip
    board = data.board_of(look)
    classes, lengths = board.rows[0]
    assert isinstance(classes, Bars) and classes.values.tolist() == [3, 1]
    assert isinstance(lengths, Bars) and lengths.faint_from == 2
    assert lengths.title == "lengths of 10 examples; faint bars are cut at 8 tokens"
    colours = lengths.chart.traces[0]["marker"]["color"]
    assert [colour.name for colour in colours] == ["accent", "accent", "muted"]
    pictures = DataSummary(pictures=np.zeros((2, 4, 4)), labels=("1", "7"))
    assert [panel.title for panel in data.board_of(pictures).rows[0]] == ["1", "7"]
    assert data.board_of(DataSummary()) is None
