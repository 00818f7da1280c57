"""The program grows no further than it was: who adds, deletes."""

from benchmarks.house import PRODUCT, lines

CEILING = 97_000
"""Lines of the product: 95,100 and what the attention of today has added, for which 4,000 are allowed; it
follows what is deleted, rounded up to the next hundred.
"""


def test_the_product_has_no_more_lines_than_the_ceiling():
    assert lines(*PRODUCT) <= CEILING
