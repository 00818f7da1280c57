"""No positions: words in a bag, but for what the mask tells."""

from ..position_scheme import PositionScheme, register


@register("none")
class NoPositions(PositionScheme):
    """Does nothing at all."""
