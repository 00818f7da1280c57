"""The layer that the page looks into, and the widgets that choose it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.lab.heads.inputs import D_HEADS, D_MODELS, MAX_WORDS, MODELS, N_HEADS, POSITIONS, Inputs
from pages.lab.session import key
from pages.shared import cache
from pages.shared.model_choice import MAX_UNTRAINED_TOKENS

if TYPE_CHECKING:
    from models import UntrainedModel
    from models.lessons.heads.reading import Reading

FIELDS = ("text", "model", "n_heads", "d_model", "d_head", "positions", "seed")


def reading_of(inputs: Inputs) -> Reading:
    """The sentence, read by the layer that the inputs choose; ValueError with a sentence where none can."""
    from models.lessons.heads.reading import of_translator, of_untrained

    words = inputs.text.split()
    if not words:
        raise ValueError("The sentence is empty; type at least one word.")
    if len(words) > MAX_WORDS:
        over = len(words) - MAX_WORDS
        raise ValueError(
            f"The sentence has {len(words)} words; this page draws at most {MAX_WORDS}; remove {over}."
        )
    if inputs.model == "random":
        return of_untrained(_untrained(inputs), inputs.text)
    return of_translator(cache.translator(), inputs.text, int(inputs.model[-1]))


def _untrained(inputs: Inputs) -> UntrainedModel:
    """One layer of the model that Explore shows for these sizes and this seed."""
    from models import ModelConfig, UntrainedModel
    from models.lessons.heads.sizes import Offered, Sizes, check

    sizes = Sizes(inputs.n_heads, inputs.d_model, inputs.d_head or None, inputs.positions)
    check(sizes, Offered(N_HEADS, D_MODELS, D_HEADS[1:]))
    config = ModelConfig(
        kind="encoder-only",
        n_layers=1,
        vocab_size=MAX_UNTRAINED_TOKENS + 1,
        max_len=MAX_UNTRAINED_TOKENS + UntrainedModel.PADDING,
        **sizes._asdict(),
    )
    return UntrainedModel(config, seed=inputs.seed)


def controls() -> None:
    """Sentence, model and, of random weights, the sizes."""
    sentence_and_model()
    if st.session_state[key("heads", "model")] != "random":
        st.caption("The translator was trained with 4 heads of 16 channels, d_model = 64.")
        return
    left, right = st.columns(2)
    left.select_slider("n_heads", N_HEADS, key=key("heads", "n_heads"))
    right.select_slider("d_model", D_MODELS, key=key("heads", "d_model"), help="Numbers per token")
    left.select_slider(
        "d_head",
        D_HEADS,
        key=key("heads", "d_head"),
        format_func=lambda d: str(d or "auto"),
        help="Numbers per token in one head; auto = d_model / n_heads",
    )
    right.selectbox("Positions", POSITIONS, key=key("heads", "positions"))
    st.slider("Seed", 0, 999, key=key("heads", "seed"), help="Another seed, other random weights")


def sentence_and_model() -> None:
    st.text_input("Sentence", key=key("heads", "text"))
    st.selectbox("Model", list(MODELS), key=key("heads", "model"), format_func=MODELS.__getitem__)
