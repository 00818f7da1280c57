"""Folders on the server's disk, which visitors of a class are not told."""

import re
from functools import cache
from pathlib import Path

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from models.data.downloads import data_root
from models.zoo.run_folders import runs_root
from pages.shared import visitors

_ROOT = Path(__file__).parents[2]
_UPLOADS = re.compile(r"\buploads/[0-9a-z]+/")
# Where a path can begin: not in the middle of an address or of another path; after a break of a line in JSON.
_BEGINS = r"(?:(?<![\w.~/-])|(?<=\\[nrt]))"


def without_places(text: str) -> str:
    """A text in which, for visitors of a class, paths are shortened to the names of files."""
    if not visitors.is_class():
        return text
    for folder in _folders(runs_root(), data_root()):
        path = f"{_BEGINS}{re.escape(folder)}"
        text = re.sub(rf"{path}(?![\w./-])", Path(folder).name, re.sub(f"{path}/", "", text))
    return _UPLOADS.sub("", text)


def message_without_places(raw: bytes) -> bytes:
    """A message to a browser with its texts `without_places`; Streamlit's own name the program's files."""
    folders = _folders(runs_root(), data_root())
    if not visitors.is_class() or not any(folder.encode() in raw for folder in folders):
        return raw
    message = ForwardMsg.FromString(raw)
    _shorten(message)
    return message.SerializeToString()


def _shorten(message: Message) -> None:
    """Shortens the paths in all texts of a message, and of those in it."""
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_STRING:
            if field.is_repeated:
                value[:] = map(without_places, value)
            else:
                setattr(message, field.name, without_places(value))
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            parts = value.values() if hasattr(value, "values") else value if field.is_repeated else [value]
            for part in parts:
                if isinstance(part, Message):
                    _shorten(part)


@cache
def _folders(runs: Path, data: Path) -> tuple[str, ...]:
    """The folders that are not told, the deepest first."""
    given = (runs, data, _ROOT, Path.home())
    folders = {str(place) for root in given for place in (root, root.resolve())} - {"/"}
    return tuple(sorted(folders, key=len, reverse=True))
