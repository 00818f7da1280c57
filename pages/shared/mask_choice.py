"""The masks that pages offer, by the engine's names, and the field for a mask's argument."""

from typing import Any

from models import mask_names
from pages.shared import widget

ARGUMENT = widget.line("Mask argument")


def about_argument(mask: str) -> dict[str, Any]:
    """What the field for the argument of `mask` says; it is off where the mask takes none."""
    of = mask_names.about_argument(mask)
    told = f"{of.example} = {of.meaning}" if of.rule else "Only some masks have one: a window has its width"
    return {"placeholder": of.example or "none", "disabled": not of.rule, "help": told}
