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
from functools import cache

import streamlit as st

from models.runs.owners import PERSON, Visitor
from pages.shared import teachers

COOKIE = "attention_lab_visitor"
CLASS = "ATTENTION_LAB_CLASS"
"""Set in the environment, it makes a class of a server on 127.0.0.1, such as one behind a proxy."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")  # 32 random bytes
_DAYS = 365


@cache
def is_class() -> bool:
    """Whether visitors other than the person at the machine can come."""
    return bool(os.environ.get(CLASS)) or not _only_here(st.get_option("server.address"))


def _only_here(address: str | None) -> bool:
    """Whether an address is reached from this machine alone; no address means all of them."""
    try:
        return address == "localhost" or ipaddress.ip_address(address or "0.0.0.0").is_loopback
    except ValueError:  # another name
        return False


def visitor() -> Visitor:
    """The visitor whose page this is; to be called on the thread of the page."""
    if not is_class():
        return PERSON
    known = _known_by(st.context.cookies.get(COOKIE, ""))
    return Visitor(known, all_rights=teachers.knows(known))


def _known_by(token: str) -> str:
    """The name of a visitor in files and lists, from which the token cannot be found."""
    return hashlib.sha256(token.encode()).hexdigest()[:32] if _TOKEN.fullmatch(token) else ""


def cookie_for(token: str, *, secure: bool) -> str:
    """The header that makes a browser keep its token, or a new one, for a year; scripts cannot read it."""
    kept = token if _TOKEN.fullmatch(token) else secrets.token_urlsafe(32)
    rest = f"Path=/; Max-Age={_DAYS * 86_400}; HttpOnly; SameSite=Lax"
    return f"{COOKIE}={kept}; {rest}{'; Secure' if secure else ''}"
