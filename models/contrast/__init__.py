"""Two things beside each other: two texts, two models, or the same weights under one changed knob.

from models import load_model
from models.contrast import Side, contrast
lm = load_model("translator")
c = contrast(Side(lm, "the street was too wide ."), Side(lm, "the street was wide ."))
c.moved["encoder.self"]  # how far each head's pattern moved, [layer, head]
"""

from models.contrast.aligned import Aligned, align
from models.contrast.contrasted import Contrast, contrast
from models.contrast.knob import Knob
from models.contrast.knobs import knobs
from models.contrast.matched import match_heads, match_sides
from models.contrast.side import Side
from models.contrast.steps import at_step
from models.contrast.strips import strip

__all__ = [
    "Aligned", "Contrast", "Knob", "Side", "align", "at_step", "contrast", "knobs", "match_heads",
    "match_sides", "strip",
]  # fmt: skip
