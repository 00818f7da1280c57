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
        self.is_rms = isinstance(model, Transformer) and model.config.norm_type == "rms"
        self.first_values: Matrix = []
        self.sources: dict[str, list[Matrix]] = {}

    def __getitem__(self, name: str) -> list:
        return self.tensors[name].to(torch.float64).tolist()

    def linear(self, name: str, x: Matrix) -> Matrix:
        weight = self[f"{name}.weight"]
        bias = self[f"{name}.bias"] if f"{name}.bias" in self.tensors else [0.0] * len(weight)
        return [[_dot(row, vector) + b for row, b in zip(weight, bias, strict=True)] for vector in x]

    def norm(self, name: str, x: Matrix) -> Matrix:
        gain = self[f"{name}.weight"]
        if self.is_rms:
            return [plain_rms(vector, gain, self.epsilon) for vector in x]
        bias = self[f"{name}.bias"] if f"{name}.bias" in self.tensors else [0.0] * len(gain)
        return [_normalised(vector, gain, bias, self.epsilon) for vector in x]


def _encode(
    weights: Weights, config: ModelConfig, tokens: list[int], types: list[int] | None = None
) -> Matrix:
    allowed = [[[key != config.pad_id for key in tokens]] * len(tokens)] * config.n_heads
    x = _embed(weights, config, "encoder", "embedding", tokens, types)
    for i in range(config.n_layers):
        x = _layer(weights, config, f"encoder.layers.{i}", x, _near(config, i, allowed))
    return weights.norm("encoder.norm", x) if config.norm in ("pre", "after", "both") else x


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
        x = _layer(weights, config, f"decoder.layers.{i}", x, _near(config, i, allowed), memory, seen)
    return weights.norm("decoder.norm", x) if config.norm in ("pre", "after", "both") else x


def _near(config: ModelConfig, layer: int, allowed: Allowed) -> Allowed:
    """What a layer with a window sees of what it may."""
    every = config.global_every
    if config.local_window is None or (every and (layer + 1) % every == 0):
        return allowed
    return [
        [
            [may and abs(i - j) < config.local_window for j, may in enumerate(row)]
            for i, row in enumerate(rows)
        ]
        for rows in allowed
    ]


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
    sources = weights.sources.setdefault(at.split(".")[0], [x])
    before = len(sources)

    def add(x: Matrix, name: str, sublayer, read: Matrix | None = None) -> Matrix:
        def norm(vectors: Matrix, suffix: str = "") -> Matrix:
            return weights.norm(f"{at}.{name}{suffix}_norm", vectors)

        read = x if read is None else read
        written = sublayer(norm(read) if config.norm in ("pre", "both") else read)
        written = norm(written) if config.norm == "after" else written
        written = norm(written, "_out") if config.norm == "both" else written
        if config.depth_attention:
            sources.append(written)
            return _mixture(weights, f"{at}.depth.{len(sources) - before - 1}.query", sources)
        total = _sum(x, written) if config.residual else written
        return norm(total) if config.norm == "post" else total

    number, every, entered = int(at.split(".")[-1]), config.positionless_every, x
    placed = not every or (number + 1) % every != 0
    own, score = f"{at}.self_attention.", plain_score(weights, config, at) if placed else None
    x = add(x, "self", lambda h: plain_attention(weights, config, own, h, h, allowed, score))
    if memory is not None and seen is not None:
        cross = f"{at}.cross_attention."
        x = add(x, "cross", lambda h: plain_attention(weights, config, cross, h, memory, seen))
    if not config.feed_forward:
        return x
    network = f"{at}.feed_forward"
    return add(
        x, "ff", lambda h: _feed_forward(weights, config, network, h), entered if config.parallel else x
    )


def _mixture(weights: Weights, name: str, sources: list[Matrix]) -> Matrix:
    """Each position's mixture of its own vectors at all depths."""
    query, mixed = weights[name], []
    for vectors in zip(*sources, strict=True):
        keys = [plain_rms(vector, [1.0] * len(vector), weights.epsilon) for vector in vectors]
        each = [math.exp(_dot(query, key)) for key in keys]
        parts = [[e / sum(each) * value for value in v] for e, v in zip(each, vectors, strict=True)]
        mixed.append([sum(channel) for channel in zip(*parts, strict=True)])
    return mixed


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
    size, of = config.d_head or 0, config.n_kv_heads or config.n_heads
    scale = {True: 1 / math.sqrt(size), False: 1.0}.get(config.attention_scale, config.attention_scale)
    if config.d_latent:
        gain = weights[f"{at}latent.1.weight"]
        keys = [plain_rms(row, gain, weights.epsilon) for row in weights.linear(f"{at}latent.0", keys)]
    q, k, v = (
        weights.linear(f"{at}{name}", x)
        for name, x in [("q_proj", queries), ("k_proj", keys), ("v_proj", keys)]
    )
    if config.qk_norm != "none":
        q, k = (
            _head_normed(weights, config, f"{at}{name}_norm.weight", x) for name, x in (("q", q), ("k", k))
        )
    if config.value_residual and "self" in at:
        v = _with_first_values(weights, at, v)
    z: Matrix = [[] for _ in q]
    for head in range(config.n_heads):
        part, shared = (slice(each * size, (each + 1) * size) for each in (head, head * of // config.n_heads))
        for i, query in enumerate(q):
            if score is None:
                scores = [_dot(query[part], key[shared]) * scale for key in k]
            else:
                scores = [score(query[part], key[shared], scale, head, i, j) for j, key in enumerate(k)]
            if config.score_cap is not None:
                scores = [config.score_cap * math.tanh(s / config.score_cap) for s in scores]
            pattern = plain_weights(
                config.normalizer, scores, allowed[head][i], _learnt(weights, config, at, head)
            )
            columns = [*range(shared.start, shared.stop)]
            if config.differential:
                first = shared.start % (of * size // 2)
                columns = [c + more for more in (first, first + of * size // 2) for c in range(size)]
            mixture = [_dot(pattern, [value[c] for value in v]) for c in columns]
            if config.exclusive and "cross" not in at:
                mixture = _without(mixture, v[i][shared])
            z[i] += mixture
    if config.head_gate != "none":
        z = _gated(config, weights.linear(f"{at}gate.linear", queries), z, size)
    if config.differential:
        z = [_difference(weights, at, row, 2 * size) for row in z]
    return weights.linear(f"{at}out_proj", z)


def _difference(weights: Weights, at: str, z: Vector, wide: int) -> Vector:
    """Of each head of the first half, lambda times its partner in the second is taken away."""
    initial = 0.8 - 0.6 * math.exp(-0.3 * int(at.split(".")[2]))
    q1, k1, q2, k2 = (weights[f"{at}difference.{name}"] for name in ("q1", "k1", "q2", "k2"))
    factor, half = math.exp(_dot(q1, k1)) - math.exp(_dot(q2, k2)) + initial, len(z) // 2
    left = [a - factor * b for a, b in zip(z[:half], z[half:], strict=True)]
    pairs = [left[c : c + wide] for c in range(0, half, wide)]
    return [each for pair in pairs for each in plain_rms(pair, [1 - initial] * wide, weights.epsilon)]


def plain_rms(vector: Vector, gain: Vector, epsilon: float) -> Vector:
    """Zhang and Sennrich 2019, equation 4."""
    root = math.sqrt(sum(value * value for value in vector) / len(vector) + epsilon)
    return [value / root * g for value, g in zip(vector, gain, strict=True)]


def _head_normed(weights: Weights, config: ModelConfig, name: str, x: Matrix) -> Matrix:
    gain, size = weights[name], len(weights[name])
    normed = []
    for vector in x:
        parts = [vector[c : c + size] for c in range(0, len(vector), size)]
        normed.append([value for part in parts for value in plain_rms(part, gain, weights.epsilon)])
    return normed


def _with_first_values(weights: Weights, at: str, v: Matrix) -> Matrix:
    if ".0." in at:
        weights.first_values = v
        return v
    own, first = weights[f"{at}value_mix.weights"]
    pairs = zip(v, weights.first_values, strict=True)
    return [[own * a + first * b for a, b in zip(*rows, strict=True)] for rows in pairs]


def _learnt(weights: Weights, config: ModelConfig, at: str, head: int) -> float:
    name = {"learnt-sink": "scores", "scalable-softmax": "steepness"}.get(config.normalizer)
    return weights[f"{at}normalizer.{name}"][head] if name else 0.0


def _without(mixture: Vector, own: Vector) -> Vector:
    along = _dot(mixture, own) / _dot(own, own)
    return [m - along * o for m, o in zip(mixture, own, strict=True)]


def _gated(config: ModelConfig, opened: Matrix, z: Matrix, size: int) -> Matrix:
    wide = size if config.head_gate == "head" else 1
    return [
        [value / (1 + math.exp(-gates[c // wide])) for c, value in enumerate(row)]
        for gates, row in zip(opened, z, strict=True)
    ]


def plain_weights(normalizer: str, scores: Vector, allowed: list[bool], learnt: float = 0.0) -> Vector:
    """One row of weights, by the formula of its normalizer; learnt: a sink, or a steepness."""
    if normalizer == "softpick":
        above = [math.exp(s) - 1 if may else 0.0 for s, may in zip(scores, allowed, strict=True)]
        total = sum(map(abs, above)) + 1e-6
        return [max(each, 0.0) / total for each in above]
    if normalizer == "scalable-softmax":
        scores = [s * learnt * math.log(max(sum(allowed), 1)) for s in scores]
    if normalizer == "sigmoid":
        n = sum(allowed)
        return [1 / (1 + n * math.exp(-s)) if may else 0.0 for s, may in zip(scores, allowed, strict=True)]
    exponentials = [math.exp(s) if may else 0.0 for s, may in zip(scores, allowed, strict=True)]
    total = sum(exponentials) + (normalizer == "softmax-plus-one")
    total += math.exp(learnt) if normalizer == "learnt-sink" else 0
    return [e / total if total else 0.0 for e in exponentials]


def _feed_forward(weights: Weights, config: ModelConfig, at: str, x: Matrix) -> Matrix:
    hidden, limit = weights.linear(f"{at}.linear_in", x), config.ff_limit or math.inf
    active = [[_activation(config.activation, min(value, limit)) for value in vector] for vector in hidden]
    if config.gated:
        more = weights.linear(f"{at}.linear_gated", x)
        if config.ff_limit:
            more = [[max(-limit, min(value, limit)) + 1 for value in vector] for vector in more]
        active = [[a * b for a, b in zip(*rows, strict=True)] for rows in zip(active, more, strict=True)]
    if not config.n_experts:
        return weights.linear(f"{at}.linear_out", active)
    return _mixed(weights, config, at, x, active)


def _mixed(weights: Weights, config: ModelConfig, at: str, x: Matrix, active: Matrix) -> Matrix:
    """Each token's experts one by one: those with the largest logits, weighed by the softmax of these."""
    size, out = config.d_ff or 0, weights[f"{at}.linear_out.weight"]
    mixtures = []
    for logits, hidden in zip(weights.linear(f"{at}.router", x), active, strict=True):
        taken = sorted(range(len(logits)), key=lambda expert: -logits[expert])[: config.n_active]
        total = sum(math.exp(logits[expert]) for expert in taken)
        mixture = [0.0] * config.d_model
        for expert in taken:
            share, own = math.exp(logits[expert]) / total, hidden[expert * size : (expert + 1) * size]
            for channel in range(config.d_model):
                row = out[channel][expert * size : (expert + 1) * size]
                answer = sum(w * value for w, value in zip(row, own, strict=True))
                if config.bias:
                    answer += weights[f"{at}.biases.weight"][channel][expert]
                mixture[channel] += share * answer
        mixtures.append(mixture)
    return mixtures


def _activation(name: str, x: float) -> float:
    if name == "relu":
        return max(x, 0.0)
    if name == "silu":
        return x / (1 + math.exp(-x))
    if name == "gelu-quick":
        return x / (1 + math.exp(-1.702 * x))
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
    logits, cap = weights.linear(tied if config.tied_embeddings else "output", x), config.logit_cap
    return logits if cap is None else [[cap * math.tanh(value / cap) for value in row] for row in logits]


def _normalised(vector: Vector, gain: Vector, bias: Vector, epsilon: float) -> Vector:
    mean = sum(vector) / len(vector)
    variance = sum((value - mean) ** 2 for value in vector) / len(vector)
    unit = [(value - mean) / math.sqrt(variance + epsilon) for value in vector]
    return [u * g + b for u, g, b in zip(unit, gain, bias, strict=True)]


def _sum(a: Matrix, b: Matrix) -> Matrix:
    return [[x + y for x, y in zip(u, v, strict=True)] for u, v in zip(a, b, strict=True)]


def _dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
