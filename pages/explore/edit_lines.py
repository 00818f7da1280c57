"""What presses on the stage make of the lines of edits, which models/interventions reads and writes."""

from collections.abc import Sequence

from attention_lab.models.interventions.edit import Edit, Place
from attention_lab.models.interventions.kinds.painted import Set
from attention_lab.models.interventions.kinds.zero import Zero

Cells = list[tuple[int, float]]


def after_press(lines: Sequence[str], line: str, how: str, count: int = 0) -> list[str]:
    """The lines after a press.

    how: "toggle" puts a line in the place of one at the same place, and takes the same line away; "put" does
    not take it away, "undo" puts nothing there; "join" and "join renormalised" set the cells of a row beside
    those that are set already; "switch" turns a head off, or on again beside those that are off with it, of
    so many (`count`) heads. A line that is no edit is added as it is: the figure refuses it.
    """
    try:
        edit, known = Edit.read(line), [Edit.read(each) for each in lines]
    except ValueError:
        return [*lines, line]
    head = (edit.place.heads or (-1,))[0]
    if how == "switch" and any(head in _off(each, edit.place.address, count) for each in known):
        both = zip(lines, known, strict=True)
        return [others for text, each in both for others in _on_again(text, each, edit.place, count)]
    others = [text for text, each in zip(lines, known, strict=True) if each.place != edit.place]
    if how == "undo" or (how in ("toggle", "switch") and edit in known):
        return others
    if how.startswith("join") and isinstance(edit.change, Set):
        set_already = [cell for each in known if each.place == edit.place for cell in _cells(each)]
        line = _joined(edit, edit.change, set_already, how.endswith("renormalised"))
    return [*others, line]


def heads_off(edits: str) -> dict[str, list[int] | None]:
    """By the address of an attention, the heads that edits switch off at all positions; None for all."""
    off: dict[str, list[int] | None] = {}
    for edit in map(Edit.read, edits.splitlines()):
        if _is_off(edit):
            known, heads = off.get(edit.place.short, []), edit.place.heads
            off[edit.place.short] = None if known is None or heads is None else [*known, *heads]
    return off


def condition(edits: str) -> str:
    """How a sentence about edits begins: Without these 4 heads, or With this edit."""
    read = [Edit.read(line) for line in edits.splitlines()]
    off = {(edit.place.address, head) for edit in read for head in edit.place.heads or ()}
    if all(_is_off(edit) and edit.place.heads for edit in read):
        return "Without this head" if len(off) == 1 else f"Without these {len(off)} heads"
    return "With this edit" if len(read) == 1 else f"With these {len(read)} edits"


def _is_off(edit: Edit) -> bool:
    return isinstance(edit.change, Zero) and edit.place.address.endswith(".z") and edit.place.at is None


def _off(edit: Edit, address: str, count: int) -> list[int]:
    """The heads of an attention that an edit switches off."""
    if not _is_off(edit) or edit.place.address != address:
        return []
    return list(range(count) if edit.place.heads is None else edit.place.heads)


def _on_again(text: str, edit: Edit, place: Place, count: int) -> list[str]:
    """The line of an edit, or another without the head of a place, or none."""
    off = _off(edit, place.address, count)
    others = [head for head in off if head not in (place.heads or ())]
    if len(others) == len(off):
        return [text]
    return [str(Edit(Place(place.address, tuple(others)), edit.change))] if others else []


def _cells(edit: Edit) -> Cells:
    return list(edit.change.weights) if isinstance(edit.change, Set) else []


def _joined(edit: Edit, painted: Set, known: Cells, renormalised: bool) -> str:
    """A row that is renormalised has no more than 1 for all: what is painted comes first, the others share
    the room that is left.
    """
    others = [(key, weight) for key, weight in known if key not in painted.keys]
    mine = _fitted(list(painted.weights), 1.0 if renormalised else None)
    rest = _fitted(others, 1 - sum(weight for _, weight in mine) if renormalised else None)
    cells = " ".join(f"{key}={weight:g}" for key, weight in sorted([*rest, *mine]))
    return f"{edit.place}: set {cells}{' renormalised' if renormalised else ''}"


def _fitted(cells: Cells, room: float | None) -> Cells:
    """Weights in three digits that sum to no more than there is room for."""
    rounded = [(key, round(weight, 3)) for key, weight in cells]
    total = sum(weight for _, weight in rounded)
    if room is None or total <= room + 1e-9:
        return rounded
    return [(key, int(1000 * weight * max(0.0, room) / total + 1e-6) / 1000) for key, weight in rounded]
