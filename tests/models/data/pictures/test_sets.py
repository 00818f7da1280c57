"""Splits share nothing and stay what they are; PCA against scikit-learn's."""

import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from models.data.pictures import digits, idx


def test_digits_are_scikit_learns_and_a_fifth_is_held_out():
    found = digits()
    assert found.training.shape == (1438, 8, 8)
    assert found.held_out.shape == (359, 8, 8)
    assert found.size == (8, 8)
    assert found.n_classes == 10
    together = sorted(torch.cat((found.training, found.held_out)).mul(16).flatten(1).int().tolist())
    assert together == sorted(load_digits().data.astype(int).tolist())
    labels = torch.cat((found.training_labels, found.held_out_labels)).bincount().tolist()
    assert labels == np.bincount(load_digits().target).tolist()


def test_no_digit_is_on_both_sides_and_labels_stay_with_theirs():
    found, original = digits(), load_digits()
    label_of = {tuple(row): label for row, label in zip(original.data.tolist(), original.target, strict=True)}
    sides = [
        {tuple(row) for row in side.mul(16).flatten(1).tolist()} for side in (found.training, found.held_out)
    ]
    assert not sides[0] & sides[1]
    for row, label in zip(found.held_out.mul(16).flatten(1).tolist(), found.held_out_labels, strict=True):
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


def write_pair(folder: Path, n_pictures: int, n_labels: int) -> tuple[Path, Path]:
    images, labels = folder / "images", folder / "labels"
    pixels = np.arange(n_pictures * 6) % 256
    images.write_bytes(bytes([0, 0, 8, 3]) + struct.pack(">III", n_pictures, 2, 3) + bytes(pixels.tolist()))
    labels.write_bytes(bytes([0, 0, 8, 1]) + struct.pack(">I", n_labels) + bytes(range(n_labels)))
    return images, labels


def test_an_idx_pair_keeps_pictures_with_their_labels(tmp_path: Path):
    found = idx(write_pair(tmp_path, 10, 10))
    assert (len(found.training), len(found.held_out)) == (8, 2)
    pictures = torch.cat((found.training, found.held_out))
    labels = torch.cat((found.training_labels, found.held_out_labels))
    for picture, label in zip(pictures, labels.tolist(), strict=True):
        expected = np.arange(6 * label, 6 * label + 6).reshape(2, 3) / 255
        np.testing.assert_allclose(picture.numpy(), expected, atol=1e-7)


def test_a_pair_that_changed_is_read_again(tmp_path: Path):
    assert len(idx(write_pair(tmp_path, 10, 10)).training) == 8
    assert len(idx(write_pair(tmp_path, 20, 20)).training) == 16


def test_pairs_that_do_not_belong_together_are_refused(tmp_path: Path):
    with pytest.raises(
        ValueError, match="'images' has 10 pictures, but 'labels' has 9 labels; choose two files"
    ):
        idx(write_pair(tmp_path, 10, 9))
    with pytest.raises(ValueError, match="'images' has 4 pictures, too few to hold any out; give 5 or more"):
        idx(write_pair(tmp_path, 4, 4))


def test_two_pairs_are_training_and_held_out_as_they_stand(tmp_path: Path):
    folders = [tmp_path / "training", tmp_path / "held-out"]
    for folder in folders:
        folder.mkdir()
    found = idx(write_pair(folders[0], 9, 9), write_pair(folders[1], 5, 5))
    assert found.training_labels.tolist() == list(range(9))
    assert found.held_out_labels.tolist() == list(range(5))
    assert torch.equal(found.held_out, found.training[:5])
    images, labels = write_pair(folders[1], 6, 6)
    images.write_bytes(images.read_bytes()[:4] + struct.pack(">III", 6, 3, 2) + bytes(36))
    with pytest.raises(ValueError, match="'images' has pictures of another size than 'images'; choose files"):
        idx(write_pair(folders[0], 9, 9), (images, labels))
