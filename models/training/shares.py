"""What a piece of a batch contributes to the losses of the whole."""

from torch import Tensor

Terms = dict[str, tuple[float, int]]
"""For each name of a task's losses, its weight and how many answers it is the mean of."""


def shares(losses: dict[str, Tensor], piece: Terms, whole: Terms) -> dict[str, Tensor]:
    """What a piece's losses contribute to those of the whole batch, and to their weighted sum, "loss"."""
    # Zero leaves out terms that the piece does not have: the mean of nothing is NaN.
    zero = losses["loss"].new_zeros(())
    found = {name: losses[name] * (n / whole[name][1]) if n else zero for name, (_, n) in piece.items()}
    return {"loss": sum((piece[name][0] * share for name, share in found.items()), start=zero), **found}
