"""The program grows no further than it was, and no imports go in a circle: who adds, deletes."""

from benchmarks.house import PRODUCT, circles_and_chain, imports_between, lines

CEILING = 98_400
"""Lines of the product: 95,000 and what the attention of today (4,000 allowed) and the way out into the
world (1,500) have added; it follows what is deleted, rounded up to the next hundred.
"""
LONGEST_CHAIN = 20


def test_the_product_has_no_more_lines_than_the_ceiling():
    assert lines(*PRODUCT) <= CEILING


def test_no_imports_go_in_a_circle_and_the_longest_chain_is_no_longer():
    circles, chain = circles_and_chain(imports_between())
    assert circles == []
    assert len(chain) <= LONGEST_CHAIN
