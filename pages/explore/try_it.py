"""What Explore offers with a trained model: to mask words, or to let it go on writing."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.limits import in_force
from pages.explore import controls
from pages.shared import cache, memory, widget
from pages.shared.link import Param, number, whole
from pages.shared.state import guard_choice, refuse
from pages.shared.wording import plain

MASK = "[MASK]"
MOST_WORDS = 60
MOST_NEW = in_force().new_tokens
HEAT = "Logits are divided by it before the softmax; 0: always the most probable next token"
HALF = "At most half of what the model can read"
WRITING = controls.Page(
    "explore.writing",
    {
        "temperature": Param(0.8, number(0, 2), widget.slider("Temperature", HEAT, step=0.1)),
        "n_new": Param(40, whole(1, MOST_NEW), widget.slider("Tokens to write", HALF)),
    },
)


def tool(abilities: tuple[str, ...], beside: DeltaGenerator) -> None:
    """Draws what goes with the model's abilities. `beside`: the narrow column beside the figure."""
    if "fill" in abilities:
        _masks()
    if "continue" in abilities:
        with beside:
            _continuation()


def _masks() -> None:
    """The words of the text: a click masks one, another shows it again."""
    words = st.session_state.text.split()[:MOST_WORDS]
    hidden = _hidden()
    st.session_state.masked = [at for at, word in enumerate(words) if word == MASK]
    st.pills(
        "Click a word to mask it; what the model would write there is in the Output view.",
        range(len(words)),
        selection_mode="multi",
        wrap=True,
        key="masked",
        format_func=lambda at: plain(hidden.get(at, words[at])) if at < len(words) else "",
        on_change=_mask,
    )
    guard_choice("masked", "Words", range(len(words)), st.session_state.masked)


def _hidden() -> dict[int, str]:
    """The words behind the masks of the text that is shown, by place; a typed [MASK] hides none."""
    kept = st.session_state.get("hidden_words", {})
    return kept.get("words", {}) if kept.get("text") == st.session_state.text else {}


def _mask() -> None:
    words, hidden = st.session_state.text.split(), _hidden()
    chosen = set(st.session_state.masked)
    hidden |= {at: word for at, word in enumerate(words) if at in chosen and word != MASK}
    shown = [hidden.get(at, word) for at, word in enumerate(words)]
    text = " ".join(MASK if at in chosen else word for at, word in enumerate(shown))
    st.session_state.text = text
    st.session_state.hidden_words = {"text": text, "words": hidden}


def _continuation() -> None:
    """Lets the model write on; its words join the text, which is cut in front to what the model can read."""
    WRITING.take()
    for name in WRITING.params:
        WRITING.draw(name)
    st.button("Continue", on_click=_continue, width="stretch")


def _continue() -> None:
    session = st.session_state
    session.n_drawn = session.get("n_drawn", -1) + 1
    inputs, most = controls.inputs(), WRITING.kept["n_new"]
    chance = {"temperature": WRITING.kept["temperature"], "seed": session.n_drawn}

    def write() -> str:
        memory.check()
        lm = cache.model(inputs.model, inputs.settings)
        at_once = max(1, lm.max_len // 2)  # the other half is what it goes on from
        more = lm.generate(inputs.text, max_new_tokens=min(most, at_once), **chance)
        return lm.fitted(inputs.text, more)

    try:
        controls.say(cache.on_worker(write))
    except ValueError as error:
        refuse(str(error))
