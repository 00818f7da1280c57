"""What a viewer may ask a page for, checked before the page's code sees it.

A message written by hand may hold anything that JSON can say, as deep and as long as it likes.
"""

from collections.abc import Mapping
from typing import Any

from attention_lab.models.files import parsed
from attention_lab.models.zoo.catalogue import MAX_CHARACTERS

MOST_CHARACTERS = 4 * MAX_CHARACTERS
"""The length of a message: the longest text that may be sent, each character written as JSON writes it."""
MOST_ACTS = 16
"""The acts in one message: the browser sends together those that come at once."""
Kind = type | tuple[type, ...]
Kinds = Mapping[str, Mapping[str, Kind]]
"""By what an act is called: all of its fields, and of which kind, or of one of which kinds, each is; `list`
holds texts or numbers."""


Act = dict[str, Any]
"""Its "type", and all fields that are declared for this type."""


def acts_of_message(raw: Any, known: Kinds) -> list[Act]:
    """The acts of a message as Streamlit hands them on. Raises ValueError for anything else in it."""
    if not isinstance(raw, str) or len(raw) > MOST_CHARACTERS:
        raise ValueError("no text, or too long a one")
    message = parsed(raw.encode())
    events, acts = message if isinstance(message, list) else [message], []
    if len(events) > MOST_ACTS:
        raise ValueError("too many acts")
    for event in events:
        match event:
            case {"event": "act", "value": {"type": str(kind), **values} as act} if kind in known:
                declared = known[kind]
            case _:
                raise ValueError("no act")
        if values.keys() != declared.keys():
            raise ValueError("too few fields, or too many")
        for name, of in declared.items():
            if not is_of(values[name], of):
                raise ValueError(f"{name} is of another kind")
        acts.append(act)
    return acts


def is_of(value: Any, kind: Kind) -> bool:
    """Whether a value of a message is of a kind; a truth value is no number."""
    if kind is list:
        return isinstance(value, list) and all(is_of(each, str) or is_of(each, int) for each in value)
    return isinstance(value, kind) and not isinstance(value, bool)
