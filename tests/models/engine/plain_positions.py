"""Scores of self-attention under each position scheme, in plain Python floats and loops."""

import cmath
import math
from collections.abc import Callable
from typing import Any

from attention_lab.models import ModelConfig

Vector = list[float]
Score = Callable[[Vector, Vector, float, int, int, int], float]  # q, k, scale, head, query, key


def plain_score(weights: Any, config: ModelConfig, layer: str) -> Score | None:
    """The score of one query and one key in a layer ("encoder.layers.0"); None: the scaled dot product."""
    stack, _, number = layer.split(".")
    at = f"{stack}.positions"
    if config.positions == "rotary":
        return _rotary
    if config.positions == "alibi":
        return lambda q, k, scale, head, i, j: _dot(q, k) * scale - _slopes(config.n_heads)[head] * abs(i - j)
    if config.positions == "t5":
        table = weights[f"{at}.table.weight"]
        both = stack == "encoder"
        return lambda q, k, scale, head, i, j: _dot(q, k) * scale + table[plain_bucket(i - j, both)][head]
    if config.positions == "transformer-xl":
        u, v, w = weights[f"{at}.u"], weights[f"{at}.v"], weights[f"{at}.r_proj.{number}.weight"]
        return lambda q, k, scale, head, i, j: (
            scale * _transformer_xl(q, k, u[head][0], v[head][0], w, head, i - j)
        )
    return None


def plain_bucket(distance: int, bidirectional: bool) -> int:
    """T5's bucket, 32 of them up to distance 128."""
    count, first = (16, 16 if distance < 0 else 0) if bidirectional else (32, 0)
    distance = abs(distance) if bidirectional else max(distance, 0)
    if distance < count // 2:
        return first + distance
    logarithmic = math.log(distance / (count // 2)) / math.log(128 / (count // 2)) * (count // 2)
    return first + min(count // 2 + int(logarithmic), count - 1)


def _rotary(q: Vector, k: Vector, scale: float, head: int, i: int, j: int) -> float:
    return scale * _dot(_turned(q, i), _turned(k, j))


def _turned(x: Vector, position: int) -> Vector:
    turned: Vector = []
    for c in range(0, len(x), 2):
        point = complex(x[c], x[c + 1]) * cmath.exp(1j * position / 10_000 ** (c / len(x)))
        turned += [point.real, point.imag]
    return turned


def _slopes(n_heads: int) -> Vector:
    """As the authors' code finds them: by asking again for other numbers of heads."""
    if math.log2(n_heads).is_integer():
        start = 2 ** (-8 / n_heads)
        return [start * start**i for i in range(n_heads)]
    below = 2 ** math.floor(math.log2(n_heads))
    return _slopes(below) + _slopes(2 * below)[0::2][: n_heads - below]


def _transformer_xl(
    q: Vector, k: Vector, u: Vector, v: Vector, w: list[Vector], head: int, distance: int
) -> float:
    d_model, d_head = len(w[0]), len(q)
    r = [
        (math.cos if c % 2 else math.sin)(distance / 10_000 ** (2 * (c // 2) / d_model))
        for c in range(d_model)
    ]
    wr = [_dot(row, r) for row in w[head * d_head : (head + 1) * d_head]]
    return _dot(q, k) + _dot(q, wr) + _dot(u, k) + _dot(v, wr)


def _dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
