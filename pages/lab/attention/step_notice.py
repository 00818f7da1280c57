"""What to notice at each step, said with its numbers."""

from collections.abc import Callable, Mapping, Sequence

from torch import Tensor

Tensors = Mapping[str, Tensor]


def notice(key: str, tensors: Tensors, before: Tensors, words: Sequence[str], asking: Sequence[str]) -> str:
    """One sentence about a step's tensors; `before` are those of the step before."""
    return _SENTENCES[key](tensors, before, words, asking)


def followed(words: Sequence[str]) -> int:
    """The word whose row the sentences follow: “it”, or the last."""
    return list(words).index("it") if "it" in words else len(words) - 1


def _best(weights: Tensor, words: Sequence[str]) -> str:
    """Where a row of weights is largest: “animal” (0.56)."""
    at = int(weights.argmax())
    return f"“{words[at]}” (**{weights[at]:.2f}**)"


def _free(tensors: Tensors, before: Tensors, words: Sequence[str], asking: Sequence[str]) -> str:
    pattern = tensors["pattern"]
    own = int((pattern.argmax(dim=-1) == pattern.argmax(dim=-1).new_tensor(range(len(words)))).sum())
    it = followed(words)
    return (
        f"**{own} of {len(words)}** words look most at themselves; “{words[it]}” gives itself "
        f"**{pattern[it, it]:.2f}** of its weight. Similar words look at each other."
    )


def _additive(tensors: Tensors, before: Tensors, words: Sequence[str], asking: Sequence[str]) -> str:
    return f"“{asking[0]}” asks, and the network gives most weight to {_best(tensors['pattern'], words)}."


def _dot_product(tensors: Tensors, before: Tensors, words: Sequence[str], asking: Sequence[str]) -> str:
    now, then = _best(tensors["pattern"], words), _best(before["pattern"], words)
    return f"“{asking[0]}” looks most at {now}, without anything learned; the network looked most at {then}."


def _scaled(tensors: Tensors, before: Tensors, words: Sequence[str], asking: Sequence[str]) -> str:
    now, then = tensors["pattern"].max(), before["pattern"].max()
    d_k = tensors["X"].shape[1]
    return (
        f"Dividing by √{d_k} = {d_k**0.5:g} evens the weights out: the largest goes from "
        f"{then:.2f} to **{now:.2f}**."
    )


def _many(tensors: Tensors, before: Tensors, words: Sequence[str], asking: Sequence[str]) -> str:
    rows = ", ".join(
        f"“{name}” at {_best(row, words)}" for name, row in zip(asking, tensors["pattern"], strict=True)
    )
    return f"Each row is one query and sums to 1: {rows}."


def _cross(tensors: Tensors, before: Tensors, words: Sequence[str], asking: Sequence[str]) -> str:
    it = followed(words)
    now, then = tensors["pattern"][0, it], before["pattern"][0, it]
    return (
        f"“{words[it]}” is now found by its key and hands over its value: the weight that “{asking[0]}” "
        f"gives it goes from {then:.2f} to **{now:.2f}**."
    )


def _self(tensors: Tensors, before: Tensors, words: Sequence[str], asking: Sequence[str]) -> str:
    it = followed(words)
    row = tensors["pattern"][it]
    return (
        f"“{words[it]}” asks with a query of its own: it looks most at {_best(row, words)}, "
        f"and gives itself **{row[it]:.2f}**."
    )


def _multi(tensors: Tensors, before: Tensors, words: Sequence[str], asking: Sequence[str]) -> str:
    it = followed(words)
    heads = [f"head {h} at {_best(row, words)}" for h, row in enumerate(tensors["pattern"][:, it])]
    return f"“{words[it]}” looks with each head separately: {', '.join(heads)}."


_SENTENCES: dict[str, Callable[[Tensors, Tensors, Sequence[str], Sequence[str]], str]] = {
    "free": _free,
    "v0": _additive,
    "v1": _dot_product,
    "v2": _scaled,
    "v3": _many,
    "v4": _cross,
    "v5": _self,
    "v6": _multi,
}
