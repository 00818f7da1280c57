"""IDX files byte by byte, plain and gzipped, and every way in which they can be broken."""

import gzip
import re
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from models.data.pictures.idx import MAX_BYTES, read_idx

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
