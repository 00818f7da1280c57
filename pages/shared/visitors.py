"""Who looks at a page, and what they may do.

On 127.0.0.1 that is one person, who has all rights and needs no cookie. With another HOST the server is a
class: the document that a browser fetches first brings a random token as a cookie, which only the server
reads again; a visitor is known by its hash.
"""

import hashlib
import ipaddress
import os
import re
import secrets
import sys
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from attention_lab.models.data.downloads import data_root
from attention_lab.models.files import IMPORT_ROOT, LIBRARY, write_whole, writing
from attention_lab.models.runs.owners import PERSON, Visitor
from attention_lab.models.zoo.folders import runs_root
from attention_lab.pages.shared import st, teachers

Answer = TypeVar("Answer")
COOKIE = "attention_lab_visitor"
CLASS = "ATTENTION_LAB_CLASS"
"""Set in the environment, it makes a class of a server on 127.0.0.1, such as one behind a proxy."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # 32 random bytes
_NAME = re.compile(r"[0-9a-f]{32}")
_DAYS = 365


@cache
def is_class() -> bool:
    """Whether visitors other than the person at the machine can come; to a notebook nobody does."""
    if sys.modules.get("streamlit") is None:
        return bool(os.environ.get(CLASS))
    address = st.get_option("server.address") or "0.0.0.0"  # no address means all of them
    try:
        is_only_here = address == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:  # another name
        is_only_here = False
    return bool(os.environ.get(CLASS)) or not is_only_here


@dataclass(frozen=True)
class Browser:
    """Whoever asks by a route: the token of the cookie, and the address."""

    token: str
    host: str


asking: ContextVar[Browser | None] = ContextVar("asking", default=None)
"""The browser that a route answers; None on the thread of a page, where Streamlit knows it."""


def browser() -> Browser:
    """Whoever asks, on the thread of a page or of a route."""
    return asking.get() or Browser(st.context.cookies.get(COOKIE, ""), st.context.ip_address or "")


def on_behalf(asker: Browser, function: Callable[..., Answer], *given: Any) -> Answer:
    """What a function answers somebody, on whatever thread."""
    context = copy_context()
    context.run(asking.set, asker)
    return context.run(function, *given)


def visitor() -> Visitor:
    """The visitor whose page this is; to be called on the thread of the page, or of a route."""
    return PERSON if not is_class() else _known_as(token_id())


def visitor_with(token: str) -> Visitor:
    """The visitor whose browser has this token as its cookie."""
    return PERSON if not is_class() else _known_as(_hashed(token))


def _known_as(known: str) -> Visitor:
    return Visitor(_stands_for(known), all_rights=teachers.knows(known))


def network() -> str:
    """Where the page's visitor comes from, as far as proxies that are believed say: one network of IPv6, of
    which one customer of a provider has all addresses, counts as one. "" on this machine.
    """
    return network_of(browser().host)


def network_of(host: str) -> str:
    """As `network`, of an address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ""
    return str(ipaddress.ip_network((address, 64 if address.version == 6 else 32), strict=False))


def token_id() -> str:
    """The hash of the token of the page's browser, from which the token cannot be found; "" without one."""
    return _hashed(browser().token)


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()[:32] if _TOKEN.fullmatch(token) else ""


def _stands_for(known: str) -> str:
    """The name in files and lists of the visitor with this token: its hash, or that of an earlier token."""
    try:
        name = _renewed(known).read_text(encoding="ascii") if known else ""
    except (OSError, ValueError):
        return known
    return name if _NAME.fullmatch(name) else known


def renew(code: str, token: str) -> str:
    """A new token, with a teacher's rights, for the browser that got this code; the old one is nobody's then.

    What the visitor has stays theirs. Raises ValueError for a code that this browser did not get just now.
    """
    before = _hashed(token)
    if not before or not teachers.redeem(code, before):
        raise ValueError("this browser has not signed in; sign in on Teacher")
    fresh = secrets.token_urlsafe(32)
    with writing(_renewed(before)):
        _renewed(before).parent.mkdir(parents=True, exist_ok=True)
    write_whole(_renewed(_hashed(fresh)), _stands_for(before).encode())
    teachers.record_sign_in(_hashed(fresh))
    teachers.sign_out(before)
    write_whole(_renewed(before), secrets.token_hex(16).encode())
    return fresh


def _renewed(known: str) -> Path:
    """The file with the name of a visitor whose token was renewed; of the old token, that of nobody."""
    return runs_root() / ".visitors" / known


def cookie_for(token: str, *, secure: bool) -> str:
    """The header that makes a browser keep its token, or a new one, for a year; scripts cannot read it."""
    value = token if _TOKEN.fullmatch(token) else secrets.token_urlsafe(32)
    rest = f"Path=/; Max-Age={_DAYS * 86_400}; HttpOnly; SameSite=Lax"
    return f"{COOKIE}={value}; {rest}{'; Secure' if secure else ''}"


# The server's folders, hidden from visitors of a class

_FOLDERS = ("ATTENTION_LAB_MODELS", "HF_HOME", "HF_HUB_CACHE")
"""Variables of the environment that name more of them."""
_UPLOADS = re.compile(r"\buploads/[0-9a-z]+/")
# Where a path can begin: not in the middle of an address or of another path; after a break of a line in JSON.
_BEGINS = r"(?:(?<![\w.~/-])|(?<=\\[nrt]))"


def without_places(text: str) -> str:
    """A text in which, for visitors of a class, paths are shortened to the names of files."""
    if not is_class():
        return text
    for folder in _folders():
        path = f"{_BEGINS}{re.escape(folder)}"
        text = re.sub(rf"{path}(?![\w./-])", Path(folder).name, re.sub(f"{path}/", "", text))
    return _UPLOADS.sub("", text)


def message_without_places(raw: bytes) -> bytes:
    """A message to a browser with its texts `without_places`; Streamlit's own name the program's files."""
    if not is_class():
        return raw
    if not any(folder.encode() in raw for folder in _folders()):
        return raw
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

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


def _folders() -> tuple[str, ...]:
    """The folders that are not told, the deepest first."""
    given = (Path(os.environ[name]).expanduser() for name in _FOLDERS if os.environ.get(name))
    return _spellings(runs_root(), data_root(), LIBRARY, IMPORT_ROOT, Path.home(), *given)


@cache
def _spellings(*roots: Path) -> tuple[str, ...]:
    folders = {str(place) for root in roots for place in (root.absolute(), root.resolve())} - {"/"}
    return tuple(sorted(folders, key=len, reverse=True))
