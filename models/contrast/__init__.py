"""Two things beside each other: two texts, two models, or the same weights under one changed knob.

from .. import load_model
from . import Side, contrast
lm = load_model("translator")
c = contrast(Side(lm, "the street was too wide ."), Side(lm, "the street was wide ."))
c.moved["encoder.self"]  # how far each head's pattern moved, [layer, head]
"""

from ..data.alignment import align
from .alignment import Aligned
from .comparison import Contrast, contrast
from .knob import Knob
from .knobs import knobs
from .matching import match_heads, match_sides
from .side import Side, of_trace
