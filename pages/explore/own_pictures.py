"""Where a person hands in a picture of their own, and the list of those that they handed in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from models.byte_units import MB
from models.limits import in_force
from models.zoo.hub import photos
from pages.shared import cache, memory
from pages.shared.browser import uploading
from pages.shared.link import checked, text
from pages.shared.state import refuse
from pages.shared.training import uploads
from pages.shared.wording import plain

KEY = "own_picture"
KINDS = tuple(f".{ending}" for ending in photos.ENDINGS)


def _is_open(name: str) -> bool:
    """Whether it is no picture of another visitor's."""
    return len(name) <= MOST and (not name.endswith(KINDS) or uploads.FILE.fits(name))


MOST = 100
RULE = text(
    "the number of a drawn picture, or the name of one that you handed in here with this browser",
    lambda raw: checked(raw, _is_open),
)
"""What names the picture to read."""


def field(shown: str, show: Callable[[str], None]) -> None:
    """Draws it. shown: the picture that is read; show: reads another, by its name."""
    with st.popover("A picture of your own…"):
        if in_force().read_only:
            st.caption("This server is for looking only: it takes no files.")
            return
        uploading.expect()
        st.file_uploader(
            "PNG, JPEG or WebP",
            type=list(photos.ENDINGS),
            key=KEY,
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
        key=f"{KEY}.{name}",
        disabled=name == shown,
        on_click=show,
        args=(name,),
    )
    st.button(
        "Delete", type="tertiary", key=f"{KEY}.{name}.delete", help=f"Delete {plain(title)}",
        on_click=_delete, args=(name, shown, show),
    )  # fmt: skip


def _handed_in(show: Callable[[str], None]) -> None:
    """Keeps what was handed in and shows it; else says why not, and the picture before it stays."""
    try:
        handed = uploading.handed_in(KEY)
        if handed is None:
            return
        memory.check()
        content, name = handed.getvalue(), handed.name
        cache.on_worker(lambda: photos.opened(content, name))
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
