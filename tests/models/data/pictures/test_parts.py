"""Pictures cut into parts: every pixel where it belongs, and back exactly."""

import re

import pytest
import torch

from models.data.pictures import Parts


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "cut"),
    [(8, 8, "rows"), (8, 8, "2x2"), (8, 8, "4x4"), (28, 28, "7x7"), (4, 6, "2x2"), (3, 5, "rows")],
)
def test_parts_go_back_to_pictures_exactly(n_rows: int, n_columns: int, cut):
    parts = Parts(n_rows, n_columns, cut)
    pictures = torch.rand(3, n_rows, n_columns, generator=torch.Generator().manual_seed(0))
    assert torch.equal(parts.join(parts.split(pictures)), pictures)


@pytest.mark.parametrize("cut", ["rows", "2x2"])
def test_every_pixel_is_where_a_loop_puts_it(cut):
    parts = Parts(4, 6, cut)
    picture = torch.arange(24.0).view(1, 4, 6)
    found = parts.split(picture)[0].tolist()
    across = 6 // parts.width
    for row in range(4):
        for column in range(6):
            position = row // parts.height * across + column // parts.width
            channel = row % parts.height * parts.width + column % parts.width
            assert found[position][channel] == picture[0, row, column]


def test_labels_name_rows_and_patches():
    assert Parts(3, 5).labels == ["row 1", "row 2", "row 3"]
    assert Parts(4, 6, "2x2").labels == [
        *("patch 1,1", "patch 1,2", "patch 1,3"),
        *("patch 2,1", "patch 2,2", "patch 2,3"),
    ]


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ((28, 28, "2x2"), "have 196 parts (2x2), more than 64; choose larger parts, or smaller pictures"),
        ((8, 9, "4x4"), "parts='4x4' do not divide pictures of 8 by 9; try parts='rows'"),
        ((65, 4, "rows"), "pictures of 65 by 4 have 65 parts (rows), more than 64"),
    ],
)
def test_parts_that_do_not_fit_are_refused_in_words(sizes, sentence: str):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        Parts(*sizes)
