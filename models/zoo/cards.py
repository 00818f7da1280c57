"""Model cards: what is said of a model beside its weights.

Read without torch, so that a page can name what it will show while torch is still being imported.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_CARD_BYTES = 4 << 20
CARD = "card.json"
CHECKPOINT = "checkpoint.safetensors"
SHIPPED = Path(__file__).parent


class ModelFileError(ValueError):
    """A model file that is missing, damaged, foreign or too large; the text says which, and what to do."""


@dataclass(frozen=True)
class ModelCard:
    """A shipped model; `showcase`: the stack, layer and head worth opening first; `examples`: what to try."""

    name: str
    path: Path
    card: dict[str, Any]

    @property
    def task(self) -> str:
        """The name of the task that it was trained on."""
        return self.card["task"]["name"] if "task" in self.card else "translation"

    @property
    def showcase(self) -> dict[str, Any]:
        return self.card.get("showcase", {})

    @property
    def examples(self) -> list[dict[str, str]]:
        return self.card.get("examples", [])


def list_models() -> list[ModelCard]:
    """The cards of all shipped models, by name."""
    return [ModelCard(name, SHIPPED / name, read_card(SHIPPED / name / CARD)) for name in shipped_names()]


def shipped_names() -> list[str]:
    """The names of all shipped models, without reading their cards."""
    return sorted(path.parent.name for path in SHIPPED.glob(f"*/{CARD}"))


def read_card(path: Path) -> dict[str, Any]:
    """A card, checked as far as every model needs it: a translator's states its vocabulary, any other's its
    task and what that has learnt. Raises ModelFileError.
    """
    card = read_object(path, "a card")
    own = ("task", "learnt") if "task" in card and "vocabulary" not in card else ("vocabulary",)
    missing = [field for field in ("config", *own) if field not in card]
    if missing:
        raise ModelFileError(
            f"{str(path)!r} lacks {' and '.join(missing)}, which every card states; restore it"
        )
    return card


def read_object(path: Path, what: str) -> dict[str, Any]:
    """A file's JSON object; `what` it should hold. Raises ModelFileError."""
    raw = read_bounded(path, MAX_CARD_BYTES, what)
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise ModelFileError(
            f"{str(path)!r} is no JSON, as {what} must be; copy or download it again"
        ) from None
    if not isinstance(found, dict):
        raise ModelFileError(f"{str(path)!r} holds a {type(found).__name__}, not a JSON object; restore it")
    return found


def read_bounded(path: Path, limit: int, what: str) -> bytes:
    """A file's bytes, at most `limit` of them; `what` it should hold. Raises ModelFileError."""
    check_size(path, limit, what)
    try:
        with path.open("rb") as file:
            return file.read(limit)  # no more, should it grow meanwhile
    except OSError as error:
        raise ModelFileError(f"{str(path)!r} cannot be read ({error}); check its permissions") from None


def check_size(path: Path, limit: int, what: str) -> None:
    """Raises ModelFileError unless `path` is a file of at most `limit` bytes; `what` it should hold."""
    try:
        size = path.stat().st_size if path.is_file() else None
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{str(path)!r} cannot be read ({error}); check its permissions") from None
    if size is None:
        raise ModelFileError(f"{str(path)!r} does not exist or is no file, but holds {what}; check the path")
    if size > limit:
        raise ModelFileError(
            f"{str(path)!r} is larger than the {limit:,} bytes allowed for {what}; choose a smaller file"
        )
