"""What the page starts from, as plain numbers: importing them needs no torch."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.models.fields import Table, characters, number, one_of, setting, table, whole

# Steps: four words of Explore's sentence; the French ones that are to be written ask about them.
CHANNELS = ("living", "place", "pronoun", "state")
TOKENS = {
    "animal": (1.5, 0.0, 0.0, 0.5),
    "street": (0.0, 1.5, 0.0, 0.0),
    "it": (0.5, 0.5, 1.5, 0.0),
    "tired": (0.5, 0.0, 0.0, 1.5),
}
QUERIES = {"il": (2.0, 0.0, 1.0, 0.0), "rue": (0.0, 2.0, 0.0, 0.0), "fatigué": (0.0, 0.0, 0.0, 2.0)}
N_HEADS = (1, 2, 4)

# Worked example.
VALUES = ((4.0, 0.0, 2.0, -2.0), (-4.0, 4.0, 0.0, 2.0))
DOTS = ((112.0, 96.0),)

# Order.
SENTENCE = "the dog bites the man"
REORDERED = "the man bites the dog"
MAX_WORDS = 10

# Films and viewers.
FEATURES = ("action", "romance", "comedy")
FILMS = {
    "Space Chase": (2.0, -1.0, 1.0),
    "One Last Letter": (-1.0, 2.0, 0.0),
    "Three Uncles": (0.0, 1.0, 2.0),
    "Agents in Love": (2.0, 2.0, 0.0),
}
VIEWERS = {"Ana": (2.0, -1.0, 0.0), "Bo": (-1.0, 2.0, 0.0), "Chi": (-1.0, 0.0, 2.0), "Dev": (1.0, 1.0, 0.0)}


# The pronoun's row of W_Q asks for something living and for a state; a pronoun itself offers no key and no
# value. Each hidden unit of additive attention listens to one channel, unless the query is about another.
_BY_HAND: dict[str, list[Any]] = {
    "W_Q": [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 1]],
    "W_K": [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]],
    "W_V": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]],
    "W_O": [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0.5, 0, 0, 1]],
    "W_a": [[0, -2, 0, -2], [-2, 0, 0, -2], [-2, -2, 0, 0]],
    "U_a": [[1.5, 0, 0, 0], [0, 1.5, 0, 0], [0, 0, 0, 1.5]],
    "v_a": [3, 3, 3],
}


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
    by_hand = {name: torch.tensor(rows, dtype=torch.float64) for name, rows in _BY_HAND.items()}
    if seed is None:
        return by_hand
    generator = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(matrix.shape, generator=generator, dtype=torch.float64).round(decimals=1)
        for name, matrix in by_hand.items()
    }


def given_tensors(
    X: Float[Tensor, "token channel"], Q: Float[Tensor, "query channel"], seed: int | None = None
) -> dict[str, Tensor]:
    """Every tensor that some step takes, by name; the single query q is the first row of Q."""
    return {"X": X, "Q": Q, "q": Q[0]} | matrices(seed)


STEP_TEXTS = tomllib.loads(Path(__file__).with_name("steps.toml").read_text(encoding="utf-8"))
STEP_NAMES = {key: texts["name"] for key, texts in STEP_TEXTS.items()}
MOST = 6
LIMIT = 100
_CHANNELS = (len(CHANNELS),) * 2
_FEATURES = (len(FEATURES),) * 2


@dataclass(frozen=True)
class Inputs:
    """All parts' inputs; each field's reader checks what a link gives."""

    step: str = setting("free", one_of(STEP_NAMES), "Step", control="radio")
    tokens: str = setting(" ".join(TOKENS), characters(200), "Words")
    X: Table = setting(tuple(TOKENS.values()), table((1, MOST), _CHANNELS, limit=LIMIT))
    queries: str = setting(" ".join(QUERIES), characters(200), "Words that ask (v0 to v4)")
    Q: Table = setting(tuple(QUERIES.values()), table((1, MOST), _CHANNELS, limit=LIMIT))
    matrices: str = setting("by hand", one_of(("by hand", "random")), "Matrices", control="segments")
    seed: int = setting(0, whole(0, 999), "Seed of random matrices")
    n_heads: int = setting(2, one_of(N_HEADS), "Heads", control="segments")
    dots: Table = setting(DOTS, table((1, 1), (2, 2), limit=1_000))
    V: Table = setting(VALUES, table((2, 2), (4, 4), limit=LIMIT))
    divisor: float = setting(8.0, number(1, 32))
    sentence: str = setting(SENTENCE, characters(200), "Sentence")
    reordered: str = setting(REORDERED, characters(200), "The same words in another order")
    order_seed: int = setting(0, whole(0, 999), "Seed of the weights")
    viewers: str = setting(", ".join(VIEWERS), characters(200), "Viewers")
    tastes: Table = setting(tuple(VIEWERS.values()), table((1, MOST), _FEATURES, limit=LIMIT))
    films: str = setting(", ".join(FILMS), characters(200), "Films", control="area")
    features: Table = setting(tuple(FILMS.values()), table((1, MOST), _FEATURES, limit=LIMIT))


def names(text: str, what: str, *, separator: str | None = None) -> list[str]:
    """The names in a text, between commas or (by default) spaces.

    Raises ValueError, with a sentence, unless there are 1 to 6.
    """
    entries = [name.strip() for name in text.split(separator) if name.strip()]
    if not 1 <= len(entries) <= MOST:
        raise ValueError(
            f"There are {len(entries)} {what}, but this part shows 1 to {MOST}; change the text."
        )
    return entries
