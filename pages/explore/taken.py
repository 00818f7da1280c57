"""What is taken away of what the stage shows: its figure, its table, its trace and its lines of Python."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import plotly.graph_objects as go

from models.zoo.model import call
from pages.explore import further, mapped, summed, taken_picture
from pages.explore.hiding import hiding_code
from pages.explore.part import Part
from pages.explore.state import FURTHER, Inputs
from pages.explore.subject import Subject
from pages.explore.taken_sweep import TakenSweep
from pages.explore.taken_table import csv_of
from pages.shared import cache
from viz_core import attention_heatmap, attention_lines, computation_figure, head_grid, head_map, top_tokens
from viz_core.boards import Bars, Board, board_figure
from viz_core.maps import query_key_plane

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
        _, plane = mapped.plane_of(self.subject, self.stack)
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
        return taken_picture.figure(self.subject, self.view, self.layer, self.head, self.arrays, dark=dark)

    def _heatmap(self, dark: bool) -> go.Figure:
        queries, keys = self.kept(*self.window(until_step=True))
        if self.view.show == "plane":
            found = further.plane(
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
        quantity = {"dots": "dot products", **further.NAMES}.get(show, show)
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
            return further.matrix(of or self.subject, self.stack, self.layer, self.head, show)
        arrays = self.of_head(of)
        if show == "dots":
            return arrays["q"][self.head] @ arrays["k"][self.key_head].T
        shown = self.hiding.shown(arrays[show], self.how) if show == "pattern" else arrays[show]
        return shown[self.head]

    def _effect(self, dark: bool) -> go.Figure:
        """The likeliest outputs at the step, with the edits and without them."""
        from pages.explore.changed import outputs_of

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
        said = summed.definition(len(queries), len(keys), len(values))
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
            found = summed.code(self.stack, *self.chosen(), self.among)
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
