"""The lab's figures in a notebook: anywidgets around the viewer (viz_core/viewer/README.md).

    from attention_lab import beside, explore, heads, load_model, show
    explore(load_model("translator"), "the animal did not cross the street because it was too tired")

A figure is whole without a kernel: its message and Plotly's code, where it has charts, are saved with the
notebook, and no other host is asked for anything. What is selected is `figure.state`: read it, or set it.
"""

import asyncio
import base64
import functools
import gzip
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from html import escape, unescape
from itertools import count
from typing import Any
from uuid import uuid4

import anywidget
import numpy as np
import plotly.graph_objects as go
import traitlets
from IPython.display import HTML, display, update_display
from pydantic import ValidationError

from attention_lab.models import load_model
from attention_lab.models.contrast import Side, of_trace
from attention_lab.models.engine.trace import Trace
from attention_lab.models.fields import Field, fields_of, shortened, whole
from attention_lab.models.fields import nearest as nearest_name
from attention_lab.models.findings import Outcome
from attention_lab.models.zoo.catalogue import Offer, offer_of, register
from attention_lab.models.zoo.model import Model
from attention_lab.models.zoo.own_attention import read_arrays
from attention_lab.models.zoo.own_model import of_arrays
from attention_lab.pages.beside.board import PLACE, SIGNS, Selection
from attention_lab.pages.beside.board import board_of as beside_board
from attention_lab.pages.beside.state import nearest
from attention_lab.pages.beside.two_sides import alone, filled
from attention_lab.pages.beside.two_sides import matched as match_heads
from attention_lab.pages.explore import panel, payload
from attention_lab.pages.explore.figure import NO_ACT, REQUESTS, TERMS, asked_of, own_header, rules_of
from attention_lab.pages.explore.payload import Opened
from attention_lab.pages.explore.question import Question, continued, inputs_of, opened_by
from attention_lab.pages.explore.sizes import FIXED
from attention_lab.pages.explore.state import Inputs, View, view_of
from attention_lab.pages.explore.takeaway import printed
from attention_lab.pages.findings.board import board_of
from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.shared import cache, glossary
from attention_lab.pages.shared.board.message import message
from attention_lab.pages.shared.lab_stops import NAMES
from attention_lab.viz_core.boards import Board, board_figure
from attention_lab.viz_core.viewer import program as viewer

HOST = viewer.HERE / "notebook.js"
STILL_PIXELS, STILL_SECONDS = 1_200, 1.0
_numbers = count(1)


@functools.cache
def _module(kind: str) -> str:
    """The ES module of a kind of view, as anywidget wants it."""
    program = viewer.program(kind, HOST)
    return f"{program.script}\nexport default {viewer.module_name(HOST)}.widget({program.render});\n"


@functools.cache
def _plotly(whole: bool = False) -> bytes:
    return gzip.compress(viewer.plotly_script(whole=whole).encode(), 6)


class Figure(anywidget.AnyWidget):
    """What is shown. message: its bytes; state: what is selected in it, which may be set; plotly: the code of
    its charts, packed; still: the class of its picture, for where no widget runs.
    """

    message = traitlets.Bytes(b"").tag(sync=True)
    still = traitlets.Unicode().tag(sync=True)
    state = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    plotly = traitlets.Bytes(b"").tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(still=f"still-{uuid4().hex}", **traits)
        self._later: asyncio.TimerHandle | None = None

    def _ipython_display_(self) -> None:
        """The widget, and below it the picture that it hides wherever it runs."""
        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        display(HTML(self._still()), display_id=self.still)
        self.observe(self._draw_soon, ["message", "state"])

    def _draw_soon(self, _: Any) -> None:
        """Draws the picture again once nothing has changed for a while: it shows what was seen last."""
        if self._later:
            self._later.cancel()
        with suppress(RuntimeError):  # nothing waits where no kernel runs
            self._later = asyncio.get_running_loop().call_later(STILL_SECONDS, self.draw_again)

    def draw_again(self) -> None:
        """Draws the picture anew, where it is shown and not as it was."""
        if self._later:
            update_display(HTML(self._still()), display_id=self.still)

    def _still(self) -> str:
        """The picture as HTML."""
        from attention_lab.viz_core.paper.files import still  # Matplotlib takes a second

        inside = ""
        for figure, caption in self._pictures():
            inside += f"<figcaption>{escape(caption)}</figcaption>"
            try:
                data = base64.b64encode(still(figure, STILL_PIXELS)).decode()
            except ValueError as error:
                inside += escape(str(error))
                continue
            inside += f'<img style="max-width: 100%" alt="" src="data:image/png;base64,{data}">'
            break
        return f'<figure class="{self.still}">{inside}</figure>'

    def _pictures(self) -> Iterator[tuple[go.Figure, str]]:
        """What is seen and what is read above it; then what is shown instead where that is too much."""
        raise NotImplementedError


class BoardFigure(Figure):
    """A board; its `state` has the frame that is shown."""

    _esm = _module("board")

    def __init__(self, board: Board | None = None, at: float | None = None) -> None:
        super().__init__()
        self._part = str(next(_numbers))
        if board is not None:
            self.draw(board, at)

    def draw(self, board: Board, at: float | None = None, chosen: Mapping[str, Any] = {}) -> None:
        """Shows a board in the place of what was here. at: the value of its slider to begin with.
        chosen: what else `state` has.
        """
        self._board, self._at = board, at
        content = message(board, part=self._part, link={}, at=at, chosen=chosen)
        if not self.plotly and b'"drawn_by":"plot"' in content:
            self.plotly = _plotly(viewer.needs_whole(content))
        self.message = content

    @traitlets.validate("state")
    def _check(self, proposal: Any) -> Any:
        """Raises ValueError for a frame that the board does not have."""
        if (frame := (proposal.value or {}).get("frame")) is not None:
            scrub = self._board.scrub
            rule = whole(0, len(scrub.values) - 1 if scrub else 0)
            if not rule.fits(frame):
                raise ValueError(f"frame={frame!r} is not {rule}")
        return proposal.value

    def __repr__(self) -> str:
        titles = (getattr(panel, "title", "") for row in self._board.rows for panel in row)
        return f"Board: {', '.join(filter(None, titles))}"

    def _pictures(self) -> Iterator[tuple[go.Figure, str]]:
        scrub, notice = self._board.scrub, self._board.notice
        first = int(np.abs(np.asarray(scrub.values) - (self._at or 0)).argmin()) if scrub else 0
        frame = (self.state or {}).get("frame", first)
        words = notice if isinstance(notice, str) else notice[frame]
        yield board_figure(self._board, frame=frame, width=STILL_PIXELS), words.replace("**", "")


class BesideFigure(BoardFigure):
    """Side by side; `state` has the stack, layer and head, and the place of the outputs: -1 where they differ
    most. A press on the map sets them, too.
    """

    def __init__(self, a: Side, b: Side, matched: bool, place: Mapping[str, Any]) -> None:
        super().__init__()
        comparison = alone(a, b)
        self._comparison = match_heads(comparison, a, b, lambda _: None) if matched else comparison
        self._called = _called(a, b)
        self.observe(lambda change: self.draw(self._two(), chosen=self.state), "state")
        self.on_msg(lambda _, act, buffers: self._hear(act))
        all_moved = self._comparison.frames[0].moved
        stack = place["stack"] or next(iter(all_moved), "")
        moved = np.nan_to_num(all_moved.get(stack, np.zeros((1, 1))))
        layer, head = map(int, np.unravel_index(moved.argmax(), moved.shape))
        usual = {"stack": stack, "layer": layer, "head": head}
        self.state = usual | {name: value for name, value in place.items() if value is not None}

    def _two(self) -> Board:
        state, (frame,) = self.state, self._comparison.frames
        first = (state["stack"], state["layer"], state["head"])
        second = nearest(self._comparison.matches.get(first, first), frame, 1)
        at = None if state["at"] < 0 else state["at"]
        board = beside_board(self._comparison, Selection((first, second), self._called, at))
        unlike = not all(all(places.same) for places in frame.places(state["stack"]))
        said = [board.notice, SIGNS if unlike else "", *self._comparison.notes]
        return replace(board, notice=" ".join(filter(None, map(str, said))))

    @traitlets.validate("state")
    def _check(self, proposal: Any) -> Any:
        """Raises ValueError with a sentence for a head that the first side has not."""
        state = (self.state or {}) | proposal.value
        frame, stack = self._comparison.frames[0], state["stack"]
        counts = frame.counts(0)
        if stack not in counts:
            raise ValueError(f"stack={stack!r} is not on both sides; choose one of {', '.join(counts)}")
        layers, count = frame.layers(0, stack), counts[stack][1]
        if state["layer"] not in layers or state["head"] not in range(count):
            raise ValueError(
                f"layer={state['layer']!r}, head={state['head']!r}: {stack} has the layers "
                f"{', '.join(map(str, layers))}, each with the heads 0 to {count - 1}"
            )
        return state

    def _hear(self, act: dict[str, Any]) -> None:
        match act:
            case {"type": "edit", "field": str(field), "value": str(place)} if field == PLACE:
                layer, head = map(int, place.split("."))
                self.state = self.state | {"layer": layer, "head": head}


def _called(a: Side, b: Side) -> tuple[str, str]:
    """The two sides in a few words."""
    if a.model is not b.model:
        names = (a.model.name, b.model.name)
        return names if names[0] != names[1] else ("first model", "second model")
    return ("first text", "second text") if a.text != b.text else ("as it is", "changed")


class ExploreFigure(Figure):
    """Explore of one model and one text. text and edits may be set; `state` has the head, query and key.

    problem: the sentence that refused what was last done in the figure.
    """

    _esm = _module("stage")
    text = traitlets.Unicode()
    edits = traitlets.List(traitlets.Unicode())
    problem = traitlets.Unicode("").tag(sync=True)

    def __init__(self, offer: Offer, text: str, edits: Sequence[str], view: Mapping[str, Any]) -> None:
        self._offer, self._name, self._view = offer, offer.name, dict(view)
        self._settings: dict[str, Any] = {}
        self._beside: dict[str, dict[str, Any]] = {}
        self._keeps, self._followed = FIXED, ""
        opens = offer.story | self._view
        self._opened = Opened(**{key: opens[key] for key in asdict(Opened()) if key in opens})
        super().__init__(text=text, edits=list(edits), plotly=_plotly())
        self._check_places(self._view)
        self._draw()
        self.observe(lambda change: self._draw(), ["text", "edits"])
        self.on_msg(lambda _, act, buffers: self._hear(act))

    @property
    def inputs(self) -> Inputs:
        return Inputs(self._name, self.text, "\n".join(self.edits), **self._settings)

    @traitlets.validate("text", "edits")
    def _check(self, proposal: Any) -> Any:
        """Raises ValueError with a sentence for what cannot be shown; then all stays as it was."""
        change = {"text": self.text, "edits": self.edits} | {proposal.trait.name: proposal.value}
        inputs = Inputs(self._name, change["text"], "\n".join(change["edits"]), **self._settings)
        self._body = payload.body_of_inputs(inputs, self._opened)
        return proposal.value

    def _check_places(self, view: dict[str, Any]) -> None:
        """Raises ValueError for a stack, layer, head, query or key that this model and text do not have."""
        for name, rule in rules_of(self._body, (self._seen | view)["stack"]):
            if (value := view.get(name)) is not None and not rule.fits(value):
                raise ValueError(f"{name}={value!r} is not {rule}")

    @traitlets.validate("state")
    def _check_state(self, proposal: Any) -> Any:
        """Raises ValueError with a sentence for what a view, or this one, does not have."""
        self._check_places(_view(proposal.value or {}))
        return proposal.value

    @property
    def _seen(self) -> dict[str, Any]:
        """The state of the view: until somebody chooses, where the model and the text open, as in view.js."""
        usual, chosen = self._offer.story, self._view | (self.state or {})
        there = chosen.get("stack", usual["stack"]) == usual["stack"]
        return usual | (self._body.focus if there else {}) | chosen

    def __repr__(self) -> str:
        at, model = View(**view_of(self._seen)), cache.model(self._name).name
        return f"Explore: {model}, layer {at.layer} head {at.head}, {shortened(self.text)!r}"

    def _draw(self) -> None:
        """Sends the figure anew."""
        inputs, offer, body = self.inputs, self._offer, self._body
        terms = glossary.found_in(TERMS, offer.taught, body.special)
        header = own_header(inputs, body, offer) | {"link": {}, "beside": False}
        header["taught"] |= {"label": "", "model": ""}  # another model is another figure
        self.message = body.packed.message(
            linked={"level": "lab"} | self._view, fromBehind=False, viewToken=self._name,
            controls=panel.declaration(offer, [offer.name]), asked=asked_of(inputs),
            sizes=panel.stops(inputs, self._keeps), followed=self._followed,
            notes=panel.notes(inputs, body), abilities=body.abilities, terms=glossary.sentences(terms),
            **header, **{REQUESTS[kind].entry: self._answer(kind, act) for kind, act in self._beside.items()},
        )  # fmt: skip

    def _pictures(self) -> Iterator[tuple[go.Figure, str]]:
        view = self._seen["view"]
        instead = "Instead of the sweep, which takes long: " if view == "sweep" else ""
        for each in ("head",) if instead else (view, "head"):
            figure = printed(self.inputs, self._seen | {"view": each}, STILL_PIXELS)
            yield figure, instead + unescape(figure.layout.title.text or "")

    def _answer(self, kind: str, act: dict[str, Any]) -> dict[str, Any]:
        """What the stage asked for beside the trace, or the sentence that refuses it."""
        request = REQUESTS[kind]
        what = request.what(act)
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
        kind, values = act.get("type"), {name: value for name, value in act.items() if name != "type"}
        if kind in REQUESTS:
            self._beside[str(kind)] = values
            return self._draw()
        if kind == "open":
            return self._ask(opened=values)
        changes = {
            "text": lambda: {"text": values["text"], "fresh": True},
            "edits": lambda: {"edits": values["text"]},
            "edit": lambda: {"press": values},
            "ask": lambda: values,
        }
        if kind in changes:
            self._ask(**changes[str(kind)]())

    def _ask(self, **change: Any) -> None:
        """Shows what a control asks for. Raises ValueError with a sentence where it cannot be."""
        if change.pop("reset", False):
            self._settings, change = {}, {"text": self._offer.text, "edits": ""}
        now = asked_of(self.inputs) | {"opened": asdict(self._opened), "keeps": self._keeps}
        try:
            asked = Question(**(now | change))
        except ValidationError as error:
            raise ValueError(NO_ACT) from error
        inputs, followed = inputs_of(asked)
        if asked.write:
            inputs = continued(inputs, asked.write)
        self._opened, self._keeps = opened_by(asked, self._offer), asked.keeps
        self._body = payload.body_of_inputs(inputs, self._opened)
        self._settings, self._followed = inputs.settings, followed
        edits = inputs.edits.splitlines()
        is_same = (self.text, self.edits) == (inputs.text, edits)
        with self.hold_trait_notifications():
            self.text, self.edits = inputs.text, edits
        if is_same:  # else it was drawn as they changed
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
    return ExploreFigure(offer, text or offer.text, edits, _view(view))


def _view(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a view, with tuples for lists. Raises ValueError with a sentence for what no view has."""
    known = fields_of(View)
    unknown = next((each for each in given if each not in known), "")
    view = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    _check_values(view, known, f"part of a view; {nearest_name(unknown, known)}")
    return view


@functools.cache
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
    page_name, _, part_name = str(what).partition("/")
    if page_name not in NAMES:
        raise ValueError(f"{what!r} is no part of the lab; its pages are {', '.join(NAMES)}")
    page = lab_page(page_name)
    names = [part.name for part in page.parts]
    if part_name not in names:
        listed = ", ".join(f"{page_name}/{name}" for name in names)
        raise ValueError(f"{what!r} is no part of the lab; there are {listed}")
    part = page.find_part(part_name)
    _check_values(inputs, page.state.params, f"input of {what}; it has {', '.join(part.fields)}")
    values = replace(page.inputs(), **inputs)
    return BoardFigure(part.lesson(values).board, getattr(values, part.scrub) if part.scrub else None)


def _check_values(values: Mapping[str, Any], known: Mapping[str, Field], place: str) -> None:
    """Raises ValueError for a name that is no such `place`, and for a value that it cannot have."""
    for name, value in values.items():
        if name not in known:
            raise ValueError(f"{name!r} is no {place}")
        known[name].check(name, value)


def beside(
    a: Model | Side | Trace | str,
    b: Model | Side | Trace | str,
    text: str = "",
    *,
    model: Model | str | None = None,
    matched: bool = False,
    stack: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    at: int = -1,
) -> BesideFigure:
    """Side by side, in a notebook: a head of each, their difference, how far every head moved, the outputs.

    a, b: two models, or their names, that read `text`; two texts, which `model` reads; two traces, whose
    patterns alone are compared; or two `Side`s of models.contrast. matched: each head of a stands beside the
    one of b that is most like it. stack, such as "encoder.self", layer, head: what is selected, by default
    the head that moved most. at: the place of the outputs, by default where they differ most. Raises
    ValueError with a sentence.
    """
    if model is not None:
        reader = _opened(model)
        sides = [Side(reader, filled(str(each), which)) for each, which in ((a, "first"), (b, "second"))]
    else:
        offer = offer_of(a) if isinstance(a, str) else None
        text = text or (offer.text if offer else "")
        sides = [_side(each, which, text) for each, which in ((a, "first"), (b, "second"))]
    place = {"stack": stack, "layer": layer, "head": head, "at": at}
    return BesideFigure(sides[0], sides[1], matched, place)


def _side(what: Model | Side | Trace | str, which: str, text: str) -> Side:
    if isinstance(what, Side):
        return what
    if isinstance(what, Trace):
        return of_trace(what, f"{which} trace")
    return Side(_opened(what), filled(text, "first"))


def _opened(model: Model | str) -> Model:
    if not isinstance(model, str):
        return model
    if offer_of(model) is None:
        try:
            return load_model(model)
        except ValueError as error:
            raise ValueError(f"{error}; two texts are compared with model=") from None
    return cache.model(model)


def heads(
    patterns: Any, tokens: Sequence[str], keys: Sequence[str] | None = None, **view: Any
) -> ExploreFigure:
    """Patterns from anywhere: [layer, head, query, key] as torch or numpy, one layer's [head, query, key], or
    layers in a list as transformers gives them, [1, head, query, key] each. keys: of cross-attention, the
    tokens that are read.
    """
    many = isinstance(patterns, list | tuple)
    array = np.atleast_1d(_array([] if many else patterns))
    layers = [_array(each) for each in patterns] if many else [array] if array.ndim == 3 else list(array)
    shapes = sorted({each.shape for each in layers})
    if len(shapes) != 1 or shapes[0][:-3] not in ((), (1,)) or len(shapes[0]) < 3:
        raise ValueError(
            f"the layers have shapes {', '.join(map(str, shapes)) or 'of none'}; give as many of one shape "
            "[head, query, key], or [1, head, query, key] of one text"
        )
    arrays = {
        "attention": np.stack([each[0] if each.ndim == 4 else each for each in layers]),
        "tokens": np.array(tokens, dtype=str),
    } | ({} if keys is None else {"key_tokens": np.array(keys, dtype=str)})
    return explore(of_arrays(read_arrays(arrays, "patterns"), "patterns"), **view)


def _array(given: Any) -> np.ndarray:
    return np.asarray(given.detach().float().cpu() if hasattr(given, "detach") else given, dtype=np.float32)
