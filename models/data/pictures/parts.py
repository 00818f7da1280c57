"""A picture as a sequence of vectors: its rows, or square patches (Dosovitskiy et al. 2021, 3.1)."""

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor

Cut = Literal["rows", "2x2", "4x4", "7x7"]
MOST_PARTS = 64


@dataclass(frozen=True)
class Parts:
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
