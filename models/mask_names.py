"""The masks that have a name, and what their arguments say, without PyTorch: `engine.masks` makes them."""

from typing import NamedTuple


class MaskName(NamedTuple):
    """title: as a person reads it. rule: what its argument holds, "" for a mask that takes none. example: an
    argument, and the one that an empty one stands for (but for edges and painted, where it follows from the
    number of tokens); meaning: what the example says. causal_too: pages offer it with "causal+" as well.
    """

    title: str
    rule: str = ""
    example: str = ""
    meaning: str = ""
    causal_too: bool = False


MASKS = {
    "none": MaskName("none"),
    "causal": MaskName("causal"),
    "padding": MaskName(
        "padding", "how many tokens at the end are padding", "3", "the last 3 tokens are padding", True
    ),
    "window": MaskName("window", "a width in tokens", "3", "width: up to 2 tokens away", True),
    "strided": MaskName(
        "strided", "a stride in tokens", "4", "stride: the 4 tokens before, and every 4th before them"
    ),
    "fixed": MaskName(
        "fixed", "a block's length and how many of its last tokens all later ones see, with a dot between",
        "4.1", "blocks of 4 tokens; all later tokens see the last 1 of each",
    ),
    "prefix": MaskName("prefix", "a number of tokens", "3", "all see the first 3 tokens"),
    "packed": MaskName(
        "packed", "the documents' lengths with dots between", "4.3",
        "documents of 4 and 3 tokens; the rest is one more", True,
    ),
    "memory": MaskName(
        "memory", "the lengths of a segment and of the memory before it, with a dot between", "4.4",
        "segments of 4 tokens, each with the 4 tokens before it",
    ),
    "edges": MaskName(
        "graph edges", "pairs of nodes with spaces between", "0-1 1-2",
        "edges between tokens, counted from 0; empty: a chain",
    ),
    "painted": MaskName(
        "painted", "a row of 0 and 1 for each query, with ; between", "10;11",
        "a row of 0 and 1 for each query; empty: causal",
    ),
}  # fmt: skip
MASK_TITLES = {
    prefix + name: prefix.replace("+", " + ") + mask.title
    for name, mask in MASKS.items()
    for prefix in ("", "causal+")[: 1 + mask.causal_too]
}
"""The masks that pages offer, by the names that `models.engine.masks.named` takes."""


def about_argument(mask: str) -> MaskName:
    """What the argument of a mask may be, with or without "causal+"; also for a mask that is not known."""
    return MASKS.get(mask.removeprefix("causal+"), MASKS["none"])
