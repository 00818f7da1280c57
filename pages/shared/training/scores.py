"""Scores of a run, as pages write them."""


def worded(name: str, value: float) -> str:
    """A score in words: a share in per cent, another number with its digits."""
    if is_share(name):
        return f"{100 * value:.1f} %"
    return f"{value:.3f}"


def worded_mean(name: str, mean: float, spread: float | None) -> str:
    """A mean over seeds with its name, ± the standard deviation where there is one: accuracy 91.2 ± 1.0 %."""
    times, unit = (100, " %") if is_share(name) else (1, "")
    around = "" if spread is None else f" ± {times * spread:.3g}"
    return f"{name} {times * mean:.4g}{around}{unit}"


def is_share(name: str) -> bool:
    """Whether a score is a share of right answers. Errors and bits are not, whatever their size."""
    return not any(word in name.lower() for word in ("error", "loss", "bits", "perplexity", "variance"))
