"""Where a person hands in pictures or attention of their own, and the lists of what they handed in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from models.byte_units import MB
from models.fields import checked, text
from models.limits import in_force
from models.zoo.hub import photos
from models.zoo.own_attention import FORMATS, read_own, to_keep
from pages.shared import cache, on_offer, server_load
from pages.shared.browser import uploading
from pages.shared.state import refuse
from pages.shared.training import uploads
from pages.shared.wording import plain

# Where a person hands in a picture of their own, and the list of those that they handed in.

PICTURE_KEY = "own_picture"
KINDS = tuple(f".{ending}" for ending in photos.ENDINGS)


def _is_open(name: str) -> bool:
    """Whether it is no picture of another visitor's."""
    return len(name) <= MOST and (not name.endswith(KINDS) or uploads.FILE.fits(name))


MOST = 100
PICTURE_RULE = text(
    "the number of a drawn picture, or the name of one that you handed in here with this browser",
    lambda raw: checked(raw, _is_open),
)
"""What names the picture to read."""


def picture_field(shown: str, show: Callable[[str], None]) -> None:
    """Draws it. shown: the picture that is read; show: reads another, by its name."""
    with st.popover("A picture of your own…"):
        if in_force().read_only:
            st.caption("This server is for looking only: it takes no files.")
            return
        uploading.expect()
        st.file_uploader(
            "PNG, JPEG or WebP",
            type=list(photos.ENDINGS),
            key=PICTURE_KEY,
            on_change=lambda: _handed_in(show),
            max_upload_size=uploads.MAX_BYTES // MB,
        )
        st.caption(
            "It is cut and made smaller as the model's own processor says. At most "
            f"{in_force().photo_megapixels} million pixels; only you can open it here."
        )
        for at, upload in enumerate(uploads.mine("picture"), start=1):
            with st.container(horizontal=True, vertical_alignment="center"):
                _listed(at, upload, shown, show)


def _listed(at: int, upload: uploads.Upload, shown: str, show: Callable[[str], None]) -> None:
    name, title = upload.name, f"picture {at}{Path(upload.name).suffix}"
    st.button(
        plain(title),
        type="tertiary",
        key=f"{PICTURE_KEY}.{name}",
        disabled=name == shown,
        on_click=show,
        args=(name,),
    )
    st.button(
        "Delete", type="tertiary", key=f"{PICTURE_KEY}.{name}.delete", help=f"Delete {plain(title)}",
        on_click=_delete, args=(name, shown, show),
    )  # fmt: skip


def _handed_in(show: Callable[[str], None]) -> None:
    """Keeps what was handed in and shows it; else says why not, and the picture before it stays."""
    try:
        handed = uploading.handed_in(PICTURE_KEY)
        if handed is None:
            return
        server_load.check_memory()
        content, name = handed.getvalue(), handed.name
        cache.on_worker(lambda: photos.open_picture(content, name))
        kept = uploads.keep(content, f"_.{photos.ending_of(content)}")
    except ValueError as error:
        refuse(f"{str(error).removesuffix('.')}; the picture before it stays.")
        return
    show(kept)


def _delete(name: str, shown: str, show: Callable[[str], None]) -> None:
    """Deletes a picture; where it was read, the first drawn one is read again."""
    try:
        uploads.delete(name)
    except ValueError as error:
        refuse(str(error))
    if name == shown:
        show("1")


# The field in which a person hands in attention of their own, and the list of what they handed in.

TENSORS_KEY = "own_tensors"
FORMAT = (
    "Weights as “attention”, shaped [layer, head, query, key], [head, query, key] or [query, key], or layer "
    "by layer as “attention_0”, “attention_1” and so on. The words as “tokens”, a list, or as “query_tokens” "
    "and “key_tokens”; in .safetensors as JSON in the metadata."
)
EXAMPLE = "From Python: `numpy.savez('mine.npz', attention=weights, tokens=['the', 'cat'])`"


def tensors_field(open_model: Callable[[str], None]) -> None:
    """Draws it. open_model: shows the model of a name, or says why it cannot."""
    if in_force().read_only or not on_offer.takes_own():
        return
    uploading.expect()
    st.file_uploader(
        "Or attention weights of your own, from any program",
        type=list(FORMATS),
        key=TENSORS_KEY,
        help=EXAMPLE,
        on_change=lambda: _handed_in_own_tensors(open_model),
        max_upload_size=uploads.MAX_BYTES // MB,
    )
    st.caption(plain(FORMAT))
    kept = on_offer.own()
    if kept:
        st.caption(f"Handed in by you ({len(kept)}):")
    for name in kept:
        with st.container(horizontal=True, vertical_alignment="center"):
            title = on_offer.title(name)
            st.button(
                plain(title), type="tertiary", key=f"{TENSORS_KEY}.{name}", on_click=open_model, args=(name,)
            )
            st.button(
                "Delete", type="tertiary", key=f"{TENSORS_KEY}.{name}.delete", help=f"Delete {plain(title)}",
                on_click=_delete_own_tensors, args=(name, open_model),
            )  # fmt: skip


def _handed_in_own_tensors(open_model: Callable[[str], None]) -> None:
    """Keeps what was handed in and opens it; else says why not, and what was open stays."""
    try:
        handed = uploading.handed_in(TENSORS_KEY)
        if handed is None:
            return
        server_load.check_memory()
        checked = to_keep(read_own(handed.getvalue(), handed.name))
        kept = uploads.keep(checked, f"_.{uploads.ATTENTION}")
    except ValueError as error:
        refuse(f"{str(error).removesuffix('.')}; the model before it stays.")
        return
    open_model(on_offer.own_name(kept))


def _delete_own_tensors(name: str, open_model: Callable[[str], None]) -> None:
    """Deletes a file; where its model was open, the usual one is shown again."""
    try:
        uploads.delete(on_offer.file_of(name))
    except ValueError as error:
        refuse(str(error))
    if st.session_state.get("model") == name:
        open_model(on_offer.models()[0])
