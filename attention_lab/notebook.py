"""The lab's figures in a notebook: anywidgets around the viewer (viz_core/viewer/README.md).

    from attention_lab import explore, heads, load_model, show
    explore(load_model("translator"), "the animal did not cross the street because it was too tired")

A figure is whole without a kernel: its message and Plotly's code, where it has charts, are saved with the
notebook, and no other host is asked for anything. What is selected is `figure.state`: read it, or set it.
"""

import gzip
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from attention_lab.models import load_model
from attention_lab.models.findings import Outcome
from attention_lab.models.zoo.model import Model
from attention_lab.models.zoo.offers import Offer, offer_of, register
from attention_lab.models.zoo.own_attention import read_own
from attention_lab.models.zoo.own_model import of_arrays
from attention_lab.pages.explore import payload
from attention_lab.pages.explore.edit_lines import after_press, heads_off
from attention_lab.pages.explore.figure import REQUESTS, TERMS, opened_from, standing_header
from attention_lab.pages.explore.payload import Opened
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.findings.board import board_of
from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.shared import glossary
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.lab_stops import NAMES
from attention_lab.viz_core.boards import Board
from attention_lab.viz_core.viewer import program as viewer

HOST = Path(__file__).with_suffix(".js")
_numbers = count(1)


@cache
def _module(kind: str) -> str:
    """The ES module of a kind of view, as anywidget wants it."""
    program = viewer.program(kind, HOST)
    return f"{program.script}\nexport default {viewer.module_name(HOST)}.widget({program.render});\n"


@cache
def _plotly(whole: bool = False) -> bytes:
    return gzip.compress(viewer.plotly_script(whole=whole).encode(), 6)


class Figure(anywidget.AnyWidget):
    """What is shown. message: its bytes; state: what is selected in it, which may be set; plotly: the code of
    its charts, packed.
    """

    message = traitlets.Bytes(b"").tag(sync=True)
    state = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    plotly = traitlets.Bytes(b"").tag(sync=True)


class BoardFigure(Figure):
    """A board; its `state` has the frame that is shown."""

    _esm = _module("board")

    def __init__(self, board: Board, at: float | None = None) -> None:
        super().__init__()
        self._part = str(next(_numbers))
        self.draw(board, at)

    def draw(self, board: Board, at: float | None = None) -> None:
        """Shows a board in the place of what was here. at: the value of its slider to begin with."""
        content = on_page.message(board, part=self._part, link={}, at=at)
        if not self.plotly and b'"drawn_by":"plot"' in content:
            self.plotly = _plotly(viewer.needs_whole(content))
        self.message = content


class ExploreFigure(Figure):
    """Explore of one model and one text. text and edits may be set; `state` has the head, query and key.

    problem: the sentence that refused what was last done in the figure.
    """

    _esm = _module("stage")
    text = traitlets.Unicode()
    edits = traitlets.List(traitlets.Unicode())
    problem = traitlets.Unicode("").tag(sync=True)

    def __init__(self, name: str, text: str, edits: Sequence[str], view: Mapping[str, Any]) -> None:
        self._name, self._view = name, dict(view)
        self._asked: dict[str, tuple[str, tuple[Any, ...]]] = {}
        self._opened = Opened(**{key: view[key] for key in asdict(Opened()) if key in view})
        super().__init__(text=text, edits=list(edits), plotly=_plotly())
        self._draw()
        self.observe(lambda change: self._draw(), ["text", "edits"])
        self.on_msg(lambda _, act, buffers: self._hear(act))

    @property
    def inputs(self) -> Inputs:
        return Inputs(self._name, self.text, "\n".join(self.edits))

    @traitlets.validate("text", "edits")
    def _check(self, proposal: Any) -> Any:
        """Raises ValueError with a sentence for what cannot be shown; then all stays as it was."""
        change = {"text": self.text, "edits": self.edits} | {proposal.trait.name: proposal.value}
        inputs = Inputs(self._name, change["text"], "\n".join(change["edits"]))
        self._body = payload.body_of_inputs(inputs, self._opened)
        return proposal.value

    def _draw(self) -> None:
        """Sends the figure anew."""
        inputs, offer, body = self.inputs, offer_of(self._name), self._body
        assert offer is not None
        asked = {entry: self._answer(*what) for entry, what in self._asked.items()}
        terms = glossary.found_in(TERMS, offer.taught, body.special)
        standing = standing_header(offer, body.note)
        standing["taught"] |= {"label": "", "model": ""}  # another model is another figure
        self.message = body.packed.message(
            generation=next(_numbers), linked={"level": "lab"} | self._view,
            focus=body.focus | {"pinned": "query"} if body.focus else {}, focusToken=self.text,
            fromBehind=False, viewToken=self._name, link={}, edits=self.edits, off=heads_off(inputs.edits),
            swap={"label": "", "text": "", "other": ""}, beside=False, terms=glossary.sentences(terms),
            **standing, **asked,
        )  # fmt: skip

    def _answer(self, kind: str, what: tuple[Any, ...]) -> dict[str, Any]:
        """What the stage asked for beside the trace, or the sentence that refuses it."""
        request = REQUESTS[kind]
        progress = {"progress": lambda *_: None} if request.more.get("tells") else {}
        try:
            return {"asked": list(what), **request.maker(self.inputs, *what, **progress)}
        except ValueError as error:
            return {"asked": list(what), "problem": str(error)}

    def _hear(self, act: dict[str, Any]) -> None:
        """Answers what a person did in the figure; what only the app can answer is passed over."""
        try:
            self._do(act)
            self.problem = ""
        except ValueError as error:
            self.problem = str(error)

    def _do(self, act: dict[str, Any]) -> None:
        match act:
            case {"type": "open"}:
                self._opened = opened_from(act)
                self._body = payload.body_of_inputs(self.inputs, self._opened)
            case {"type": "text", "text": str(text)}:
                self.text = text
                return
            case {"type": "edits", "text": str(text)}:
                self.edits = text.splitlines()
                return
            case {"type": "edit", "line": str(line), "how": str(how), "count": int(n_heads)}:
                self.edits = after_press(self.edits, line, how, n_heads)
                return
            case {"type": str(kind)} if kind in REQUESTS:
                request = REQUESTS[kind]
                self._asked[request.entry] = (kind, request.arguments(act))
            case _:
                return
        self._draw()


def explore(model: Model | str, text: str = "", edits: Sequence[str] = (), **view: Any) -> ExploreFigure:
    """Every head of a model on a text: Explore, in a notebook.

    model: of `load_model`, `capture` or `read_attention`, or its name. view: what is open, as the address of
    Explore says it (view="lines", layer=1, head=2, query=9). Raises ValueError with a sentence.
    """
    name = model if isinstance(model, str) else _offered(model)
    offer = offer_of(name)
    if offer is None:
        load_model(name)  # refuses it in a sentence
        raise ValueError(f"{name!r} is opened by load_model({name!r}); hand that in")
    return ExploreFigure(name, text or offer.text, edits, view)


@cache
def _offered(model: Model) -> str:
    """A name under which everything finds a model that is in memory, and keeps it there."""
    name = f"notebook-{next(_numbers)}"
    register(Offer(name=name, load=lambda: model))
    return name


def show(what: Board | Outcome | str, **inputs: Any) -> BoardFigure:
    """A board, a finding's outcome, or a part of the lab ("softmax/spread"), for these of its inputs."""
    if isinstance(what, Outcome):
        what = board_of(what)
    if isinstance(what, Board):
        return BoardFigure(what)
    page_name, _, part_name = what.partition("/")
    if page_name not in NAMES:
        raise ValueError(f"{what!r} is no part of the lab; its pages are {', '.join(NAMES)}")
    page = lab_page(page_name)
    names = [part.name for part in page.parts]
    if part_name not in names:
        listed = ", ".join(f"{page_name}/{name}" for name in names)
        raise ValueError(f"{what!r} is no part of the lab; there are {listed}")
    part = page.find_part(part_name)
    values = replace(page.inputs(), **inputs)
    return BoardFigure(part.lesson(values).board, getattr(values, part.scrub) if part.scrub else None)


def heads(
    patterns: Any, tokens: Sequence[str], keys: Sequence[str] | None = None, **view: Any
) -> ExploreFigure:
    """Patterns from anywhere: [layer, head, query, key] as torch or numpy, or a list of layers as
    transformers gives them, [1, head, query, key] each. keys: of cross-attention, the tokens that are read.
    """
    layers = [_array(layer) for layer in patterns] if isinstance(patterns, list | tuple) else _array(patterns)
    arrays = {
        "attention": np.stack([each[0] if np.ndim(each) == 4 else each for each in layers]),
        "tokens": np.array(tokens, dtype=str),
    } | ({} if keys is None else {"key_tokens": np.array(keys, dtype=str)})
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return explore(of_arrays(read_own(file.getvalue(), "patterns.npz"), "patterns"), **view)


def _array(given: Any) -> np.ndarray:
    return np.asarray(given.detach().float().cpu() if hasattr(given, "detach") else given, dtype=np.float32)
