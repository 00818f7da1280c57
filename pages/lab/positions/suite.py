"""The shipped suite as the page's parts use it: loaded once, one sentence read."""

from typing import cast

from torch import Tensor

from models.byte_units import MB
from models.data.tasks.next_word import NextWord
from models.engine.transformer import Transformer
from models.lessons.positions.side_by_side import alike
from models.zoo.engine_model import TrainedModel
from models.zoo.suite import load_scheme
from pages.lab.positions.inputs import SENTENCE
from pages.shared import cache
from pages.shared.wording import distinct

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


def trained(scheme: str) -> TrainedModel[NextWord]:
    """A model of the suite; on the inference thread."""
    found = cache.cached(cache.models, ("positions", scheme), lambda: (load_scheme(scheme), MB))
    return cast("TrainedModel[NextWord]", found)


def all_untrained(seed: int, *, causal: bool = True) -> dict[str, Transformer]:
    """A model of each scheme from a seed, the same weights in all."""

    def make() -> tuple[dict[str, Transformer], int]:
        return alike(trained("none").model.config, seed, causal=causal), 4 * MB

    key = ("positions", "untrained", seed, causal)
    return cast("dict[str, Transformer]", cache.cached(cache.models, key, make))


def all_trained() -> dict[str, TrainedModel[NextWord]]:
    """The whole suite, by scheme."""
    return {scheme: trained(scheme) for scheme in NAMES}


def read(text: str = SENTENCE) -> tuple[Tensor, list[str]]:
    """The ids of <eos> and the text's words, and names for them; ValueError where a word is unknown."""
    reading = trained("none").read(text)
    return reading.inputs[0][0], distinct(reading.tokens["decoder"])
