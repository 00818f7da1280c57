"""The masks that have a name, and what their arguments say, without PyTorch: `engine.masks` makes them.

Each mask is one file of models/engine/masks/kinds, and is found by being there.
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple

_KINDS = Path(__file__).parent / "engine" / "masks" / "kinds"


class MaskName(NamedTuple):
    """title: as a person reads it. rule: what its argument holds, "" for a mask that takes none. example: an
    argument, and the one that an empty one stands for, where the mask's kind names no other. meaning: what
    the example says. causal_too: pages offer it with "causal+" as well. order: pages list low ones first.
    """

    title: str
    rule: str = ""
    example: str = ""
    meaning: str = ""
    causal_too: bool = False
    order: int = 100


def about_in(file: Path) -> MaskName:
    """What a mask's file says of it. The file is read and not run, since running it imports PyTorch."""
    for line in ast.parse(file.read_text(encoding="utf-8")).body:
        match line:
            case ast.Assign([ast.Name("ABOUT")], ast.Call(keywords=given)):
                return MaskName(**{str(each.arg): ast.literal_eval(each.value) for each in given})
    raise ValueError(f"{file.name} lacks ABOUT = MaskName(title=...), which every mask has; add it")


MASKS = dict(
    sorted(
        ((file.stem, about_in(file)) for file in _KINDS.glob("[!_]*.py")),
        key=lambda item: (item[1].order, item[0]),
    )
)
"""What is said of each mask, by its name; a file each."""
MASK_TITLES = {
    prefix + name: prefix.replace("+", " + ") + mask.title
    for name, mask in MASKS.items()
    for prefix in ("", "causal+")[: 1 + mask.causal_too]
}
"""The masks that pages offer, by the names that `models.engine.masks.named` takes."""


def about_argument(mask: str) -> MaskName:
    """What the argument of a mask may be, with or without "causal+"; also for a mask that is not known."""
    return MASKS.get(mask.removeprefix("causal+"), MASKS["none"])


def numbers(name: str, argument: str, count: int | None = None) -> list[int]:
    """The whole numbers of "4.1"; so small that no arithmetic on them overflows. Raises ValueError."""
    parts = argument.split(".")
    if not all(re.fullmatch("[0-9]{1,6}", part) for part in parts) or len(parts) != (count or len(parts)):
        raise ValueError(refusal(name, argument, ".".join("41"[: count or 2])))
    return [int(part) for part in parts]


def refusal(name: str, argument: str, example: str) -> str:
    """The sentence for an argument that cannot be read."""
    return f"argument {argument[:40]!r} of mask {name!r} is not {MASKS[name].rule}; try {example!r}"
