"""What is taken away of what the stage shows: its figure, the numbers behind it and the lines of Python that
give them.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from models.byte_units import MB, readable
from models.limits import in_force
from models.zoo.model import call
from pages.explore import computing, head_measures, quantities, sums
from pages.explore.payload import HIDDEN, SHOWN, Hiding, hiding_code, hiding_of
from pages.explore.state import FURTHER, Inputs, View, view_of
from pages.explore.subject import Subject, subject_of
from pages.explore.sweep import TakenSweep
from pages.shared import cache, takeaway_dialog
from pages.shared.page_parts import last, show_problems
from pages.shared.takeaway_dialog import Download
from viz_core import (
    attention_heatmap,
    attention_lines,
    attention_picture,
    computation_figure,
    head_grid,
    head_map,
    rollout,
    to_html,
    top_tokens,
)
from viz_core.boards import Bars, Board, board_figure
from viz_core.maps import query_key_plane

FIGURE_WINDOW = 128
HIDING = ("grid", "head", "lines")
"""The views whose figure leaves special tokens out where they are hidden."""


class Part:
    """What the stage shows of a trace."""

    def __init__(self, inputs: Inputs, act: dict[str, Any]) -> None:
        self.view = View(**view_of(act))
        edited: Subject = cache.on_worker(lambda: subject_of(inputs))
        self.subject = edited.unedited if self.view.when == "before" else edited
        compares = self.view.when == "difference" and edited.inputs.edits
        self.compared = edited.unedited if compares else None
        self.stack = next((s for s in self.subject.stacks if s.id == self.view.stack), self.subject.stacks[0])
        self.layer = self.stack.attention.nearest(self.view.layer)
        self.head = min(self.view.head, self.stack.n_heads - 1)
        self.among = self._among(act.get("among", []))
        side, kind = self.stack.id.split(".")
        self.address = f"{side}.{self.layer}.{kind}"
        self.hiding, self.how = self._hiding()
        self.title = f"{self.stack.title}, layer {self.layer}, head {self.head}{self.said}"
        self.key_head = self.head // self.stack.sharing  # of k and v, which several query heads may share
        self.file_name = f"{self.address.replace('.', '-')}-head-{self.head}"
        if self.view.view == "sums":
            self.title, self.file_name = f"{self.stack.title}: weight on chosen tokens", f"{side}-{kind}-sums"

    def _hiding(self) -> tuple[Hiding, str]:
        """Which tokens are special, and whether the view that is on the stage hides them."""
        view, special = self.view, hiding_of(self.subject, self.stack)
        hides = view.view in HIDING and not (view.view == "head" and view.show == "plane")
        return special, view.special if hides and special.any else SHOWN

    def _among(self, given: list[Any]) -> list[tuple[int, int]]:
        """The layer and head of each that sums are over, as the stage has them; all where it says none."""
        count = self.stack.n_layers * self.stack.n_heads
        known = sorted({at for at in given if isinstance(at, int) and 0 <= at < count})
        return [self.stack.attention.head_at(at) for at in known or range(count)]

    @property
    def said(self) -> str:
        """Which pass it is of, where there are two, and what is left out."""
        edited = ", after the edits" if self.subject.inputs.edits else ""
        time = edited + " less before" if self.compared else edited
        if self.how == SHOWN:
            return time
        return f"{time}, special tokens hidden" + ("" if self.how == HIDDEN else ", rows renormalised")

    @property
    def place(self) -> tuple[int, int]:
        """The layer and the head that are open."""
        return self.layer, self.head

    def chosen(self) -> tuple[list[int], list[int]]:
        """The queries and the keys of sums: all queries and the marked key where they are left open."""
        keys = self.view.keys or str(min(self.view.key or 0, self.stack.n_key - 1))
        return sums.chosen(self.stack, self.view.queries, keys)

    def sums(self) -> dict[tuple[int, int], float]:
        """The number of each head that is among those that sums are over."""
        found = sums.values_of(self.subject, self.stack, *self.chosen())
        row = self.stack.attention.layers.index
        return {(layer, head): float(found[row(layer), head]) for layer, head in self.among}

    def names(self, side: str) -> list[str]:
        return [token.get("raw", token["text"]) for token in self.subject.tokens[side]]

    def arrays(
        self,
        wanted: Callable[[str], bool],
        part: Callable[[Any], Any] = lambda tensor: tensor,
        of: Subject | None = None,
    ) -> dict[str, np.ndarray]:
        """The trace's arrays, or a part of each, under the addresses that are wanted.

        of: another subject than the one that is seen.
        """
        subject = of or self.subject
        trace = cache.on_worker(lambda: subject.run(lambda a, t: part(t) if wanted(a) else None))
        return {address: trace[address].numpy() for address in trace}

    def of_head(self, of: Subject | None = None) -> dict[str, np.ndarray]:
        found = self.arrays(lambda address: address.startswith(self.address + "."), of=of)
        return {name.rsplit(".", 1)[1]: array for name, array in found.items()}

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

    def kept(self, queries: slice, keys: slice) -> tuple[list[int], list[int]]:
        """The positions of a window that are shown."""
        gone = (self.hiding.queries, self.hiding.keys) if self.how != SHOWN else ((), ())
        counts = (self.stack.n_query, self.stack.n_key)
        kept = [
            [at for at in range(count)[part] if at not in hidden]
            for count, part, hidden in zip(counts, (queries, keys), gone, strict=True)
        ]
        return kept[0], kept[1]

    def sides(self, queries: list[int], keys: list[int]) -> tuple[list[str], list[str]]:
        names = self.names(self.stack.query_side), self.names(self.stack.key_side)
        return [names[0][at] for at in queries], [names[1][at] for at in keys]


Arrays = Callable[[Callable[[str], bool]], Mapping[str, np.ndarray]]


def figure(subject: Subject, view: View, layer: int, head: int, arrays: Arrays, *, dark: bool) -> go.Figure:
    """The weights of the position that asks, over the picture that it is a part of. arrays: of a trace."""
    places, picture = subject.model.places(), subject.reading.picture
    assert places is not None and picture is not None  # else there is no such view
    names = [token["text"] for token in subject.tokens["encoder"]]
    at = min(view.query or 0, len(names) - 1)
    row, seen_by = _row(subject, view, layer, head, at, arrays)
    asking = (places == at).nonzero()
    whole = len(asking) == 1  # a part of several pixels is not outlined
    return attention_picture(
        picture.numpy(), row[places.numpy()], query=tuple(asking[0].tolist()) if whole else None, dark=dark,
        title=f"Where “{names[at]}” looks: {seen_by}",
    )  # fmt: skip


def _row(
    subject: Subject, view: View, layer: int, head: int, at: int, arrays: Arrays
) -> tuple[np.ndarray, Any]:
    """The weights of a position, and what they are seen through."""
    if view.sight == "rolled":
        attention = subject.model.attention("encoder.self")
        attention.check_all_below(attention.layers[-1], "attention rollout")
        patterns = arrays(lambda address: address.endswith(".self.pattern"))
        return rollout(np.stack(list(patterns.values())))[-1, at], "rolled out through all layers"
    (pattern,) = arrays(lambda address: address == f"encoder.{layer}.self.pattern").values()
    if view.sight == "mean":
        return pattern.mean(axis=0)[at], f"layer {layer}, mean of its {len(pattern)} heads"
    return pattern[head, at], f"layer {layer}, head {head}"


def csv_of(shown: Shown) -> str:
    """What the view shows as a table; words go through `takeaway.cells`, numbers as they are."""
    if shown.view.view == "sweep":
        return shown.sweep.table().to_csv(index=False)
    return (_sums(shown) if shown.view.view == "sums" else _cells(shown)).to_csv(index=False)


def _sums(shown: Shown) -> pd.DataFrame:
    """One row a head that sums are over: the weight on the chosen keys, in the mean of the chosen queries."""
    return pd.DataFrame(
        [(layer, head, weight) for (layer, head), weight in shown.sums().items()],
        columns=["layer", "head", "weight_on_chosen_keys"],
    )


def _cells(shown: Shown) -> pd.DataFrame:
    """One row a cell of the open head: query, key, weight, and what is traced of product, bias, score,
    and, where the pass was edited, the weight without edits.
    """
    arrays, without_edits = shown.of_head(), {}
    if shown.subject.inputs.edits:
        before = shown.of_head(shown.subject.unedited)["pattern"][shown.head]
        without_edits["weight_without_edits"] = before.ravel()
    dots = {}
    if shown.stack.attention.whole:
        q, k = arrays["q"][shown.head], arrays["k"][shown.key_head]
        dots["dot_product"] = (q.astype(np.float64) @ k.astype(np.float64).T).ravel()
    n_query, n_key = shown.stack.n_query, shown.stack.n_key
    queries, keys = shown.names(shown.stack.query_side), shown.names(shown.stack.key_side)
    return pd.DataFrame(
        {
            "query_position": np.repeat(np.arange(n_query), n_key),
            "query": np.repeat(np.array(takeaway_dialog.spreadsheet_cells(queries), dtype=object), n_key),
            "key_position": np.tile(np.arange(n_key), n_query),
            "key": np.tile(np.array(takeaway_dialog.spreadsheet_cells(keys), dtype=object), n_query),
            **dots,
            **{
                column: arrays[name][shown.head].ravel()
                for column, name in {"bias": "bias", "score": "scores", "weight": "pattern"}.items()
                if name in arrays
            },
            **without_edits,
        }
    )


MOST_BARS = 64


@dataclass(frozen=True)
class Taken:
    """What the dialog shows at once. table: what its table is of. archive_bytes: of the whole trace, if it
    were packed.
    """

    figure: go.Figure
    title: str
    file_name: str
    code: str
    table: str
    archive_bytes: int


def taken(inputs: Inputs, act: dict[str, Any], dark: bool) -> Taken:
    """What the stage shows of `inputs` (`act` is the state of its view), ready to be taken away."""
    shown = Shown(inputs, act)
    of = {"sums": "These sums", "sweep": "This sweep"}.get(shown.view.view, "This head")
    it = shown.sweep if shown.view.view == "sweep" else shown
    return Taken(it.figure(dark=dark), it.title, it.file_name, it.code, of, shown.archive_bytes())


def table(inputs: Inputs, act: dict[str, Any]) -> str:
    """The open head, the sums or the sweep, as a table."""
    return csv_of(Shown(inputs, act))


def archive(inputs: Inputs, act: dict[str, Any]) -> bytes:
    """The whole trace."""
    return Shown(inputs, act).npz()


class Shown(Part):
    """What the stage shows, computed again from the same inputs."""

    @cached_property
    def sweep(self) -> TakenSweep:
        """The sweep that is open."""
        return TakenSweep(self.subject, self.view, self.step())

    def figure(self, *, dark: bool) -> go.Figure:
        """The Plotly figure of the view that is on the stage."""
        view = self.view.view if self.subject.names or self.view.view != "output" else "grid"
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
        if view == "numbers" and not self.stack.attention.whole:
            view = "head"
        return make.get(view, self._heatmap)(dark)

    def _grid(self, dark: bool) -> go.Figure:
        side, kind = self.stack.id.split(".")
        queries, keys = self.kept(*self.window())

        def patterns(of: Subject | None = None) -> np.ndarray:
            found = self.arrays(
                lambda a: a.startswith(side) and a.endswith(f".{kind}.pattern"),
                # A copy of a part, so that the whole can be let go.
                lambda p: p.new_tensor(self.hiding.shown(p.numpy(), self.how)[:, queries][..., keys]),
                of,
            )
            return np.stack(list(found.values()))  # [layer, head, query, key]

        pattern = patterns() - patterns(self.compared) if self.compared else patterns()
        names = self.sides(queries, keys)
        return head_grid(
            pattern, names[0], names[1], change=self.compared is not None, dark=dark,
            layers=self.stack.attention.layers,
            title=self.stack.title + self.said,
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
        if not self.subject.reads_picture:
            return self._heatmap(dark)
        return figure(self.subject, self.view, self.layer, self.head, self.arrays, dark=dark)

    def _heatmap(self, dark: bool) -> go.Figure:
        queries, keys = self.kept(*self.window(until_step=True))
        if self.view.show == "plane":
            found = quantities.head_plane(
                self.subject, self.stack, self.layer, self.head, *self.window(until_step=True)
            )
            return query_key_plane(
                found.queries, found.keys, *self.sides(queries, keys), shares=found.shares, dark=dark,
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
        shown = self.hiding.shown(arrays[show], self.how) if show == "pattern" else arrays[show]
        return shown[self.head]

    def _effect(self, dark: bool) -> go.Figure:
        """The likeliest outputs at the step, with the edits and without them."""
        from pages.explore.effect import outputs_of

        edited = self.subject.inputs.edits
        if not edited or not self.subject.names:
            return self._grid(dark)
        only = lambda a, t: t if a == "logits" else None  # noqa: E731
        before = cache.on_worker(lambda: self.subject.unedited.run(only))
        after = cache.on_worker(lambda: self.subject.run(only))
        rows = outputs_of((before["logits"], after["logits"]), self.subject)
        at = min(self.step(), len(rows) - 1)
        names, were, are = zip(*rows[at], strict=True)
        return top_tokens(
            np.array([were, are]), [names, names], steps=["without the edits", "with the edits"], dark=dark,
            title=f"Outputs at step {at + 1}",
        )  # fmt: skip

    def _lines(self, dark: bool) -> go.Figure:
        queries, keys = self.kept(*self.window(until_step=True))
        names = self.sides(queries, keys)
        heads = [head for head in self.view.heads if head < self.stack.n_heads] or [self.head]
        pattern, title = self._kept_lines(self.hiding.shown(self.of_head()["pattern"], self.how))
        return attention_lines(
            pattern[:, queries][..., keys], names[0], names[1], heads=heads, dark=dark, title=title
        )

    def _kept_lines(self, pattern: np.ndarray) -> tuple[np.ndarray, str]:
        """The lines of the token that a click has kept, all if there is none; and the title that says so."""
        title, role = f"{self.stack.title}, layer {self.layer}{self.said}", self.view.pinned
        if role == "none":
            return pattern, title
        side = self.stack.query_side if role == "query" else self.stack.key_side
        at = min(getattr(self.view, role) or 0, len(self.names(side)) - 1)
        kept = np.zeros(pattern.shape[1:], dtype=bool)  # [query, key]
        kept[(at, slice(None)) if role == "query" else (slice(None), at)] = True
        return np.where(kept, pattern, 0), f"{title}, {role} “{self.names(side)[at]}” only"

    def _numbers(self, dark: bool) -> go.Figure:
        arrays, attention = self.of_head(), self.stack.attention
        query = min(self.view.query or 0, self.stack.n_query - 1)
        key = min(self.view.key or 0, self.stack.n_key - 1)
        bias = float(arrays["bias"][self.head, query, key]) if "bias" in arrays else None
        return computation_figure(
            arrays["q"][self.head, query], arrays["k"][self.key_head, key],
            arrays["scores"][self.head, query], arrays["pattern"][self.head, query],
            arrays["v"][self.key_head], arrays["z"][self.head, query],
            scale=attention.scales[attention.layers.index(self.layer)], bias=bias, cap=attention.cap,
            normalizer=attention.normalizer,
            key_index=key,
            query_token=self.names(self.stack.query_side)[query],
            key_tokens=self.names(self.stack.key_side), dark=dark, title=self.title,
        )  # fmt: skip

    def _sums(self, dark: bool) -> go.Figure:
        values, (queries, keys) = self.sums(), self.chosen()
        most = sorted(values, key=lambda head: -values[head])[:MOST_BARS]
        said = sums.definition(len(queries), len(keys), len(values))
        bars = Bars(
            values=np.array([values[head] for head in most]), labels=[f"L{at} H{head}" for at, head in most],
            y_label="weight", digits=3,
            lit=most.index(self.place) if self.place in most else None,
        )  # fmt: skip
        notice = f"{sum(values.values()) / len(values):.4g} is {said}."
        return board_figure(Board(rows=[[bars]], notice=notice), dark=dark, title=f"{self.title}, {notice}")

    def _output(self, dark: bool) -> go.Figure:
        from pages.explore.payload import steps_of

        trace = cache.on_worker(lambda: self.subject.run(lambda a, t: t if a == "logits" else None))
        steps = steps_of(self.subject, trace)
        at = min(self.step(), len(steps) - 1)  # of a long text only the first steps are listed
        step = steps[at]
        tokens, probabilities = zip(*step["top"], strict=True)
        chosen = tokens.index(step["chosen"]) if step["chosen"] in tokens else None
        return top_tokens(
            np.array([probabilities]),
            [tokens],
            chosen=[chosen],
            steps=[f"step {at + 1}"],
            dark=dark,
            title="Next token" if "decoder" in self.subject.tokens else "Output",
        )

    def npz(self) -> bytes:
        """Every address of the trace, and the tokens as `tokens.encoder`, `tokens.decoder`."""
        arrays = self.arrays(lambda address: True)
        tokens = {f"tokens.{side}": np.array(self.names(side)) for side in self.subject.tokens}
        file = io.BytesIO()
        np.savez_compressed(file, allow_pickle=False, **arrays, **tokens)
        return file.getvalue()

    def archive_bytes(self) -> int:
        """What biases, scores and patterns take: nearly all of a trace."""
        return sum(
            4
            * (1 + s.attention.whole * (1 + s.attention.has_bias))
            * s.n_layers
            * s.n_heads
            * s.n_query
            * s.n_key
            for s in self.subject.stacks
        )

    @property
    def code(self) -> str:
        if self.view.view == "sums":
            found = sums.code(self.stack, *self.chosen(), self.among)
            return "\n".join([self.subject.code, *found])
        if self.view.view == "effect":
            return "\n".join([self.subject.code, *self._effect_code()])
        hiding = hiding_code(self.hiding, self.how)
        of_head = f'["{self.address}.pattern"][{self.head}]  # [query, key]'
        lines = [self.subject.code, f"pattern = trace{of_head}", *hiding]
        if self.compared:
            lines += ["after = pattern", self._before_code, f"pattern = before{of_head}", *hiding]
            lines.append("change = after - pattern")
        return "\n".join(lines)

    @property
    def _before_code(self) -> str:
        """The line that gives the trace without the edits."""
        return self.subject.unedited.code.splitlines()[-1].replace("trace", "before", 1)

    def _effect_code(self) -> list[str]:
        reading = call("lm.read", self.subject.inputs.text, **self.subject.inputs.reading)
        return [
            self._before_code,
            "from models import compare",
            f"change = compare(before, trace, lm.names({reading}))",
            f"outputs = change.outputs({self.step()})",
        ]


LARGEST_ARCHIVE = in_force().trace_mb * MB


@st.dialog("Take away", width="large")
def dialog(act: dict[str, Any]) -> None:
    """Offers what the stage shows (`act` is the state of its view) as files and code."""
    show_all(act, dark=st.context.theme.type == "dark")


def show_all(act: dict[str, Any], *, dark: bool) -> None:
    """Draws the inside of the dialog."""
    inputs = last("explore", Inputs())
    with computing.waiting_for(inputs, st.empty()):
        try:
            found: Taken = computing.runner(inputs, is_wanted=computing.still_wanted)(
                taken, inputs, act, dark
            )
        except ValueError as error:
            show_problems([str(error)])
            return
    run = computing.runner(inputs)  # a file is made when its button is pressed, without a page
    downloads, note = _downloads(found, lambda: run(table, inputs, act), lambda: run(archive, inputs, act))
    takeaway_dialog.show(
        found.figure, downloads, title=found.title, file_name=found.file_name, code=found.code, note=note
    )


def _downloads(
    found: Taken, make_table: Callable[[], str], make_archive: Callable[[], bytes]
) -> tuple[list[Download], str | None]:
    name, size = found.file_name, found.archive_bytes
    files = [
        Download("Figure, offline HTML", lambda: to_html(found.figure), f"{name}.html", "text/html"),
        Download(f"{found.table}, CSV", make_table, f"{name}.csv", "text/csv"),
    ]
    if size <= LARGEST_ARCHIVE:
        whole = Download("Whole trace, NPZ", make_archive, "trace.npz", "application/octet-stream")
        return [*files, whole], None
    return files, (
        f"The whole trace has {readable(size)}; at most {readable(LARGEST_ARCHIVE)} are packed. "
        "Take fewer words, layers or heads, or run the lines below."
    )
