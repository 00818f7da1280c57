"""Labelled pictures: read from IDX files, split for good, moved and hidden in part, and cut into parts."""

import gzip
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.util import find_spec
from io import BufferedIOBase
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor
from torch.nn.functional import pad

from ..byte_units import MB
from ..limits import in_force

# A picture as a sequence of vectors: its rows, or square patches (Dosovitskiy et al. 2021, 3.1).

Cut = Literal["rows", "2x2", "4x4", "7x7"]
MOST_PARTS = 64


@dataclass(frozen=True)
class PictureParts:
    """How pictures of `n_rows` by `n_columns` are cut: whole rows, or square patches in reading order.

    Raises ValueError where the parts do not fit the picture, or are more than 64.
    """

    n_rows: int
    n_columns: int
    cut: Cut = "rows"

    def __post_init__(self) -> None:
        if self.n_rows % self.height or self.n_columns % self.width:
            raise ValueError(
                f"parts={self.cut!r} do not divide pictures of {self.n_rows} by {self.n_columns}; "
                "try parts='rows'"
            )
        if self.count > MOST_PARTS:
            raise ValueError(
                f"pictures of {self.n_rows} by {self.n_columns} have {self.count} parts ({self.cut}), more "
                f"than {MOST_PARTS}; choose larger parts, or smaller pictures"
            )

    @property
    def height(self) -> int:
        """The height of a part, in pixels."""
        return 1 if self.cut == "rows" else int(self.cut.partition("x")[0])

    @property
    def width(self) -> int:
        """The width of a part, in pixels."""
        return self.n_columns if self.cut == "rows" else self.height

    @property
    def size(self) -> int:
        """Pixels of a part: the channels of its vector."""
        return self.height * self.width

    @property
    def grid(self) -> tuple[int, int]:
        """Parts from top to bottom, and from left to right."""
        return self.n_rows // self.height, self.n_columns // self.width

    @property
    def count(self) -> int:
        """Parts of a picture: the positions that a model reads."""
        return self.grid[0] * self.grid[1]

    @property
    def labels(self) -> list[str]:
        """ "row 3", or "patch 2,1" for the second from the top, the first from the left."""
        down, across = self.grid
        if self.cut == "rows":
            return [f"row {row + 1}" for row in range(down)]
        return [f"patch {row + 1},{column + 1}" for row in range(down) for column in range(across)]

    def split(
        self, pictures: Float[Tensor, "picture {self.n_rows} {self.n_columns}"]
    ) -> Float[Tensor, "picture {self.count} {self.size}"]:
        """Pictures to parts [picture, position, channel]."""
        blocks = pictures.unflatten(2, (-1, self.width)).unflatten(1, (-1, self.height))
        return blocks.transpose(2, 3).flatten(3).flatten(1, 2)

    def join(
        self, parts: Float[Tensor, "picture {self.count} {self.size}"]
    ) -> Float[Tensor, "picture {self.n_rows} {self.n_columns}"]:
        """Parts to pictures, undoing `split` exactly."""
        blocks = parts.unflatten(2, (self.height, self.width)).unflatten(1, self.grid)
        return blocks.transpose(2, 3).flatten(3).flatten(1, 2)


# The IDX format of MNIST (LeCun et al. 1998), plain or gzipped: a few sizes, then bytes.

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
    start, magic = file.read(4), bytes([0, 0, _BYTES, n_axes])
    if start != magic:
        kind = "pictures" if n_axes == 3 else "labels"
        raise ValueError(
            f"{path.name!r} starts with 0x{start.hex() or '(nothing)'}, but an IDX file of {kind} "
            f"starts with 0x{magic.hex()}; choose the file of {kind}"
        )
    header = file.read(4 * n_axes)
    if len(header) < 4 * n_axes:
        raise ValueError(f"{path.name!r} ends before its sizes do; copy or download it again")
    shape = tuple(np.frombuffer(header, ">u4").tolist())
    size = math.prod(shape)
    if not 0 < size <= MAX_BYTES:  # refused before anything is read
        raise ValueError(
            f"{path.name!r} states the sizes {shape}, which make {size:,} bytes and not 1 to {MAX_BYTES:,}; "
            "choose a smaller or a whole file"
        )
    if shape[0] > MAX_PICTURES or max(shape[1:], default=1) > MAX_SIDE:
        raise ValueError(
            f"{path.name!r} states the sizes {shape}; at most {MAX_PICTURES:,} pictures of {MAX_SIDE} by "
            f"{MAX_SIDE} pixels are read: give fewer, or smaller ones"
        )
    content = file.read(size + 1)
    if len(content) != size:
        n_held = f"{len(content):,}" if len(content) < size else "more"
        raise ValueError(f"{path.name!r} states {size:,} bytes and holds {n_held}; copy or download it again")
    return np.frombuffer(content, np.uint8).reshape(shape)


# What training does to pictures so that a model must look harder: moving them, and hiding parts.

BLANK = -1.0
"""Every channel of a part that is hidden, or that is no part of the picture: darker than any picture."""


def move(
    pictures: Float[Tensor, "picture row column"], most: int, generator: torch.Generator
) -> Float[Tensor, "picture row column"]:
    """Each picture moved by up to `most` pixels up or down and left or right; black moves in."""
    n, n_rows, n_columns = pictures.shape
    down, right = torch.randint(0, 2 * most + 1, (2, n, 1), generator=generator)
    rows = torch.arange(n_rows) + down  # [picture, row] of the padded pictures
    columns = torch.arange(n_columns) + right
    framed = pad(pictures, (most, most, most, most))
    return framed[torch.arange(n)[:, None, None], rows[:, :, None], columns[:, None, :]]


def hide_parts(
    parts: Float[Tensor, "picture position channel"], share: float, generator: torch.Generator
) -> Float[Tensor, "picture position channel"]:
    """Makes a share of the parts (rounded) blank, others in every picture (He et al. 2021, 3)."""
    n_hidden = round(share * parts.shape[1])
    order = torch.rand(parts.shape[:2], generator=generator).argsort(dim=1)
    return parts.masked_fill((order < n_hidden)[:, :, None], BLANK)


# Labelled pictures, split for good into those to train on and those held out.

_SPLIT_SEED = 0
_TOGETHER = 8_192  # pictures in double precision at once
_HELD_OUT_SHARE = 5  # one picture in five
_TEST_SHARE = 10  # one picture in ten, of all
_TEST_SEED = 1
_WHITE = 255  # in IDX files


@dataclass(frozen=True, eq=False)
class PictureSet:
    """Pictures and what they show, from 0; training, held-out and test ones share none.

    Kept as levels of grey, 0 to `white`, a byte a pixel: a quarter of what numbers in 0..1 take.
    """

    training_levels: UInt8[Tensor, "picture row column"]
    training_labels: Int[Tensor, "picture"]
    held_out_levels: UInt8[Tensor, "other row column"]
    held_out_labels: Int[Tensor, "other"]
    white: int
    test_levels: UInt8[Tensor, "third row column"] | None = None
    test_labels: Int[Tensor, "third"] | None = None

    def part(self, split: str) -> tuple[UInt8[Tensor, "some row column"], Int[Tensor, "some"]]:
        """Levels and labels of "training", "held out" or "test", which is empty where none was cut off."""
        if split == "training":
            return self.training_levels, self.training_labels
        if split == "held out" or self.test_levels is None or self.test_labels is None:
            end = None if split == "held out" else 0
            return self.held_out_levels[:end], self.held_out_labels[:end]
        return self.test_levels, self.test_labels

    @cached_property
    def with_test(self) -> "PictureSet":
        """The same with a tenth of all pictures for a test, always the same, which are trained on here.

        A picture that is there twice is of one part: copies of a test picture are not trained on, and what is
        held out is no test.
        """
        keys = [level.numpy().tobytes() for level in self.training_levels]
        held_out = {level.numpy().tobytes() for level in self.held_out_levels}
        order = torch.randperm(len(keys), generator=torch.Generator().manual_seed(_TEST_SEED)).tolist()
        n = (len(keys) + len(held_out)) // _TEST_SHARE
        chosen = [at for at in order if keys[at] not in held_out][:n]
        tested = {keys[at] for at in chosen}
        trained = [at for at, key in enumerate(keys) if key not in tested]
        levels, labels = self.training_levels, self.training_labels
        return PictureSet(
            levels[trained], labels[trained], self.held_out_levels, self.held_out_labels, self.white,
            levels[chosen], labels[chosen],
        )  # fmt: skip

    @property
    def training(self) -> Float[Tensor, "picture row column"]:
        """All that are trained on, in 0..1."""
        return self.as_floats(self.training_levels)

    @property
    def held_out(self) -> Float[Tensor, "other row column"]:
        """All that are held out, in 0..1."""
        return self.as_floats(self.held_out_levels)

    def as_floats(self, levels: UInt8[Tensor, "some row column"]) -> Float[Tensor, "some row column"]:
        """Levels as numbers in 0..1."""
        return levels.float() / self.white

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of every picture."""
        return self.training_levels.shape[1], self.training_levels.shape[2]

    @property
    def n_classes(self) -> int:
        return int(max(self.training_labels.max(), self.held_out_labels.max())) + 1

    @cached_property
    def mean(self) -> Float[Tensor, "row column"]:
        """The mean training picture: the best guess about an unknown picture."""
        sums = torch.stack([piece.double().sum(dim=0) for piece in self._pieces()])
        return (sums.sum(dim=0) / len(self.training_levels)).float()

    @cached_property
    def _axes(self) -> Float[Tensor, "pixel axis"]:
        """Principal axes of the training pictures, that of the largest variance first."""
        centred = ((piece - self.mean).flatten(1).double() for piece in self._pieces())
        scatter = torch.stack([piece.T @ piece for piece in centred]).sum(dim=0)
        return torch.linalg.eigh(scatter).eigenvectors.flip(1)

    def _pieces(self) -> Iterator[Float[Tensor, "some row column"]]:
        return map(self.as_floats, self.training_levels.split(_TOGETHER))

    def pca(
        self, pictures: Float[Tensor, "some row column"], n_components: int
    ) -> Float[Tensor, "some row column"]:
        """Pictures rebuilt from their first principal components (all of them where there are no more)."""
        axes = self._axes[:, :n_components].to(pictures.dtype)
        centred = (pictures - self.mean).flatten(1)
        return (centred @ axes @ axes.T).unflatten(1, self.size) + self.mean


def split(levels: Tensor, labels: Tensor, white: int) -> PictureSet:
    """A fifth, always the same, is held out."""
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(_SPLIT_SEED))
    held_out, trained = order[: len(order) // _HELD_OUT_SHARE], order[len(order) // _HELD_OUT_SHARE :]
    return PictureSet(levels[trained], labels[trained], levels[held_out], labels[held_out], white)


@lru_cache(maxsize=1)
def digits() -> PictureSet:
    """The 1,797 handwritten digits of 8 by 8 pixels that come with scikit-learn (Alpaydin & Kaynak 1998).

    Their file is read without importing scikit-learn, which takes seconds and 150 MB. Raises ValueError where
    it is not installed.
    """
    package = find_spec("sklearn")
    if package is None or package.origin is None:
        raise ValueError("scikit-learn is not installed, and the digits are in it; install requirements.txt")
    with gzip.open(Path(package.origin).parent / "datasets" / "data" / "digits.csv.gz", "rt") as file:
        rows = np.loadtxt(file, delimiter=",")  # 64 pixels and the label
    levels = torch.from_numpy(rows[:, :-1].astype(np.uint8)).unflatten(1, (8, 8))
    return split(levels, torch.from_numpy(rows[:, -1].astype(np.int64)), white=16)


Pair = tuple[Path, Path]


def idx(training: Pair, held_out: Pair | None = None) -> PictureSet:
    """What IDX files of pictures and of their labels hold; without a second pair, a fifth is held out.

    Raises ValueError as `read_idx` does, and for files that do not belong together.
    """
    pairs = (training,) if held_out is None else (training, held_out)
    return _idx(pairs, tuple(_stamp(path) for path in chain(*pairs)))


def forget() -> None:
    """Drops what was read of files; who needs it reads it again."""
    _idx.cache_clear()


@lru_cache(maxsize=1)
def _idx(pairs: tuple[Pair, ...], stamps: tuple[object, ...]) -> PictureSet:
    """`stamps`: a file that has changed is read again."""
    sets = [_read_pair(*pair) for pair in pairs]
    if len(sets) == 1:
        return split(*sets[0], white=_WHITE)
    (pictures, labels), (others, their_labels) = sets
    if pictures.shape[1:] != others.shape[1:]:
        raise ValueError(
            f"{pairs[0][0].name!r} has pictures of another size than {pairs[1][0].name!r}; "
            "choose files that belong together"
        )
    return PictureSet(pictures, labels, others, their_labels, _WHITE)


def _read_pair(images: Path, labels: Path) -> tuple[Tensor, Tensor]:
    pictures, numbers = read_idx(images, 3), read_idx(labels, 1)
    if len(pictures) != len(numbers):
        raise ValueError(
            f"{images.name!r} has {len(pictures):,} pictures, but {labels.name!r} has {len(numbers):,} "
            "labels; choose two files that belong together"
        )
    if len(numbers) < _HELD_OUT_SHARE:
        raise ValueError(
            f"{images.name!r} has {len(numbers)} pictures, too few to hold any out; "
            f"give {_HELD_OUT_SHARE} or more"
        )
    return torch.from_numpy(pictures.copy()), torch.from_numpy(numbers.astype(np.int64))


def _stamp(path: Path) -> tuple[int, int] | None:
    if not path.is_file():
        return None
    status = path.stat()
    return status.st_mtime_ns, status.st_size
