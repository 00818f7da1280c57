"""A transformer in plain Python floats and loops: slow, obvious, nothing shared with the engine."""

import math

import torch
from torch import nn

from attention_lab.models import ModelConfig, Transformer
from tests.models.engine.plain_positions import Score, plain_score

Vector = list[float]
Matrix = list[Vector]
Allowed = list[list[list[bool]]]  # [head][query][key]


def plain_logits(
    model: Transformer, tokens: list[int], target: list[int] | None = None, types: list[int] | None = None
) -> Matrix:
    """Logits of one prompt, from nothing but the model's config and the numbers in its state dict."""
    config, weights = model.config, Weights(model)
    if config.kind == "encoder-only":
        return _unembed(weights, config, _encode(weights, config, tokens, types))
    if config.kind == "decoder-only":
        return _unembed(weights, config, _decode(weights, config, tokens))
    memory = _encode(weights, config, tokens)
    return _unembed(weights, config, _decode(weights, config, target or [], memory, tokens))


class Weights:
    """A module's parameters as nested lists."""

    def __init__(self, model: nn.Module) -> None:
        self.tensors = model.state_dict()
        self.epsilon = model.config.norm_eps if isinstance(model, Transformer) else 1e-5

    def __getitem__(self, name: str) -> list:
        return self.tensors[name].to(torch.float64).tolist()

    def linear(self, name: str, x: Matrix) -> Matrix:
        weight = self[f"{name}.weight"]
        bias = self[f"{name}.bias"] if f"{name}.bias" in self.tensors else [0.0] * len(weight)
        return [[_dot(row, vector) + b for row, b in zip(weight, bias, strict=True)] for vector in x]

    def norm(self, name: str, x: Matrix) -> Matrix:
        gain = self[f"{name}.weight"]
        bias = self[f"{name}.bias"] if f"{name}.bias" in self.tensors else [0.0] * len(gain)
        return [_normalised(vector, gain, bias, self.epsilon) for vector in x]


def _encode(
    weights: Weights, config: ModelConfig, tokens: list[int], types: list[int] | None = None
) -> Matrix:
    allowed = [[[key != config.pad_id for key in tokens]] * len(tokens)] * config.n_heads
    x = _embed(weights, config, "encoder", "embedding", tokens, types)
    for i in range(config.n_layers):
        x = _layer(weights, config, f"encoder.layers.{i}", x, allowed)
    return weights.norm("encoder.norm", x) if config.norm == "pre" else x


def _decode(
    weights: Weights,
    config: ModelConfig,
    tokens: list[int],
    memory: Matrix | None = None,
    source: list[int] | None = None,
) -> Matrix:
    rows = [[j <= i and key != config.pad_id for j, key in enumerate(tokens)] for i in range(len(tokens))]
    allowed = [rows] * config.n_heads
    seen = [[[key != config.pad_id for key in source or []]] * len(tokens)] * config.n_heads
    embedding = "embedding" if config.target_vocab_size is None else "target_embedding"
    x = _embed(weights, config, "decoder", embedding, tokens)
    for i in range(config.n_layers):
        x = _layer(weights, config, f"decoder.layers.{i}", x, allowed, memory, seen)
    return weights.norm("decoder.norm", x) if config.norm == "pre" else x


def _embed(
    weights: Weights,
    config: ModelConfig,
    stack: str,
    name: str,
    tokens: list[int],
    types: list[int] | None = None,
) -> Matrix:
    table, loud = weights[f"{name}.weight"], math.sqrt(config.d_model)
    x = [[value * loud for value in table[token]] for token in tokens]
    x = [
        [value + _position(weights, config, stack, p, c) for c, value in enumerate(vector)]
        for p, vector in enumerate(x)
    ]
    if config.token_types is not None:
        of_type = weights[f"{stack}.types.embedding.weight"]
        x = _sum(x, [[value * loud for value in of_type[kind]] for kind in types or [0] * len(tokens)])
    return weights.norm(f"{stack}.embedding_norm", x) if config.embedding_norm else x


def _position(weights: Weights, config: ModelConfig, stack: str, position: int, channel: int) -> float:
    if config.positions == "learned":
        return weights[f"{stack}.positions.embedding.weight"][position][channel] * math.sqrt(config.d_model)
    if config.positions != "sinusoidal":
        return 0.0
    angle = position / 10_000 ** (2 * (channel // 2) / config.d_model)
    return math.cos(angle) if channel % 2 else math.sin(angle)


def _layer(
    weights: Weights,
    config: ModelConfig,
    at: str,
    x: Matrix,
    allowed: Allowed,
    memory: Matrix | None = None,
    seen: Allowed | None = None,
) -> Matrix:
    def add(x: Matrix, name: str, sublayer) -> Matrix:
        def norm(vectors: Matrix) -> Matrix:
            return weights.norm(f"{at}.{name}_norm", vectors)

        written = sublayer(norm(x) if config.norm == "pre" else x)
        total = _sum(x, written) if config.residual else written
        return norm(total) if config.norm == "post" else total

    own, score = f"{at}.self_attention.", plain_score(weights, config, at)
    x = add(x, "self", lambda h: plain_attention(weights, config, own, h, h, allowed, score))
    if memory is not None and seen is not None:
        cross = f"{at}.cross_attention."
        x = add(x, "cross", lambda h: plain_attention(weights, config, cross, h, memory, seen))
    if not config.feed_forward:
        return x
    return add(x, "ff", lambda h: _feed_forward(weights, config, f"{at}.feed_forward", h))


def plain_attention(
    weights: Weights,
    config: ModelConfig,
    at: str,
    queries: Matrix,
    keys: Matrix,
    allowed: Allowed,
    score: Score | None = None,
) -> Matrix:
    """Equation 1 of Vaswani et al. 2017 for each head, the heads side by side, then the output projection."""
    size = config.d_head or 0
    scale = {True: 1 / math.sqrt(size), False: 1.0}.get(config.attention_scale, config.attention_scale)
    q, k, v = (
        weights.linear(f"{at}{name}", x)
        for name, x in [("q_proj", queries), ("k_proj", keys), ("v_proj", keys)]
    )
    z: Matrix = [[] for _ in q]
    for head in range(config.n_heads):
        part = slice(head * size, (head + 1) * size)
        for i, query in enumerate(q):
            if score is None:
                scores = [_dot(query[part], key[part]) * scale for key in k]
            else:
                scores = [score(query[part], key[part], scale, head, i, j) for j, key in enumerate(k)]
            pattern = plain_weights(config.normalizer, scores, allowed[head][i])
            z[i] += [_dot(pattern, [value[c] for value in v]) for c in range(part.start, part.stop)]
    return weights.linear(f"{at}out_proj", z)


def plain_weights(normalizer: str, scores: Vector, allowed: list[bool]) -> Vector:
    """One row of weights, by the formula of its normalizer."""
    if normalizer == "sigmoid":
        n = sum(allowed)
        return [1 / (1 + n * math.exp(-s)) if may else 0.0 for s, may in zip(scores, allowed, strict=True)]
    exponentials = [math.exp(s) if may else 0.0 for s, may in zip(scores, allowed, strict=True)]
    total = sum(exponentials) + (normalizer == "softmax-plus-one")
    return [e / total if total else 0.0 for e in exponentials]


def _feed_forward(weights: Weights, config: ModelConfig, at: str, x: Matrix) -> Matrix:
    hidden = weights.linear(f"{at}.linear_in", x)
    active = [[_activation(config.activation, value) for value in vector] for vector in hidden]
    return weights.linear(f"{at}.linear_out", active)


def _activation(name: str, x: float) -> float:
    if name == "relu":
        return max(x, 0.0)
    if name == "gelu":
        return x * (1 + math.erf(x / math.sqrt(2))) / 2
    return x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def _unembed(weights: Weights, config: ModelConfig, x: Matrix) -> Matrix:
    tied = "embedding" if config.target_vocab_size is None else "target_embedding"
    if config.output_transform:
        x = [
            [_activation(config.activation, v) for v in row] for row in weights.linear("transform.linear", x)
        ]
        x = weights.norm("transform.norm", x)
    return weights.linear(tied if config.tied_embeddings else "output", x)


def _normalised(vector: Vector, gain: Vector, bias: Vector, epsilon: float) -> Vector:
    mean = sum(vector) / len(vector)
    variance = sum((value - mean) ** 2 for value in vector) / len(vector)
    unit = [(value - mean) / math.sqrt(variance + epsilon) for value in vector]
    return [u * g + b for u, g, b in zip(unit, gain, bias, strict=True)]


def _sum(a: Matrix, b: Matrix) -> Matrix:
    return [[x + y for x, y in zip(u, v, strict=True)] for u, v in zip(a, b, strict=True)]


def _dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
