"""What the positions page can be asked, and the values that it offers."""

from __future__ import annotations

from dataclasses import dataclass

from pages.shared.link import characters, number, one_of, param, whole

SENTENCE = "the animal did not cross the street because it was too tired"
WIDTHS = (8, 16, 32)
MOST_POSITIONS = 48
SHIFTS = 33
TABLES = {"learned": "learned", "sinusoidal": "sinusoidal"}
BIASES = {"alibi": "ALiBi", "t5": "T5", "transformer-xl": "Transformer-XL"}
HEAD_COUNTS = (4, 6, 8, 12)
WEIGHTS = {"untrained": "untrained", "trained": "trained"}
ORDERS = {"shuffled": "shuffled", "reversed": "read backwards"}
MASKS = {"none": "no mask", "causal": "causal"}
LAYERS = (0, 1)
TIMES = (1, 2, 4)


@dataclass(frozen=True)
class Inputs:
    """All parts' inputs. Positions, shifts and distances count words."""

    d_model: int = param(32, one_of(WIDTHS))
    base: float = param(10_000.0, number(10, 1_000_000))
    start: int = param(10, whole(0, 99))
    shift: int = param(3, whole(0, SHIFTS - 1))
    table: str = param("learned", one_of(tuple(TABLES)))
    place: int = param(12, whole(0, 31))
    position: int = param(8, whole(0, 60))
    distance: int = param(3, whole(0, 20))
    vectors: int = param(0, whole(0, 99))
    bias: str = param("alibi", one_of(tuple(BIASES)))
    heads: int = param(8, one_of(HEAD_COUNTS))
    head: int = param(0, whole(0, max(HEAD_COUNTS) - 1))
    text: str = param(SENTENCE, characters(300))
    layer: int = param(0, one_of(LAYERS))
    weights: str = param("untrained", one_of(tuple(WEIGHTS)))
    seed: int = param(0, whole(0, 99))
    order: str = param("shuffled", one_of(tuple(ORDERS)))
    shuffle: int = param(0, whole(0, 99))
    mask: str = param("none", one_of(tuple(MASKS)))
    times: int = param(1, one_of(TIMES))
    held_out: int = param(1, whole(1, 9))
