"""The masks that pages offer, by the engine's names, and the field for a mask's argument."""

from typing import Any

from models.zoo.settings import MASK_ARGUMENTS
from pages.shared import widget

ARGUMENT = widget.line("Mask argument")


def about_argument(mask: str) -> dict[str, Any]:
    """What the field for the argument of `mask` says; it is off where the mask takes none."""
    example, meaning = MASK_ARGUMENTS.get(mask.removeprefix("causal+"), ("", ""))
    told = f"{example} = {meaning}" if example else "Only some masks have one: a window has its width"
    return {"placeholder": example or "none", "disabled": not example, "help": told}
