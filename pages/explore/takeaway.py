"""What is taken away of what the stage shows: its figure, the numbers behind it and the lines of Python that
give them.
"""

import html
import io
import itertools
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attention_lab.models.byte_units import MB, readable
from attention_lab.models.engine import positions
from attention_lab.models.engine.masks import kinds
from attention_lab.models.spreadsheet import csv_text
from attention_lab.models.zoo.model import call
from attention_lab.pages.explore import figure, head_measures, quantities, sums, waiting
from attention_lab.pages.explore.payload import HIDDEN, SHOWN, hiding_code, hiding_of
from attention_lab.pages.explore.question import Question, inputs_of
from attention_lab.pages.explore.state import FURTHER, Inputs, View, settings_of, view_of
from attention_lab.pages.explore.subject import Subject, subject_of
from attention_lab.pages.explore.sweep import SweepTakeAway, probability_bars
from attention_lab.pages.explore.waiting import Waiting
from attention_lab.pages.shared import cache, st, takeaway_dialog, visitors, words
from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.pages.shared.phrases import capitalised
from attention_lab.pages.shared.takeaway_dialog import Download, Web
from attention_lab.viz_core import (
    attention_heatmap,
    attention_lines,
    attention_picture,
    head_grid,
    head_map,
    query_key_plane,
    rollout,
)
from attention_lab.viz_core.boards import Bars, Board, Matrix, board_figure
from attention_lab.viz_core.labels import tick, tick_labels, visible
from attention_lab.viz_core.paper import Bundle
from attention_lab.viz_core.viewer.message import header_of, with_header
from attention_lab.viz_core.viewer.static.documents import view_as_file

FIGURE_WINDOW = 128
MOST_BARS = 64
HIDING = ("grid", "head", "lines")
"""The views whose figure leaves special tokens out where they are hidden."""


CAPTIONS = tomllib.loads(Path(__file__).with_name("captions.toml").read_text("utf-8"))
NORMALIZERS = {
    "softmax": "softmax over the row",
    "softmax-plus-one": "softmax over the row and one more score of 0",
    "learnt-sink": "softmax over the row and one more score, which is learnt",
    "sigmoid": "sigmoid of it less ln of how many keys the row has open",
    "softpick": "exp(score) − 1 over the sum of all such without signs, 0 below",
    "scalable-softmax": "softmax of the row, times a learnt number and ln of its open keys",
}
"""What makes a weight of a score, in words."""


def score_in_words(dot: float, scale: float, bias: float | None, cap: float | None, score: float) -> str:
    """How a score comes about: the sum of the products, scaled, biased, capped and masked.

    Without a cap, a bias that nobody says is told where the score differs from the scaled dot product.
    """
    scaled, masked = dot * scale, np.isneginf(score)
    steps = f"sum of the products **{tick(dot)}** × scale {tick(scale)} = {tick(scaled)}"
    unsaid = bias is None and cap is None and not masked
    if unsaid and not np.isclose(score, scaled, rtol=1e-3, atol=1e-4):
        bias = score - scaled
    if bias is not None:
        scaled += bias
        steps += f" + bias {tick(bias)} = {tick(scaled)}"
    if cap is not None:
        scaled = float(cap * np.tanh(scaled / cap))
        steps += f" → {tick(cap)} tanh(… / {tick(cap)}) = {tick(scaled)}"
    return steps + (" → masked: score **−∞**" if masked else " = score")


class StageView:
    """What the stage shows of a trace, computed again from the same inputs. column: its width on paper."""

    def __init__(self, inputs: Inputs, act: dict[str, Any], column: int | None = None) -> None:
        self.column = column
        self.view = View(**view_of(act))
        edited: Subject = cache.on_worker(lambda: subject_of(inputs))
        self.subject = edited.unedited if self.view.when == "before" else edited
        compares = self.view.when == "difference" and edited.inputs.edits
        self.compared = edited.unedited if compares else None
        self.stack = self.subject.stack(self.view.stack)
        self.layer = self.stack.attention.nearest(self.view.layer)
        self.head = min(self.view.head, self.stack.n_heads - 1)
        count = self.stack.n_layers * self.stack.n_heads
        known = {at for at in act.get("among", []) if isinstance(at, int) and 0 <= at < count}
        # the layer and head of each that sums are over; all where none is said
        self.among = [self.stack.attention.head_at(at) for at in sorted(known) or range(count)]
        self.address = self.stack.address(self.layer)
        self.hiding = hiding_of(self.subject, self.stack)
        is_plane = self.view.view == "head" and self.view.show == "plane"
        hides = self.view.view in HIDING and not is_plane and self.hiding.any
        self.how = self.view.special if hides else SHOWN
        self.title = f"{self.stack.title}, layer {self.layer} head {self.head}{self.variant}"
        self.key_head = self.head // self.stack.sharing  # of k and v, which several query heads may share
        self.file_name = f"{self.address.replace('.', '-')}-head-{self.head}"
        if self.view.view == "sums":
            self.title = f"{self.stack.title}: weight on chosen tokens"
        if self.seen in ("sums", "grid", "map", "output", "effect"):
            self.file_name = f"{self.stack.id.replace('.', '-')}-{self.seen}"

    @property
    def variant(self) -> str:
        """Which pass it is of, where there are two, and what is left out."""
        edited = ", after the edits" if self.subject.inputs.edits else ""
        time = edited + " less before" if self.compared else edited
        if self.how == SHOWN:
            return time
        return f"{time}, special tokens hidden" + ("" if self.how == HIDDEN else ", rows renormalised")

    def chosen(self) -> tuple[list[int], list[int]]:
        """The queries and the keys of sums: all queries and the marked key where they are left open."""
        keys = self.view.keys or str(min(self.view.key or 0, self.stack.n_key - 1))
        return sums.chosen(self.stack, self.view.queries, keys)

    def sums(self) -> dict[tuple[int, int], float]:
        """The number of each head that is among those that sums are over."""
        values = sums.values_of(self.subject, self.stack, *self.chosen())
        row = self.stack.attention.layers.index
        return {(layer, head): float(values[row(layer), head]) for layer, head in self.among}

    def names(self, side: str) -> list[str]:
        return [token.get("raw", token["text"]) for token in self.subject.tokens[side]]

    def row_names(self) -> list[str]:
        """Of the queries; in cross-attention with the word that each writes."""
        return [token.get("raw", token["text"]) for token in self.subject.rows(self.stack)]

    def arrays(
        self,
        matches: Callable[[str], bool],
        part: Callable[[Any], Any] = lambda tensor: tensor,
        of: Subject | None = None,
    ) -> dict[str, np.ndarray]:
        """The trace's arrays, or a part of each, under the addresses that match.

        of: another subject than the one that is seen.
        """
        subject = of or self.subject
        trace = cache.on_worker(lambda: subject.run(lambda a, t: part(t) if matches(a) else None))
        return {address: trace[address].numpy() for address in trace}

    def of_head(self, of: Subject | None = None) -> dict[str, np.ndarray]:
        arrays = self.arrays(lambda address: address.startswith(self.address + "."), of=of)
        return {name.rsplit(".", 1)[1]: array for name, array in arrays.items()}

    def window(self, *, until_step: bool = False) -> tuple[slice, slice]:
        """The queries and keys of the figure; a decoder's rows after the step have not happened yet."""

        def part(start: int, length: int) -> slice:
            start = max(0, min(start, length - FIGURE_WINDOW))
            return slice(start, min(length, start + FIGURE_WINDOW))

        queries, keys = part(self.view.q0, self.stack.n_query), part(self.view.k0, self.stack.n_key)
        if until_step and self.subject.names and self.stack.query_side == "decoder":
            queries = slice(queries.start, max(queries.start + 1, min(queries.stop, self.step() + 1)))
        return queries, keys

    def step(self) -> int:
        tokens = self.subject.tokens
        last = len(tokens["decoder" if "decoder" in tokens else "encoder"]) - 1
        return last if self.view.step is None else min(self.view.step, last)

    def positions(self, *, until_step: bool = False) -> tuple[list[int], list[int]]:
        """The queries and the keys of the figure's window, without those that are hidden."""
        queries, keys = self.window(until_step=until_step)
        hides = self.how != SHOWN
        return (
            [at for at in range(self.stack.n_query)[queries] if not (hides and at in self.hiding.queries)],
            [at for at in range(self.stack.n_key)[keys] if not (hides and at in self.hiding.keys)],
        )

    def sides(self, queries: list[int], keys: list[int]) -> tuple[list[str], list[str]]:
        names = self.row_names(), self.names(self.stack.key_side)
        return [names[0][at] for at in queries], [names[1][at] for at in keys]

    @cached_property
    def sweep(self) -> SweepTakeAway:
        """The sweep that is open."""
        return SweepTakeAway(self.subject, self.view, self.step(), self.column)

    @cached_property
    def seen(self) -> str:
        """The view that is on the stage, or what stands there where it has nothing to show."""
        view = self.view.view
        if view in ("output", "effect"):
            known = self.subject.names and (view == "output" or self.subject.inputs.edits)
            return view if known else "grid"
        if view in ("numbers", "story"):
            return "numbers" if self.stack.attention.whole else "head"
        return view

    @property
    def said(self) -> str:
        """What the figure shows."""
        if self.seen == "sweep":
            return self.sweep.title
        is_plane = self.seen == "head" and self.view.show == "plane"
        show = (
            "pattern" if self.seen == "grid" else quantities.FIGURE_NAMES.get(self.view.show, self.view.show)
        )
        words = CAPTIONS["changes" if self.compared else "quantities"].get(show, show)
        seen: str = CAPTIONS["plane" if is_plane else self.seen]
        return seen.format(quantity=capitalised(words), step=self.step() + 1)

    def figure(self, *, dark: bool) -> go.Figure:
        """The Plotly figure of the view that is on the stage."""
        make = {
            "grid": self._grid,
            "map": self._map,
            "lines": self._lines,
            "numbers": self._numbers,
            "picture": self._picture,
            "output": self._output,
            "effect": self._effect,
            "sums": self._sums,
        }
        return make.get(self.seen, self._heatmap)(dark)

    def grid(self) -> tuple[np.ndarray, list[int], list[int]]:
        """All heads [layer, head, query, key], or their change, in the figure's window; its queries, keys."""
        addresses = self.stack.patterns()
        queries, keys = self.positions()

        def patterns(of: Subject | None = None) -> np.ndarray:
            arrays = self.arrays(
                lambda address: address in addresses,
                # A copy of a part, so that the whole can be let go.
                lambda p: p.new_tensor(self.hiding.apply(p.numpy(), self.how)[:, queries][..., keys]),
                of,
            )
            return np.stack(list(arrays.values()))  # [layer, head, query, key]

        return patterns() - patterns(self.compared) if self.compared else patterns(), queries, keys

    def _grid(self, dark: bool) -> go.Figure:
        pattern, queries, keys = self.grid()
        names = self.sides(queries, keys)
        return head_grid(
            pattern, names[0], names[1], change=self.compared is not None, dark=dark,
            layers=self.stack.attention.layers,
            title=self.stack.title + self.variant,
        )  # fmt: skip

    def _map(self, dark: bool) -> go.Figure:
        _, plane = head_measures.plane_of(self.subject, self.stack)
        places = [self.stack.attention.head_at(at) for at in range(len(plane.points))]
        layers = np.array([float(layer) for layer, _ in places])
        names = [f"L{layer} H{head}" for layer, head in places]
        return head_map(
            plane.points, names, values=layers, measure="layer", shares=plane.shares, dark=dark,
            title=self.stack.title,
        )  # fmt: skip

    def _picture(self, dark: bool) -> go.Figure:
        """The weights of the position that asks, over the picture that it is a part of."""
        places, picture = self.subject.model.places(), self.subject.reading.picture
        if places is None or picture is None:
            return self._heatmap(dark)
        names = [token["text"] for token in self.subject.tokens["encoder"]]
        at = min(self.view.query or 0, len(names) - 1)
        row, source = self._row(at)
        asking = (places == at).nonzero()
        whole = len(asking) == 1  # a part of several pixels is not outlined
        return attention_picture(
            picture.numpy(), row[places.numpy()],
            query=tuple(asking[0].tolist()) if whole else None, dark=dark,
            title=f"Where “{names[at]}” looks: {source}",
        )  # fmt: skip

    def _row(self, at: int) -> tuple[np.ndarray, str]:
        """The weights of a position, and what they are seen through."""
        if self.view.sight == "rolled":
            attention = self.subject.model.attention("encoder.self")
            attention.check_all_below(attention.layers[-1], "attention rollout")
            patterns = self.arrays(lambda address: address.endswith(".self.pattern"))
            return rollout(np.stack(list(patterns.values())))[-1, at], "rolled out through all layers"
        (pattern,) = self.arrays(lambda address: address == f"encoder.{self.layer}.self.pattern").values()
        if self.view.sight == "mean":
            return pattern.mean(axis=0)[at], f"layer {self.layer}, mean of its {len(pattern)} heads"
        return pattern[self.head, at], f"layer {self.layer} head {self.head}"

    def _heatmap(self, dark: bool) -> go.Figure:
        queries, keys = self.positions(until_step=True)
        if self.view.show == "plane":
            plane = quantities.head_plane(
                self.subject, self.stack, self.layer, self.head, *self.window(until_step=True)
            )
            return query_key_plane(
                plane.queries, plane.keys, *self.sides(queries, keys), shares=plane.shares, dark=dark,
                title=self.title,
            )  # fmt: skip
        show = self.view.show if self.stack.attention.whole or self.view.show in FURTHER else "pattern"
        matrix = self._matrix(show)
        if self.compared:
            with np.errstate(invalid="ignore"):  # where both are masked
                change = matrix - self._matrix(show, self.compared)
            return attention_heatmap(
                np.where(np.isnan(change), -np.inf, change)[np.ix_(queries, keys)],
                *self.sides(queries, keys),
                quantity="change", dark=dark, title=self.title,
            )  # fmt: skip
        quantity = {"dots": "dot products", **quantities.FIGURE_NAMES}.get(show, show)
        # Signed quantities have one scale, centred on 0.
        scale = "0..1" if self.view.range == "full" or quantity != "pattern" else self.view.range
        names = self.sides(queries, keys)
        return attention_heatmap(
            matrix[np.ix_(queries, keys)], names[0], names[1],
            quantity=cast(Any, quantity), scale=cast(Any, scale), dark=dark, title=self.title,
        )  # fmt: skip

    def _matrix(self, show: str, of: Subject | None = None) -> np.ndarray:
        """A quantity of the open head, [query, key]."""
        if show in FURTHER:
            return quantities.head_matrix(of or self.subject, self.stack, self.layer, self.head, show)
        arrays = self.of_head(of)
        if show == "dots":
            return arrays["q"][self.head] @ arrays["k"][self.key_head].T
        matrices = self.hiding.apply(arrays[show], self.how) if show == "pattern" else arrays[show]
        return matrices[self.head]

    def _effect(self, dark: bool) -> go.Figure:
        """The likeliest outputs at the step, without the edits and with them."""
        at, rows = self.effect()
        names, *sides = zip(*rows, strict=True)
        titles = ("without the edits", "with the edits")
        charts = [probability_bars(title, names, side) for title, side in zip(titles, sides, strict=True)]
        board, title = Board(rows=[charts], notice=""), f"Outputs at step {at + 1}"
        return board_figure(board, dark=dark, title=title, width=self.column)

    def effect(self) -> tuple[int, list[list[Any]]]:
        """The step, of a long text one of the first, and its outputs: name, probability before and after."""
        from attention_lab.pages.explore.effect import outputs_of

        before, after = (cache.on_worker(each.logits) for each in (self.subject.unedited, self.subject))
        rows = outputs_of((before, after), self.subject)
        at = min(self.step(), len(rows) - 1)
        return at, rows[at]

    def _lines(self, dark: bool) -> go.Figure:
        queries, keys = self.positions(until_step=True)
        names = self.sides(queries, keys)
        heads = [head for head in self.view.heads if head < self.stack.n_heads] or [self.head]
        pattern = self.hiding.apply(self.of_head()["pattern"], self.how)
        title, role = f"{self.stack.title}, layer {self.layer}{self.variant}", self.view.pinned
        if role != "none":  # the lines of the token that a click has kept
            side = self.row_names() if role == "query" else self.names(self.stack.key_side)
            at = min(getattr(self.view, role) or 0, len(side) - 1)
            pinned = np.zeros(pattern.shape[1:], dtype=bool)  # [query, key]
            pinned[(at, slice(None)) if role == "query" else (slice(None), at)] = True
            pattern, title = np.where(pinned, pattern, 0), f"{title}, {role} “{side[at]}” only"
        return attention_lines(
            pattern[:, queries][..., keys], names[0], names[1], heads=heads, dark=dark, title=title
        )

    def _numbers(self, dark: bool) -> go.Figure:
        """How the marked query comes to its weight on the marked key, and how its row of weights makes z: in
        words; channel by channel; over all keys; and each key's value times its weight, which add up to z.
        """
        arrays, attention = self.of_head(), self.stack.attention
        query = min(self.view.query or 0, self.stack.n_query - 1)
        key = min(self.view.key or 0, self.stack.n_key - 1)
        q, k, v = arrays["q"][self.head, query], arrays["k"][self.key_head, key], arrays["v"][self.key_head]
        scores, weights = arrays["scores"][self.head, query], arrays["pattern"][self.head, query]
        rows = np.vstack([weights[:, None] * v, arrays["z"][self.head, query]])  # [key and z, channel]
        bias = float(arrays["bias"][self.head, query, key]) if "bias" in arrays else None
        scale = attention.scales[attention.layers.index(self.layer)]
        score = score_in_words(float(q @ k), scale, bias, attention.cap, float(scores[key]))
        keys = tick_labels(self.names(self.stack.key_side), escaped=False)
        of_key: Any = {"labels": keys, "colour": "key", "lit": key}
        name = visible(self.row_names()[query])
        channels = {
            f"query “{name}”": (q, "query"),
            f"key “{keys[key]}”": (k, "key"),
            "query × key": (q * k, None),
        }
        step = f"their {attention.normalizer.replace('-', ' ')}: weights"
        board = Board(
            rows=[
                *(
                    [Matrix(title=title, values=vector[None], role=cast(Any, role), column_axis="channel")]
                    for title, (vector, role) in channels.items()
                ),
                [
                    Bars(values=scores, title="scores", y_label="score", **of_key),
                    Bars(values=weights, title=step, reach=1, **of_key),
                ],
                [
                    Matrix(
                        title="weight × value; the rows add up to z", values=rows, role="value",
                        rows=[*keys, "z"], row_axis="key", column_axis="channel",
                        marked=np.broadcast_to(np.arange(len(rows))[:, None] == key, rows.shape),
                    )
                ],
            ],
            notice=f"{score} → {NORMALIZERS[attention.normalizer]} → weight **{tick(float(weights[key]))}**",
        )  # fmt: skip
        return board_figure(board, dark=dark, title=self.title, width=self.column)

    def _sums(self, dark: bool) -> go.Figure:
        values, (queries, keys), place = self.sums(), self.chosen(), (self.layer, self.head)
        most = sorted(values, key=lambda head: -values[head])[:MOST_BARS]
        definition = sums.definition(len(queries), len(keys), len(values))
        bars = Bars(
            values=np.array([values[head] for head in most]), labels=[f"L{at} H{head}" for at, head in most],
            y_label="weight", digits=3,
            lit=most.index(place) if place in most else None,
        )  # fmt: skip
        notice = f"{sum(values.values()) / len(values):.4g} is {definition}."
        board = Board(rows=[[bars]], notice=notice)
        return board_figure(board, dark=dark, title=self.title, width=self.column)

    def output(self) -> tuple[int, dict[str, Any]]:
        """The step, of a long text one of the first, with its likeliest outputs."""
        from attention_lab.pages.explore.payload import steps_of

        steps = steps_of(self.subject, {"logits": cache.on_worker(self.subject.logits)})
        at = min(self.step(), len(steps) - 1)
        return at, steps[at]

    def _output(self, dark: bool) -> go.Figure:
        at, step = self.output()
        tokens, probabilities = zip(*step["top"], strict=True)
        chosen = tokens.index(step["chosen"]) if step["chosen"] in tokens else None
        bars = probability_bars(f"step {at + 1}", tokens, probabilities, lit=chosen)
        title = "Next token" if "decoder" in self.subject.tokens else "Output"
        return board_figure(Board(rows=[[bars]], notice=""), dark=dark, title=title, width=self.column)

    def npz(self) -> bytes:
        """Every address of the trace, and the tokens as `tokens.encoder`, `tokens.decoder`."""
        arrays = self.arrays(lambda address: True)
        tokens = {f"tokens.{side}": np.array(self.names(side)) for side in self.subject.tokens}
        file = io.BytesIO()
        np.savez_compressed(file, allow_pickle=False, **arrays, **tokens)
        return file.getvalue()

    def archive_bytes(self) -> int:
        """What biases, scores and patterns take: nearly all of a trace."""
        n_bytes = 0
        for s in self.subject.stacks:
            n_matrices = 1 + s.attention.whole * (1 + s.attention.has_bias)
            n_bytes += 4 * n_matrices * s.n_layers * s.n_heads * s.n_query * s.n_key
        return n_bytes

    @property
    def code(self) -> str:
        lines, before = [self.subject.code], self.subject.unedited.code.splitlines()[-1]
        before = before.replace("trace", "before", 1)  # the line that gives the trace without the edits
        hiding = hiding_code(self.hiding, self.how)
        of_head = f'["{self.address}.pattern"][{self.head}]  # [query, key]'
        reading = call("lm.read", self.subject.inputs.text, **self.subject.inputs.reading)
        if self.view.view == "sums":
            lines += sums.code(self.stack, *self.chosen(), self.among)
        elif self.seen == "output":
            lines += [
                f"names = lm.names({reading})",
                f'row = trace["logits"][{self.output()[0]}, : len(names)].double().softmax(-1)',
                "outputs = sorted(zip(row.tolist(), names), reverse=True)[:10]  # (probability, output)",
            ]
        elif self.seen == "effect":
            change = f"change = compare(before, trace, lm.names({reading}))"
            lines += [
                before,
                "from attention_lab.models import compare",
                change,
                f"outputs = change.outputs({self.effect()[0]})",
            ]
        elif self.seen == "grid":
            of_layer = f'f"{self.stack.id.replace(".", ".{layer}.")}.pattern"'
            of_all = f"{{layer: %s[{of_layer}] for layer in {list(self.stack.attention.layers)}}}"
            lines.append(f"patterns = {of_all % 'trace'}  # each [head, query, key]")
            if self.compared:
                lines += [before, f"unedited = {of_all % 'before'}"]
                lines.append("change = {layer: patterns[layer] - unedited[layer] for layer in patterns}")
        else:
            lines += [f"pattern = trace{of_head}", *hiding]
            if self.compared:
                lines += ["after = pattern", before, f"pattern = before{of_head}", *hiding]
                lines.append("change = after - pattern")
        return "\n".join(lines)


def csv_of(view: StageView) -> str:
    """What the view shows as a table."""
    match view.view.view:
        case "sweep":
            table = view.sweep.table()
        case "sums":  # one row a head: the weight on the chosen keys, in the mean of the chosen queries
            rows = [(*place, weight) for place, weight in view.sums().items()]
            table = pd.DataFrame(rows, columns=["layer", "head", "weight_on_chosen_keys"])
        case _ if view.seen == "output":
            table = pd.DataFrame(view.output()[1]["top"], columns=["output", "probability"])
        case _ if view.seen == "effect":
            columns = ["output", "probability_without_edits", "probability_with_edits"]
            table = pd.DataFrame(view.effect()[1], columns=columns)
        case _ if view.seen == "grid":
            table = _all_heads(view)
        case _:
            table = _cells(view)
    # as arrays, whose numbers of 32 bits are written with the digits that these have
    numbers = (table.iloc[:, at].to_numpy() for at in range(table.shape[1]))
    return csv_text([table.columns, *zip(*numbers, strict=True)])


def _cells(view: StageView) -> pd.DataFrame:
    """One row a cell of the open head: query (of cross-attention "la → rue", as on the stage), key, weight,
    what is traced of product, bias, score, and, where the pass was edited, the weight without edits.
    """
    arrays, n_query, n_key = view.of_head(), view.stack.n_query, view.stack.n_key
    queries, keys = (
        np.array(names, dtype=object) for names in (view.row_names(), view.names(view.stack.key_side))
    )
    columns: dict[str, np.ndarray] = {
        "query_position": np.repeat(np.arange(n_query), n_key),
        "query": np.repeat(queries, n_key),
        "key_position": np.tile(np.arange(n_key), n_query),
        "key": np.tile(keys, n_query),
    }
    if view.stack.attention.whole:
        q, k = arrays["q"][view.head], arrays["k"][view.key_head]
        columns["dot_product"] = (q.astype(np.float64) @ k.astype(np.float64).T).ravel()
    for column, name in {"bias": "bias", "score": "scores", "weight": "pattern"}.items():
        if name in arrays:
            columns[column] = arrays[name][view.head].ravel()
    if view.subject.inputs.edits:
        before = view.of_head(view.subject.unedited)["pattern"][view.head]
        columns["weight_without_edits"] = before.ravel()
    return pd.DataFrame(columns)


def _all_heads(view: StageView) -> pd.DataFrame:
    """One row a query and a key of the figure, one column a head: its weight, or its change."""
    pattern, queries, keys = view.grid()
    rows, columns = (
        zip(*each, strict=True) for each in zip((queries, keys), view.sides(queries, keys), strict=True)
    )
    places = [(*row, *column) for row, column in itertools.product(rows, columns)]
    table = pd.DataFrame(places, columns=["query_position", "query", "key_position", "key"])
    heads = pattern.reshape(-1, len(places)).T  # [cell, head]
    places_of_heads = [view.stack.attention.head_at(at) for at in range(heads.shape[1])]
    names = [f"layer_{layer}_head_{head}" for layer, head in places_of_heads]
    return pd.concat([table, pd.DataFrame(heads, columns=names)], axis=1)


@dataclass(frozen=True)
class TakeAway:
    """What the dialog shows at once. archive_bytes: of the whole trace, if it
    were packed. facts, sources: as a `Bundle` has them.
    """

    figure: go.Figure
    title: str
    file_name: str
    code: str
    archive_bytes: int
    facts: dict[str, object]
    sources: tuple[str, ...]
    said: str


def take_away(inputs: Inputs, act: dict[str, Any], dark: bool) -> TakeAway:
    """What the stage shows of `inputs` (`act` is the state of its view), ready to be taken away."""
    view = StageView(inputs, act)
    it = view.sweep if view.view.view == "sweep" else view
    settings: dict[str, object] = {"model": inputs.model, "text": f"“{inputs.text}”"}
    labels = {setting.name: setting.label.lower() for setting in settings_of(inputs.model)}
    settings |= {labels[name] or name: value for name, value in inputs.overrides}
    sources = tuple(_sources(repr((inputs.settings, getattr(view.subject.model, "config", "")))))
    return TakeAway(
        it.figure(dark=dark), it.title, it.file_name, it.code, view.archive_bytes(),
        settings | {"edits": inputs.edits}, sources, view.said,
    )  # fmt: skip


def _sources(settings: str) -> Iterator[str]:
    """The files of the masks and position schemes that are set: they name their papers."""
    for file in (*Path(positions.__path__[0]).glob("*.py"), *Path(kinds.__path__[0]).glob("*.py")):
        if re.search(rf"'{file.stem.replace('_', '-')}\b", settings):
            yield file.read_text("utf-8")


def printed(inputs: Inputs, act: dict[str, Any], width: int) -> go.Figure:
    """What the stage shows, in a column of so many pixels."""
    view = StageView(inputs, act, width)
    return (view.sweep if view.view.view == "sweep" else view).figure(dark=False)


def table(inputs: Inputs, act: dict[str, Any]) -> str:
    """The numbers of the view as a table."""
    return csv_of(StageView(inputs, act))


def archive(inputs: Inputs, act: dict[str, Any]) -> bytes:
    """The whole trace."""
    return StageView(inputs, act).npz()


LARGEST_ARCHIVE = 64 * MB
"""A whole trace that is downloaded: it is packed in memory."""


def dialog(act: dict[str, Any], asked: Question) -> None:
    """Offers what the stage shows as files and code. act: the state of its view; asked: what it asked."""
    st.dialog("Take away", width="large")(show_all)(act, asked, dark=st.context.theme.type == "dark")


def show_all(act: dict[str, Any], asked: Question, *, dark: bool) -> None:
    """Draws the inside of the dialog."""
    inputs, said, browser = inputs_of(asked)[0], words.given(), visitors.browser()
    try:
        compute = waiting.runner(inputs, is_wanted=waiting.still_wanted)
        away: TakeAway = compute(take_away, inputs, act, dark)
    except ValueError as error:
        show_problems([str(error)])
        return

    def page() -> str:  # on another thread, once its button is pressed
        message = visitors.on_behalf(browser, figure.answer, asked, Waiting())
        taught = header_of(message)["taught"] | {"label": "", "model": ""}
        sent = with_header(  # without what only a server answers; a sweep that was made is in it
            message, swap={"label": "", "text": "", "other": ""}, beside=False, taught=taught,
            editable=act["view"] == "sweep",
        )  # fmt: skip
        return view_as_file("stage", f"Explore: {away.title}", sent, state=act, words=said)

    run = waiting.runner(inputs)  # a file is made when its button is pressed, without a page
    name, size, note = away.file_name, away.archive_bytes, None
    files = [
        Download("Figure, offline HTML", page, f"{name}.html", "text/html"),
        Download("Numbers, CSV", partial(run, table, inputs, act), f"{name}.csv", "text/csv"),
    ]
    if size <= LARGEST_ARCHIVE:
        whole = partial(run, archive, inputs, act)
        files.append(Download("Whole trace, NPZ", whole, "trace.npz", "application/octet-stream"))
    else:
        note = (
            f"The whole trace has {readable(size)}, more than {readable(LARGEST_ARCHIVE)}: take "
            "fewer words, layers or heads."
        )
    title = html.unescape(away.figure.layout.title.text or away.title)  # of what is seen, such as all heads
    bundle = Bundle(
        title=title, figure=partial(run, printed, inputs, act), code=away.code, facts=away.facts,
        sources=away.sources, said=away.said,
    )  # fmt: skip
    takeaway_dialog.show(
        away.figure,
        files,
        title=away.title,
        file_name=name,
        code=away.code,
        note=note,
        paper=lambda: bundle,
        web=Web(act.get("address", "")),
    )
