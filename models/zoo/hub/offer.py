"""A model of transformers on this machine, as a page names and shows it before it is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.byte_units import readable
from models.files import FileError
from models.limits import in_force
from models.zoo.hub.folder import Folder, open_folder
from models.zoo.offers import Offer
from models.zoo.settings import Setting

if TYPE_CHECKING:
    from models.zoo.model import Model

TEXTS = {
    "encoder-only": "The animal did not cross the street because it was too tired.",
    "decoder-only": "When Mary and John went to the store, John gave a drink to",
    "encoder-decoder": "translate English to German: The house is wonderful.",
}
MASKED = "The capital of France is [MASK]."
LONG = Setting(
    name="long", default="refuse", label="A text that is too long", drawn="segments",
    choices=("refuse", "cut"), help="refuse: it is not read; cut: its end is left out",
)  # fmt: skip
CHAT = Setting(
    name="chat", default="off", label="Chat template", drawn="segments", choices=("off", "on"),
    help="on: the text is what a user says, in the words around it that the model was trained with",
)  # fmt: skip
TARGET = Setting(
    name="target", default="", label="Answer", drawn="text", most=in_force().text_characters, of_text=True,
    placeholder="written by the model", help="Type an answer to force it; empty: the model writes it",
)  # fmt: skip


def offer_of_hub(name: str) -> Offer | None:
    """The offer of `hf:` and a name; None where it cannot be opened."""
    try:
        folder = open_folder(name)
        return _offer(folder)
    except (FileError, OSError):
        return None


def _offer(folder: Folder) -> Offer:
    sizes = folder.sizes
    fills = folder.architecture.endswith("ForMaskedLM")
    text = MASKED if fills else TEXTS[folder.kind]
    more = (TARGET,) if folder.kind == "encoder-decoder" else ()
    chats = (CHAT,) if "chat_template" in folder.tokenizer_config or folder.has("chat_template.jinja") else ()
    summary = f"{folder.architecture or 'A model'} from its folder, {readable(folder.n_bytes)} of weights."
    return Offer(
        name=folder.name,
        load=lambda: _load(folder.name),
        title=folder.title,
        summary=summary,
        sizes=sizes,
        text=text,
        reads="picture" if folder.reads_pictures else "text",
        settings=(*more, *chats, LONG),
        memory=folder.name,
        stamp=folder.stamp,
    )


def _load(name: str) -> Model:
    from models.zoo.hub.model import HubModel

    return HubModel(open_folder(name))
