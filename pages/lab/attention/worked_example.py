"""Part 2: the worked example of the talks, number by number."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from models.lessons.attention import questions as facts
from models.lessons.attention import worked_example
from pages.lab.attention.inputs import Inputs
from pages.lab.controls import Note
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from viz_core.boards import Board, Matrix, Panel, Scrub, Sign
from viz_core.labels import short

DIVISORS = np.linspace(1, 32, 63)
TRIES = (
    Try("Do not divide", {"divisor": 1.0}),
    Try("Double both products", {"dots": ((224.0, 192.0),), "divisor": 8.0}),
    Try("Make them equal", {"dots": ((96.0, 96.0),), "divisor": 8.0}),
)
_KEYS = ("k1", "k2")
_QUERIES = ("q1", "q2")
_VALUES = ("v1", "v2")
OUT = "channel of v"


def lesson(inputs: Inputs) -> Lesson:
    given = (worked_example.QUERIES, worked_example.KEYS, inputs.V)
    Q, K, V = (torch.tensor(rows, dtype=torch.float64) for rows in given)
    wished = Q @ K.mT
    wished[0] = torch.tensor(inputs.dots[0])
    K = worked_example.keys_with(Q, K, wished)
    computed = worked_example.attend(Q, K, V, torch.tensor(DIVISORS))
    tensors = {"Q": Q, "K": K, "V": V} | computed
    products = worked_example.products(Q[0], K)
    return Lesson(
        see="One query meets two keys in 64 channels. Multiply channel by channel and add up: **q1 · k1** "
        "and **q1 · k2**. Divide by √64 = 8, take the softmax, and mix v1 and v2 with these weights.",
        board=Board(
            rows=[_vectors(Q, K, products), _one_query(tensors), *_equation(tensors)],
            notice=_notices(inputs, computed),
            scrub=Scrub(field="divisor", label="divide by", values=DIVISORS, words=_words()),
        ),
        formula=r"z_1 = \sum_j \operatorname{softmax}\!\left(\frac{\q{q_1} \cdot \k{k_j}}{\sqrt{d_k}}\right) "
        r"\v{v_j} \qquad Z = \operatorname{softmax}\!\left(\frac{\q{Q}\k{K}^\top}{\sqrt{d_k}}\right) \v{V}",
        sizes=r"d_k = 64,\; \sqrt{d_k} = 8,\; 2 \text{ queries},\; 2 \text{ keys}",
        shapes=[
            Shape(r"\q{Q}", "query channel", tuple(Q.shape)),
            Shape(r"\k{K}", "key channel", tuple(K.shape)),
            Shape(r"\v{V}", "key channel", tuple(V.shape)),
            Shape(r"\text{dots}", "query key", (2, 2)),
            Shape(r"\text{scores}", "query key", (2, 2)),
            Shape(r"\text{pattern}", "query key", (2, 2)),
            Shape("Z", "query channel", (2, 4)),
        ],
        code=[worked_example.attend, worked_example.products, worked_example.keys_with],
    )


def _words() -> list[str]:
    return [f"{divisor:g}" + (" = √64" if divisor == 8 else "") for divisor in DIVISORS]


def _vectors(Q: Tensor, K: Tensor, products: Tensor) -> list[Panel]:
    vectors = np.stack([Q[0].numpy(), *K.numpy()])
    return [
        Matrix(title="one query, two keys", values=vectors, rows=("q1", *_KEYS), column_axis="channel"),
        Matrix(
            title="channel by channel",
            values=products.numpy(),
            rows=("q1 k1", "q1 k2"),
            column_axis="channel",
        ),
    ]


def _one_query(tensors: dict[str, Tensor]) -> list[Panel]:
    scores, weights, z = (tensors[name][:, :1].numpy() for name in ("scores", "pattern", "z"))
    dots, V = tensors["dots"][:1].numpy(), tensors["V"].numpy()
    keys: dict[str, Any] = {"rows": ("q1",), "columns": _KEYS, "column_axis": "key"}
    return [
        Matrix(title="dot products", values=dots, edit="dots", digits=0, **keys),
        Matrix(title="divided: scores", values=scores, digits=1, **keys),
        Matrix(title="softmax: weights", values=weights, scale="weights", **keys),
        Sign(text="×"),
        Matrix(
            title="values",
            values=V,
            role="value",
            edit="V",
            rows=_VALUES,
            row_axis="key",
            digits=0,
            column_axis=OUT,
        ),
        Sign(text="="),
        Matrix(title="z1", values=z, rows=("z1",), column_axis=OUT),
    ]


def _equation(tensors: dict[str, Tensor]) -> list[list[Panel]]:
    """Q K^T, and softmax(Q K^T / divisor) V = Z; K is drawn as it is stored, a key in each row."""
    Q, K, V, dots, pattern, Z = (tensors[name].numpy() for name in ("Q", "K", "V", "dots", "pattern", "z"))
    cells: dict[str, Any] = {"rows": _QUERIES, "row_axis": "query", "columns": _KEYS, "column_axis": "key"}
    products: list[Panel] = [
        Matrix(title="Q", values=Q, role="query", rows=_QUERIES, row_axis="query", column_axis="channel"),
        Sign(text="×"),
        Matrix(
            title="K (upright: Kᵀ)", values=K, role="key", rows=_KEYS, row_axis="key", column_axis="channel"
        ),
        Sign(text="="),
        Matrix(title="Q Kᵀ", values=dots, digits=0, **cells),
    ]
    sums: list[Panel] = [
        Matrix(title="softmax(Q Kᵀ ÷ …)", values=pattern, scale="weights", **cells),
        Sign(text="×"),
        Matrix(title="V", values=V, role="value", rows=_VALUES, row_axis="key", column_axis=OUT),
        Sign(text="="),
        Matrix(title="Z", values=Z, rows=("z1", "z2"), row_axis="query", column_axis=OUT),
    ]
    return [products, sums]


def _notices(inputs: Inputs, computed: dict[str, Tensor]) -> list[str]:
    first, second = inputs.dots[0]
    scores, weights = computed["scores"][:, 0].tolist(), computed["pattern"][:, 0].tolist()
    return [
        f"{short(first)} and {short(second)}, divided by {divisor:g}, are {short(a)} and {short(b)}; "
        f"softmax turns them into the weights **{p:.2f}** and **{q:.2f}**."
        for divisor, (a, b), (p, q) in zip(DIVISORS, scores, weights, strict=True)
    ]


def questions() -> tuple[Question, ...]:
    def weight(first: float, second: float, d_k: int = 64) -> float:
        return facts.weights_of(torch.tensor([first, second], dtype=torch.float64), d_k)[0].item()

    usual, doubled, raised, undivided = (
        weight(112, 96),
        weight(224, 192),
        weight(212, 196),
        weight(112, 96, 1),
    )
    return (
        Question(
            f"k1 has weight {usual:.2f}. Both dot products double, to 224 and 192. Its weight …",
            ("stays the same", "grows", "falls"),
            1 if doubled > usual else 2,
            f"The gap between the scores doubles, from 2 to 4: the weight is {doubled:.2f}.",
        ),
        Question(
            "Both dot products grow by 100, to 212 and 196. The weight of k1 …",
            ("stays the same", "grows", "falls"),
            0 if abs(raised - usual) < 1e-9 else 1,
            f"Softmax sees only the gap, 16 ÷ 8 = 2 as before: {raised:.2f}.",
        ),
        Question(
            "112 and 96 are not divided at all. What is left for k2?",
            ("0.12 as before", "about a hundredth", "less than a millionth"),
            2 if 1 - undivided < 1e-6 else 1,
            f"A gap of 16 leaves {short(1 - undivided)}: k2 has next to no weight, and next to no gradient.",
        ),
    )


PART = Part(
    "worked", "Worked example",
    (
        Note(
            "Type other **dot products** or **values** into the cells: the keys change just enough to give "
            "them. Drag **divide by** to divide by another number.",
            small=False,
        ),
    ),
    lesson, TRIES, questions, scrub="divisor", also=("dots", "V"),
)  # fmt: skip
