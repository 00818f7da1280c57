"""A teacher's rights: for whoever knows a secret, of which the server has only a salted hash.

ATTENTION_LAB_TEACHER holds that hash, or names a file that does; `make teacher` writes one. Who has signed in
is remembered in the runs' folder, for every process of the server, for `teacher_hours`.
"""

import hashlib
import hmac
import json
import math
import os
import re
import secrets
import time
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from models.files import read_lines, write_whole, writing
from models.limits import in_force
from models.zoo.run_folders import runs_root

HASH = "ATTENTION_LAB_TEACHER"
LEAST, MOST = 10, 200
"""Characters of a secret."""
WINDOW_SECONDS = 600
PATIENCE_SECONDS = 10.0
_WRITTEN = re.compile(r"scrypt:([0-9a-f]{32}):([0-9a-f]{64})")


def hashed(secret: str, salt: bytes | None = None) -> str:
    """The salted hash of a secret, for the server. Raises ValueError for a secret that is easy to guess."""
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
    path = _signed(visitor_id)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        # One check at a time in all processes: each takes 16 MB and a moment of the processor.
        with FileLock(path.parent / ".lock", timeout=PATIENCE_SECONDS):
            _check(visitor_id, secret, expected)
    except Timeout:
        raise ValueError("others are signing in just now; try again in a moment") from None
    write_whole(path, _proof(expected, visitor_id))


def _check(visitor_id: str, secret: str, expected: str) -> None:
    """Raises ValueError for a wrong secret, which it counts, and for any secret after too many wrong ones."""
    wrong = [line for line in read_lines(_wrong()) if _is_recent(line)]
    _check_attempts(wrong, visitor_id)
    salt = bytes.fromhex(expected.split(":")[1])
    if LEAST <= len(secret) <= MOST and hmac.compare_digest(hashed(secret, salt), expected):
        return
    wrong.append({"at": time.time(), "who": visitor_id})
    write_whole(_wrong(), "".join(f"{json.dumps(line)}\n" for line in wrong).encode())
    raise ValueError("this is not the teacher's secret; type it again")


def _check_attempts(wrong: list[dict[str, Any]], visitor_id: str) -> None:
    limits = in_force()
    theirs = sum(line.get("who") == visitor_id for line in wrong)
    if theirs >= limits.teacher_attempts or len(wrong) >= limits.teacher_attempts_in_all:
        minutes = math.ceil((wrong[0]["at"] + WINDOW_SECONDS - time.time()) / 60)
        raise ValueError(
            f"{theirs} wrong secrets came from you and {len(wrong)} from all within {WINDOW_SECONDS // 60} "
            f"minutes, and at most {limits.teacher_attempts} and {limits.teacher_attempts_in_all} may; "
            f"wait {minutes} minutes"
        )


def _is_recent(line: dict[str, Any]) -> bool:
    at = line.get("at")
    return isinstance(at, int | float) and time.time() - WINDOW_SECONDS < at <= time.time()


def _wrong() -> Path:
    """The file of wrong secrets: who gave one and when, the oldest first."""
    return runs_root() / ".teachers" / "wrong.jsonl"


def sign_out(visitor_id: str) -> None:
    """Ends the visitor's rights as a teacher."""
    if visitor_id:
        _signed(visitor_id).unlink(missing_ok=True)


def knows(visitor_id: str) -> bool:
    """Whether this visitor has signed in with the present secret, and not too long ago."""
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
    """The proof of a sign-in. It depends on the secret, so that a new secret ends all earlier sign-ins."""
    return hmac.digest(expected.encode(), visitor_id.encode(), "sha256").hex().encode()
