"""Where a person hands in pictures or attention of their own, and the lists of what they handed in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attention_lab.models.byte_units import MB
from attention_lab.models.fields import checked, text
from attention_lab.models.limits import in_force
from attention_lab.models.zoo.hub import photos
from attention_lab.models.zoo.hub.photos import MOST_MEGAPIXELS
from attention_lab.models.zoo.own_attention import FORMATS, read_own, to_keep
from attention_lab.pages.shared import cache, on_offer, server_load, st
from attention_lab.pages.shared.phrases import plain
from attention_lab.pages.shared.state import refuse
from attention_lab.pages.shared.training import uploads

Show = Callable[[str], None]


@dataclass(frozen=True)
class OwnFiles:
    """Files of one kind that a person hands in: the field for them, and what is listed below it.

    kind: what is shown of them. keep: checks a file's bytes and its name and keeps it; gives the name to show
    it by. Raises ValueError.
    """

    key: str
    kind: str
    endings: Sequence[str]
    keep: Callable[[bytes, str], str]

    def draw_field(self, label: str, note: str, show: Show, *, help: str | None = None) -> None:
        """Draws the field. show: shows what was handed in, by its name."""
        from attention_lab.pages.shared.browser import uploading

        uploading.expect()
        st.file_uploader(
            label,
            type=list(self.endings),
            key=self.key,
            help=help,
            on_change=self._take,
            args=(show,),
            max_upload_size=uploads.MAX_BYTES // MB,
        )
        st.caption(note)

    def draw_entry(
        self, name: str, title: str, show: Show, file: str, instead: str, *, is_open: bool
    ) -> None:
        """Draws the buttons of one that was handed in. instead: the name to show where it was `is_open`, and
        its file is deleted.
        """
        with st.container(horizontal=True, vertical_alignment="center"):
            key, off = f"{self.key}.{name}", is_open and self.kind == "picture"
            st.button(plain(title), type="tertiary", key=key, disabled=off, on_click=show, args=(name,))
            st.button(
                "Delete", type="tertiary", key=f"{key}.delete", help=f"Delete {plain(title)}",
                on_click=self._delete, args=(file, show, instead if is_open else ""),
            )  # fmt: skip

    def _take(self, show: Show) -> None:
        """Keeps what was handed in and shows it; else says why not, and what was shown stays."""
        from attention_lab.pages.shared.browser import uploading

        try:
            handed = uploading.handed_in(self.key)
            if handed is None:
                return
            server_load.check_memory()
            name = self.keep(handed.getvalue(), handed.name)
        except ValueError as error:
            refuse(f"{str(error).removesuffix('.')}; the previous {self.kind} stays loaded.")
            return
        show(name)

    def _delete(self, file: str, show: Show, instead: str) -> None:
        try:
            uploads.delete(file)
        except ValueError as error:
            refuse(str(error))
        if instead:
            show(instead)


def _keep_picture(content: bytes, name: str) -> str:
    cache.on_worker(lambda: photos.open_picture(content, name))
    return uploads.keep(content, f"_.{photos.ending_of(content)}")


def _keep_tensors(content: bytes, name: str) -> str:
    return on_offer.own_name(uploads.keep(to_keep(read_own(content, name)), f"_.{uploads.ATTENTION}"))


PICTURES = OwnFiles("own_picture", "picture", photos.ENDINGS, _keep_picture)
TENSORS = OwnFiles("own_tensors", "model", tuple(FORMATS), _keep_tensors)
KINDS = tuple(f".{ending}" for ending in photos.ENDINGS)
FORMAT = (
    "Weights as “attention”, shaped [layer, head, query, key], [head, query, key] or [query, key], or by "
    "layer as “attention_0”, “attention_1” and so on. Words as “tokens”, or “query_tokens” and “key_tokens” "
    "(in .safetensors as JSON in the metadata). Optional: “q”, “k”, “v”, “scores”, “logits”; several stacks "
    "by names such as “decoder.cross.pattern”."
)
EXAMPLE = "From Python: `numpy.savez('mine.npz', attention=weights, tokens=['the', 'cat'])`"
MOST = 100
"""The characters of a picture's name."""


def _is_open(name: str) -> bool:
    """Whether it is no picture of another visitor's."""
    return len(name) <= MOST and (not name.endswith(KINDS) or uploads.FILE.fits(name))


PICTURE_RULE = text(
    "the number of a drawn picture, or the name of one that you handed in",
    lambda raw: checked(raw, _is_open),
)
"""What names the picture to read."""


def picture_field(current: str, show: Show) -> None:
    """Draws it. current: the picture that is read; show: reads another, by its name."""
    if in_force().read_only:
        st.caption("This server is read-only: it takes no files.")
        return
    note = f"At most {MOST_MEGAPIXELS} million pixels; only you can open it here."
    PICTURES.draw_field("PNG, JPEG or WebP", note, show)
    for at, upload in enumerate(uploads.mine("picture"), start=1):
        name, title = upload.name, f"picture {at}{Path(upload.name).suffix}"
        PICTURES.draw_entry(name, title, show, name, "1", is_open=name == current)


def tensors_field(current: str, open_model: Show) -> None:
    """Draws it. current: the model that is open; open_model: shows another, or says why it cannot."""
    if in_force().read_only or not on_offer.takes_own():
        return
    label = "Or attention weights of your own, from any program"
    TENSORS.draw_field(label, plain(FORMAT), open_model, help=EXAMPLE)
    names = on_offer.own()
    if names:
        st.caption(f"Handed in by you ({len(names)}):")
    for name in names:
        file, usual = on_offer.file_of(name), on_offer.models()[0]
        TENSORS.draw_entry(name, on_offer.title(name), open_model, file, usual, is_open=current == name)
