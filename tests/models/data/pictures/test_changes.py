"""Moved pictures against a loop, hidden parts by count."""

import torch

from models.data.pictures.changes import BLANK, hidden, moved


def test_moved_pictures_are_whole_moves_with_black_coming_in():
    pictures = torch.rand(40, 5, 4, generator=torch.Generator().manual_seed(0)) + 0.1
    found = moved(pictures, 1, torch.Generator().manual_seed(1))
    seen = set()
    for before, after in zip(pictures.tolist(), found.tolist(), strict=True):
        fits = []
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                shifted = [
                    [
                        before[r - down][c - right] if 0 <= r - down < 5 and 0 <= c - right < 4 else 0.0
                        for c in range(4)
                    ]
                    for r in range(5)
                ]
                if shifted == after:
                    fits.append((down, right))
        assert len(fits) == 1
        seen.add(fits[0])
    assert len(seen) == 9
    assert torch.equal(moved(pictures, 0, torch.Generator()), pictures)


def test_a_share_of_parts_is_hidden_and_the_rest_stays():
    parts = torch.rand(200, 8, 3, generator=torch.Generator().manual_seed(0))
    seen = hidden(parts, 0.25, torch.Generator().manual_seed(1))
    blank = (seen == BLANK).all(dim=2)
    assert (blank.sum(dim=1) == 2).all()
    assert torch.equal(seen[~blank], parts[~blank])
    assert (blank.sum(dim=0) > 20).all()  # every part is hidden somewhere: 50 times are expected
    assert torch.equal(hidden(parts, 0.0, torch.Generator()), parts)
