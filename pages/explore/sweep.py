"""A sweep over heads, positions, parts of a logit or a path between two heads: computed when
asked for, and taken away.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attention_lab.models.engine.long_text import Progress
from attention_lab.models.engine.size import trace_operations
from attention_lab.models.interventions.head_paths import direct_heads
from attention_lab.models.interventions.head_sweep import CHANGES, Sweep, sweep_heads, sweep_positions
from attention_lab.models.zoo.model import call
from attention_lab.pages.explore import quantities
from attention_lab.pages.explore.state import COMMON, Inputs, View
from attention_lab.pages.explore.subject import (
    Subject,
    config_of,
    operations_of,
    subject_of,
    token_text,
    tokens_of,
)
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.work import BILLION
from attention_lab.viz_core.boards import Bars, Board, Matrix, board_figure
from attention_lab.viz_core.labels import visible
from attention_lab.viz_core.viewer.program import OFFERED

MOST_BILLIONS = 400
"""What a sweep may take: some ten seconds."""
EXAMPLES = 16
"""Held-out examples that a score is of, a pass each."""


@dataclass(frozen=True)
class SweepRequest:
    """What a person points at: the names of `View`, at a step, which is a position of the logits."""

    sweep: str = View.sweep
    goal: str = View.goal
    step: int = 0
    put: str = View.put
    other: str = ""
    sender: str = ""
    receiver: str = ""
    through: str = View.through


def price(inputs: Inputs, *what: Any) -> int:
    """The most that `run_sweep` takes, about: each head's effect and its direct one, or each position's."""
    request, config = SweepRequest(*what), config_of(inputs)
    if config is None:
        return 0
    each = operations_of(inputs.unedited)
    if request.goal == "score":  # of held-out examples, which may be as long as the model reads
        each = EXAMPLES * trace_operations(config, [config.max_len] * len(config.stacks))
    if request.sweep in quantities.PASSES:
        return quantities.PASSES[request.sweep] * each
    places = tokens_of(inputs, config, inputs.text) if request.sweep == "positions" else 2 * config.n_heads
    attentions = config.n_layers * (3 if len(config.stacks) == 2 else 1)
    return min(MOST_BILLIONS * BILLION, attentions * places * each)


def run_sweep(inputs: Inputs, *what: Any, progress: Progress = lambda share: None) -> dict[str, Any]:
    """What each edit alone does to what a person points at, by stack; for heads beside it the direct effect.

    what: a `SweepRequest`, in its order. It is of the text without edits. Raises ValueError for a sweep that
    takes too long or is not possible.
    """
    request = SweepRequest(*what)
    rule = COMMON["text"].rule
    if not rule.fits(request.other):
        raise ValueError(f"The other text has {rule.refusal(request.other)}.")
    subject = subject_of(inputs.unedited)
    lengths = [len(tokens) for tokens in subject.reading.tokens.values()]
    ofs = (stack.n_query if request.sweep == "positions" else stack.n_heads for stack in subject.stacks)
    rows = sum(stack.n_layers * of for stack, of in zip(subject.stacks, ofs, strict=True))
    rows *= EXAMPLES if request.goal == "score" else 1
    is_dear = subject.model.operations(lengths) * rows > MOST_BILLIONS * BILLION
    if is_dear and request.sweep not in quantities.PASSES:
        raise ValueError(
            f"A sweep of {rows:,} edits takes more than {MOST_BILLIONS:,} billion operations; shorten the "
            "text, or take a smaller model."
        )
    make = _MAKERS.get(request.sweep, _heads)
    return dict(cache.on_worker(lambda: make(subject, request, progress)))


def _heads(subject: Subject, request: SweepRequest, progress: Progress) -> dict[str, Any]:
    """What switching off each head does, and what it does directly, or why that is not known."""
    model: Any = subject.model
    target, title = target_of(subject, request)
    change = request.put if request.put in CHANGES else CHANGES[0]
    taken = {"other": request.other, **subject.inputs.reading} if change == "from" else {}
    sweep = sweep_heads(model, subject.reading, target, change=change, progress=progress, **taken)
    message = {"title": title, **_message(sweep)}
    if taken:  # what is taken out of the stream directly is what a head at zero lacks there
        return message
    try:
        direct = direct_heads(model, subject.reading, target, progress=progress)
    except ValueError as error:
        return message | {"notDirect": str(error)}
    return message | {"direct": _message(direct)["effects"]}


def _positions(subject: Subject, request: SweepRequest, progress: Progress) -> dict[str, Any]:
    model: Any = subject.model
    target, title = target_of(subject, request)
    settings = subject.inputs.reading
    sweep = sweep_positions(model, subject.reading, target, request.other, progress=progress, **settings)
    return {"title": title, **_message(sweep)}


def _parts(subject: Subject, request: SweepRequest, progress: Progress) -> dict[str, Any]:
    line, title = target_of(subject, request)
    return {"title": title, **quantities.logit_parts(subject, line)}


def _path(subject: Subject, request: SweepRequest, progress: Progress) -> dict[str, Any]:
    change = request.put if request.put in CHANGES[:2] else CHANGES[0]
    through = request.through if request.through in OFFERED["through"]["options"] else View.through
    return quantities.path_patched(subject, request.sender, change, request.receiver, through, request.step)


_MAKERS = {"heads": _heads, "positions": _positions, "parts": _parts, "path": _path}


def target_of(subject: Subject, request: SweepRequest) -> tuple[str, str]:
    """The line of a target and what the page calls it; outputs are the likeliest ones at the step."""
    kind = request.goal
    if kind == "loss":
        return "loss", "loss of what is written, in nats"
    if kind == "score":
        return "score", f"share of right answers in {EXAMPLES} held-out examples of its task"
    rows = subject.logits()
    at = max(0, min(request.step, len(rows) - 1))
    if kind == "kl":
        return f"kl at {at}", "KL(before ‖ after) of the outputs, in nats"
    best, second = rows[at].topk(2).indices.tolist()
    names = [token_text(subject.names[i]) if i < len(subject.names) else str(i) for i in (best, second)]
    if kind == "logits":
        return f"logits {best}-{second} at {at}", f"logit of “{names[0]}” less that of “{names[1]}”"
    return f"{kind} of {best} at {at}", f"{'logit' if kind == 'logit' else 'probability'} of “{names[0]}”"


def _message(sweep: Sweep) -> dict[str, Any]:
    effects = {
        name: [[float(f"{x:.5g}") for x in row] for row in e.tolist()] for name, e in sweep.effects.items()
    }
    return {"before": float(f"{sweep.before:.6g}"), "effects": effects, "layers": sweep.layers}


MOST_BARS = 64
MOST_COLUMNS = 64
WAYS = (
    "as it is", "receiver alone hears, feed-forward recomputed", "receiver alone hears, feed-forward frozen",
    "heard by all",
)  # fmt: skip


def probability_bars(
    title: str, names: Sequence[str], probabilities: Sequence[float], lit: int | None = None
) -> Bars:
    """The likeliest outputs; one may stand out."""
    labels = [visible(name) for name in names]
    return Bars(
        values=np.array(probabilities), labels=labels, title=title, lit=lit, y_label="probability", reach=1,
        digits=3,
    )  # fmt: skip


class SweepTakeAway:
    """What the sweep's view shows, computed again: of the text without edits."""

    def __init__(self, subject: Subject, view: View, step: int, column: int | None = None) -> None:
        self._subject, self._column = subject.unedited, column
        self._request = SweepRequest(
            view.sweep, view.goal, step, view.put, view.other, view.sender, view.receiver, view.through
        )
        self._result: dict[str, Any] = run_sweep(self._subject.inputs, *astuple(self._request))

    @property
    def title(self) -> str:
        """What is shown."""
        now = self._result.get("before")
        beginnings = {
            "parts": "What each part gives to the",
            "path": "Path",
            "positions": "Each position from another text: what it does to the",
        }
        alone = "from another text" if self._request.put == "from" else "switched off alone"
        begun = beginnings.get(self._request.sweep, f"Each head {alone}: what it does to the")
        return f"{begun} {self._result['title']}" + ("" if now is None else f", now {now:.4g}")

    @property
    def file_name(self) -> str:
        return f"sweep-{self._request.sweep}"

    def figure(self, *, dark: bool) -> go.Figure:
        """The numbers in cells, or as bars."""
        board, title = self._board(), "Sweep" if "effects" in self._result else self.title
        return board_figure(board, dark=dark, title=title, width=self._column)

    def _board(self) -> Board:
        result = self._result
        if "outputs" in result:
            names, *columns = zip(*result["outputs"], strict=True)
            charts = [
                probability_bars(*each) for each in zip(WAYS, [names] * len(WAYS), columns, strict=True)
            ]
            return Board(rows=[charts], notice="")
        if "parts" in result:
            names, values = zip(*result["parts"][:MOST_BARS], strict=True)
            bars = Bars(values=np.array(values), labels=names, y_label="logit", digits=3)
            count, total = len(result["parts"]), result["before"]
            notice = f"All {count} parts sum to {total:.4g}, with the last norm's scale frozen."
            return Board(rows=[[bars]], notice=notice)
        rows = [[self._matrix(name, effects)] for name, effects in result["effects"].items()]
        return Board(rows=rows, notice=self.title)

    def _matrix(self, name: str, effects: list[list[float]]) -> Matrix:
        values, is_of_heads = np.array(effects)[:, :MOST_COLUMNS], "." in name
        columns = [f"head {head}" for head in range(values.shape[1])]
        if not is_of_heads:
            columns = [token["text"] for token in self._subject.tokens[name][: len(columns)]]
        return Matrix(
            values=values, title=name, row_axis="layer", column_axis="head" if is_of_heads else "position",
            rows=[f"layer {layer}" for layer in self._result["layers"][name]], columns=columns,
        )  # fmt: skip

    def table(self) -> pd.DataFrame:
        """One row a head, a position, a part or an output."""
        result = self._result
        if "outputs" in result:
            names, *probabilities = zip(*result["outputs"], strict=True)
            paths = ("path_feed_forward_recomputed", "path_feed_forward_frozen")
            columns = dict(zip(("probability", *paths, "heard_by_all"), probabilities, strict=True))
            return pd.DataFrame({"output": names, **columns})
        if "parts" in result:
            return pd.DataFrame(result["parts"], columns=["part", "logit"])
        rows = [
            {"stack": name, "layer": layer, **self._place(name, at), "effect": value}
            | ({"direct_effect": result["direct"][name][row][at]} if name in result.get("direct", {}) else {})
            for name, effects in result["effects"].items()
            for row, layer in enumerate(result["layers"][name])
            for at, value in enumerate(effects[row])
        ]
        return pd.DataFrame(rows)

    def _place(self, name: str, at: int) -> dict[str, Any]:
        if "." in name:
            return {"head": at}
        token = self._subject.tokens[name][at]
        return {"position": at, "token": token.get("raw", token["text"])}

    @cached_property
    def code(self) -> str:
        """The lines of Python that give the same numbers."""
        settings, text = self._subject.inputs.reading, self._subject.inputs.text
        load, reading = self._subject.code.splitlines()[:-1], f"reading = {call('lm.read', text, **settings)}"
        return "\n".join([*load, *self._lines(self._request, settings, reading)])

    def _lines(self, request: SweepRequest, settings: dict[str, Any], reading: str) -> list[str]:
        more = "".join(f", {name}={value!r}" for name, value in settings.items())
        if request.sweep == "path":
            edit = f"{request.sender}: {request.put}"
            through = tuple(request.through)
            return [
                "from attention_lab.models import compare",
                "from attention_lab.models.interventions.head_paths import path",
                reading,
                "before = lm.trace(reading)",
                f"ends = {edit!r}, {request.receiver!r}",
                f"heard = path(lm, reading, *ends, through={through!r}{more})  # feed-forward recomputed",
                f"direct = path(lm, reading, *ends, through={through!r}, feed_forward='frozen'{more})",
                f"outputs = compare(before, heard, lm.names(reading)).outputs({request.step})",
            ]
        target, _ = target_of(self._subject, request)
        if request.sweep == "parts":
            return [
                "from attention_lab.models.interventions.head_paths import parts_of_logits",
                reading,
                f"parts = parts_of_logits(lm, reading, {request.step})  # for: {target}",
                "sums = dict(zip(parts.names, parts.values))  # each [output]",
            ]
        if request.sweep == "positions":
            line = f"sweep = sweep_positions(lm, reading, {target!r}, {request.other!r}{more})"
        else:
            other = f", other={request.other!r}{more}" if request.put == "from" else ""
            line = f"sweep = sweep_heads(lm, reading, {target!r}, change={request.put!r}{other})"
        return [
            f"from attention_lab.models.interventions.head_sweep import sweep_{request.sweep}",
            reading,
            line,
        ]
