"""What the steps compute from: four words of Explore's sentence, three French ones that ask, and matrices."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

# The pronoun's row of W_Q asks for something living and for a state; a pronoun itself offers no key and no
# value. Each hidden unit of additive attention listens to one channel, unless the query is about another.
_BY_HAND: dict[str, list[list[float]]] = {
    "W_Q": [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 1]],
    "W_K": [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]],
    "W_V": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]],
    "W_O": [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0.5, 0, 0, 1]],
    "W_a": [[0, -2, 0, -2], [-2, 0, 0, -2], [-2, -2, 0, 0]],
    "U_a": [[1.5, 0, 0, 0], [0, 1.5, 0, 0], [0, 0, 0, 1.5]],
}
_V_A_BY_HAND = [3.0, 3.0, 3.0]


def embeddings(words: Sequence[str], rows: Sequence[Sequence[float]]) -> Float[Tensor, "token channel"]:
    """One row for each word, float64: missing rows are zeros, surplus rows are left out."""
    table = torch.zeros(len(words), len(rows[0]), dtype=torch.float64)
    for i, row in enumerate(rows[: len(words)]):
        table[i] = torch.tensor(row)
    return table


def matrices(seed: int | None = None) -> dict[str, Tensor]:
    """The learnable matrices: made by hand, to be understood, or drawn from a standard normal distribution.

    W_Q, W_K, W_V, W_O [channel, channel], W_a, U_a [hidden, channel], v_a [hidden], float64. Random ones are
    rounded to one decimal, so that the numbers on the screen are the numbers themselves.
    """
    if seed is None:
        by_hand = {name: torch.tensor(rows, dtype=torch.float64) for name, rows in _BY_HAND.items()}
        return by_hand | {"v_a": torch.tensor(_V_A_BY_HAND, dtype=torch.float64)}
    generator = torch.Generator().manual_seed(seed)
    shapes = {name: (len(rows), len(rows[0])) for name, rows in _BY_HAND.items()} | {"v_a": (3,)}
    return {
        name: torch.randn(shape, generator=generator, dtype=torch.float64).round(decimals=1)
        for name, shape in shapes.items()
    }


def inputs(
    X: Float[Tensor, "token channel"],
    Q: Float[Tensor, "query channel"],
    seed: int | None = None,
) -> dict[str, Tensor]:
    """Every tensor that some step takes, by name; the single query q is the first row of Q."""
    return {"X": X, "Q": Q, "q": Q[0]} | matrices(seed)
