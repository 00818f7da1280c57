"""The IDX format of MNIST (LeCun et al. 1998), plain or gzipped: a few sizes, then bytes."""

import gzip
import math
import zlib
from io import BufferedIOBase
from pathlib import Path

import numpy as np

from models.byte_units import MB
from models.limits import in_force

MAX_BYTES = in_force().picture_file_mb * MB
MAX_PICTURES = in_force().pictures
MAX_SIDE = 64  # pixels: principal axes are sought among as many numbers as a picture has
_GZIP = b"\x1f\x8b"
_BYTES = 8  # the only type of numbers that is read: unsigned bytes


def read_idx(path: Path, n_axes: int) -> np.ndarray:
    """The file's bytes (uint8) with `n_axes` axes: 3 for pictures [picture, row, column], 1 for labels.

    Raises ValueError, with value, rule and remedy, for a file that is missing, damaged, foreign or larger
    than the limit once unpacked; of pictures, for more than a million, and for sides of more than 64 pixels.
    """
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == _GZIP
            raw.seek(0)
            return _read(gzip.GzipFile(fileobj=raw) if zipped else raw, path, n_axes)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ValueError(f"{path.name!r} is no whole gzip file; copy or download it again") from None
    except OSError as error:
        raise ValueError(
            f"{path.name!r} cannot be read ({error.strerror}); choose a file that is there"
        ) from None


def _read(file: BufferedIOBase, path: Path, n_axes: int) -> np.ndarray:
    start, wanted = file.read(4), bytes([0, 0, _BYTES, n_axes])
    if start != wanted:
        kind = "pictures" if n_axes == 3 else "labels"
        raise ValueError(
            f"{path.name!r} starts with 0x{start.hex() or '(nothing)'}, but an IDX file of {kind} "
            f"starts with 0x{wanted.hex()}; choose the file of {kind}"
        )
    header = file.read(4 * n_axes)
    if len(header) < 4 * n_axes:
        raise ValueError(f"{path.name!r} ends before its sizes do; copy or download it again")
    shape = tuple(np.frombuffer(header, ">u4").tolist())
    size = math.prod(shape)
    _check(path.name, shape, size)
    content = file.read(size + 1)
    if len(content) != size:
        found = f"{len(content):,}" if len(content) < size else "more"
        raise ValueError(f"{path.name!r} states {size:,} bytes and holds {found}; copy or download it again")
    return np.frombuffer(content, np.uint8).reshape(shape)


def _check(name: str, shape: tuple[int, ...], size: int) -> None:
    """Refuses sizes that are too large, before anything is read. Raises ValueError."""
    if not 0 < size <= MAX_BYTES:
        raise ValueError(
            f"{name!r} states the sizes {shape}, which make {size:,} bytes and not 1 to {MAX_BYTES:,}; "
            "choose a smaller or a whole file"
        )
    if shape[0] > MAX_PICTURES or max(shape[1:], default=1) > MAX_SIDE:
        raise ValueError(
            f"{name!r} states the sizes {shape}; at most {MAX_PICTURES:,} pictures of {MAX_SIDE} by "
            f"{MAX_SIDE} pixels are read: give fewer, or smaller ones"
        )
