"""Every measure of one head, declared once: its name, its definition and what it is computed from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsFloat

import numpy as np

from viz_core.measures import repeats, rows, texts
from viz_core.measures.given import Given, Pairs, Patterns, PerHead, given, refuse_cross

Need = Literal["tokens", "pairs", "sure", "repeat"]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A number per head: a mean over the queries that count, of patterns a(query, key).

    name: its key in `head_scores`. definition, formula: in a sentence and in signs, where t is a token.
    smallest_first: whether the heads worth seeing first have small values. cross: whether it is defined for
    cross-attention. needs: what must be given beside the pattern. label: what a head is called of which this
    is the largest share; without one, it is no share that gives heads their name.
    """

    name: str
    title: str
    definition: str
    formula: str
    compute: Callable[[Given], np.ndarray | None]
    smallest_first: bool = False
    cross: bool = False
    needs: Need | None = None
    label: str = ""
    source: str


MEASURES: tuple[Measure, ...] = (
    Measure(
        name="entropy",
        title="entropy",
        definition="How spread out a query's weights are, in nats: 0 for one key, ln n for n keys alike.",
        formula="mean over q of −Σₖ a(q,k) ln a(q,k)",
        compute=rows.mean_entropy,
        smallest_first=True,
        cross=True,
        source="Clark et al. 2019, section 3.3",
    ),
    Measure(
        name="confidence",
        title="confidence",
        definition="The largest weight of a query (the paper leaves the end of the sentence out).",
        formula="mean over q of maxₖ a(q,k)",
        compute=rows.confidence,
        cross=True,
        source="Voita et al. 2019",
    ),
    Measure(
        name="mean_distance",
        title="distance",
        definition="How many positions lie between a query and what it looks at, to either side.",
        formula="mean over q of Σₖ a(q,k) |q − k|",
        compute=rows.mean_distance,
        source="Vig & Belinkov 2019, section 5.2 (there causal)",
    ),
    Measure(
        name="previous",
        title="previous token",
        definition="The weight on the token right before the query, which all but the first have.",
        formula="mean over q > 0 of a(q, q−1)",
        compute=rows.on_previous,
        label="previous-token",
        source="Clark et al. 2019, section 3.1",
    ),
    Measure(
        name="first",
        title="first token (sink)",
        definition="The weight on the first key; in self-attention, the first query does not count.",
        formula="mean over q of a(q, 0)",
        compute=rows.on_first,
        cross=True,
        label="first-token",
        source="Clark et al. 2019, section 3.2 ([CLS]); Xiao et al. 2023 (sinks)",
    ),
    Measure(
        name="same",
        title="same token",
        definition="The weight on the query's own position; the first query, with no choice, is left out.",
        formula="mean over q > 0 of a(q, q)",
        compute=rows.on_same,
        label="same-token",
        source="Clark et al. 2019, section 3.1",
    ),
    Measure(
        name="next",
        title="next token",
        definition="The weight on the token right after the query, which all but the last have.",
        formula="mean over q < n−1 of a(q, q+1)",
        compute=rows.on_next,
        label="next-token",
        source="Clark et al. 2019, section 3.1",
    ),
    Measure(
        name="duplicate",
        title="duplicate token",
        definition="The weight on other positions with the query's token, where it occurred before.",
        formula="mean over q with t(p) = t(q) for a p < q, of Σₖ a(q,k) where k ≠ q and t(k) = t(q)",
        compute=texts.on_duplicate,
        needs="tokens",
        label="duplicate-token",
        source="Wang et al. 2022 (Interpretability in the Wild), section 3",
    ),
    Measure(
        name="induction",
        title="induction",
        definition="The weight on what followed earlier occurrences of the query's token, if it has any.",
        formula="mean over q with t(p) = t(q) for a p < q, of Σₚ a(q, p+1) over these p",
        compute=texts.on_induced,
        needs="tokens",
        label="induction",
        source="Olsson et al. 2022",
    ),
    Measure(
        name="punctuation",
        title="punctuation",
        definition="The weight on tokens that are punctuation alone.",
        formula="mean over q of Σₖ a(q,k) where t(k) is punctuation",
        compute=texts.on_punctuation,
        cross=True,
        needs="tokens",
        label="punctuation",
        source="Clark et al. 2019, section 3.2",
    ),
    Measure(
        name="rare",
        title="rarest words",
        definition="The weight on the rarest token of the text, by given counts or else within the text.",
        formula="mean over q of Σₖ a(q,k) where t(k) is a rarest token",
        compute=texts.on_rarest,
        cross=True,
        needs="tokens",
        source="Voita et al. 2019 (rare words)",
    ),
    Measure(
        name="agreement",
        title="agreement",
        definition="The weight on the keys that belong to a query (antecedents, alignments), if it has any.",
        formula="mean over q with a pair, of Σₖ a(q,k) over its pairs (q, k)",
        compute=texts.agreement,
        cross=True,
        needs="pairs",
        source="Voita et al. 2018 (anaphora)",
    ),
    Measure(
        name="hits",
        title="hits",
        definition="The share of queries whose largest weight is on a key that belongs to them.",
        formula="mean over q with a pair, of 1 if the largest a(q,k) is at a pair (q, k), else 0",
        compute=texts.hits,
        cross=True,
        needs="pairs",
        source="Clark et al. 2019, section 4.2",
    ),
    Measure(
        name="alignment_error",
        title="alignment error",
        definition="How far largest weights are from gold alignments: 0 if each is sure and none is missed.",
        formula="1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|): A the largest a(q,k) of each q with a pair, "
        "S sure pairs, P all",
        compute=texts.alignment_error,
        smallest_first=True,
        cross=True,
        needs="sure",
        source="Och & Ney 2003, section 4.1",
    ),
    Measure(
        name="random_induction",
        title="induction, random tokens",
        definition="The weight on what followed a token's first occurrence, where random tokens come again.",
        formula="mean over q in the second half of a(q, q−n+1), n random tokens read twice",
        compute=repeats.on_token_after,
        needs="repeat",
        source="Olsson et al. 2022 (prefix matching)",
    ),
    Measure(
        name="random_duplicate",
        title="duplicate, random tokens",
        definition="The weight on a token's first occurrence, where random tokens come again.",
        formula="mean over q in the second half of a(q, q−n), n random tokens read twice",
        compute=repeats.on_first_occurrence,
        needs="repeat",
        source="Wang et al. 2022 (Interpretability in the Wild), section 3",
    ),
    Measure(
        name="random_previous",
        title="previous, random tokens",
        definition="The weight on the token right before the query, where random tokens come again.",
        formula="mean over q in the second half of a(q, q−1), n random tokens read twice",
        compute=repeats.on_previous,
        needs="repeat",
        source="Wang et al. 2022 (Interpretability in the Wild), section 3",
    ),
)

# Key in `head_scores` -> what such a head is called.
HEAD_NAMES = {measure.name: measure.label for measure in MEASURES if measure.label}


def head_scores(
    pattern: Patterns,
    *,
    cross: bool | None = None,
    tokens: Sequence[object] | None = None,
    counts: Mapping[Any, int | float] | None = None,
    pairs: Pairs | None = None,
    sure: Pairs | None = None,
    repeat: tuple[int, int] | None = None,
) -> dict[str, PerHead]:
    """All measures that are defined for what is given, by their names in `MEASURES`, a float64 per head.

    A query that may attend to nothing (a row of zeros) never counts. What is not defined is absent: distance
    and offsets for cross-attention, shares for a text of one token, duplicates where no token occurs twice.
    `cross` says whether keys are another text than queries; by default they are if their numbers differ.
    tokens: one per key. counts: how often each token occurs in some corpus. pairs: (query, key) positions.
    sure: those pairs that are certain, where others are only possible.
    repeat: (start, n), where the n tokens from start on are random and come again at once.
    Raises ValueError for values outside 0..1, for NaN, for rows that sum to neither 1 nor 0, and for tokens,
    pairs and repetitions that do not fit.
    """
    found = given(pattern, cross, tokens, counts, pairs, sure, repeat)
    scores = {measure.name: measure.compute(found) for measure in MEASURES}
    return {name: values for name, values in scores.items() if values is not None}


def name_head(scores: Mapping[str, SupportsFloat], *, least: int | float = 0.5) -> str | None:
    """Names one head by its largest share, like `previous-token 0.97`; None if no share reaches `least`."""
    shares = {key: float(scores[key]) for key in HEAD_NAMES if key in scores}
    best = max(shares, key=shares.__getitem__, default=None)
    if best is None or shares[best] < least:
        return None
    return f"{HEAD_NAMES[best]} {shares[best]:.2f}"


def induction_score(pattern: Patterns, tokens: Sequence[object]) -> PerHead:
    """Mean weight on what followed earlier occurrences of the query's token: high in induction heads.

    After A B ... A, such a head looks at B (Olsson et al. 2022, In-context Learning and Induction Heads).
    tokens: one per position. Mean over the queries whose token occurred before, of the weight on all the
    positions right after its earlier occurrences. Raises ValueError where no token occurs twice.
    """
    refuse_cross(pattern, "induction_score")
    found = texts.on_induced(given(pattern, tokens=tokens))
    if found is None:
        raise ValueError("no token occurs twice, so there is nothing to induce; repeat a part of the text")
    return found
