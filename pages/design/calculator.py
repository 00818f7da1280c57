"""Part 3: parameters, operations and memory of a whole model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pages.design.inputs import Inputs
from pages.design.sizes import Asked, asked, inputs_of
from pages.shared.lab.lesson import Lesson, Question, Shape, Try
from viz_core.boards import Bars, Board, Curves, Fact, Facts, Line, Scrub, Table

if TYPE_CHECKING:
    from models.engine.size import Parameters
    from models.lessons.design.flops import Flops

FRAMES = 8
SEE = (
    "A model of these sizes, counted by formula: its **parameters**, beside the published count; the "
    "**operations** of a forward pass, × and + counted as two; and **memory** in float32, activations to "
    "about a quarter. Pick a published model, or change any size. **Drag the slider to longer sequences.**"
)
TRIES = (
    Try("GPT-2 XL", inputs_of("gpt2-xl")),
    Try("BERT large", inputs_of("bert-large")),
    Try("the paper's base", inputs_of("base")),
    Try("GPT-2 small, twice as wide", inputs_of("gpt2") | {"d_model": 1_536, "d_ff": 6_144}),
)


def lesson(inputs: Inputs) -> Lesson:
    from models.engine import size
    from models.lessons.design import flops

    found = asked(inputs)
    config, counted = found.config, size.count_parameters(found.config)
    lengths = _lengths(config.max_len)
    passes = [flops.forward(config, t) for t in lengths]
    h, d_head, d, t = config.n_heads, config.head_size, config.d_model, config.max_len
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                [_parameters(counted), _table(found, counted)],
                [
                    _operations(found, lengths, passes),
                    _training(inputs, found, lengths),
                    _inference(inputs, found, lengths),
                ],
                [_facts(found, lengths, passes)],
            ],
            notice=_notices(found, counted, lengths, passes),
            scrub=Scrub(
                field="tokens", label="tokens t", values=np.array(lengths), speed=2,
                words=[f"{t:,}" for t in lengths],
            ),
        ),
        formula=(
            r"\begin{gathered}\text{matrices of a layer: } 4\,d_{model}\,h\,d_{head} + 2\,d_{model}\,d_{ff}\\"
            r"\text{forward, a token: } 2N + 4\,n_{layers}\,t\,h\,d_{head} + 2\,d_{model}\,|V|\\"
            r"N\approx 12\,n_{layers}\,d_{model}^2,\quad\text{training} = 3\times\text{forward}\end{gathered}"
        ),
        sizes=(
            rf"n_{{layers}}={config.n_layers},\; h={h},\; d_{{head}}={d_head},\; d_{{model}}={d},\; "
            rf"d_{{ff}}={config.ff_size},\; |V|={config.vocab_size}"
        ),
        shapes=(
            Shape(r"\text{embedding}", "token, d_model", (config.vocab_size, d)),
            Shape(r"W_Q, W_K, W_V", "d_model, h · d_head", (d, h * d_head)),
            Shape(r"W_O", "h · d_head, d_model", (h * d_head, d)),
            Shape(r"W_1", "d_model, d_ff", (d, config.ff_size)),
            Shape(r"W_2", "d_ff, d_model", (config.ff_size, d)),
            Shape(r"\text{cached keys}", "sequence, head, t, d_head", (inputs.batch, h, t, d_head)),
        ),
        code=(
            size.count_parameters, size.attention_parameters, size.feed_forward_parameters,
            size.norm_parameters, flops.forward, flops.kaplan_parameters, flops.kaplan_forward,
            flops.training_memory, size.activation_bytes, flops.cache_bytes,
        ),
    )  # fmt: skip


def _lengths(max_len: int) -> list[int]:
    """The longest powers of two below max_len, and max_len itself."""
    powers = [2**power for power in range(max_len.bit_length()) if 2**power < max_len]
    return [*powers[-FRAMES:], max_len]


def _extras(found: Asked) -> dict[str, int]:
    return found.published.extras if found.published else {}


def _total(found: Asked, counted: Parameters) -> int:
    return counted.total + sum(_extras(found).values())


def _parameters(counted: Parameters) -> Bars:
    return Bars(
        title="parameters, million",
        values=np.array(counted, float) / 1e6,
        labels=[name.replace("_", "-") for name in counted._fields],
        reach=_above(np.array(counted, float)) / 1e6,
        digits=1,
    )


def _table(found: Asked, counted: Parameters) -> Table:
    total = _total(found, counted)
    parts = {name.replace("_", "-"): count for name, count in counted._asdict().items()} | _extras(found)
    rows = [(name, f"{count:,}".replace("-", "−"), _percent(count / total)) for name, count in parts.items()]
    rows.append(("total", f"{total:,}", ""))
    if found.published:
        published = found.published.published
        rows.append((f"published: {found.published.source}", f"{published:,}", ""))
    marked = np.array([name == "total" for name, *_ in rows])
    return Table(title=found.name, columns=("part", "parameters", "share"), rows=rows, marked=marked)


def _percent(share: float) -> str:
    return f"{share:.1%}".replace("-", "−")


def _per_token(found: Asked, lengths: list[int], operations: list[int]) -> np.ndarray:
    """Operations of whole sequences as those of a position, of all stacks together."""
    return np.array(operations, float) / np.array(lengths) / len(found.config.stacks)


def _operations(found: Asked, lengths: list[int], passes: list[Flops]) -> Curves:
    from models.lessons.design import flops

    counted = _per_token(found, lengths, [each.total for each in passes]) / 1e9
    lines = [Line(y=counted, name="counted")]
    if len(found.config.stacks) == 1:  # a token of an encoder-decoder meets only one of its stacks
        two_n = np.full(len(lengths), 2 * flops.kaplan_parameters(found.config) / 1e9)
        longer = np.array([flops.kaplan_forward(found.config, t) / 1e9 for t in lengths])
        lines += [
            Line(y=longer, name="2 N + 2 n_layers t d", colour=1, dashed=True),
            Line(y=two_n, name="2 N", colour="muted", dashed=True),
        ]
    most = max(float(line.y.max()) for line in lines)
    return Curves(
        title="forward, a token", x=np.array(lengths, float), at=np.array(lengths, float), lines=lines,
        x_label="tokens t", y_label="billion operations", log_x=True, y_range=(0.0, 1.05 * most),
    )  # fmt: skip


def _training(inputs: Inputs, found: Asked, lengths: list[int]) -> Bars:
    from models.lessons.design import flops

    held = [flops.training_memory(found.config, inputs.batch, t) for t in lengths]
    return Bars(
        title=f"training, {_sequences(inputs.batch)}, GB",
        values=np.array(held, float) / 1e9,
        labels=("weights", "gradients", "Adam", "activations"),
        reach=_above(np.array(held, float)) / 1e9,
    )


def _inference(inputs: Inputs, found: Asked, lengths: list[int]) -> Bars:
    from models.engine.size import FLOAT_BYTES, count_parameters
    from models.lessons.design import flops

    weights = FLOAT_BYTES * count_parameters(found.config).total
    held = np.array([(weights, flops.cache_bytes(found.config, inputs.batch, t)) for t in lengths], float)
    return Bars(
        title=f"inference, {_sequences(inputs.batch)}, GB",
        values=held / 1e9,
        labels=("weights", "k, v cache"),
        reach=_above(held) / 1e9,
    )


def _above(values: np.ndarray) -> float:
    """So far up that a number fits over the highest bar."""
    return 1.15 * float(values.max())


def _sequences(batch: int) -> str:
    return "1 sequence" if batch == 1 else f"{batch:,} sequences"


def _facts(found: Asked, lengths: list[int], passes: list[Flops]) -> Facts:
    from models.lessons.design import flops

    totals = [each.total for each in passes]
    pairs = np.array([each.pairs / each.total for each in passes])
    outputs = np.array([each.output / each.total for each in passes])
    facts = [
        Fact(label="forward, a token", values=_per_token(found, lengths, totals) / 1e9, unit="billion"),
        Fact(label="forward, a sequence", values=np.array(totals) / 1e9, digits=0, unit="billion"),
        Fact(label="of it, every q with every k", values=100 * pairs, digits=1, unit="%"),
        Fact(label="of it, the output", values=100 * outputs, digits=1, unit="%"),
        Fact(
            label="training, a token",
            values=_per_token(found, lengths, [flops.training(found.config, t) for t in lengths]) / 1e9,
            unit="billion",
        ),
    ]
    if len(found.config.stacks) == 1:
        n = flops.kaplan_parameters(found.config)
        facts += [
            Fact(label="N, without embeddings", values=f"{n / 1e6:,.1f}", unit="million"),
            Fact(label="6 N (Kaplan et al.)", values=f"{6 * n / 1e9:,.2f}", unit="billion"),
        ]
    return Facts(facts=facts)


def _notices(found: Asked, counted: Parameters, lengths: list[int], passes: list[Flops]) -> list[str]:
    total = _total(found, counted)
    said = f"{found.name}: **{total:,}** parameters"
    if found.published:
        apart = f"{total / found.published.published - 1:+.1%}".replace("-", "−")
        said += f", **{apart}** from the published {found.published.published / 1e6:,.0f} million. "
        said += found.published.note
    else:
        said += "."
    return [
        f"{said.strip()} At t = {t:,}, **{_percent(each.pairs / each.total)}** of a forward pass is every "
        "query with every key."
        for t, each in zip(lengths, passes, strict=True)
    ]


def questions() -> tuple[Question, ...]:
    from models.engine.size import count_parameters
    from models.lessons.design import flops

    small = asked(Inputs(**inputs_of("gpt2"))).config
    wide = asked(Inputs(**inputs_of("gpt2") | {"d_model": 1_536, "d_ff": 6_144})).config
    now, wider = count_parameters(small), count_parameters(wide)
    parts = ("embedding", "attention", "feed-forward")
    sizes = [now.embedding, now.attention, now.feed_forward]
    grown = round(flops.kaplan_parameters(wide) / flops.kaplan_parameters(small))
    passed = flops.forward(small, 1_024)
    share = passed.pairs / passed.total
    times = {2: "twice as many", 4: "four times as many", 8: "eight times as many"}
    shares = {0.13: "13 %", 0.5: "50 %", 0.9: "90 %"}
    return (
        Question(
            "Where are most of GPT-2 small's parameters?",
            parts,
            sizes.index(max(sizes)),
            "; ".join(f"{name} {n / 1e6:.1f} million" for name, n in zip(parts, sizes, strict=True)) + ".",
        ),
        Question(
            "GPT-2 small, twice as wide: d_model and d_ff double. How many parameters do its layers have?",
            tuple(times.values()),
            list(times).index(grown),
            f"N grows × {grown}, all parameters × {wider.total / now.total:.1f}: both sides of a layer's "
            "matrices double, of the embedding only one.",
        ),
        Question(
            "GPT-2 small at its full 1,024 tokens: how much of a forward pass is every query with every key?",
            tuple(shares.values()),
            min(range(3), key=lambda at: abs(list(shares)[at] - share)),
            f"{share:.1%}: {passed.pairs / 1e9:.0f} of {passed.total / 1e9:.0f} billion. At this length the "
            "matrices of weights still cost most.",
        ),
    )  # fmt: skip
