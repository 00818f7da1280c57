"""From scores to weights: one normalizer a file, whose name is the normalizer's.

A softmax hands out a weight of 1 in all, even where no key is of use: models then learn a sink for it. Most
of the others may look at nothing. A new one is a subclass of `Normalizer` in a new file of this folder, which
is found by being there.
"""

from ...registry import import_all
from ..normalizer import NORMALIZERS as NORMALIZERS

import_all(__name__, __path__)
