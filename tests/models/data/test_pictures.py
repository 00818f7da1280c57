"""Pictures cut into parts: every pixel where it belongs, and back exactly."""

import gzip
import re
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from attention_lab.models.data.pictures import (
    BLANK,
    MAX_BYTES,
    PictureParts,
    digits,
    hide_parts,
    idx,
    move,
    read_idx,
)


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "cut"),
    [(8, 8, "rows"), (8, 8, "2x2"), (8, 8, "4x4"), (28, 28, "7x7"), (4, 6, "2x2"), (3, 5, "rows")],
)
def test_parts_go_back_to_pictures_exactly(n_rows: int, n_columns: int, cut):
    parts = PictureParts(n_rows, n_columns, cut)
    pictures = torch.rand(3, n_rows, n_columns, generator=torch.Generator().manual_seed(0))
    assert torch.equal(parts.join(parts.split(pictures)), pictures)


@pytest.mark.parametrize("cut", ["rows", "2x2"])
def test_every_pixel_is_where_a_loop_puts_it(cut):
    parts = PictureParts(4, 6, cut)
    picture = torch.arange(24.0).view(1, 4, 6)
    found = parts.split(picture)[0].tolist()
    across = 6 // parts.width
    for row in range(4):
        for column in range(6):
            position = row // parts.height * across + column // parts.width
            channel = row % parts.height * parts.width + column % parts.width
            assert found[position][channel] == picture[0, row, column]


def test_labels_name_rows_and_patches():
    assert PictureParts(3, 5).labels == ["row 1", "row 2", "row 3"]
    assert PictureParts(4, 6, "2x2").labels == [
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
        PictureParts(*sizes)


# IDX files byte by byte, plain and gzipped, and every way in which they can be broken.

PICTURES = bytes([0, 0, 8, 3]) + struct.pack(">III", 2, 2, 3) + bytes(range(12))
LABELS = bytes([0, 0, 8, 1]) + struct.pack(">I", 2) + bytes([7, 1])


def stored(folder: Path, content: bytes) -> Path:
    path = folder / "some-idx"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("packed", [lambda content: content, gzip.compress])
def test_bytes_become_arrays(tmp_path: Path, packed):
    pictures = read_idx(stored(tmp_path, packed(PICTURES)), 3)
    assert pictures.dtype == np.uint8
    assert pictures.tolist() == [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]
    assert read_idx(stored(tmp_path, packed(LABELS)), 1).tolist() == [7, 1]


@pytest.mark.parametrize(
    ("content", "n_axes", "sentence"),
    [
        (b"", 3, "'some-idx' starts with 0x(nothing), but an IDX file of pictures starts with 0x0000"),
        (LABELS, 3, "starts with 0x00000801, but an IDX file of pictures starts with 0x00000803; choose the"),
        (
            PICTURES,
            1,
            "starts with 0x00000803, but an IDX file of labels starts with 0x00000801; choose the file of",
        ),
        (b"\x89PNG....", 3, "starts with 0x89504e47, but"),
        (PICTURES[:9], 3, "'some-idx' ends before its sizes do; copy or download it again"),
        (PICTURES[:4] + bytes(12), 3, "states the sizes (0, 0, 0), which make 0 bytes"),
        (PICTURES[:4] + b"\xff" * 12, 3, f"and not 1 to {MAX_BYTES:,}; choose a smaller or a whole file"),
        (
            PICTURES[:4] + struct.pack(">III", 2, 65, 3) + bytes(390),
            3,
            "states the sizes (2, 65, 3); at most 1,000,000 pictures of 64 by 64 pixels are read: give fewer",
        ),
        (LABELS[:4] + struct.pack(">I", 1_000_001), 1, "states the sizes (1000001,); at most 1,000,000"),
        (PICTURES[:-1], 3, "states 12 bytes and holds 11; copy or download it again"),
        (PICTURES + b"!", 3, "states 12 bytes and holds more; copy or download it again"),
        (
            gzip.compress(PICTURES, mtime=0)[:-9],
            3,
            "'some-idx' is no whole gzip file; copy or download it again",
        ),
        (b"\x1f\x8b" + bytes(30), 3, "is no whole gzip file"),
    ],
)
def test_broken_files_are_refused_in_words(tmp_path: Path, content: bytes, n_axes: int, sentence: str):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        read_idx(stored(tmp_path, content), n_axes)


def test_a_gzip_whose_middle_is_damaged_is_refused(tmp_path: Path):
    content = bytearray(gzip.compress(np.random.default_rng(0).bytes(5000)))
    whole = bytearray(gzip.compress(PICTURES[:4] + struct.pack(">III", 50, 10, 10) + bytes(content[:5000])))
    whole[len(whole) // 2] ^= 0xFF
    with pytest.raises(ValueError, match="copy or download it again"):
        read_idx(stored(tmp_path, bytes(whole)), 3)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path):
    with pytest.raises(ValueError, match=r"'none' cannot be read \(No such file or directory\); choose"):
        read_idx(tmp_path / "none", 3)
    with pytest.raises(ValueError, match="cannot be read"):
        read_idx(tmp_path, 3)


def test_mnist_itself(shared_data: Path):
    """Its first labels, as they are known from everywhere."""
    labels = read_idx(shared_data / "mnist" / "t10k-labels-idx1-ubyte.gz", 1)
    assert labels.shape == (10_000,)
    assert labels[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path):
    """255 kB that unpack to 256 MB; the header is all that is read of them."""
    bomb = gzip.compress(PICTURES[:4] + struct.pack(">III", 400_000, 32, 20) + bytes(256_000_000), 1)
    path = stored(tmp_path, bomb)
    del bomb
    tracemalloc.start()
    with pytest.raises(ValueError, match=re.escape("which make 256,000,000 bytes and not 1 to 64,000,000")):
        read_idx(path, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


# Moved pictures against a loop, hidden parts by count.


def test_moved_pictures_are_whole_moves_with_black_coming_in():
    pictures = torch.rand(40, 5, 4, generator=torch.Generator().manual_seed(0)) + 0.1
    found = move(pictures, 1, torch.Generator().manual_seed(1))
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
    assert torch.equal(move(pictures, 0, torch.Generator()), pictures)


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
