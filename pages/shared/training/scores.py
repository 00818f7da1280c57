"""Scores of a run, as pages say them."""


def worded(name: str, value: float) -> str:
    """A score as it is usually given: shares in per cent, other numbers with their digits."""
    if is_share(name):
        return f"{100 * value:.1f} %"
    return f"{value:.3f}"


def is_share(name: str) -> bool:
    """Whether a score is a share of right answers. Errors and bits are not, whatever their size."""
    return not any(word in name.lower() for word in ("error", "loss", "bits", "perplexity", "variance"))
