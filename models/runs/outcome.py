"""How a run came out beyond its state: whether it stopped early, and whether its loss grew.

It is read without torch.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from models.runs.best import Best, tracked
from models.runs.folder import RunFolder
from models.training.config import TrainingConfig
from models.training.growth import Growth, growth, remedy

Entries = Sequence[Mapping[str, Any]]
EARLY, GREW = "stopped early", "the loss"
"""How the sentences begin."""


def outcome_of(folder: RunFolder, step: int, usual: float | None = None) -> str:
    """One sentence on a run that has finished at `step`, or "" where there is nothing to say.

    usual: the learning rate that the task comes with. Raises FileError for a damaged folder.
    """
    described, entries = folder.description(), folder.metrics()
    said = [stopped_early(described, entries, step), growing(described, entries, usual)]
    return "; ".join(filter(None, said))


def stopped_early(described: Mapping[str, Any], entries: Entries, step: int) -> str:
    """That a run ended before its last step, since its score no longer improved; "" where it did not."""
    training = described["training"]
    patience, steps = training.get("patience", 0), training.get("steps", 0)
    if not patience or step >= steps:
        return ""
    tracker = tracked(entries, training, described)
    if tracker.best is None or tracker.waited < patience:
        return ""
    best = tracker.best
    return (
        f"{EARLY} at step {step:,} of {steps:,}: {best.score} has not improved in {tracker.waited} "
        f"validations (patience); the best is {best_words(best)}"
    )


def growing(described: Mapping[str, Any], entries: Entries, usual: float | None = None) -> str:
    """That the training loss grew, and what to try; "" where it did not."""
    found = grown(entries)
    if found is None:
        return ""
    training = {**TrainingConfig().to_dict(), **described["training"]}
    rate, clip = float(training["learning_rate"]), float(training["clip"])
    return f"{found.sentence}: {remedy(rate, usual or TrainingConfig.learning_rate, clip)}"


def grown(entries: Entries) -> Growth | None:
    """How the training loss grew; None where it did not."""
    known = [(entry["step"], loss) for entry in entries if _is_number(loss := entry.get("loss"))]
    return growth([step for step, _ in known], [loss for _, loss in known])


def best_words(best: Best) -> str:
    """A validation in words, such as "step 300 with accuracy 0.9812"."""
    return f"step {best.step:,} with {best.score} {best.value:.4g}"


def short(sentence: str) -> str:
    """An outcome in a few words, for a table; "" where there is none."""
    words = []
    if sentence.startswith(EARLY):
        words.append("early")
    if sentence.startswith(GREW) or f"; {GREW} " in sentence:
        words.append("loss grew")
    return ", ".join(words)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
