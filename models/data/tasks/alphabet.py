"""Random tokens, read twice in a row: a text of which nothing can be known but that it repeats."""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

from models.data.tasks.batch import Reading

MOST = 25
"""Different tokens of such a text, as in Olsson et al. 2022."""
LEAST = 2


class Alphabet(NamedTuple):
    """The tokens that texts of a model are made of.

    names: of every id. own: the ids of tokens that are not special. before, after: by side, "encoder" or
    "decoder", the ids that stand around a text. length: the most tokens that texts have, where it is less
    than the model can read.
    """

    names: Sequence[str]
    own: Sequence[int]
    before: Mapping[str, Sequence[int]]
    after: Mapping[str, Sequence[int]] = {}
    length: int | None = None


class Repeated(NamedTuple):
    """A reading in which `n` tokens stand twice, from the position `starts[side]` on."""

    reading: Reading
    starts: dict[str, int]
    n: int


def repeated(alphabet: Alphabet, max_len: int, seed: int) -> Repeated:
    """Different tokens of an alphabet, drawn alike often, and the same again; each side has its own.

    There are 25 of them, or as many as the alphabet has and the length takes. Raises ValueError where these
    are fewer than 2.
    """
    room = min(max_len, alphabet.length or max_len)
    longest = max(len(ids) + len(alphabet.after.get(side, ())) for side, ids in alphabet.before.items())
    n = min(MOST, (room - longest) // 2, len(alphabet.own))
    if n < LEAST:
        raise ValueError(
            f"a text of {room} tokens, of {len(alphabet.own)} different ones, has no room for {LEAST} random "
            "tokens twice; choose a model of longer texts"
        )
    inputs, tokens = [], {}
    for side, before in alphabet.before.items():
        half = random.Random(f"{seed} {side}").sample(alphabet.own, n)
        ids = [*before, *half, *half, *alphabet.after.get(side, ())]
        inputs.append(torch.tensor([ids]))
        tokens[side] = [alphabet.names[id_] for id_ in ids]
    starts = {side: len(before) for side, before in alphabet.before.items()}
    return Repeated(Reading(tuple(inputs), tokens), starts, n)
