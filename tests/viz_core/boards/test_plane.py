"""Where the names of arrows stand in a plane."""

import numpy as np
import pytest

from viz_core.boards.panels.plane import _SIDE, _SMALLEST_SIDE, _apart

NAMES = ("p", "p + k")
EDGE = 1.3  # half of the square, in the units of arrows


def placed(*degrees: float, names: tuple[str, ...] = NAMES) -> tuple[np.ndarray, np.ndarray]:
    """The tips of unit arrows and where their names stand, in pixels of the smallest square."""
    angle = np.deg2rad(degrees)
    tips = np.stack([np.cos(angle), np.sin(angle)], -1)  # [arrow, xy]
    places = _apart(tips, tips, names, 2 * EDGE)
    pixel = 2 * EDGE / _SMALLEST_SIDE
    return tips / pixel, places / pixel


def half_width(name: str) -> float:
    return 4.5 * len(name) + 2


def distance_to_arrow(box: np.ndarray, half: tuple[float, float], tip: np.ndarray) -> float:
    """From the box around a point to the line from the origin to the tip; 0 where it crosses the box."""
    along = np.linspace(0, 1, 400)[:, None] * tip
    outside = np.clip(np.abs(along - box) - half, 0, None)
    return float(np.linalg.norm(outside, axis=-1).min())


def test_names_of_arrows_that_point_elsewhere_stand_beyond_their_tips() -> None:
    tips, places = placed(20, 200)
    beyond = 13 * _SMALLEST_SIDE / _SIDE * (2 * EDGE / _SMALLEST_SIDE) * _SMALLEST_SIDE / (2 * EDGE)
    np.testing.assert_allclose(places[0] - tips[0], beyond * tips[0] / np.linalg.norm(tips[0]))


@pytest.mark.parametrize("angle", range(0, 360, 15))
@pytest.mark.parametrize("between", [0, 1, 8])
def test_two_arrows_that_nearly_coincide_have_names_apart_and_off_both(angle: int, between: int) -> None:
    tips, places = placed(angle, angle + between)
    first, second = places
    across, down = np.abs(first - second)
    assert across > half_width("p") + half_width("p + k") or down > 16
    for tip in tips:
        assert distance_to_arrow(second, (half_width("p + k") - 5, 4), tip) > 0
    assert (np.abs(places) <= _SMALLEST_SIDE / 2).all()


def test_every_frame_is_placed_by_itself() -> None:
    angles = np.deg2rad([[90.0, 90.0], [20.0, 200.0]])  # [frame, arrow]
    tips = np.stack([np.cos(angles), np.sin(angles)], -1)
    together = _apart(tips, tips, NAMES, 2 * EDGE)
    alone = [_apart(each, each, NAMES, 2 * EDGE) for each in tips]
    np.testing.assert_allclose(together, alone)


def test_long_names_stay_in_the_square() -> None:
    _, places = placed(0, 180, names=("a long name", "another name"))
    for place, name in zip(places, ("a long name", "another name"), strict=True):
        assert abs(place[0]) + half_width(name) <= _SMALLEST_SIDE / 2 + 1e-9
