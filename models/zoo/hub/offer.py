"""A model of transformers on this machine, as a page names and shows it before it is loaded."""

from __future__ import annotations

from models.byte_units import readable
from models.fields import characters, one_of
from models.files import FileError
from models.limits import in_force
from models.zoo.hub import load_hub
from models.zoo.hub.folder import Folder, open_folder
from models.zoo.hub.photos import NAMES
from models.zoo.offers import Offer, Setting

TEXTS = {
    "encoder-only": "The animal did not cross the street because it was too tired.",
    "decoder-only": "When Mary and John went to the store, John gave a drink to",
    "encoder-decoder": "translate English to German: The house is wonderful.",
}
MASKED = "The capital of France is [MASK] ."
LONG = Setting(
    "refuse",
    one_of(("refuse", "cut")),
    "A text that is too long",
    "refuse: it is not read; cut: its end is left out",
    control="segments",
    name="long",
)
CHAT = Setting(
    "off",
    one_of(("off", "on")),
    "Chat template",
    "on: the text is what a user says, in the words around it that the model was trained with",
    control="segments",
    name="chat",
)
TARGET = Setting(
    "",
    characters(in_force().text_characters),
    "Answer",
    "Type an answer to force it; empty: the model writes it",
    more={"placeholder": "written by the model"},
    name="target",
    of_text=True,
)


def offer_of_hub(name: str) -> Offer | None:
    """The offer of `hf:` and a name; None where it cannot be opened."""
    try:
        folder = open_folder(name)
        return _offer(folder)
    except (FileError, OSError):
        return None


def _offer(folder: Folder) -> Offer:
    if folder.reads_pictures:
        return _offer_of_pictures(folder)
    sizes = folder.sizes
    fills = folder.architecture.endswith("ForMaskedLM")
    text = MASKED if fills else TEXTS[folder.kind]
    more = (TARGET,) if folder.kind == "encoder-decoder" else ()
    chats = (CHAT,) if "chat_template" in folder.tokenizer_config or folder.has("chat_template.jinja") else ()
    return Offer(
        name=folder.name,
        load=lambda: load_hub(folder.name),
        title=folder.title,
        summary=_summary(folder),
        sizes=sizes,
        text=text,
        settings=(*more, *chats, LONG),
        memory=folder.name,
        stamp=folder.stamp,
    )


def _offer_of_pictures(folder: Folder) -> Offer:
    shown = tuple(
        {"label": label, "text": str(number), "see": ""} for number, label in enumerate(NAMES, start=1)
    )
    return Offer(
        name=folder.name,
        load=lambda: load_hub(folder.name),
        title=folder.title,
        summary=_summary(folder),
        sizes=folder.sizes,
        text=shown[0]["text"],
        reads="any picture",
        examples=shown,
        showcase={"view": "picture"},
        memory=folder.name,
        stamp=folder.stamp,
    )


def _summary(folder: Folder) -> str:
    return f"{folder.architecture or 'A model'} from its folder, {readable(folder.n_bytes)} of weights."
