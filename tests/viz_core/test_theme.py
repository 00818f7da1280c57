import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from colorspacious import cspace_convert
from plotly.colors import sample_colorscale, unlabel_rgb

from attention_lab.viz_core import attention_heatmap, theme, to_html
from attention_lab.viz_core.theme import plotly_config

EYES = ("normal", "deuteranomaly", "protanomaly", "tritanomaly")
"""With full severity these are dichromats (Machado, Oliveira & Fernandes 2009)."""
PALETTES = {"light": (False, False), "dark": (True, False), "projector": (False, True)}


def linear(colour):
    rgb = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(rgb_linear):
    return rgb_linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    """WCAG 2: 1 (none) to 21."""
    low, high = sorted([luminance(linear(one)), luminance(linear(other))])
    return (high + 0.05) / (low + 0.05)


def smallest_distance(colours, eye):
    """Of two of these colours [colour, channel] in 0..1 as an eye sees them, in CAM02-UCS."""
    if eye != "normal":
        seen = {"name": "sRGB1+CVD", "cvd_type": eye, "severity": 100}
        colours = np.clip(cspace_convert(colours, seen, "sRGB1"), 0, 1)
    places = cspace_convert(colours, "sRGB1", "CAM02-UCS")
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations(places, 2))


def channels(colours):
    return np.array([list(bytes.fromhex(colour[1:])) for colour in colours]) / 255


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eye", EYES)
def test_twelve_heads_can_be_told_apart(dark, eye):
    heads = channels(theme.head_colour(head, dark) for head in range(12))
    assert smallest_distance(heads, eye) > (13 if eye == "normal" else 9)


@pytest.mark.parametrize("page", PALETTES)
@pytest.mark.parametrize("eye", EYES)
def test_roles_can_be_told_apart(page, eye):
    dark, projected = PALETTES[page]
    p = theme.palette(dark, projected=projected)
    assert smallest_distance(channels([p["query"], p["key"], p["value"]]), eye) > 15
    roles = ("query", "key", "value", "accent", "muted", "ink")
    assert smallest_distance(channels([p[role] for role in roles]), eye) > 8


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eye", EYES)
def test_eight_steps_of_a_scale_can_be_told_apart(dark, eye):
    for name in ("sequential", "diverging"):
        steps = theme.lookup_table(name, dark=dark)[np.linspace(0, 255, 8).round().astype(int)]
        assert smallest_distance(steps / 255, eye) > 6
    ends = theme.lookup_table("diverging", dark=dark)[[0, -1]]
    assert smallest_distance(ends / 255, eye) > 20


@pytest.mark.parametrize("page", PALETTES)
def test_colours_are_legible_on_their_background(page):
    dark, projected = PALETTES[page]
    p = theme.palette(dark, projected=projected)
    for role in ("query", "key", "value", "ink", "muted", "accent"):
        assert contrast(p[role], p["background"]) >= 4.5  # WCAG AA for text
    for head in range(12):
        assert contrast(theme.head_colour(head, dark), p["background"]) >= 3  # WCAG AA for graphics


@pytest.mark.parametrize("name", ["logo", "icon"])
def test_the_logo_has_the_accents_colour(name):
    assert theme.palette()["accent"] in (ROOT / f"pages/shared/{name}.svg").read_text()


def test_head_colours_start_again_after_the_last():
    assert theme.head_colour(12) == theme.head_colour(0) == theme.HEAD_COLOURS[0]


@pytest.mark.parametrize("name", ["sequential", "diverging", "Viridis", "RdBu"])
@pytest.mark.parametrize("dark", [False, True])
def test_lookup_table_equals_plotlys_own_sampling(name, dark):
    table = theme.lookup_table(name, dark=dark)
    stops = theme.colour_scale(name, dark)
    sampled = [
        unlabel_rgb(colour) for colour in sample_colorscale(stops_as_rgb(stops), list(np.linspace(0, 1, 256)))
    ]
    assert table.dtype == np.uint8
    assert np.abs(table - np.array(sampled)).max() <= 0.5
    assert np.array_equal(theme.lookup_table(stops), table)


def stops_as_rgb(stops):
    return [
        [at, colour if colour.startswith("rgb") else "rgb({},{},{})".format(*bytes.fromhex(colour[1:]))]
        for at, colour in stops
    ]


@pytest.mark.parametrize("dark", [False, True])
def test_weak_weights_fade_into_the_background_and_strong_ones_stand_out(dark):
    background = np.array(list(bytes.fromhex(theme.palette(dark)["background"][1:])))
    for name, faint in (("sequential", 0), ("diverging", 128)):
        table = theme.lookup_table(name, dark=dark).astype(int)
        assert np.abs(table[faint] - background).max() <= 24
    lightness = theme.lookup_table("sequential", dark=dark).astype(float) @ [0.2126, 0.7152, 0.0722]
    assert (np.sign(np.diff(lightness[::4])) == (1 if dark else -1)).all()


@pytest.mark.parametrize("dark", [False, True])
def test_diverging_is_cold_below_and_warm_above_and_balanced(dark):
    table = theme.lookup_table("diverging", dark=dark).astype(int)
    red_minus_blue = table[:, 0] - table[:, 2]
    assert (red_minus_blue[40:110] < -20).all() and (red_minus_blue[146:216] > 20).all()


def test_an_unknown_scale_is_named():
    with pytest.raises(ValueError, match='colour scale "rainbowish" is unknown; use "sequential"'):
        theme.lookup_table("rainbowish")


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
    assert plotly_config("Encoder, layer 1: <b>")["toImageButtonOptions"] == {
        "format": "svg",
        "filename": "encoder-layer-1-b",
        "scale": 1,
    }
    assert plotly_config("../../x")["toImageButtonOptions"]["filename"] == "x"
    assert plotly_config("")["toImageButtonOptions"]["filename"] == "figure"
    json.dumps(plotly_config("x"))


ROOT = Path(__file__).parents[2]
HEAVY = ["torch", "streamlit", "pandas", "plotly.express", "models"]


def test_importing_the_figures_imports_nothing_heavy():
    code = f"import sys, viz_core; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
