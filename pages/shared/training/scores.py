"""Scores of a run, as pages write them."""

from models.runs.significance import Summary
from models.runs.verdicts import mean_words


def worded(name: str, value: float) -> str:
    """A score in words: a share in per cent, another number with its digits."""
    if is_share(name):
        return f"{100 * value:.1f} %"
    return f"{value:.3f}"


def worded_mean(name: str, found: Summary) -> str:
    """A mean over seeds with its name, ± the standard deviation where there is one: accuracy 91.2 ± 1.0 %."""
    times, unit = (100, " %") if is_share(name) else (1, "")
    return f"{name} {mean_words(found, times)}{unit}"


def is_share(name: str) -> bool:
    """Whether a score is a share of right answers. Errors and bits are not, whatever their size."""
    return not any(word in name.lower() for word in ("error", "loss", "bits", "perplexity", "variance"))
