"""Table 3 of Vaswani et al. 2017 beside small translators, each of which differs in one thing."""

import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from attention_lab.models.data.grammar import showcase
from attention_lab.models.zoo.families import FAMILIES, scores_of
from attention_lab.models.zoo.folders import CARD, SHIPPED, read_card
from attention_lab.models.zoo.others.families import load
from attention_lab.pages.lab.design.inputs import Inputs
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.viz_core.boards import Matrix, Scrub, Table, query_by_key

FAMILY = FAMILIES["translator-sizes"]
COLUMNS = (
    "table 3", "parameters", "perplexity", "chrF", "sentences right, %", "weight of the noun", "the paper's",
    "PPL", "BLEU",
)  # fmt: skip
_RIGHT = "whole sentences"


@dataclass(frozen=True, kw_only=True, eq=False)
class Row:
    """A row of the table. turned: the dial of the family and its value, none of the base model. paper: what
    the paper changed. ppl, bleu: as published.
    """

    name: str
    ppl: float
    bleu: float
    paper: str = ""
    turned: dict[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, Any]:
        """Of all dials of the family."""
        return {**FAMILY.first, **self.turned}


ROWS = tuple(
    Row(**row) for row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["rows"]
)


def of_seeds(row: Row, score: str) -> tuple[float, float]:
    """The mean of a score over the seeds, and half its 95% interval; NaN of fewer than three seeds."""
    return scores_of(FAMILY, row.values, score)


def between(row: Row, score: str) -> tuple[float, float]:
    """The lowest and the highest of a score over the seeds."""
    found = [each[score] for each in FAMILY.scored()[FAMILY.member(row.values)]]
    return min(found), max(found)


def parameters(row: Row) -> int:
    """As its card counts them."""
    return int(read_card(SHIPPED / FAMILY.member(row.values) / CARD)["parameters"])


@lru_cache(maxsize=64)
@torch.no_grad()
def looks(row: Row, ending: str) -> Float[np.ndarray, "layer key"]:
    """What the pronoun gives each word in each encoder layer, of the head that gives the meant noun most."""
    pair = showcase(ending)
    mention = pair.english_mention
    assert mention
    trace = load(FAMILY, **row.values).trace(" ".join(pair.english), direction="en-fr")
    chosen = []
    for layer in range(row.values["n_layers"]):
        heads = trace[f"encoder.{layer}.self.pattern"][:, mention.pronoun + 1]  # [head, key]
        chosen.append(heads[heads[:, mention.antecedent + 1].argmax(), 1:-1])  # not <2fr> and <eos>
    return torch.stack(chosen).numpy()


def _cell(row: Row, score: str, digits: int, times: int = 1) -> str:
    mean, half = of_seeds(row, score)
    spread = "" if np.isnan(half) else f" ± {times * half:.{digits}f}"
    return f"{times * mean:.{digits}f}{spread}"


def _line(row: Row) -> tuple[str, ...]:
    ours = (
        _cell(row, "perplexity", 3), _cell(row, "chrF", 1), _cell(row, _RIGHT, 1, 100),
        " to ".join(f"{each:.2f}" for each in between(row, "weight of the noun")),
    )  # fmt: skip
    return (row.name, f"{parameters(row):,}", *ours, row.paper, f"{row.ppl:.2f}", f"{row.bleu:.1f}")


def _notice(row: Row) -> str:
    base, right = of_seeds(ROWS[0], _RIGHT)[0], of_seeds(row, _RIGHT)[0]
    if row is ROWS[0]:
        return f"The base model gets **{100 * base:.0f}%** of new sentences exactly right."
    ours = f"{row.name}: **{100 * right:.0f}%** of sentences right instead of {100 * base:.0f}%."
    if row.paper.endswith("→ 0"):
        return f"{ours} Reversed in the paper: BLEU {row.bleu}, not {ROWS[0].bleu}."
    return f"{ours} In the paper, BLEU {row.bleu} instead of {ROWS[0].bleu}."


def lesson(inputs: Inputs) -> Lesson:
    pair = showcase(inputs.ending)
    words = list(pair.english)
    most = max(row.values["n_layers"] for row in ROWS)
    weights = np.full((len(ROWS), most, len(words)), np.nan)
    for at, row in enumerate(ROWS):
        found = looks(row, inputs.ending)
        weights[at, : len(found)] = found
    named = query_by_key(words)
    return Lesson(
        rows=[
            [
                Matrix(
                    title="from “it”: each encoder layer's best head", values=weights, scale="weights",
                    rows=[f"layer {layer}" for layer in range(most)], row_axis="layer",
                    columns=named["columns"], column_axis="key", nan_is_empty=True, named=True,
                )
            ],
            [
                Table(
                    title="table 3: ours, and the paper's", columns=COLUMNS, rows=list(map(_line, ROWS)),
                    marked=np.eye(len(ROWS), dtype=bool), leads=True,
                )
            ],
        ],
        notice=[_notice(row) for row in ROWS],
        scrub=Scrub("row", "row of table 3", np.arange(len(ROWS)), [row.name for row in ROWS]),
        sizes=rf"n={len(words)}",
        axes={"key": len(words), "layer": most},
        code=(looks, of_seeds),
    )  # fmt: skip


def questions() -> tuple[Answer, ...]:
    base = of_seeds(ROWS[0], _RIGHT)[0]
    right = {row.name: of_seeds(row, _RIGHT)[0] for row in ROWS}
    halved = ["(C) layers 2 → 1", "(C) d_model 64 → 32", "(C) d_ff 256 → 128"]
    narrow = right["(B) d_head 16 → 4"]
    options = ("it rises", "it falls by up to 10 points", "it falls by over 10 points")
    lost = base - narrow
    each = ", ".join(f"{name} {100 * right[name]:.0f}%" for name in halved)
    return (
        Answer.of(0 if lost < 0 else 1 if lost <= 0.1 else 2, options=options, base=base, narrow=narrow),
        Answer.of(halved.index(min(halved, key=right.__getitem__)), options=tuple(halved), each=each),
    )


PART = part(__name__, ("ending",), lesson, questions, scrub="row")
