"""What the positions page can be asked, and the values that it offers."""

from dataclasses import dataclass

from pages.shared import widget
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

    d_model: int = param(32, one_of(WIDTHS), widget.segmented("d_model", "Channels of the table"))
    base: float = param(10_000.0, number(10, 1_000_000))
    start: int = param(10, whole(0, 99), widget.slider("position p"))
    shift: int = param(3, whole(0, SHIFTS - 1))
    table: str = param("learned", one_of(TABLES), widget.segmented("table"))
    place: int = param(12, whole(0, 31))
    position: int = param(8, whole(0, 60))
    distance: int = param(3, whole(0, 20), widget.slider("distance m − n"))
    vectors: int = param(0, whole(0, 99), widget.slider("seed of q and k"))
    bias: str = param("alibi", one_of(BIASES), widget.segmented("bias"))
    heads: int = param(8, one_of(HEAD_COUNTS), widget.segmented("heads"))
    head: int = param(0, whole(0, max(HEAD_COUNTS) - 1))
    text: str = param(SENTENCE, characters(300), widget.line("Sentence", "Words of the grammar; at most 31"))
    layer: int = param(0, one_of(LAYERS), widget.segmented("layer"))
    weights: str = param("untrained", one_of(WEIGHTS), widget.segmented("weights"))
    seed: int = param(0, whole(0, 99), widget.slider("seed", "Another seed draws other weights for all"))
    order: str = param("shuffled", one_of(ORDERS), widget.segmented("order"))
    shuffle: int = param(0, whole(0, 99), widget.slider("seed of the shuffle"))
    mask: str = param("none", one_of(MASKS), widget.segmented("mask (untrained models)"))
    times: int = param(1, one_of(TIMES), widget.segmented("asked for", show="{}×".format))
    held_out: int = param(1, whole(1, 9), widget.slider("held-out text", "Nine samples of new text"))
