"""The calculator's panels, for a model and the lengths that its slider goes through."""

import numpy as np

from models.engine.size import FLOAT_BYTES, Parameters, count_parameters
from models.lessons.design import flops
from models.lessons.design.flops import Flops
from pages.lab.design.inputs import Inputs
from pages.lab.design.sizes import Asked
from viz_core.boards import Bars, Curves, Fact, Facts, Line, Table

FRAMES = 8
PAIRS = "of it, q · k and weights · v"


def lengths_to(max_len: int) -> list[int]:
    """The longest powers of two below max_len, and max_len itself."""
    powers = [2**power for power in range(max_len.bit_length()) if 2**power < max_len]
    return [*powers[-FRAMES:], max_len]


def _extras(found: Asked) -> dict[str, int]:
    return found.published.extras if found.published else {}


def _total(found: Asked, counted: Parameters) -> int:
    return counted.total + sum(_extras(found).values())


def parameters(counted: Parameters) -> Bars:
    return Bars(
        title="parameters, million",
        values=np.array(counted, float) / 1e6,
        labels=[name.replace("_", "-") for name in counted._fields],
        reach=_above(np.array(counted, float)) / 1e6,
        digits=1,
    )


def _percent(share: float) -> str:
    return f"{share:.1%}".replace("-", "−")


def table(found: Asked, counted: Parameters) -> Table:
    total = _total(found, counted)
    parts = {name.replace("_", "-"): count for name, count in counted._asdict().items()} | _extras(found)
    rows = [(name, f"{count:,}".replace("-", "−"), _percent(count / total)) for name, count in parts.items()]
    rows.append(("total", f"{total:,}", ""))
    if found.published:
        published = found.published.published
        rows.append((f"published: {found.published.source}", f"{published:,}", ""))
    marked = np.array([name == "total" for name, *_ in rows])
    return Table(title=found.name, columns=("part", "parameters", "share"), rows=rows, marked=marked)


def _per_token(found: Asked, lengths: list[int], operations: list[int]) -> np.ndarray:
    """Operations for one position of all stacks, from those for whole sequences."""
    return np.array(operations, float) / np.array(lengths) / len(found.config.stacks)


def operations(found: Asked, lengths: list[int], passes: list[Flops]) -> Curves:
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
        title="forward, per token", x=np.array(lengths, float), at=np.array(lengths, float), lines=lines,
        x_label="tokens t", y_label="billion operations", log_x=True, y_range=(0.0, 1.05 * most),
    )  # fmt: skip


def training(inputs: Inputs, found: Asked, lengths: list[int]) -> Bars:
    held = [flops.training_memory(found.config, inputs.batch, t) for t in lengths]
    return Bars(
        title=f"training, {_sequences(inputs.batch)}, GB",
        values=np.array(held, float) / 1e9,
        labels=("weights", "gradients", "Adam", "activations"),
        reach=_above(np.array(held, float)) / 1e9,
    )


def inference(inputs: Inputs, found: Asked, lengths: list[int]) -> Bars:
    weights = FLOAT_BYTES * count_parameters(found.config).total
    held = np.array([(weights, flops.cache_bytes(found.config, inputs.batch, t)) for t in lengths], float)
    return Bars(
        title=f"inference, {_sequences(inputs.batch)}, GB",
        values=held / 1e9,
        labels=("weights", "k, v cache"),
        reach=_above(held) / 1e9,
    )


def _above(values: np.ndarray) -> float:
    """The end of the axis, where a number fits over the highest bar."""
    return 1.15 * float(values.max())


def _sequences(batch: int) -> str:
    return "1 sequence" if batch == 1 else f"{batch:,} sequences"


def facts(found: Asked, lengths: list[int], passes: list[Flops]) -> Facts:
    totals = [each.total for each in passes]
    pairs = np.array([each.pairs / each.total for each in passes])
    outputs = np.array([each.output / each.total for each in passes])
    facts = [
        Fact(label="forward, per token", values=_per_token(found, lengths, totals) / 1e9, unit="billion"),
        Fact(label="forward, per sequence", values=np.array(totals) / 1e9, digits=0, unit="billion"),
        Fact(label=PAIRS, values=100 * pairs, digits=1, unit="%"),
        Fact(label="of it, the output", values=100 * outputs, digits=1, unit="%"),
        Fact(
            label="training, per token",
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


def notices(found: Asked, counted: Parameters, lengths: list[int], passes: list[Flops]) -> list[str]:
    total = _total(found, counted)
    said = f"{found.name}: **{total:,}** parameters"
    if found.published:
        apart = f"{total / found.published.published - 1:+.1%}".replace("-", "−")
        said += f", **{apart}** from the published {found.published.published / 1e6:,.0f} million. "
        said += found.published.note
    else:
        said += "."
    return [
        f"{said.strip()} At t = {t:,}, **{_percent(each.pairs / each.total)}** of a forward pass is q · k "
        "and weights · v, counted for all pairs, masked or not."
        for t, each in zip(lengths, passes, strict=True)
    ]
