"""The layer that the page looks into, and the widgets that choose it."""

from models import ModelConfig, UntrainedModel
from models.lessons.heads.reading import Reading, of_translator, of_untrained
from models.lessons.heads.sizes import Offered, Sizes, check
from models.lessons.known_words import check_length
from models.zoo.settings import MAX_UNTRAINED_WORDS
from pages.lab.controls import Columns, Note, When
from pages.lab.heads.inputs import D_HEADS, D_MODELS, MAX_WORDS, N_HEADS, Inputs
from pages.shared import cache

CONTROLS = (
    "text",
    "model",
    When(
        "model",
        "random",
        (Columns((("n_heads", "d_head"), ("d_model", "positions"))), "seed"),
        (Note("The translator was trained with 4 heads of 16 channels, d_model = 64."),),
    ),
)


def reading_of(inputs: Inputs) -> Reading:
    """The sentence, read by the layer that the inputs choose; ValueError with a sentence where none can."""
    check_length(len(inputs.text.split()), MAX_WORDS)
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
