"""What the positions page can be asked, and the values that it offers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_lab.models.byte_units import MB
from attention_lab.models.config import Kind, ModelConfig
from attention_lab.models.data.tasks.next_word import NextWord
from attention_lab.models.engine.trace import Trace
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.fields import characters, number, one_of, setting, whole
from attention_lab.models.zoo import load_model
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.models.zoo.families import FAMILIES
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.phrases import distinct

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


SCHEMES: tuple[str, ...] = tuple(FAMILIES["positions"].dials["positions"])


def untrained(config: ModelConfig, seed: int) -> Transformer:
    """A new model from a seed. Weights that are not its positions' own are the same in every scheme."""
    model = Transformer(config, seed=seed)
    without = Transformer(replace(config, positions="none"), seed=seed)
    model.load_state_dict(without.state_dict(), strict=False)
    return model


def alike(config: ModelConfig, seed: int, *, causal: bool = True) -> dict[str, Transformer]:
    """An untrained model for each scheme; only the positions differ. `causal`: words see no later words."""
    kind: Kind = "decoder-only" if causal else "encoder-only"
    return {
        scheme: untrained(replace(config, kind=kind, positions=scheme), seed).eval() for scheme in SCHEMES
    }


@torch.no_grad()
def patterns_of(
    models: Mapping[str, Transformer], ids: Int[Tensor, " word"], layer: int
) -> Float[Tensor, "scheme head query key"]:
    """Where each decoder's heads of one layer look, in the order of `models`."""
    patterns = []
    for model in models.values():
        trace = Trace(lambda address, tensor: tensor if address.endswith("self.pattern") else None)
        model(ids[None], trace=trace)
        patterns.append(trace[f"decoder.{layer}.self.pattern"])
    return torch.stack(patterns)


def difference(patterns: Float[Tensor, "scheme head query key"]) -> Float[Tensor, "scheme head"]:
    """How far each scheme's pattern is from the first's: half the sum of |differences| in a row, 0..1.

    This is the total variation distance, the share of its attention that a query has moved to other keys,
    averaged over queries.
    """
    return (patterns - patterns[0]).abs().sum(dim=-1).mean(dim=-1) / 2


NAMES = {
    "none": "no positions",
    "sinusoidal": "sinusoidal",
    "learned": "learned",
    "rotary": "rotary",
    "alibi": "ALiBi",
    "t5": "T5",
    "transformer-xl": "Transformer-XL",
}
"""The schemes as the page writes them, in their order; a scheme's place is its colour."""


@cache.kept(cache.models, MB)
def trained(scheme: str) -> TrainedModel[NextWord]:
    """A model of the suite; on the inference thread."""
    return load_model(f"positions/{scheme}")


@cache.kept(cache.models, 4 * MB)
def all_untrained(seed: int, *, causal: bool = True) -> dict[str, Transformer]:
    """A model of each scheme from a seed, the same weights in all."""
    return alike(trained("none").model.config, seed, causal=causal)


def all_trained() -> dict[str, TrainedModel[NextWord]]:
    """The whole suite, by scheme."""
    return {scheme: trained(scheme) for scheme in NAMES}


def read(text: str = SENTENCE) -> tuple[Tensor, list[str]]:
    """The ids of <eos> and the text's words, and names for them; ValueError where a word is unknown."""
    reading = trained("none").read(text)
    return reading.inputs[0][0], distinct(reading.tokens["decoder"])
