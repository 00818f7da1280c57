import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest

from viz_core import attention_heatmap, theme, to_html
from viz_core.export import config

EVIL = "</script><script>alert(1)</script>"


def page(**options):
    return to_html(attention_heatmap(np.ones((1, 1)), [EVIL], title="head 3 & more", **options))


def test_the_page_asks_for_nothing():
    html = page()
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]*\b(?:src|href)\s*=", html)
    assert "@import" not in html.split("<main>")[0]
    assert len(html) > 3_000_000  # plotly.js is inside


def test_no_button_of_the_page_sends_the_figure_elsewhere():
    given = page().rsplit("Plotly.newPlot", 1)[1].replace('": ', '":')
    assert '"showSendToCloud":false' in given  # plotly.js itself shows a button that uploads the figure


def test_the_page_has_a_language_a_title_and_the_figures_background():
    html = page(dark=True)
    assert html.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert "<title>head 3 &amp; more</title>" in html
    assert f"background: {theme.palette(True)['background']}" in html


def test_the_numbers_are_in_the_page():
    html = to_html(attention_heatmap(np.array([[0.25, 0.75]]), ["it"], ["cat", "mat"]))
    assert '"x":["cat","mat"]' in html and '"y":["it"]' in html


def test_no_text_in_the_figure_can_end_the_script():
    html = to_html(go.Figure(layout={"annotations": [{"text": EVIL}]}))
    assert EVIL not in html
    assert html.count("<script") == html.count("</script>")


def test_a_title_cannot_become_markup():
    html = to_html(attention_heatmap(np.ones((1, 1)), ["a"]), title=EVIL)
    assert "<title>&lt;/script&gt;" in html


def test_the_camera_saves_a_file_named_after_the_title():
    assert '"filename": "head-3-more"' in page() or '"filename":"head-3-more"' in page()
    assert config("Encoder, layer 1: <b>")["toImageButtonOptions"] == {
        "format": "svg",
        "filename": "encoder-layer-1-b",
        "scale": 1,
    }
    png = config("../../x", image="png", scale=3)["toImageButtonOptions"]
    assert png == {"format": "png", "filename": "x", "scale": 3}
    assert config("")["toImageButtonOptions"]["filename"] == "figure"
    json.dumps(config("x"))


def test_an_unknown_format_is_named():
    with pytest.raises(ValueError, match=r'image="bmp" is no format .* choose "svg" or "png"'):
        config("x", image="bmp")
