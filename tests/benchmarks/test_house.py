"""The program grows no further than it was: who adds, deletes."""

from benchmarks.house import PRODUCT, lines

CEILING = 98_800
"""Lines of the product: 95,000 and what the attention of today (4,000 allowed) and the way out into the
world (1,500) have added; it follows what is deleted, rounded up to the next hundred. Families
in sweeps and the last switches took the last three hundred.
"""


def test_the_product_has_no_more_lines_than_the_ceiling():
    assert lines(*PRODUCT) <= CEILING
