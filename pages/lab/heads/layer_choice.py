"""The layer that the page looks into, and the widgets that choose it."""

from models import ModelConfig, UntrainedModel
from models.lessons.heads.reading import Reading, of_translator, of_untrained
from models.lessons.heads.sizes import Offered, Sizes, check
from models.lessons.known_words import check_length
from models.zoo.offers import MAX_UNTRAINED_WORDS
from pages.lab import any_model
from pages.lab.any_model import ANOTHER
from pages.lab.controls import Columns, Note, When
from pages.lab.heads.inputs import D_HEADS, D_MODELS, MAX_WORDS, N_HEADS, Inputs
from pages.shared import cache

SIZES = When(
    "model",
    "random",
    (Columns((("n_heads", "d_head"), ("d_model", "positions"))), "seed"),
    (Note("The translator was trained with 4 heads of 16 channels, d_model = 64."),),
)
CONTROLS = ("text", "model", SIZES)
"""Those of a part that takes the weights of a layer apart, which only the engine's own layers have."""
ANY = ("model", When("model", ANOTHER, any_model.LAYER, ("text", SIZES)))
"""Those of a part that any model can fill."""
NOT_OTHERS = (
    "This part takes W_Q, W_K, W_V and W_O of a small layer apart, and another model may keep them joined or "
    "far too wide to draw; choose random weights or a layer of the translator."
)


def reading_of(inputs: Inputs) -> Reading:
    """The sentence, read by the layer that the inputs choose; ValueError with a sentence where none can."""
    check_length(len(inputs.text.split()), MAX_WORDS)
    if inputs.model == ANOTHER:
        raise ValueError(NOT_OTHERS)
    if inputs.model == "random":
        return of_untrained(_untrained(inputs), inputs.text)
    return of_translator(cache.translator(), inputs.text, int(inputs.model[-1]))


def _untrained(inputs: Inputs) -> UntrainedModel:
    """One layer of the model that Explore shows for these sizes and this seed."""
    sizes = Sizes(inputs.n_heads, inputs.d_model, inputs.d_head or None, inputs.positions)
    check(sizes, Offered(N_HEADS, D_MODELS, D_HEADS[1:]))
    config = ModelConfig(
        kind="encoder-only",
        n_layers=1,
        vocab_size=MAX_UNTRAINED_WORDS + 1,
        max_len=MAX_UNTRAINED_WORDS + UntrainedModel.PADDING,
        **sizes._asdict(),
    )
    return UntrainedModel(config, seed=inputs.seed)
