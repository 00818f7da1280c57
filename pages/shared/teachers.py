"""A teacher's rights: for whoever knows a secret, of which the server has only a salted hash.

ATTENTION_LAB_TEACHER holds that hash, or names a file that does; `make teacher` writes one. Who has signed
in is remembered in the runs' folder, for every process of the server, for `HOURS`, or until the
machine is started anew. Times are by the machine's own counter: setting the clock moves no lock and no right.
"""

import hashlib
import hmac
import json
import math
import os
import re
import secrets
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from attention_lab.models.files import FileError, read_json, read_lines, write_json, write_whole, writing
from attention_lab.models.runs.processes import boot, uptime
from attention_lab.models.zoo.folders import runs_root

HASH = "ATTENTION_LAB_TEACHER"
LEAST, MOST = 10, 200
"""Characters of a secret."""
HOURS = 12
"""So long a teacher's rights last after signing in."""
WINDOW_SECONDS = 600
ATTEMPTS, ATTEMPTS_IN_ALL = 5, 100
"""Wrong secrets within that time, of one visitor and of all: whoever guesses may come as many visitors."""
PATIENCE_SECONDS = 10.0
CODE_SECONDS = 60
"""So long a browser has to come for its new token after its visitor has signed in."""
_WRITTEN = re.compile(r"scrypt:([0-9a-f]{32}):([0-9a-f]{64})")


def hashed(secret: str, salt: bytes | None = None) -> str:
    """The salted hash of a secret, for the server. Raises ValueError for a secret that is easy to guess."""
    if not LEAST <= len(secret) <= MOST:
        raise ValueError(f"{len(secret)} characters are no secret; take {LEAST} to {MOST}")
    salt = salt or secrets.token_bytes(16)
    return f"scrypt:{salt.hex()}:{hashlib.scrypt(secret.encode(), salt=salt, n=2**14, r=8, p=1).hex()[:64]}"


def configured() -> str:
    """The hash that the server was started with; "" where there is no teacher. Raises ValueError."""
    configured_hash = os.environ.get(HASH, "").strip()
    if configured_hash and not configured_hash.startswith("scrypt:"):
        try:
            with Path(configured_hash).expanduser().open(encoding="utf-8") as file:
                configured_hash = file.read(MOST).strip()
        except (OSError, UnicodeDecodeError):
            raise ValueError(f"{HASH} names no file that can be read; `make teacher` writes one") from None
    if configured_hash and not _WRITTEN.fullmatch(configured_hash):
        raise ValueError(f"{HASH} holds no hash of a secret; `make teacher` writes one")
    return configured_hash


def sign_in(visitor_id: str, secret: str) -> str:
    """A code with which this visitor's browser gets a new token, and that token a teacher's rights.

    The token that it has may be known to somebody who put it there. Raises ValueError for a wrong secret, or
    too many of them.
    """
    expected = configured()
    if not expected or not visitor_id:
        raise ValueError("nobody can sign in: start the server with a teacher's secret, and allow cookies")
    with writing(_folder()):
        _folder().mkdir(parents=True, exist_ok=True)
    try:
        # One check at a time in all processes: each takes 16 MB and a moment of the processor.
        with FileLock(_folder() / ".lock", timeout=PATIENCE_SECONDS):
            _check(visitor_id, secret, expected)
    except Timeout:
        raise ValueError("others are signing in just now; try again in a moment") from None
    code = secrets.token_urlsafe(32)
    record_sign_in(_of_code(code, visitor_id))
    return code


def redeem(code: str, visitor_id: str) -> bool:
    """Whether this visitor was given this code just now; it holds once."""
    name = _of_code(code, visitor_id)
    if not _signed_in_since(name, CODE_SECONDS):
        return False
    try:
        (_folder() / name).unlink()
    except FileNotFoundError:  # another request came first
        return False
    return True


def _check(visitor_id: str, secret: str, expected: str) -> None:
    """Raises ValueError for a wrong secret, which it counts, and for any secret after too many wrong ones."""
    wrong = [line for line in read_lines(_wrong()) if _age(line) < WINDOW_SECONDS]
    theirs = sum(line.get("who") == visitor_id for line in wrong)
    if theirs >= ATTEMPTS or len(wrong) >= ATTEMPTS_IN_ALL:
        minutes = math.ceil((WINDOW_SECONDS - _age(wrong[0])) / 60)
        raise ValueError(
            f"{theirs} wrong secrets came from you and {len(wrong)} from all within {WINDOW_SECONDS // 60} "
            f"minutes, the limits are {ATTEMPTS} and {ATTEMPTS_IN_ALL}; wait {minutes} minutes"
        )
    salt = bytes.fromhex(expected.split(":")[1])
    if LEAST <= len(secret) <= MOST and hmac.compare_digest(hashed(secret, salt), expected):
        return
    wrong.append({"boot": boot(), "up": uptime(), "who": visitor_id})
    write_whole(_wrong(), "".join(f"{json.dumps(line)}\n" for line in wrong).encode())
    raise ValueError("this is not the teacher's secret; type it again")


def _age(note: dict[str, Any]) -> float:
    """Seconds since something was noted; infinity where that was before the machine was started."""
    up, now = note.get("up"), uptime()
    return now - up if note.get("boot") == boot() and isinstance(up, int | float) and up <= now else math.inf


def _folder() -> Path:
    return runs_root() / ".teachers"


def _wrong() -> Path:
    """The file of wrong secrets: who gave one and when, the oldest first."""
    return _folder() / "wrong.jsonl"


def sign_out(visitor_id: str) -> None:
    """Ends the visitor's rights as a teacher."""
    if visitor_id:
        (_folder() / visitor_id).unlink(missing_ok=True)


def knows(visitor_id: str) -> bool:
    """Whether this visitor has signed in with the present secret, and not too long ago."""
    return bool(visitor_id and os.environ.get(HASH)) and _signed_in_since(visitor_id, HOURS * 3_600)


def _of_code(code: str, visitor_id: str) -> str:
    return hashlib.sha256(f"{code}:{visitor_id}".encode()).hexdigest()[:32]


def record_sign_in(name: str) -> None:
    """Notes that somebody signed in now: a visitor of this id is a teacher from now on. Raises WriteError."""
    note = {"boot": boot(), "up": uptime()}
    write_json(_folder() / name, note | {"proof": _proof(configured(), name, note)})


def _signed_in_since(name: str, seconds: float) -> bool:
    """Whether somebody signed in so under this name, with the present secret, at most so long ago."""
    try:
        note = read_json(_folder() / name)
        proof = _proof(configured(), name, note)
    except (FileError, ValueError):
        return False
    return hmac.compare_digest(str(note.get("proof")).encode(), proof.encode()) and _age(note) < seconds


def _proof(expected: str, name: str, note: dict[str, Any]) -> str:
    """The proof of a sign-in. It depends on the secret, so that a new secret ends all earlier sign-ins."""
    return hmac.digest(
        expected.encode(), f"{name}:{note.get('boot')}:{note.get('up')}".encode(), "sha256"
    ).hex()
