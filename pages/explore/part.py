"""The part of a trace that is taken away: of which stack and head, through which window, of which tokens."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pages.explore import summed
from pages.explore.hiding import HIDDEN, SHOWN, Hiding, hiding_of
from pages.explore.state import Inputs, View, view_of
from pages.explore.subject import Subject, subject_of
from pages.shared import cache

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
        return summed.chosen(self.stack, self.view.queries, keys)

    def sums(self) -> dict[tuple[int, int], float]:
        """The number of each head that is among those that sums are over."""
        found = summed.values_of(self.subject, self.stack, *self.chosen())
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
