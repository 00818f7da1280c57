"""A mask by name or by painted rows."""

import pytest

from attention_lab.models.engine import masks
from attention_lab.pages.lab.masks.inputs import allowed_of


def test_a_name_is_the_engines_mask():
    assert allowed_of("causal+window", "2", 6).equal(masks.sliding_window(6, 2)[0, 0])
    with pytest.raises(ValueError, match="mask='banded' is unknown"):
        allowed_of("banded", "", 4)
    with pytest.raises(ValueError, match="argument 'x' of mask 'window' is not a width in tokens"):
        allowed_of("window", "x", 4)


def test_painted_rows_are_cut_or_continued():
    assert allowed_of("01;10", "", 2).equal(masks.painted("01;10")[0, 0])
    assert allowed_of("01;10", "", 4).equal(masks.painted("0100;1000;1110;1111")[0, 0])
    assert allowed_of("011;100;000", "", 2).equal(masks.painted("01;10")[0, 0])
    with pytest.raises(ValueError, match="row 2 of the painted mask is '1', not 2 cells of 0 or 1"):
        allowed_of("01;1", "", 2)
