"""The board of one step: its diagram, what it is given, and every tensor that it computes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from torch import Tensor

from models.lessons.attention import evolution
from models.lessons.attention.examples import CHANNELS
from viz_core.boards import Diagram, Matrix, Node, Panel, Role

# Where a tensor stands in the diagram: (stage, row). Stages without any tensor take no room.
_PLACES = {
    "X": (0, 1), "q": (0, 0), "Q": (1, 0), "K": (1, 1), "V": (1, 2), "hidden": (2, 0.5),
    "Q_heads": (2, 0), "K_heads": (2, 1), "V_heads": (2, 2), "dots": (3, 0.5), "scores": (4, 0.5),
    "pattern": (5, 0.5), "z": (6, 1), "concat": (7, 1), "out": (8, 1),
}  # fmt: skip
_ROLES: dict[str, Role] = {"q": "query", "Q": "query", "K": "key", "V": "value"}
_PROJECTED = ("Q", "K", "V")
_CUT = (*_PROJECTED, "concat")
_MULTIPLIED = ("W_Q", "W_K", "W_V", "W_O")  # their rows are the columns of what stands at their left
_MOST_IN_A_ROW = 4


class StepBoard:
    """Panels of one step; `tensors` are those of `evolution.compute`, by name."""

    def __init__(
        self, index: int, tensors: Mapping[str, Tensor], words: Sequence[str], asking: Sequence[str]
    ) -> None:
        self.step = evolution.STEPS[index]
        self.nodes, self.edges = evolution.diagram(index)
        self.new = {node.name for node in self.nodes if node.changed}
        self.tensors = tensors
        asks = asking if {"q", "Q"} & set(self.step.takes) else words
        self.labels: dict[str, Sequence[str]] = {
            "token": words,
            "key": words,
            "query": asks,
            "channel": CHANNELS,
        }

    def rows(self) -> list[list[Panel]]:
        """The diagram, what is given, projections, and the rest in the order of computation."""
        given: list[Panel] = [self._given(name) for name in self.step.takes]
        projected = self._computed(*(line.name for line in self.step.lines if line.name in _PROJECTED))
        drawn: list[Panel] = [self._diagram()]
        if "Q_heads" in self.tensors:
            rows = [[self._given("X"), *projected], *self._heads()]
        else:
            rest = self._computed(*(line.name for line in self.step.lines if line.name not in _PROJECTED))
            is_short = len(given + rest) <= _MOST_IN_A_ROW
            rows = [given + rest] if is_short else [given, projected, rest]
        return [_sparing(row) for row in (drawn, *rows) if row]

    def _diagram(self) -> Diagram:
        drawn = [node for node in self.nodes if node.name in _PLACES]
        stages = sorted({_PLACES[node.name][0] for node in drawn})
        nodes = [
            Node(
                id=node.name,
                label=self._name(node.name),
                note=node.does or "",
                column=stages.index(_PLACES[node.name][0]),
                row=_PLACES[node.name][1],
                colour=_ROLES.get(node.name[0]),
                changed=node.changed,
            )
            for node in drawn
        ]
        names = {node.name for node in drawn}
        return Diagram(nodes=nodes, edges=[edge for edge in self.edges if set(edge) <= names])

    def _given(self, name: str) -> Matrix:
        if name != "q":
            return self._matrix(name, edit=name if name in ("X", "Q") else None)
        asks = np.zeros(self.tensors["Q"].shape, bool)
        asks[0] = True
        title = f"q: “{self.labels['query'][0]}” asks" + self._mark("q")
        return self._matrix("Q", title=title, edit="Q", marked=asks)

    def _computed(self, *names: str) -> list[Panel]:
        return [self._matrix(name) for name in names]

    def _heads(self) -> list[list[Panel]]:
        """Patterns of all heads; what they bring, joined and mixed by W_O.

        While there is room, also their scores, and what each brings: concat shows that side by side.
        """
        heads = range(len(self.tensors["pattern"]))
        has_room = 2 * len(heads) <= _MOST_IN_A_ROW
        drawn = ("scores", "pattern") if has_room else ("pattern",)
        looked: list[Panel] = [self._of_head(name, head) for name in drawn for head in heads]
        brought: list[Panel] = [self._of_head("z", head) for head in heads] if has_room else []
        return [looked, brought + self._computed("concat", "W_O", "out")]

    def _of_head(self, name: str, head: int) -> Matrix:
        return self._matrix(name, title=f"{self._name(name)}, head {head}", values=self.tensors[name][head])

    def _matrix(
        self,
        name: str,
        *,
        title: str | None = None,
        values: Tensor | None = None,
        edit: str | None = None,
        marked: np.ndarray | None = None,
    ) -> Matrix:
        values = self.tensors[name] if values is None else values
        axes = evolution.AXES.get(name) or self.step.axes[name]
        # A vector is drawn as one row: that of the query that asks.
        row_axis, column_axis = ["query", *axes.split()][-2:]
        values = values[None] if values.ndim == 1 else values
        rows, columns = (self.labels.get(axis, ()) for axis in (row_axis, column_axis))
        if name == "v_a":  # it belongs to no query
            rows, row_axis = (), ""
        elif name in _MULTIPLIED:
            rows = ()
        return Matrix(
            values=values.numpy(),
            title=title or self._title(name),
            role=_ROLES.get(name),
            rows=rows[: len(values)],
            columns=columns,
            row_axis=row_axis if rows or name in _MULTIPLIED else "",
            column_axis=column_axis if columns else "",
            scale="weights" if name == "pattern" else "signed",
            digits=1 if name in evolution.AXES and name not in _PROJECTED else 2,
            edit=edit,
            marked=marked,
            column_heads=self._heads_of_channels() if name in _CUT else (),
        )

    def _heads_of_channels(self) -> list[int]:
        """Which head each channel belongs to; nothing where channels are not cut."""
        if "Q_heads" not in self.tensors:
            return []
        n_heads, _, d_head = self.tensors["Q_heads"].shape
        return [head for head in range(n_heads) for _ in range(d_head)]

    def _title(self, name: str) -> str:
        does = next((line.does for line in self.step.lines if line.name == name), None)
        named = self._name(name) if does is None else f"{self._name(name)}: {does}"
        return named + self._mark(name)

    def _mark(self, name: str) -> str:
        return " · new" if name in self.new else ""

    def _name(self, name: str) -> str:
        if name == "z" and len(self.step.axes["z"].split()) > 1:
            return "Z"
        return name.replace("_heads", " heads")


def _sparing(row: Sequence[Panel]) -> list[Panel]:
    """The same row where names beside a matrix also serve those at its right that have the same."""
    kept: list[Panel] = []
    beside: Sequence[str] = ()
    for panel in row:
        if isinstance(panel, Matrix) and panel.rows:
            same, beside = list(panel.rows) == list(beside), panel.rows
            panel = replace(panel, rows=()) if same else panel
        kept.append(panel)
    return kept
