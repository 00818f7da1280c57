"""One attention weight and what it brings, computed before your eyes from the trace's own numbers."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz_core import theme
from viz_core._checks import check_axes, check_finite, check_index, check_labels, check_weights
from viz_core._computation_layout import Sheet
from viz_core.labels import escape, visible

_MOST_WRITTEN = 16  # channels of q and k up to which every cell has its number written in it


def computation_figure(
    q: Float[np.ndarray, " channel"],
    k: Float[np.ndarray, " channel"],
    scores_row: Float[np.ndarray, " key"],
    pattern_row: Float[np.ndarray, " key"],
    values: Float[np.ndarray, "key value_channel"],
    z: Float[np.ndarray, " value_channel"],
    *,
    scale: int | float,
    bias: int | float | None = None,
    key_index: int,
    query_token: str,
    key_tokens: Sequence[str],
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """How one query comes to its weight on one key, and how its row of weights makes z.

    Above: q, k and their products, channel by channel. Between: their sum, the scale, the score, the weight.
    Below, the query's row: scores, their softmax, each key's value times its weight, and the sum of these, z.
    scores_row: -inf where masked. scale: what the dot product is multiplied by, such as 1/sqrt(d_head).
    bias: what is added to the scaled dot product, such as a relative position's; None shows none unless the
    score differs from it.
    Raises ValueError for shapes, tokens and numbers that do not fit.
    """
    keys = _check(q, k, scores_row, pattern_row, values, z, key_index, key_tokens)
    query = f"query <b>{escape(visible(query_token))}</b>"
    key = f"key <b>{keys[key_index]}</b>"
    weighted = pattern_row[:, None] * values  # [key, channel]
    reach = float(max(np.abs(weighted).max(), np.abs(z).max()))
    product = np.stack([q, k, q * k])  # [strip, channel]
    strips = [query, key, "query × key"]
    sheet = Sheet(keys=keys, strips=strips, chosen=key_index, channels=(len(q), len(z)), dark=dark)
    fig = go.Figure(
        [
            _cells(product, strips, None, dark).update(xaxis="x", yaxis="y"),
            *_bars(scores_row, pattern_row, keys, key_index, dark),
            _cells(weighted, keys, reach, dark, "key ").update(
                xaxis="x4", yaxis="y2", showscale=True, colorbar=sheet.colour_bar()
            ),
            _cells(z[None], ["<b>z</b>"], reach, dark).update(xaxis="x4", yaxis="y3"),
        ]
    )
    sums = _sentence(float(q @ k), scale, bias, float(scores_row[key_index]), float(pattern_row[key_index]))
    notes = [f"± {largest:.3g}" for largest in np.abs(product).max(-1)]
    return theme.apply(fig, dark).update_layout(sheet.layout(title, sums, notes, _score_range(scores_row)))


def _check(
    q: np.ndarray,
    k: np.ndarray,
    scores_row: np.ndarray,
    pattern_row: np.ndarray,
    values: np.ndarray,
    z: np.ndarray,
    key_index: int,
    key_tokens: Sequence[str],
) -> list[str]:
    vectors = {"q": q, "k": k, "scores_row": scores_row, "pattern_row": pattern_row, "z": z}
    for name, vector in vectors.items():
        check_axes(name, vector, "key" if name.endswith("row") else "channel")
    check_axes("values", values, "key channel")
    for name, one, other, length in (
        ("k", k, "q", len(q)),
        ("pattern_row", pattern_row, "scores_row", len(scores_row)),
        ("values", values, "scores_row", len(scores_row)),
        ("z", z, "values' channels", values.shape[1]),
    ):
        if len(one) != length:
            raise ValueError(f"{name} has length {len(one)}, {other} {length}; take both from the same head")
    for name, vector in {"q": q, "k": k, "values": values, "z": z}.items():
        check_finite(name, vector)
    check_finite("scores_row (but for -inf, masked)", scores_row[~np.isneginf(scores_row)])
    check_weights("pattern_row", pattern_row)
    check_index("key_index", key_index, len(scores_row))
    return check_labels("key", key_tokens, len(scores_row))


def _cells(
    rows: np.ndarray, names: list[str], reach: float | None, dark: bool, before: str = ""
) -> go.Heatmap:
    """Signed numbers [row, channel] as colours: from -reach to reach, or each row by its own largest."""
    largest = np.abs(rows).max(-1, keepdims=True) if reach is None else np.full((len(rows), 1), reach)
    # The rows of values have half the width of the strips, so half as many numbers fit.
    roomy = rows.shape[1] <= (_MOST_WRITTEN if reach is None else _MOST_WRITTEN // 2) and len(rows) <= 24
    return go.Heatmap(
        z=np.divide(rows, largest, out=np.zeros(rows.shape), where=largest > 0) * (reach or 1.0),
        y=names,
        customdata=rows,
        zmin=-(reach or 1.0),
        zmax=reach or 1.0,
        colorscale=theme.colour_scale("diverging", dark),
        xgap=int(roomy),
        ygap=int(roomy),
        text=[[f"{number:z.2f}" for number in row] for row in rows] if roomy else None,
        texttemplate="%{text}" if roomy else None,
        textfont={"size": 11},
        showscale=False,
        hovertemplate=f"{before}%{{y}}<br>channel %{{x}}<br><b>%{{customdata:.4~g}}</b><extra></extra>",
    )


def _bars(
    scores: np.ndarray, weights: np.ndarray, keys: list[str], key_index: int, dark: bool
) -> list[go.Bar]:
    p = theme.palette(dark)
    faint = theme.with_alpha(p["muted"], 0.45)
    style = {
        "y": keys,
        "orientation": "h",
        "yaxis": "y2",
        "textposition": "outside",
        "cliponaxis": False,
        "showlegend": False,
        "marker": {"color": [p["key"] if i == key_index else faint for i in range(len(keys))]},
    }
    written = len(keys) <= 48
    return [
        go.Bar(
            x=np.where(np.isneginf(scores), 0, scores),
            text=_words(scores, "z.2f") if written else None,
            customdata=_words(scores, ".4g"),
            hovertemplate="key %{y}<br>score <b>%{customdata}</b><extra></extra>",
            xaxis="x2",
            **style,
        ),
        go.Bar(
            x=weights,
            text=_words(weights, ".2f") if written else None,
            hovertemplate="key %{y}<br>weight <b>%{x:.4~g}</b><extra></extra>",
            xaxis="x3",
            **style,
        ),
    ]


def _words(numbers: np.ndarray, form: str) -> list[str]:
    return ["masked" if np.isneginf(number) else format(number, form) for number in numbers]


def _score_range(scores: np.ndarray) -> list[float]:
    """From the lowest to the highest score and 0, with room for the number at each bar's end."""
    finite = np.append(scores[~np.isneginf(scores)], 0.0)
    low, high = float(finite.min()), float(finite.max())
    room = 0.35 * ((high - low) or 1.0)
    return [low - (room if low < 0 else 0), high + room]


def _sentence(dot: float, scale: int | float, bias: int | float | None, score: float, weight: float) -> str:
    """In one line: the sum of the products, scaled, biased and masked, and what softmax makes of it."""
    scaled, masked = dot * scale, np.isneginf(score)
    if bias is None and not masked and not np.isclose(score, scaled, rtol=1e-3, atol=1e-4):
        bias = score - scaled
    steps = f"sum of the products <b>{dot:.4g}</b>  ×  scale {scale:.4g}  =  {scaled:.4g}"
    if bias is not None:
        steps += f"  +  bias {bias:.4g}  =  {scaled + bias:.4g}"
    steps += "  →  masked: score <b>−∞</b>" if masked else "  =  score"
    return f"{steps}  →  softmax over the row  →  weight <b>{weight:.4g}</b>"
