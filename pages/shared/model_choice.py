"""What Explore can open: the models that are shipped, the untrained one, and the runs of this machine.

Read from cards and run folders without torch, so that the page paints while torch is still being imported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from models.files import FileError
from models.runs.folder import RunFolder
from models.zoo.cards import ModelCard, list_models, shipped_names
from models.zoo.run_folders import CHECKPOINT, RUN_ID, run_path
from pages.shared import link

TRANSLATOR, UNTRAINED = "translator", "untrained"
MAX_UNTRAINED_TOKENS = 1_024
RUN = re.compile(f"run:({RUN_ID})")
FIRST_STACK = {"encoder-only": "encoder.self", "decoder-only": "decoder.self"}


@dataclass(frozen=True)
class Offer:
    """A trained model as the page names it; `text` is what it opens with, `showcase` the view."""

    title: str
    summary: str
    config: dict[str, Any]
    examples: list[dict[str, str]]
    showcase: dict[str, Any]
    text: str

    @property
    def reads_pictures(self) -> bool:
        return self.config.get("input_channels") is not None

    @property
    def reads_prose(self) -> bool:
        """Whether its texts may have more than one line: a language model's, which are words with blanks."""
        return self.config.get("kind") == "decoder-only" and " " in self.text.strip()

    @property
    def story(self) -> dict[str, Any]:
        """The view that it opens with: every head, if its card names none."""
        stack = FIRST_STACK.get(self.config.get("kind", ""), "encoder.self")
        return {"view": "grid", "stack": stack, **self.showcase}


def is_trained(model: str) -> bool:
    """Whether it is read through its task: all but the translator and the untrained one."""
    return model not in (TRANSLATOR, UNTRAINED)


def _is_name(raw: str) -> bool:
    return raw == UNTRAINED or raw in shipped_names() or RUN.fullmatch(raw) is not None


NAME = link.text(
    f"one of {', '.join([TRANSLATOR, UNTRAINED])}, another shipped model, or run:<its id>",
    lambda raw: link.checked(raw, _is_name),
)


def offered(model: str = TRANSLATOR) -> list[str]:
    """The models to choose from; a run is among them while it is the one that is shown."""
    others = [name for name in shipped_names() if name != TRANSLATOR]
    return [TRANSLATOR, *others, UNTRAINED, *([model] if RUN.fullmatch(model) else [])]


def title_of(model: str) -> str:
    """What a person reads in the list."""
    offer = offer_of(model) if is_trained(model) else None
    return model if offer is None else offer.title


def path_of(model: str) -> Path | None:
    """The folder of a run; None for what is no run of this machine, or leads out of the folder of runs."""
    found = RUN.fullmatch(model)
    if not found:
        return None
    try:
        path = run_path(found[1])
    except FileError:
        return None
    return path if (path / CHECKPOINT).is_file() else None


def stamp_of(model: str) -> int:
    """Another number whenever a run has another checkpoint; 0 for what never changes."""
    path = path_of(model)
    try:
        return 0 if path is None else (path / CHECKPOINT).stat().st_mtime_ns
    except OSError:  # deleted since
        return 0


def card(name: str = TRANSLATOR) -> ModelCard:
    """The card of a shipped model."""
    return _cards()[name]


def offer_of(model: str) -> Offer | None:
    """A shipped model, or a run that has a checkpoint; None where there is no such (any more)."""
    if model in _cards():
        found = card(model)
        text = found.examples[0]["text"] if found.examples else ""
        said = found.card
        title = str(said.get("title", model.replace("-", " ")))
        return Offer(
            title, str(said.get("summary", "")), said["config"], found.examples, found.showcase, text
        )
    path = path_of(model)
    return None if path is None else _offer_of_run(RunFolder(path))


def _offer_of_run(run: RunFolder) -> Offer | None:
    try:
        said, probe = run.description(), run.probe()
        config, task = said["model"], str(said["task"]["name"])
    except (ValueError, KeyError, TypeError):
        return None
    text = str(probe.get("text", ""))
    examples = [{"label": "watched in training", "text": text, "see": ""}] if text else []
    return Offer(f"run: {run.name}", f"Trained here on the task “{task}”.", config, examples, {}, text)


@cache
def _cards() -> dict[str, ModelCard]:
    return {model.name: model for model in list_models()}
