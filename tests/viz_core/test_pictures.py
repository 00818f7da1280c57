"""Attention over a picture: each weight over its own part, in a figure that stands alone."""

import numpy as np
import pytest

from viz_core import attention_picture, theme

GREY = np.array([[0.0, 0.2, 0.4, 0.6], [0.8, 1.0, 0.5, 0.1]])
WEIGHTS = np.array([[0.25, 0.5]])


def test_each_weight_lies_over_its_part() -> None:
    image, heat = attention_picture(GREY, WEIGHTS).data
    assert image.z.shape == (2, 4, 3)
    assert image.z[:, :, 0].tolist() == [[0, 51, 102, 153], [204, 255, 128, 26]]
    assert heat.z.tolist() == [[0.25, 0.5]]
    # Pixels are centred on whole numbers: the parts reach from -0.5 to 1.5 and from 1.5 to 3.5.
    assert (heat.x0, heat.dx, heat.y0, heat.dy) == (0.5, 2, 0.5, 2)
    assert (heat.zmin, heat.zmax) == (0, 0.5)
    assert heat.customdata.tolist() == [[[1, 1], [1, 2]]]


@pytest.mark.parametrize("dark", [False, True])
def test_the_greatest_weight_has_the_accent_and_a_part_that_asks_an_outline(dark: bool) -> None:
    fig = attention_picture(GREY, WEIGHTS, query=(0, 1), dark=dark, title="Layer 1")
    accent = theme.palette(dark)["accent"]
    rgb = ",".join(str(int(accent[at : at + 2], 16)) for at in (1, 3, 5))
    assert [colour for _, colour in fig.data[1].colorscale] == [f"rgba({rgb},0)", f"rgba({rgb},0.85)"]
    (box,) = fig.layout.shapes
    assert (box.x0, box.x1, box.y0, box.y1) == (1.5, 3.5, -0.5, 1.5)
    assert box.line.color == theme.palette(dark)["query"]
    assert fig.layout.title.text == "Layer 1"
    assert tuple(fig.layout.yaxis.range) == (1.5, -0.5)


def test_a_picture_in_colour_is_drawn_in_its_luminance() -> None:
    colours = np.eye(3)[None]  # red, green, blue
    image = attention_picture(colours, np.array([[0.5]])).data[0]
    assert image.z[0].tolist() == [[54] * 3, [182] * 3, [18] * 3]


@pytest.mark.parametrize(
    ("picture", "weights", "sentence"),
    [
        (np.zeros((2, 2, 4)), WEIGHTS, "picture has 4 colours, but must have 3"),
        (np.zeros(4), WEIGHTS, r"picture has shape \(4,\), but must be \[row, column\] or"),
        (2 * GREY, WEIGHTS, "picture has values from 0 to 2, but must lie in 0..1"),
        (GREY, np.full((1, 2), np.nan), "weights holds 2 values that are NaN"),
    ],
)
def test_what_does_not_fit_is_refused(picture: np.ndarray, weights: np.ndarray, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        attention_picture(picture, weights)
