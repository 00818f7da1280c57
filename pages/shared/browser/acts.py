"""The acts that a component of ours may ask the server for, checked before a page's code sees them.

A message written by hand may hold anything that JSON can say, as deep and as long as it likes.
"""

from collections.abc import Mapping
from typing import Any

from models.files import parsed
from models.limits import in_force

MOST_CHARACTERS = 4 * in_force().text_characters
"""The length of a message: the longest text that may be sent, each character written as JSON writes it."""
MOST_ACTS = 16
"""The acts in one message: the browser sends together those that come at once."""
Kind = type | tuple[type, ...]
Kinds = Mapping[str, Mapping[str, Kind]]
"""By what an act is called: all of its fields, and of which kind, or of one of which kinds, each is; `list`
holds texts or numbers."""


Act = dict[str, Any]
"""Its "type", and all fields that are declared for this type."""


def checked(raw: Any, known: Kinds) -> list[Act]:
    """The acts of a message as Streamlit hands them on. Raises ValueError for anything else in it."""
    if not isinstance(raw, str) or len(raw) > MOST_CHARACTERS:
        raise ValueError("no text, or too long a one")
    said = parsed(raw.encode())
    events = said if isinstance(said, list) else [said]
    if len(events) > MOST_ACTS:
        raise ValueError("too many acts")
    return [_act(event, known) for event in events]


def _act(event: Any, known: Kinds) -> Act:
    act = event.get("value") if isinstance(event, dict) and event.get("event") == "act" else None
    kind = act.get("type") if isinstance(act, dict) else None
    if not isinstance(act, dict) or not isinstance(kind, str) or kind not in known:
        raise ValueError("no act")
    declared = known[kind]
    if act.keys() != {"type", *declared}:
        raise ValueError("too few fields, or too many")
    for name, of in declared.items():
        if not _is_of(act[name], of):
            raise ValueError(f"{name} is of another kind")
    return act


def _is_of(value: Any, kind: Kind) -> bool:
    if kind is list:
        return isinstance(value, list) and all(_is_of(each, str) or _is_of(each, int) for each in value)
    return isinstance(value, kind) and not isinstance(value, bool)
