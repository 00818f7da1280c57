"""The field in which a person hands in attention of their own, and the list of what they handed in."""

from collections.abc import Callable

import streamlit as st

from models.byte_units import MB
from models.limits import in_force
from models.zoo.own.arrays import read_own
from models.zoo.own.containers import FORMATS
from models.zoo.own.kept import to_keep
from pages.shared import memory, on_offer
from pages.shared.browser import uploading
from pages.shared.state import refuse
from pages.shared.training import uploads
from pages.shared.wording import plain

KEY = "own_tensors"
FORMAT = (
    "Weights as “attention”, shaped [layer, head, query, key], [head, query, key] or [query, key], or layer "
    "by layer as “attention_0”, “attention_1” and so on. The words as “tokens”, a list, or as “query_tokens” "
    "and “key_tokens”; in .safetensors as JSON in the metadata."
)
EXAMPLE = "From Python: `numpy.savez('mine.npz', attention=weights, tokens=['the', 'cat'])`"


def field(open_model: Callable[[str], None]) -> None:
    """Draws it. open_model: shows the model of a name, or says why it cannot."""
    if in_force().read_only or not on_offer.takes_own():
        return
    uploading.expect()
    st.file_uploader(
        "Or attention weights of your own, from any program",
        type=list(FORMATS),
        key=KEY,
        help=EXAMPLE,
        on_change=lambda: _handed_in(open_model),
        max_upload_size=uploads.MAX_BYTES // MB,
    )
    st.caption(plain(FORMAT))
    kept = on_offer.own()
    if kept:
        st.caption(f"Handed in by you ({len(kept)}):")
    for name in kept:
        with st.container(horizontal=True, vertical_alignment="center"):
            title = on_offer.title(name)
            st.button(plain(title), type="tertiary", key=f"{KEY}.{name}", on_click=open_model, args=(name,))
            st.button(
                "Delete", type="tertiary", key=f"{KEY}.{name}.delete", help=f"Delete {plain(title)}",
                on_click=_delete, args=(name, open_model),
            )  # fmt: skip


def _handed_in(open_model: Callable[[str], None]) -> None:
    """Keeps what was handed in and opens it; else says why not, and what was open stays."""
    try:
        handed = uploading.handed_in(KEY)
        if handed is None:
            return
        memory.check()
        checked = to_keep(read_own(handed.getvalue(), handed.name))
        kept = uploads.keep(checked, f"_.{uploads.ATTENTION}")
    except ValueError as error:
        refuse(f"{str(error).removesuffix('.')}; the model before it stays.")
        return
    open_model(on_offer.own_name(kept))


def _delete(name: str, open_model: Callable[[str], None]) -> None:
    """Deletes a file; where its model was open, the usual one is shown again."""
    try:
        uploads.delete(on_offer.file_of(name))
    except ValueError as error:
        refuse(str(error))
    if st.session_state.get("model") == name:
        open_model(on_offer.models()[0])
