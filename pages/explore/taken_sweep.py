"""A sweep, the parts of a logit, or a path between two heads, as they are taken away."""

from __future__ import annotations

from dataclasses import astuple
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from models.zoo.model import call
from pages.explore import swept
from pages.explore.state import View
from pages.explore.subject import Subject
from pages.explore.swept import Wish
from pages.shared import takeaway
from viz_core import top_tokens
from viz_core.boards import Bars, Board, Matrix, board_figure

MOST_BARS = 64
MOST_COLUMNS = 64
WAYS = (
    "as it is", "receiver alone hears, feed-forward recomputed", "receiver alone hears, feed-forward frozen",
    "heard by all",
)  # fmt: skip


class TakenSweep:
    """What the sweep's view shows, computed again: of the text without edits."""

    def __init__(self, subject: Subject, view: View, step: int) -> None:
        self._subject = subject.unedited
        self._wish = Wish(
            view.sweep, view.goal, step, view.put, view.other, view.sender, view.receiver, view.through
        )
        self._found: dict[str, Any] = swept.made(self._subject.inputs, *astuple(self._wish))

    @property
    def title(self) -> str:
        """What is shown."""
        now = self._found.get("before")
        said = {
            "parts": "What each part gives to the",
            "path": "Path",
            "positions": "Each position from another text: what it does to the",
        }
        begun = said.get(self._wish.sweep, "Each head switched off alone: what it does to the")
        return f"{begun} {self._found['title']}" + ("" if now is None else f", now {now:.4g}")

    @property
    def file_name(self) -> str:
        return f"sweep-{self._wish.sweep}"

    def figure(self, *, dark: bool) -> go.Figure:
        """The numbers in cells, or as bars."""
        found = self._found
        if "outputs" in found:
            names, *ways = zip(*found["outputs"], strict=True)
            return top_tokens(
                np.array(ways), [names] * len(WAYS), steps=WAYS, dark=dark, title=self.title
            )  # fmt: skip
        if "parts" in found:
            names, values = zip(*found["parts"][:MOST_BARS], strict=True)
            bars = Bars(values=np.array(values), labels=names, y_label="logit", digits=3)
            count, total = len(found["parts"]), found["before"]
            notice = f"All {count} parts sum to {total:.4g}, with the scale of the last norm frozen."
            return board_figure(Board(rows=[[bars]], notice=notice), dark=dark, title=self.title)
        rows = [[self._matrix(name, effects)] for name, effects in found["effects"].items()]
        return board_figure(Board(rows=rows, notice=self.title), dark=dark, title="Sweep")

    def _matrix(self, name: str, effects: list[list[float]]) -> Matrix:
        values = np.array(effects)[:, :MOST_COLUMNS]
        return Matrix(
            values=values,
            title=name,
            rows=[f"layer {layer}" for layer in self._found["layers"][name]],
            columns=self._columns(name, values.shape[1]),
            row_axis="layer",
            column_axis="head" if "." in name else "position",
        )

    def _columns(self, name: str, count: int) -> list[str]:
        if "." in name:
            return [f"head {head}" for head in range(count)]
        return [token["text"] for token in self._subject.tokens[name][:count]]

    def table(self) -> pd.DataFrame:
        """One row a head, a position, a part or an output."""
        found = self._found
        if "outputs" in found:
            names, *ways = zip(*found["outputs"], strict=True)
            paths = ("path_feed_forward_recomputed", "path_feed_forward_frozen")
            columns = dict(zip(("probability", *paths, "heard_by_all"), ways, strict=True))
            return pd.DataFrame({"output": takeaway.cells(names), **columns})
        if "parts" in found:
            return pd.DataFrame(found["parts"], columns=["part", "logit"])
        rows = [
            {"stack": name, "layer": layer, **self._place(name, at), "effect": value}
            | ({"direct_effect": found["direct"][name][row][at]} if name in found.get("direct", {}) else {})
            for name, effects in found["effects"].items()
            for row, layer in enumerate(found["layers"][name])
            for at, value in enumerate(effects[row])
        ]
        return pd.DataFrame(rows)

    def _place(self, name: str, at: int) -> dict[str, Any]:
        if "." in name:
            return {"head": at}
        token = self._subject.tokens[name][at]
        return {"position": at, "token": takeaway.cells([token.get("raw", token["text"])])[0]}

    @cached_property
    def code(self) -> str:
        """The lines of Python that give the same numbers."""
        settings, wish = self._subject.inputs.reading, self._wish
        load = self._subject.code.splitlines()[:-1]
        reading = f"reading = {call('lm.read', self._subject.inputs.text, **settings)}"
        return "\n".join([*load, *self._lines(wish, settings, reading)])

    def _lines(self, wish: Wish, settings: dict[str, Any], reading: str) -> list[str]:
        more = "".join(f", {name}={value!r}" for name, value in settings.items())
        if wish.sweep == "path":
            edit = f"{wish.sender}: {wish.put}"
            through = tuple(wish.through)
            return [
                "from models import compare",
                "from models.interventions.path import path",
                reading,
                "before = lm.trace(reading)",
                f"ends = {edit!r}, {wish.receiver!r}",
                f"heard = path(lm, reading, *ends, through={through!r}{more})  # feed-forward recomputed",
                f"direct = path(lm, reading, *ends, through={through!r}, feed_forward='frozen'{more})",
                f"outputs = compare(before, heard, lm.names(reading)).outputs({wish.step})",
            ]
        target, _ = swept.target_of(self._subject, wish)
        if wish.sweep == "parts":
            return [
                "from models.interventions.direct import parts_of_logits",
                reading,
                f"parts = parts_of_logits(lm, reading, {wish.step})  # for: {target}",
                "sums = dict(zip(parts.names, parts.values))  # each [output]",
            ]
        if wish.sweep == "positions":
            made = f"sweep = sweep_positions(lm, reading, {target!r}, {wish.other!r}{more})"
        else:
            made = f"sweep = sweep_heads(lm, reading, {target!r}, change={wish.put!r})"
        return [f"from models.interventions.sweep import sweep_{wish.sweep}", reading, made]
