"""What Explore says of a text that the model cannot read as it was meant, each remedy one press away."""

from typing import Any

import streamlit as st

from models.data.tasks import Advice
from pages.explore import controls
from pages.shared.wording import plain

MOST_OFFERED = 6
MOST_LISTED = 120
"""Characters of the unknown words after those that are offered another."""


def draw(advice: Advice | None, unknown: list[dict[str, Any]]) -> None:
    """The setting that would suit the text better, else the words that are not known."""
    if advice is not None:
        _advice(advice)
    elif unknown:
        _unknown_words(unknown)


def _advice(advice: Advice) -> None:
    setting = next(s for s in controls.offer().settings if s.name == advice.setting)
    read, better = (setting.names.get(v, str(v)) for v in (controls.page().kept[setting.name], advice.value))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(plain(f"{advice.because} They are read as {read}:"))
        st.button(f"read {better}", key="advice", on_click=controls.take_advice, args=(advice,))


def _unknown_words(unknown: list[dict[str, Any]]) -> None:
    """Each word with buttons for the nearest ones that the model knows."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Not in the model's vocabulary, read as `<unk>`:")
        for at, found in enumerate(unknown[:MOST_OFFERED]):
            st.text(f"“{found['word']}” " + ("→" if found["suggestions"] else "(nothing near it is known)"))
            for word in found["suggestions"]:
                key = f"suggestion.{at}.{word}"
                st.button(plain(word), key=key, on_click=controls.replace_word, args=(found, word))
        if more := [found["word"] for found in unknown[MOST_OFFERED:]]:
            listed = ", ".join(f"“{word}”" for word in more)
            shown = listed if len(listed) <= MOST_LISTED else f"{listed[:MOST_LISTED]}…"
            st.text(f"and {len(more)} more: {shown}")
