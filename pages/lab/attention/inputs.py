"""What a person may set on the attention page, and how a link says it."""

from dataclasses import dataclass

from models.lessons.attention import examples
from pages.shared import widget
from pages.shared.link import Table, characters, number, one_of, param, table, whole

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

    step: str = param("free", one_of(STEPS), widget.radio("Step"))
    tokens: str = param(" ".join(examples.TOKENS), characters(200), widget.line("Words"))
    X: Table = param(tuple(examples.TOKENS.values()), table((1, MOST), _CHANNELS, limit=LIMIT))
    queries: str = param(
        " ".join(examples.QUERIES), characters(200), widget.line("Words that ask (v0 to v4)")
    )
    Q: Table = param(tuple(examples.QUERIES.values()), table((1, MOST), _CHANNELS, limit=LIMIT))
    matrices: str = param("by hand", one_of(("by hand", "random")), widget.segmented("Matrices"))
    seed: int = param(0, whole(0, 999), widget.count("Seed of random matrices"))
    n_heads: int = param(2, one_of(examples.N_HEADS), widget.segmented("Heads"))
    dots: Table = param(examples.DOTS, table((1, 1), (2, 2), limit=1_000))
    V: Table = param(examples.VALUES, table((2, 2), (4, 4), limit=LIMIT))
    divisor: float = param(8.0, number(1, 32))
    sentence: str = param(examples.SENTENCE, characters(200), widget.line("Sentence"))
    reordered: str = param(
        examples.REORDERED, characters(200), widget.line("The same words in another order")
    )
    order_seed: int = param(0, whole(0, 999), widget.count("Seed of the weights"))
    viewers: str = param(", ".join(examples.VIEWERS), characters(200), widget.line("Viewers"))
    tastes: Table = param(tuple(examples.VIEWERS.values()), table((1, MOST), _FEATURES, limit=LIMIT))
    films: str = param(", ".join(examples.FILMS), characters(200), widget.area("Films"))
    features: Table = param(tuple(examples.FILMS.values()), table((1, MOST), _FEATURES, limit=LIMIT))
