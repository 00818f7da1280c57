"""Model cards: the description of a model beside its weights.

They are read without torch, so that a page can name what it will show while torch is still being imported.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.files import FileError, read_json

CARD = "card.json"
SHIPPED = Path(__file__).parent


@dataclass(frozen=True)
class ModelCard:
    """A shipped model; `showcase`: the stack, layer and head worth opening first; `examples`: what to try."""

    name: str
    path: Path
    card: dict[str, Any]

    @property
    def task(self) -> str:
        """The name of the task that it was trained on."""
        return self.card["task"]["name"]

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
    """A card, checked as far as every model needs it. Raises FileError."""
    card = read_json(path)
    missing = [field for field in ("config", "task", "learnt") if field not in card]
    if missing:
        raise FileError(f"{str(path)!r} lacks {' and '.join(missing)}, which every card states; restore it")
    return card
