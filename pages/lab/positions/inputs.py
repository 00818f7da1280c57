"""What the positions page can be asked, and the values that it offers."""

from dataclasses import dataclass

from models.fields import characters, number, one_of, setting, whole

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

    d_model: int = setting(32, one_of(WIDTHS), "d_model", "Channels of the table", control="segments")
    base: float = setting(10_000.0, number(10, 1_000_000))
    start: int = setting(10, whole(0, 99), "position p", control="slider")
    shift: int = setting(3, whole(0, SHIFTS - 1))
    table: str = setting("learned", one_of(TABLES), "table", control="segments")
    place: int = setting(12, whole(0, 31))
    position: int = setting(8, whole(0, 60))
    distance: int = setting(3, whole(0, 20), "distance m − n", control="slider")
    vectors: int = setting(0, whole(0, 99), "seed of q and k", control="slider")
    bias: str = setting("alibi", one_of(BIASES), "bias", control="segments")
    heads: int = setting(8, one_of(HEAD_COUNTS), "heads", control="segments")
    head: int = setting(0, whole(0, max(HEAD_COUNTS) - 1))
    text: str = setting(SENTENCE, characters(300), "Sentence", "Words of the grammar; at most 31")
    layer: int = setting(0, one_of(LAYERS), "layer", control="segments")
    weights: str = setting("untrained", one_of(WEIGHTS), "weights", control="segments")
    seed: int = setting(0, whole(0, 99), "seed", "Another seed draws other weights for all", control="slider")
    order: str = setting("shuffled", one_of(ORDERS), "order", control="segments")
    shuffle: int = setting(0, whole(0, 99), "seed of the shuffle", control="slider")
    mask: str = setting("none", one_of(MASKS), "mask (untrained models)", control="segments")
    times: int = setting(1, one_of(TIMES), "asked for", control="segments", show="{}×".format)
    held_out: int = setting(1, whole(1, 9), "held-out text", "Nine samples of new text", control="slider")
