"""The panels of a layer's cost, at each length of the slider."""

import numpy as np

from models.lessons.design import layer_cost
from models.lessons.design.layer_cost import MOST_MS
from pages.lab.design.inputs import LENGTHS
from viz_core.boards import Colour, Curves, Fact, Facts, Line

COLOURS: dict[str, Colour] = {"self-attention": "accent", "recurrent": 1, "convolution": 2, "restricted": 3}


def counted(d: int, k: int, r: int) -> dict[str, np.ndarray]:
    """Table 1's operations at each length."""
    return {
        "self-attention": np.array([layer_cost.self_attention(n, d) for n in LENGTHS], float),
        "recurrent": np.array([layer_cost.recurrent(n, d) for n in LENGTHS], float),
        "convolution": np.array([layer_cost.convolution(n, d, k) for n in LENGTHS], float),
        "restricted": np.array([layer_cost.restricted(n, d, min(r, n)) for n in LENGTHS], float),
    }


def operations(table: dict[str, np.ndarray], d: int) -> Curves:
    lines = {name: values / 1e6 for name, values in table.items()}
    return _curves("operations of table 1", "million", lines, d)


def times(measured: dict[str, list[float]], d: int) -> Curves:
    return _curves("time, one thread", "ms, measured here", {n: np.array(t) for n, t in measured.items()}, d)


def _curves(title: str, unit: str, lines: dict[str, np.ndarray], d: int) -> Curves:
    """Logarithmic curves over n, and an upright line at n = d, which alone joins two more points there."""
    at = LENGTHS.index(d)
    x = np.insert(np.array(LENGTHS, float), at, [d, d])
    low = float(np.nanmin(list(lines.values())))
    high = float(np.nanmax(list(lines.values())))
    upright = np.full(len(x), np.nan)
    upright[at : at + 2] = low, high
    drawn = [
        Line(y=np.insert(y, at, [y[at], y[at]]), name=name, colour=COLOURS[name], dashed=name == "restricted")
        for name, y in lines.items()
    ]
    return Curves(
        x=x, at=np.array(LENGTHS, float), title=title, x_label="tokens n", y_label=unit, log_x=True,
        log_y=True, lines=[*drawn, Line(y=upright, name="n = d", colour="muted", dashed=True)],
    )  # fmt: skip


def table_facts(table: dict[str, np.ndarray]) -> Facts:
    names = {
        "self-attention": "self-attention, n² d", "recurrent": "recurrent, n d²",
        "convolution": "convolution, k n d²", "restricted": "restricted, r n d",
    }  # fmt: skip
    return Facts(
        title="table 1, million",
        facts=[
            Fact(label=label, values=table[name] / 1e6, digits=2, colour=COLOURS[name])
            for name, label in names.items()
        ],
    )


def real_facts(d: int, k: int) -> Facts:
    real = {
        "self-attention": [layer_cost.attention_flops(n, d) for n in LENGTHS],
        "recurrent": [layer_cost.recurrent_flops(n, d) for n in LENGTHS],
        "convolution": [layer_cost.convolution_flops(n, d, k) for n in LENGTHS],
    }
    labels = {
        "self-attention": "self-attention, 4 n² d + 8 n d²", "recurrent": "recurrent, 4 n d²",
        "convolution": "convolution, 2 k n d²",
    }  # fmt: skip
    share = [8 * n * d * d / of for n, of in zip(LENGTHS, real["self-attention"], strict=True)]
    weights = Fact(
        label="of self-attention's, for W_Q, W_K, W_V, W_O", values=100 * np.array(share), digits=0, unit="%"
    )
    return Facts(
        title="operations of the layers that are timed, × and + counted as two, million",
        facts=[
            Fact(label=labels[name], values=np.array(values, float) / 1e6, digits=2, colour=COLOURS[name])
            for name, values in real.items()
        ]
        + [weights],
    )


def notices(table: dict[str, np.ndarray], measured: dict[str, list[float]], d: int) -> list[str]:
    said = []
    for at, n in enumerate(LENGTHS):
        ratio = table["self-attention"][at] / table["recurrent"][at]
        attention, recurrent = measured["self-attention"][at], measured["recurrent"][at]
        clock = (
            f"Measured, attention takes {attention:.2f} ms; recurrence, whose {n:,} steps wait for each "
            f"other, takes {recurrent:.2f} ms, {recurrent / attention:.1f} × as long."
            if np.isfinite(attention + recurrent)
            else f"A text so long is not measured here: one of the layers would take over {MOST_MS:g} ms."
        )
        said.append(
            f"With n = {n:,} and d = {d}, table 1 gives self-attention n / d = **{ratio:.3g} ×** the "
            f"operations of recurrence. {clock}"
        )
    return said
