"""What a trace will cost, before anything is computed: seconds of one processor."""

from models.zoo.offers import DEFAULT, offer_of, offers
from pages.explore.state import Inputs

# Fitted to ten traces of an untrained model on one thread of a server's processor (16 to 128 columns a head,
# 64 to 1,024 words): nanoseconds for each score, and for each column of its query and key. Within a third.
SCORE, COLUMN = 6e-9, 0.14e-9
RELATIVE = 1.8  # Transformer-XL's second product of queries, with distances


def seconds_of(inputs: Inputs) -> float:
    """The price of `inputs`: of every score, by the width of a head. 0 where the sizes are not told."""
    offer = offer_of(inputs.model) or offers()[DEFAULT]
    sizes = offer.sizes | inputs.settings
    if not {"n_layers", "n_heads", "d_model", "positions"} <= sizes.keys():
        return 0.0
    layers, heads = int(sizes["n_layers"]), int(sizes["n_heads"])
    columns = int(sizes.get("d_head") or int(sizes["d_model"]) // heads)
    n_words = len(inputs.text) if offer.reads == "prose" else len(inputs.text.split())
    n_tokens = min(n_words + 2, sizes.get("max_len", n_words + 2))
    each = (SCORE + COLUMN * columns) * (RELATIVE if sizes["positions"] == "transformer-xl" else 1)
    return float(layers * heads * n_tokens**2 * each)
