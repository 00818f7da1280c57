"""Transformer-XL's scores as the sum of four terms, on a sentence and the trained model."""

import numpy as np
from torch import Tensor

from models.engine.masks import causal
from models.lessons.positions import four_terms
from pages.lab.lesson import Lesson, Shape
from pages.lab.positions.inputs import Inputs
from pages.lab.positions.suite import read, trained
from viz_core.boards import Board, Matrix, Panel, Scrub, Sign

NAMES = ("q · k", "q · W r", "u · k", "v · W r")
SEE = (
    "Transformer-XL scores every pair of words by four terms and adds them up: how well the key's "
    "**content** fits the query, how well its **distance** does, and how much that content and that distance "
    "count for every query. **Drag the head.**"
)


def lesson(inputs: Inputs) -> Lesson:
    lm = trained("transformer-xl")
    ids, names = read(inputs.text)
    terms = four_terms.four_terms(lm, ids, inputs.layer)  # [term, head, query, key]
    spread = four_terms.spread(terms)  # [term, head]
    n_terms, h, n, _ = terms.shape
    return Lesson(
        see=SEE,
        board=Board(
            rows=_equation(terms, names),
            notice=_notices(spread),
            scrub=Scrub(field="head", label="head", values=np.arange(h)),
        ),
        formula=(
            r"\mathrm{scores}_{ij}=\frac{\q{q_i}\cdot\k{k_j}+\q{q_i}\cdot W_R r_{i-j}+u\cdot\k{k_j}"
            r"+v\cdot W_R r_{i-j}}{\sqrt{d_{head}}}"
        ),
        sizes=rf"n={n},\; h={h},\; d_{{head}}={lm.model.config.head_size}",
        shapes=(
            Shape(r"\q{q},\;\k{k}", "head, position, d_head", (h, n, lm.model.config.head_size)),
            Shape("r", "query, key, channel", (n, n, lm.model.config.d_model)),
            Shape(r"u,\;v", "head, d_head", (h, lm.model.config.head_size)),
            Shape(r"\text{terms}", "term, head, query, key", (n_terms, h, n, n)),
        ),
        code=(four_terms.four_terms, four_terms.spread),
    )


def _equation(terms: Tensor, names: list[str]) -> list[list[Panel]]:
    """Four terms and their sum, later words hidden, all in one scale."""
    later = ~causal(len(names), len(names))[0, 0]
    reach = float(terms.abs().max())

    def matrix(title: str, values: Tensor) -> Matrix:
        return Matrix(
            title=title,
            values=values.masked_fill(later, -np.inf).numpy(),
            picture=True,
            rows=names,
            row_axis="query",
            column_axis="key",
            reach=reach,
        )

    panels = [matrix(name, term) for name, term in zip(NAMES, terms, strict=True)]
    plus, equals = Sign(text="+"), Sign(text="=")
    return [
        [panels[0], plus, panels[1]],
        [plus, panels[2], plus, panels[3], equals, matrix("scores", terms.sum(dim=0))],
    ]


def _notices(spread: Tensor) -> list[str]:
    shares = spread / spread.sum(dim=0)
    return [
        f"In head {head}, the term **{NAMES[int(share.argmax())]}** tells keys apart best "
        f"({share.max():.0%} of the four terms' spread). The two terms with the distance, W r, make up "
        f"**{share[1] + share[3]:.0%}**."
        for head, share in enumerate(shares.T)
    ]
