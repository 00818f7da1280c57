"""A teacher's rights: for whoever knows a secret, of which the server has only a salted hash.

ATTENTION_LAB_TEACHER holds that hash, or names a file that does; `make teacher` writes one. Who has signed in
is remembered in the runs' folder, for every process of the server, until so many hours are over.
"""

import hashlib
import hmac
import os
import re
import secrets
import threading
import time
from collections import deque
from pathlib import Path

from models.files import write_whole
from models.limits import in_force
from models.zoo.run_folders import runs_root

HASH = "ATTENTION_LAB_TEACHER"
LEAST, MOST = 10, 200
"""Characters of a secret."""
WINDOW_SECONDS = 600
_WRITTEN = re.compile(r"scrypt:([0-9a-f]{32}):([0-9a-f]{64})")
_wrong: deque[tuple[float, str]] = deque()
"""When who gave a wrong secret, the oldest first."""
_lock = threading.Lock()


def hashed(secret: str, salt: bytes | None = None) -> str:
    """What the server is given of a secret. Raises ValueError for one that is guessed too easily."""
    if not LEAST <= len(secret) <= MOST:
        raise ValueError(f"{len(secret)} characters are no secret; take {LEAST} to {MOST}")
    salt = salt or secrets.token_bytes(16)
    return f"scrypt:{salt.hex()}:{hashlib.scrypt(secret.encode(), salt=salt, n=2**14, r=8, p=1).hex()[:64]}"


def configured() -> str:
    """The hash that the server was started with; "" where there is no teacher. Raises ValueError."""
    said = os.environ.get(HASH, "").strip()
    if said and not said.startswith("scrypt:"):
        try:
            with Path(said).expanduser().open(encoding="utf-8") as file:
                said = file.read(MOST).strip()
        except (OSError, UnicodeDecodeError):
            raise ValueError(f"{HASH} names no file that can be read; `make teacher` writes one") from None
    if said and not _WRITTEN.fullmatch(said):
        raise ValueError(f"{HASH} holds no hash of a secret; `make teacher` writes one")
    return said


def sign_in(visitor_id: str, secret: str) -> None:
    """Gives the visitor a teacher's rights. Raises ValueError for a wrong secret, or too many of them."""
    expected = configured()
    if not expected or not visitor_id:
        raise ValueError("nobody can sign in: start the server with a teacher's secret, and allow cookies")
    with _lock:  # one at a time: each takes 16 MB and a moment of the processor
        _check_attempts(visitor_id)
        salt = bytes.fromhex(expected.split(":")[1])
        right = LEAST <= len(secret) <= MOST and hmac.compare_digest(hashed(secret, salt), expected)
        if not right:
            _wrong.append((time.monotonic(), visitor_id))
            raise ValueError("this is not the teacher's secret; type it again")
    path = _signed(visitor_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, _proof(expected, visitor_id))


def _check_attempts(visitor_id: str) -> None:
    limits, now = in_force(), time.monotonic()
    while _wrong and _wrong[0][0] < now - WINDOW_SECONDS:
        _wrong.popleft()
    theirs = sum(who == visitor_id for _, who in _wrong)
    if theirs >= limits.teacher_attempts or len(_wrong) >= limits.teacher_attempts_in_all:
        minutes = -(-(_wrong[0][0] + WINDOW_SECONDS - now) // 60)
        raise ValueError(
            f"{theirs} wrong secrets came from you and {len(_wrong)} from all within {WINDOW_SECONDS // 60} "
            f"minutes, and at most {limits.teacher_attempts} and {limits.teacher_attempts_in_all} may; "
            f"wait {minutes:.0f} minutes"
        )


def sign_out(visitor_id: str) -> None:
    """Takes the rights back."""
    if visitor_id:
        _signed(visitor_id).unlink(missing_ok=True)


def knows(visitor_id: str) -> bool:
    """Whether this visitor has signed in, with the secret of today, and not too long ago."""
    if not visitor_id or not os.environ.get(HASH):
        return False
    path = _signed(visitor_id)
    try:
        fresh = time.time() - path.stat().st_mtime < in_force().teacher_hours * 3_600
        return fresh and hmac.compare_digest(path.read_bytes(), _proof(configured(), visitor_id))
    except (OSError, ValueError):
        return False


def _signed(visitor_id: str) -> Path:
    return runs_root() / ".teachers" / visitor_id


def _proof(expected: str, visitor_id: str) -> bytes:
    """With another secret, those who signed in before are no longer known."""
    return hmac.digest(expected.encode(), visitor_id.encode(), "sha256").hex().encode()
