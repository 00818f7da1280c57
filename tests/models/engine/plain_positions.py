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
        turns = _turns(config, int(number))
        return lambda q, k, scale, head, i, j: scale * _dot(_turned(q, i, *turns), _turned(k, j, *turns))
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


def _turns(config: ModelConfig, layer: int) -> tuple[Vector, float]:
    """What each pair turns by from one position to the next, and the factor on what is turned."""
    every, n = config.global_every, round(config.rotary_share * (config.d_head or 0))
    is_local = config.local_window is not None and not (every and (layer + 1) % every == 0)
    base, factor = config.rotary_base, config.rotary_factor
    if is_local and config.local_rotary_base is not None:
        base = config.local_rotary_base
    if config.rotary_stretch == "ntk":
        base = base * factor ** (n / (n - 2))
    turns = [base ** (-2 * pair / n) for pair in range(n // 2)]
    if config.rotary_stretch == "linear":
        return [turn / factor for turn in turns], 1.0
    old = config.rotary_trained or config.max_len / factor
    if config.rotary_stretch == "llama3":
        kept = [min(max((old * turn / (2 * math.pi) - 1) / 3, 0), 1) for turn in turns]
        return [turn * part + turn / factor * (1 - part) for turn, part in zip(turns, kept, strict=True)], 1.0
    if config.rotary_stretch != "yarn":
        return turns, 1.0
    low, high = (n * math.log(old / (times * 2 * math.pi)) / (2 * math.log(base)) for times in (32, 1))
    low, high = max(math.floor(low), 0), min(math.ceil(high), n - 1)
    slow = [min(max((pair - low) / max(high - low, 1e-3), 0), 1) for pair in range(n // 2)]
    mixed = [turn * (1 - part) + turn / factor * part for turn, part in zip(turns, slow, strict=True)]
    return mixed, 0.1 * math.log(factor) + 1


def _turned(x: Vector, position: int, turns: Vector, loudness: float) -> Vector:
    turned: Vector = []
    for pair, turn in enumerate(turns):
        point = complex(x[2 * pair], x[2 * pair + 1]) * cmath.exp(1j * position * turn) * loudness
        turned += [point.real, point.imag]
    return turned + x[2 * len(turns) :]


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
