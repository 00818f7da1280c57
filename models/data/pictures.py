"""Loads the handwritten digits, splits them for good, cuts them into parts and hides some of these."""

import gzip
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

SIDE = 8
"""Pixels in a row and in a column of a picture."""
N_CLASSES = 10

# A picture as a sequence of vectors: its rows, or square patches (Dosovitskiy et al. 2021, 3.1).

Cut = Literal["rows", "2x2", "4x4"]


@dataclass(frozen=True)
class PictureParts:
    """How pictures are cut: whole rows, or square patches in reading order."""

    cut: Cut = "rows"

    @property
    def height(self) -> int:
        """The height of a part, in pixels."""
        return 1 if self.cut == "rows" else int(self.cut.partition("x")[0])

    @property
    def width(self) -> int:
        """The width of a part, in pixels."""
        return SIDE if self.cut == "rows" else self.height

    @property
    def size(self) -> int:
        """Pixels of a part: the channels of its vector."""
        return self.height * self.width

    @property
    def grid(self) -> tuple[int, int]:
        """Parts from top to bottom, and from left to right."""
        return SIDE // self.height, SIDE // self.width

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
        self, pictures: Float[Tensor, "picture 8 8"]
    ) -> Float[Tensor, "picture {self.count} {self.size}"]:
        """Pictures to parts [picture, position, channel]."""
        blocks = pictures.unflatten(2, (-1, self.width)).unflatten(1, (-1, self.height))
        return blocks.transpose(2, 3).flatten(3).flatten(1, 2)

    def join(self, parts: Float[Tensor, "picture {self.count} {self.size}"]) -> Float[Tensor, "picture 8 8"]:
        """Parts to pictures, undoing `split` exactly."""
        blocks = parts.unflatten(2, (self.height, self.width)).unflatten(1, self.grid)
        return blocks.transpose(2, 3).flatten(3).flatten(1, 2)


# Training hides parts of pictures, so that a model must look at the others.

BLANK = -1.0
"""Every channel of a part that is hidden, or that is no part of the picture: darker than any picture."""


def hide_parts(
    parts: Float[Tensor, "picture position channel"], share: float, generator: torch.Generator
) -> Float[Tensor, "picture position channel"]:
    """Makes a share of the parts (rounded) blank, others in every picture (He et al. 2021, 3)."""
    n_hidden = round(share * parts.shape[1])
    order = torch.rand(parts.shape[:2], generator=generator).argsort(dim=1)
    return parts.masked_fill((order < n_hidden)[:, :, None], BLANK)


# Labelled pictures, split for good into those to train on and those held out.

_HELD_OUT_SHARE = 5  # one picture in five
_TEST_SHARE = 10  # one picture in ten, of all
_WHITE = 16


@dataclass(frozen=True, eq=False)
class PictureSet:
    """Pictures [picture, row, column] in 0..1 and what they show, of "training", "held out" and "test", which
    share none.
    """

    parts: dict[str, tuple[Float[Tensor, "picture row column"], Int[Tensor, "picture"]]]

    @property
    def training(self) -> Float[Tensor, "picture row column"]:
        """All that are trained on."""
        return self.parts["training"][0]

    @property
    def held_out(self) -> Float[Tensor, "other row column"]:
        """All that are held out."""
        return self.parts["held out"][0]

    @cached_property
    def mean(self) -> Float[Tensor, "row column"]:
        """The mean training picture: the best guess about an unknown picture."""
        return (self.training.double().sum(dim=0) / len(self.training)).float()

    @cached_property
    def _axes(self) -> Float[Tensor, "pixel axis"]:
        """Principal axes of the training pictures, that of the largest variance first."""
        centred = (self.training - self.mean).flatten(1).double()
        return torch.linalg.eigh(centred.T @ centred).eigenvectors.flip(1)

    def pca(
        self, pictures: Float[Tensor, "some row column"], n_components: int
    ) -> Float[Tensor, "some row column"]:
        """Pictures rebuilt from their first principal components (all of them where there are no more)."""
        axes = self._axes[:, :n_components].to(pictures.dtype)
        centred = (pictures - self.mean).flatten(1)
        return (centred @ axes @ axes.T).unflatten(1, (SIDE, SIDE)) + self.mean


@lru_cache
def digits(*, with_test: bool = False) -> PictureSet:
    """The 1,797 handwritten digits of 8 by 8 pixels that come with scikit-learn (Alpaydin & Kaynak 1998).

    A fifth is held out; with a test, a tenth of all is taken for it from those to train on. All are always
    the same, and a picture that is there twice is of one part: copies of a test picture are not trained on,
    and what is held out is no test. The file is read without importing scikit-learn, which takes seconds and
    150 MB. Raises ValueError where it is not installed.
    """
    package = find_spec("sklearn")
    if package is None or package.origin is None:
        raise ValueError("scikit-learn, which holds the digits, is not installed; install requirements.txt")
    with gzip.open(Path(package.origin).parent / "datasets" / "data" / "digits.csv.gz", "rt") as file:
        rows = torch.from_numpy(np.loadtxt(file, delimiter=","))  # 64 pixels and the label
    pictures, labels = rows[:, :-1].float().unflatten(1, (SIDE, SIDE)) / _WHITE, rows[:, -1].long()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0)).tolist()
    n_held_out = len(order) // _HELD_OUT_SHARE
    held_out, trained, tested = order[:n_held_out], order[n_held_out:], list[int]()
    if with_test:
        keys = [picture.numpy().tobytes() for picture in pictures]
        known = {keys[at] for at in held_out}
        n = (len(trained) + len(known)) // _TEST_SHARE
        shuffled = torch.randperm(len(trained), generator=torch.Generator().manual_seed(1)).tolist()
        tested = [trained[at] for at in shuffled if keys[trained[at]] not in known][:n]
        of_test = {keys[at] for at in tested}
        trained = [at for at in trained if keys[at] not in of_test]
    places = {"training": trained, "held out": held_out, "test": tested}
    return PictureSet({part: (pictures[at], labels[at]) for part, at in places.items()})
