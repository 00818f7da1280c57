"""Pictures cut into parts: every pixel where it belongs, and back exactly."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from attention_lab.models.data.pictures import BLANK, PictureParts, digits, hide_parts


@pytest.mark.parametrize("cut", ["rows", "2x2", "4x4"])
def test_parts_go_back_to_pictures_exactly(cut):
    parts = PictureParts(cut)
    pictures = torch.rand(3, 8, 8, generator=torch.Generator().manual_seed(0))
    assert torch.equal(parts.join(parts.split(pictures)), pictures)


@pytest.mark.parametrize("cut", ["rows", "2x2", "4x4"])
def test_every_pixel_is_where_a_loop_puts_it(cut):
    parts = PictureParts(cut)
    picture = torch.arange(64.0).view(1, 8, 8)
    found = parts.split(picture)[0].tolist()
    across = 8 // parts.width
    for row in range(8):
        for column in range(8):
            position = row // parts.height * across + column // parts.width
            channel = row % parts.height * parts.width + column % parts.width
            assert found[position][channel] == picture[0, row, column]


def test_a_share_of_parts_is_hidden_and_the_rest_stays():
    parts = torch.rand(200, 8, 3, generator=torch.Generator().manual_seed(0))
    seen = hide_parts(parts, 0.25, torch.Generator().manual_seed(1))
    blank = (seen == BLANK).all(dim=2)
    assert (blank.sum(dim=1) == 2).all()
    assert torch.equal(seen[~blank], parts[~blank])
    assert (blank.sum(dim=0) > 20).all()  # every part is hidden somewhere: 50 times are expected
    assert torch.equal(hide_parts(parts, 0.0, torch.Generator()), parts)


# Splits share nothing and stay what they are; PCA against scikit-learn's.


def test_digits_are_scikit_learns_and_a_fifth_is_held_out():
    found = digits()
    assert found.training.shape == (1438, 8, 8)
    assert found.held_out.shape == (359, 8, 8)
    together = sorted(torch.cat((found.training, found.held_out)).mul(16).flatten(1).int().tolist())
    assert together == sorted(load_digits().data.astype(int).tolist())
    labels = torch.cat((found.parts["training"][1], found.parts["held out"][1])).bincount().tolist()
    assert labels == np.bincount(load_digits().target).tolist()


def test_no_digit_is_on_both_sides_and_labels_stay_with_theirs():
    found, original = digits(), load_digits()
    label_of = {tuple(row): label for row, label in zip(original.data.tolist(), original.target, strict=True)}
    sides = [
        {tuple(row) for row in side.mul(16).flatten(1).tolist()} for side in (found.training, found.held_out)
    ]
    assert not sides[0] & sides[1]
    for row, label in zip(
        found.held_out.mul(16).flatten(1).tolist(), found.parts["held out"][1], strict=True
    ):
        assert label_of[tuple(row)] == label


@pytest.mark.parametrize("n_components", [3, 20, 64, 99])
def test_pca_is_that_of_scikit_learn(n_components: int):
    found = digits()
    training, held_out = (side.double().flatten(1).numpy() for side in (found.training, found.held_out))
    reference = PCA(min(n_components, 64), svd_solver="full").fit(training)
    expected = reference.inverse_transform(reference.transform(held_out))
    rebuilt = found.pca(found.held_out, n_components).flatten(1).numpy()
    np.testing.assert_allclose(rebuilt, expected, atol=1e-5)


def test_pca_without_components_knows_only_the_mean():
    found = digits()
    expected = found.training.double().mean(dim=0).expand(359, 8, 8)
    torch.testing.assert_close(found.pca(found.held_out, 0).double(), expected, atol=1e-6, rtol=0)
