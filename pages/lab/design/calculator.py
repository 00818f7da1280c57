"""Operations and bytes of a whole model, by formula.

A multiplication and an addition count as two. Only matrix products are counted, as PyTorch's FlopCounterMode
does: every query with every key, whether a mask hides it or not. Softmax, norms, biases, looked-up embeddings
and what Transformer-XL's positions multiply are left out.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from attention_lab.models.config import ModelConfig
from attention_lab.models.engine import size
from attention_lab.models.engine.size import (
    FLOAT_BYTES,
    Parameters,
    activation_bytes,
    cache_bytes,
    count_parameters,
)
from attention_lab.pages.lab import attention_cost
from attention_lab.pages.lab.design.inputs import SIZE_CONTROLS, Design, Inputs, design_of, inputs_of
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.viz_core.boards import Bars, Curves, Fact, Facts, Line, Scrub, Table


class Flops(NamedTuple):
    """Operations of a forward pass by what they are for; `pairs`: scores and mixing, every q with every k."""

    projections: int
    pairs: int
    feed_forward: int
    output: int

    @property
    def total(self) -> int:
        return sum(self)


def forward(config: ModelConfig, t: int) -> Flops:
    """A forward pass over one sequence of t tokens; an encoder-decoder reads t and writes t."""
    n_stacks = len(config.stacks)
    n_attending = config.n_layers * (3 if n_stacks == 2 else 1)  # encoder, decoder, and across
    width = config.n_heads * config.head_size
    attention = attention_cost.flops(config.n_heads, config.d_model, config.head_size, t)
    pairs = 2 * 2 * t * t * width
    return Flops(
        projections=n_attending * (attention - pairs),
        pairs=n_attending * pairs,
        feed_forward=n_stacks * config.n_layers * 2 * 2 * t * config.d_model * config.ff_size,
        output=2 * t * config.d_model * config.output_vocab_size,
    )


def training(config: ModelConfig, t: int) -> int:
    """Forward and backward: the backward pass multiplies twice as often, for inputs and for weights."""
    return 3 * forward(config, t).total


def kaplan_parameters(config: ModelConfig) -> int:
    """N = 2 d_model n_layer (2 d_attn + d_ff), no embeddings, no biases (Kaplan et al. 2020, eq. 2.1)."""
    width = config.n_heads * config.head_size
    return 2 * config.d_model * config.n_layers * (2 * width + config.ff_size)


def kaplan_forward(config: ModelConfig, t: int) -> int:
    """A decoder: 2 N + 2 n_layer n_ctx d_attn operations per token (Kaplan et al. 2020, table 1, eq. 2.2)."""
    width = config.n_heads * config.head_size
    return 2 * kaplan_parameters(config) + 2 * config.n_layers * t * width


class TrainingMemory(NamedTuple):
    """Bytes in float32; `moments` are Adam's two running means (Kingma and Ba 2015, algorithm 1)."""

    weights: int
    gradients: int
    moments: int
    activations: int

    @property
    def total(self) -> int:
        return sum(self)


def training_memory(config: ModelConfig, n_sequences: int, t: int) -> TrainingMemory:
    """What training holds for a batch of sequences of t tokens; attention is fused, as in the engine."""
    weights = FLOAT_BYTES * count_parameters(config).total
    lengths = [t] * len(config.stacks)
    return TrainingMemory(weights, weights, 2 * weights, activation_bytes(config, lengths, n_sequences))


FRAMES = 8
PAIRS = "of it, q · k and weights · v"


def lengths_to(max_len: int) -> list[int]:
    """The longest powers of two below max_len, and max_len itself."""
    powers = [2**power for power in range(max_len.bit_length()) if 2**power < max_len]
    return [*powers[-FRAMES:], max_len]


def _total(model: Design, counted: Parameters) -> int:
    return counted.total + sum(model.published.extras.values() if model.published else ())


def _percent(share: float) -> str:
    return f"{share:.1%}".replace("-", "−")


def table(model: Design, counted: Parameters) -> Table:
    extras = model.published.extras if model.published else {}
    parts = {name.replace("_", "-"): count for name, count in counted._asdict().items()} | extras
    total = _total(model, counted)
    rows = [(name, f"{count:,}".replace("-", "−"), _percent(count / total)) for name, count in parts.items()]
    rows.append(("total", f"{total:,}", ""))
    if model.published:
        published = model.published.published
        rows.append((f"published: {model.published.source}", f"{published:,}", ""))
    marked = np.array([name == "total" for name, *_ in rows])
    return Table(title=model.name, columns=("part", "parameters", "share"), rows=rows, marked=marked)


def _per_token(model: Design, lengths: list[int], operations: list[int]) -> np.ndarray:
    """Operations for one position of all stacks, from those for whole sequences."""
    return np.array(operations, float) / np.array(lengths) / len(model.config.stacks)


def operations(model: Design, lengths: list[int], passes: list[Flops]) -> Curves:
    counted = _per_token(model, lengths, [each.total for each in passes]) / 1e9
    lines = [Line(y=counted, name="counted")]
    if len(model.config.stacks) == 1:  # a token of an encoder-decoder meets only one of its stacks
        two_n = np.full(len(lengths), 2 * kaplan_parameters(model.config) / 1e9)
        longer = np.array([kaplan_forward(model.config, t) / 1e9 for t in lengths])
        lines.append(Line(longer, "2 N + 2 n_layers t d", 1, dashed=True))
        lines.append(Line(two_n, "2 N", "muted", dashed=True))
    most = max(float(line.y.max()) for line in lines)
    return Curves(
        title="forward, per token", x=np.array(lengths, float), at=np.array(lengths, float), lines=lines,
        x_label="tokens t", y_label="billion operations", log_x=True, y_range=(0.0, 1.05 * most),
    )  # fmt: skip


def _bars(title: str, values: np.ndarray, labels: Sequence[str], digits: int = 2) -> Bars:
    """Bars below the end of an axis that leaves room for a number over the highest."""
    return Bars(title=title, values=values, labels=labels, reach=1.15 * float(values.max()), digits=digits)


def facts(model: Design, lengths: list[int], passes: list[Flops]) -> Facts:
    totals, to_train = [each.total for each in passes], [training(model.config, t) for t in lengths]
    pairs = np.array([each.pairs / each.total for each in passes])
    outputs = np.array([each.output / each.total for each in passes])
    facts = [
        Fact("forward, per token", _per_token(model, lengths, totals) / 1e9, unit="billion"),
        Fact("forward, per sequence", np.array(totals) / 1e9, 0, "billion"),
        Fact(PAIRS, 100 * pairs, 1, "%"),
        Fact("of it, the output", 100 * outputs, 1, "%"),
        Fact("training, per token", _per_token(model, lengths, to_train) / 1e9, unit="billion"),
    ]
    if len(model.config.stacks) == 1:
        n = kaplan_parameters(model.config)
        facts.append(Fact("N, without embeddings", f"{n / 1e6:,.1f}", unit="million"))
        facts.append(Fact("6 N (Kaplan et al.)", f"{6 * n / 1e9:,.2f}", unit="billion"))
    return Facts(facts=facts)


def notices(model: Design, counted: Parameters, passes: list[Flops]) -> list[str]:
    total = _total(model, counted)
    sentence = f"{model.name}: **{total:,}** parameters."
    if known := model.published:
        apart = f"{total / known.published - 1:+.1%}".replace("-", "−")
        sentence = (
            f"{model.name}: **{total:,}** parameters, **{apart}** from the published "
            f"{known.published / 1e6:,.0f} million."
        )
    return [
        f"{sentence} Pairs of tokens take **{_percent(each.pairs / each.total)}** of a forward pass."
        for each in passes
    ]


def lesson(inputs: Inputs) -> Lesson:
    model = design_of(inputs)
    config, counted = model.config, size.count_parameters(model.config)
    lengths = lengths_to(config.max_len)
    passes = [forward(config, t) for t in lengths]
    h, d_head, d, t = config.n_heads, config.head_size, config.d_model, config.max_len
    sequences = "1 sequence" if inputs.batch == 1 else f"{inputs.batch:,} sequences"
    to_train = np.array([training_memory(config, inputs.batch, t) for t in lengths], float)
    to_infer = np.array(
        [(FLOAT_BYTES * counted.total, cache_bytes(config, inputs.batch, t)) for t in lengths], float
    )
    millions, names = np.array(counted, float) / 1e6, [name.replace("_", "-") for name in counted._fields]
    states = ("weights", "gradients", "Adam", "activations")
    return Lesson(
        rows=[
            [_bars("parameters, million", millions, names, digits=1), table(model, counted)],
            [
                operations(model, lengths, passes),
                _bars(f"training, {sequences}, GB", to_train / 1e9, states),
                _bars(f"inference, {sequences}, GB", to_infer / 1e9, ("weights", "k, v cache")),
            ],
            [facts(model, lengths, passes)],
        ],
        notice=notices(model, counted, passes),
        numbers={"note": model.published.note if model.published else ""},
        scrub=Scrub("tokens", "tokens t", np.array(lengths), [f"{t:,}" for t in lengths], speed=2),
        sizes=(
            rf"n_{{layers}}={config.n_layers},\; h={h},\; d_{{head}}={d_head},\; d_{{model}}={d},\; "
            rf"d_{{ff}}={config.ff_size},\; |V|={config.vocab_size}"
        ),
        axes={
            "token": config.vocab_size, "d_model": d, "h · d_head": h * d_head, "d_ff": config.ff_size,
            "sequence": inputs.batch, "head": h, "t": t, "d_head": d_head,
        },
        code=(
            size.count_parameters, size.attention_parameters, size.feed_forward_parameters,
            size.norm_parameters, forward, kaplan_parameters, kaplan_forward,
            training_memory, size.activation_bytes, size.cache_bytes,
        ),
    )  # fmt: skip


def questions() -> tuple[Answer, ...]:
    small = design_of(Inputs(**inputs_of("gpt2"))).config
    wide = design_of(Inputs(**inputs_of("gpt2") | {"d_model": 1_536, "d_ff": 6_144})).config
    now, wider = count_parameters(small), count_parameters(wide)
    deep = count_parameters(replace(small, n_layers=2 * small.n_layers))
    deeper = (1.3, 1.7, 2.0)
    grown = round(kaplan_parameters(wide) / kaplan_parameters(small))
    lengths = (1_024, 6_700, 67_000)
    shares = [(passed := forward(small, t)).pairs / passed.total for t in lengths]
    times = {2: "twice as many", 4: "four times as many", 8: "eight times as many"}
    counts = tuple(times.values())
    return (
        Answer.of(
            min(range(3), key=lambda at: abs(deeper[at] - deep.total / now.total)),
            options=tuple(f"about {times:g} times" for times in deeper),
            growth=deep.total / now.total,
            deep_millions=deep.total / 1e6,
            millions=now.total / 1e6,
            embedding_share=now.embedding / now.total,
        ),
        Answer.of(list(times).index(grown), options=counts, grown=grown, growth=wider.total / now.total),
        Answer.of(
            min(range(3), key=lambda at: abs(shares[at] - 0.5)),
            options=tuple(f"{t:,} tokens" for t in lengths),
            each=", ".join(f"{share:.0%} at {t:,} tokens" for t, share in zip(lengths, shares, strict=True)),
        ),
    )


PART = part(__name__, SIZE_CONTROLS, lesson, questions, scrub="tokens")
