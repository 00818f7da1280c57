"""The worked example of the talks: 112 and 96, divided by 8, are 14 and 12; softmax makes 0.88 and 0.12."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.pages.lab.attention.inputs import Inputs
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.viz_core.boards import Matrix, Panel, Scrub, Sign
from attention_lab.viz_core.labels import short

# Whole numbers from -3 to 3, 64 each, found by search so that q1 · k1 = 112 and q1 · k2 = 96.
_Q1 = (
    "3 -3 -2 -2 -3 3 3 2 0 -3 0 1 3 0 -2 -2 3 1 -3 -3 0 -3 3 0 -1 0 2 -3 -3 2 1 2 "
    "2 -3 0 1 0 1 2 -1 2 -1 -1 3 3 -3 -1 -1 -2 3 0 0 -2 3 -3 3 1 -3 -2 1 0 -1 -1 -3"
)
_K1 = (
    "3 3 -3 -2 -2 2 3 2 2 0 3 3 3 3 -2 1 1 3 0 0 3 -3 0 2 -1 -2 0 -3 1 -2 0 1 "
    "2 -3 -2 -3 1 -1 1 0 2 1 2 2 -3 -2 0 0 2 3 3 -3 -3 3 0 -1 1 0 -3 1 0 3 -3 -1"
)
_K2 = (
    "1 -3 0 -2 -3 0 1 0 3 -1 3 1 3 3 0 -3 2 -1 1 -2 -3 -3 -3 1 2 -1 2 -2 -3 2 -3 -2 "
    "-2 -1 3 0 0 0 -2 -3 -1 0 -2 3 3 0 1 2 -3 2 -2 0 2 1 -2 1 2 2 0 -2 -1 0 3 -1"
)
QUERIES = tuple(tuple(float(number) for number in text.split()) for text in (_Q1,))
KEYS = tuple(tuple(float(number) for number in text.split()) for text in (_K1, _K2))


def keys_with(
    Q: Float[Tensor, "query d_k"], K: Float[Tensor, "key d_k"], dots: Float[Tensor, "query key"]
) -> Float[Tensor, "key d_k"]:
    """The keys nearest to `K` whose dot products with the queries are `dots`; needs independent queries."""
    missing = dots - Q @ K.mT  # [query, key]
    return K + missing.mT @ torch.linalg.pinv(Q).mT  # [key, d_k]


def products(q: Float[Tensor, "d_k"], K: Float[Tensor, "key d_k"]) -> Float[Tensor, "key d_k"]:
    """What each channel adds to the dot products of one query."""
    return q * K


def attend(
    Q: Float[Tensor, "query d_k"],
    K: Float[Tensor, "key d_k"],
    V: Float[Tensor, "key d_v"],
    divisors: Float[Tensor, "frame"],
) -> dict[str, Tensor]:
    """softmax(Q K^T / divisor) V, step by step; equation 1 of Vaswani et al. 2017 divides by sqrt(d_k).

    dots [query, key]; scores and pattern [frame, query, key] and z [frame, query, d_v], one for each divisor.
    """
    dots = Q @ K.mT  # [query, key]
    scores = dots / divisors[:, None, None]  # [frame, query, key]
    pattern = scores.softmax(dim=-1)  # [frame, query, key]
    z = pattern @ V  # [frame, query, d_v]
    return {"dots": dots, "scores": scores, "pattern": pattern, "z": z}


DIVISORS = np.linspace(1, 32, 63)
_KEYS = ("k1", "k2")
OUT = "channel of v"


def lesson(inputs: Inputs) -> Lesson:
    Q, K, V = (torch.tensor(rows, dtype=torch.float64) for rows in (QUERIES, KEYS, inputs.V))
    K = keys_with(Q, K, torch.tensor(inputs.dots, dtype=torch.float64))
    computed = attend(Q, K, V, torch.tensor(DIVISORS))
    first, second = inputs.dots[0]
    scores, weights = computed["scores"][:, 0].tolist(), computed["pattern"][:, 0].tolist()
    return Lesson(
        rows=[
            [
                Matrix(
                    title="one query, two keys", values=np.stack([Q[0].numpy(), *K.numpy()]),
                    rows=("q1", *_KEYS), column_axis="channel", sums=True,
                ),
                Matrix(
                    title="channel by channel", values=products(Q[0], K).numpy(), rows=("q1 k1", "q1 k2"),
                    column_axis="channel", sums=True,
                ),
            ],
            _equation(computed, V.numpy()),
        ],
        notice=[
            f"{short(first)} and {short(second)}, divided by {divisor:g}, are {short(a)} and {short(b)}; "
            f"softmax turns them into the weights **{p:.2f}** and **{q:.2f}**."
            for divisor, (a, b), (p, q) in zip(DIVISORS, scores, weights, strict=True)
        ],
        scrub=Scrub(
            "divisor", "divide by", DIVISORS, [f"{d:g}{' = √64' if d == 8 else ''}" for d in DIVISORS]
        ),
        sizes=r"d_k = 64,\; \sqrt{d_k} = 8,\; 2 \text{ keys}",
        axes={"query": 1, "channel": 64, "key": 2, "channel of v": 4},
        code=[attend, products, keys_with],
    )  # fmt: skip


def _equation(tensors: dict[str, Tensor], V: np.ndarray) -> list[Panel]:
    """From the dot products of the query to its z."""
    dots, scores, pattern, z = (tensors[name].numpy() for name in ("dots", "scores", "pattern", "z"))
    keys: dict[str, Any] = {"rows": ("q1",), "columns": _KEYS, "column_axis": "key"}
    return [
        Matrix(title="dot products", values=dots, edit="dots", digits=0, **keys),
        Matrix(title="divided: scores", values=scores, digits=1, **keys),
        Matrix(title="softmax: weights", values=pattern, scale="weights", **keys),
        Sign("×"),
        Matrix(
            title="values", values=V, edit="V", digits=0, role="value", rows=("v1", "v2"), row_axis="key",
            column_axis=OUT,
        ),
        Sign("="),
        Matrix(title="z1", values=z, rows=("z1",), column_axis=OUT),
    ]  # fmt: skip


def questions() -> tuple[Answer, ...]:
    def weight(first: int, second: int, d_k: int = 64) -> float:
        dots = torch.tensor([first, second], dtype=torch.float64)
        return (dots / d_k**0.5).softmax(dim=-1)[0].item()

    usual, doubled, raised = weight(112, 96), weight(224, 192), weight(212, 196)
    undivided = weight(112, 96, 1)
    return (
        Answer.of(1 if doubled > usual else 2, usual=usual, doubled=doubled),
        Answer.of(0 if abs(raised - usual) < 1e-9 else 1, raised=raised),
        Answer.of(2 if 1 - undivided < 1e-6 else 1, rest=1 - undivided),
    )


TYPED = Note(
    "Type **dot products** or **values** into the cells. Drag **divide by** to another number.",
    small=False,
)
PART = part(__name__, (TYPED,), lesson, questions, scrub="divisor", also=("dots", "V"))
