"""What a person may set on the attention page, and how a link says it."""

from dataclasses import dataclass

from models.fields import Table, characters, number, one_of, setting, table, whole
from models.lessons.attention import examples

STEPS = {
    "free": "No parameters",
    "v0": "v0 Additive",
    "v1": "v1 Dot product",
    "v2": "v2 Scaled",
    "v3": "v3 Many queries",
    "v4": "v4 Cross-attention",
    "v5": "v5 Self-attention",
    "v6": "v6 Multi-head",
}
MOST = 6
LIMIT = 100
_CHANNELS = (len(examples.CHANNELS),) * 2
_FEATURES = (len(examples.FEATURES),) * 2


@dataclass(frozen=True)
class Inputs:
    """All parts' inputs; each field's reader checks what a link gives."""

    step: str = setting("free", one_of(STEPS), "Step", control="radio")
    tokens: str = setting(" ".join(examples.TOKENS), characters(200), "Words")
    X: Table = setting(tuple(examples.TOKENS.values()), table((1, MOST), _CHANNELS, limit=LIMIT))
    queries: str = setting(" ".join(examples.QUERIES), characters(200), "Words that ask (v0 to v4)")
    Q: Table = setting(tuple(examples.QUERIES.values()), table((1, MOST), _CHANNELS, limit=LIMIT))
    matrices: str = setting("by hand", one_of(("by hand", "random")), "Matrices", control="segments")
    seed: int = setting(0, whole(0, 999), "Seed of random matrices")
    n_heads: int = setting(2, one_of(examples.N_HEADS), "Heads", control="segments")
    dots: Table = setting(examples.DOTS, table((1, 1), (2, 2), limit=1_000))
    V: Table = setting(examples.VALUES, table((2, 2), (4, 4), limit=LIMIT))
    divisor: float = setting(8.0, number(1, 32))
    sentence: str = setting(examples.SENTENCE, characters(200), "Sentence")
    reordered: str = setting(examples.REORDERED, characters(200), "The same words in another order")
    order_seed: int = setting(0, whole(0, 999), "Seed of the weights")
    viewers: str = setting(", ".join(examples.VIEWERS), characters(200), "Viewers")
    tastes: Table = setting(tuple(examples.VIEWERS.values()), table((1, MOST), _FEATURES, limit=LIMIT))
    films: str = setting(", ".join(examples.FILMS), characters(200), "Films", control="area")
    features: Table = setting(tuple(examples.FILMS.values()), table((1, MOST), _FEATURES, limit=LIMIT))
