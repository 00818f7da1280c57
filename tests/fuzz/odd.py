"""What nobody would type, and some who would: texts, values and bytes for the fuzz tests."""

import gzip
import io
import math

import numpy as np
from hypothesis import strategies as st

# What went wrong once, or would be the first to go wrong.
KNOWN = (
    "", " ", "0", "-1", "1e400", "NaN", "-inf", "9" * 4_400, "[[[[", "0-1 1-2", "10;11", "../../etc/passwd",
    "a\x00b", "\u202edlrow", "\ud800", "٣", "½", "1_000", "0x10", "1.5.2", "true", "None", "run:../../x",
    "<script>", "![x](http://example.org)", "$\\frac{1}{0}$", "'; --", "%00", "1,2;3,4", "1 2\n3 4",
)  # fmt: skip
TEXTS = st.one_of(st.sampled_from(KNOWN), st.text(max_size=60), st.integers().map(str), st.floats().map(str))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS, st.binary(max_size=20)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.tuples(inner, inner), st.dictionaries(TEXTS, inner)
    ),
    max_leaves=6,
)


def _npy(rows: int) -> bytes:
    file = io.BytesIO()
    np.save(file, np.full((rows, 2), math.nan))
    return file.getvalue()


LINES = st.lists(st.lists(TEXTS, min_size=1, max_size=4).map("\t".join), max_size=12).map("\n".join)
FILES = st.one_of(
    st.binary(max_size=400),
    LINES.map(lambda text: text.encode(errors="replace")),
    LINES.map(lambda text: text.replace("\t", ",").encode("utf-16", errors="replace")),
    st.binary(max_size=200).map(gzip.compress),
    st.binary(max_size=200).map(lambda raw: gzip.compress(raw)[:-5]),
    st.binary(max_size=60).map(lambda raw: b"\x00\x00\x08\x03" + raw),  # as pictures begin (IDX)
    st.integers(0, 3).map(_npy),
)
