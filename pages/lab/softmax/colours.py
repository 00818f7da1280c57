"""Two colours that mean the same in all parts of this page."""

from viz_core.boards import Colour

AS_IT_IS: Colour = 7
SCALED: Colour = "accent"
