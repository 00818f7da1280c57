"""Which sizes fit together, and the nearest that do among those that a page offers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.models.config import ModelConfig, pairs_channels
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.models.engine.trace import Trace
from attention_lab.models.engine.transformer import Layer, Transformer
from attention_lab.models.fields import characters, one_of, setting, whole
from attention_lab.models.zoo.catalogue import MAX_UNTRAINED_WORDS
from attention_lab.models.zoo.engine_model import UntrainedModel
from attention_lab.pages.lab import any_model
from attention_lab.pages.lab.any_model import ANOTHER, OPTION, Other, Translator, check_known, check_length
from attention_lab.pages.lab.lesson import Columns, Note, When
from attention_lab.pages.shared import cache


class Sizes(NamedTuple):
    """What a person chooses; d_head None is d_model / n_heads."""

    n_heads: int
    d_model: int
    d_head: int | None = None
    positions: str = "sinusoidal"


class Offered(NamedTuple):
    """The values that a page lets people choose, ascending."""

    n_heads: Sequence[int]
    d_model: Sequence[int]
    d_head: Sequence[int] = ()


def check(sizes: Sizes, offered: Offered) -> None:
    """Raises ValueError with the rule and the nearest possible choices on the page, one control moved."""
    if sizes.d_head is None and sizes.d_model % sizes.n_heads:
        problem = f"d_model={sizes.d_model} is not divisible by n_heads={sizes.n_heads}"
        raise ValueError(f"{problem}; try {_remedies(sizes, offered, 'choose d_head')}")
    if not _possible(sizes):
        problem = f"d_head={_d_head(sizes)} is odd, but {sizes.positions} positions turn channels in pairs"
        raise ValueError(f"{problem}; try {_remedies(sizes, offered, 'choose other positions')}")


def _possible(sizes: Sizes) -> bool:
    if sizes.d_head is None and sizes.d_model % sizes.n_heads:
        return False
    return _d_head(sizes) % 2 == 0 or not pairs_channels(sizes.positions)


def _d_head(sizes: Sizes) -> int:
    return sizes.d_model // sizes.n_heads if sizes.d_head is None else sizes.d_head


def _remedies(sizes: Sizes, offered: Offered, otherwise: str) -> str:
    """`n_heads=4 or 6, d_model=64, or ...`: the nearest values of one control that make it possible."""
    moves = []
    for name in ("n_heads", "d_model") if sizes.d_head is None else ("d_head",):
        possible = [v for v in getattr(offered, name) if _possible(sizes._replace(**{name: v}))]
        below = [value for value in possible if value < getattr(sizes, name)]
        above = [value for value in possible if value > getattr(sizes, name)]
        if near := below[-1:] + above[:1]:
            moves.append(f"{name}={' or '.join(map(str, near))}")
    return ", or ".join(filter(None, [", ".join(moves), otherwise]))


class Reading(NamedTuple):
    """The layer, what enters its attention and what that computes; queries and keys are the same tokens."""

    tokens: list[str]
    config: ModelConfig
    layer: Layer
    x: Float[Tensor, "position d_model"]
    q: Float[Tensor, "head query d_head"]
    k: Float[Tensor, "head key d_head"]
    v: Float[Tensor, "head key d_head"]
    scores: Float[Tensor, "head query key"]
    pattern: Float[Tensor, "head query key"]
    z: Float[Tensor, "head query d_head"]
    out: Float[Tensor, "query d_model"]

    @property
    def attention(self) -> MultiHeadAttention:
        return self.layer.self_attention


class Strongest(NamedTuple):
    """The largest weight of a head's pattern, and where it stands."""

    query: int
    key: int
    weight: float


def strongest(pattern: Float[Tensor, "query key"]) -> Strongest:
    """Where a head looks hardest; the first such place if there are several."""
    at = int(pattern.argmax())
    query, key = divmod(at, pattern.shape[1])
    return Strongest(query, key, pattern[query, key].item())


def of_untrained(model: UntrainedModel, text: str) -> Reading:
    """The first layer of a model with random weights. Raises ValueError for a text it cannot read."""
    return _reading(model.model, model.trace(text), 0)


def of_translator(translator: Translator, text: str, layer: int) -> Reading:
    """Layer 0 or 1 of the trained encoder. Raises ValueError for a text with a word that it does not know."""
    check_known(translator.task.encode_source(text).unknown, len(translator.task.words))
    trace = translator.trace(translator.task.read(text, direction="en-fr"))
    return _reading(translator.model, trace, layer)


@torch.no_grad()
def _reading(model: Transformer, trace: Trace, number: int) -> Reading:
    assert model.encoder is not None
    layer = cast(Layer, model.encoder.layers[number])
    x = trace[f"encoder.{number}.resid_pre"]
    if layer.pre_norm:
        x = layer.self_norm(x)
    names = ("q", "k", "v", "scores", "pattern", "z", "out")
    computed = {name: trace[f"encoder.{number}.self.{name}"] for name in names}
    return Reading(trace.tokens["encoder"], model.config, layer, x, **computed)


SENTENCE = "the animal did not cross the street because it was too tired"
MAX_WORDS = 20
MODELS = {
    "random": "random weights", "layer0": "translator, layer 0", "layer1": "translator, layer 1"
} | OPTION  # fmt: skip
N_HEADS = (1, 2, 3, 4, 6, 8, 12, 16)
D_MODELS = (8, 16, 24, 32, 48, 64)
D_HEADS = (0, 1, 2, 3, 4, 8, 16, 32, 64)  # 0: d_model / n_heads
POSITIONS = ("sinusoidal", "rotary", "none")
WIDTHS = (32, 64, 128)
LENGTHS = (16, 32, 64, 128)
HEAD_COUNTS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Inputs(Other):
    """All parts' inputs; `uncut` is the last one's model; `width`, `length`, `heads` are of the costs."""

    text: str = setting(SENTENCE, characters(400), "Sentence")
    model: str = setting("layer1", one_of(MODELS), "Model")
    uncut: str = setting("random", one_of(MODELS), "Model")
    n_heads: int = setting(4, one_of(N_HEADS), "n_heads", control="steps")
    d_model: int = setting(32, one_of(D_MODELS), "d_model", "Numbers per token", control="steps")
    d_head: int = setting(
        0,
        one_of(D_HEADS),
        "d_head",
        "Numbers per token in one head; auto = d_model / n_heads",
        "steps",
        show=lambda d: str(d or "auto"),
    )
    positions: str = setting("sinusoidal", one_of(POSITIONS), "Positions")
    seed: int = setting(0, whole(0, 999), "Seed", "Another seed draws other random weights", control="slider")
    head: int = setting(1, whole(0, max(N_HEADS) - 1))
    query: int = setting(8, whole(0, MAX_WORDS + 1))
    width: int = setting(64, one_of(WIDTHS), "d_model", "Numbers per token", control="steps")
    length: int = setting(64, one_of(LENGTHS), "Tokens", "Length of the text", control="steps")
    heads: int = setting(8, one_of(HEAD_COUNTS))


SIZES = When(
    "model",
    "random",
    (Columns((("n_heads", "d_head"), ("d_model", "positions"))), "seed"),
    (Note("The translator has 4 heads of 16 channels, d_model = 64."),),
)
LAYER_CONTROLS = ("text", "model", SIZES)
"""Those of a part that takes the weights of a layer apart, which only the engine's own layers have."""
ANY_LAYER_CONTROLS = ("model", When("model", ANOTHER, any_model.LAYER, ("text", SIZES)))
"""Those of a part that any model can fill."""


def reading_of(inputs: Inputs) -> Reading:
    """The sentence, read by the layer that the inputs choose; ValueError with a sentence where none can.

    Random weights are those of the model that Explore shows for these sizes and this seed.
    """
    check_length(len(inputs.text.split()), MAX_WORDS)
    if inputs.model == ANOTHER:
        raise ValueError(
            "Other models may be too wide to draw; choose random weights or a layer of the translator."
        )
    if inputs.model != "random":
        return of_translator(cache.translator(), inputs.text, int(inputs.model[-1]))
    sizes = Sizes(inputs.n_heads, inputs.d_model, inputs.d_head or None, inputs.positions)
    check(sizes, Offered(N_HEADS, D_MODELS, D_HEADS[1:]))
    config = ModelConfig(
        kind="encoder-only",
        n_layers=1,
        vocab_size=MAX_UNTRAINED_WORDS + 1,
        max_len=MAX_UNTRAINED_WORDS + UntrainedModel.PADDING,
        **sizes._asdict(),
    )
    return of_untrained(UntrainedModel(config, seed=inputs.seed), inputs.text)
