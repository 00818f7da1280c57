"""Documents being read: by a thread of their own, one after the other, told and stopped from the page; and
what the map of a head gets of them.

A pass over 32,768 tokens takes a minute, the picture of one head some seconds. Neither may keep the
inference thread, on which all sliders of all visitors wait. What was read is kept as q and k, bounded
in bytes. The map gets the picture of the whole, the window that is shown, a row, a column, the
brightest pairs.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from cachetools import LRUCache

import attention_lab.models as _before_torch  # noqa: F401  (so that torch's idle threads sleep)
from attention_lab.models.byte_units import MB, readable
from attention_lab.models.engine.address import attention_at, sides_of
from attention_lab.models.limits import in_force
from attention_lab.pages.shared import cache, server_load
from attention_lab.pages.shared.work import Job, Queue, any_number
from attention_lab.viz_core.labels import visible
from attention_lab.viz_core.viewer.message import pack

if TYPE_CHECKING:
    from attention_lab.models.data.tasks import Reading
    from attention_lab.models.engine.long_text import LongHeads, Measure, Pair, Picture
    from attention_lab.models.zoo.model import Attention, Model


@dataclass(frozen=True)
class DocumentRequest:
    """What a page wants to see: one head of one layer over one document."""

    model: str
    text: str
    stack: str = "encoder.self"
    layer: int = 0
    head: int = 0
    measure: Measure = "largest"
    without: int = 0
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def document(self) -> tuple[Any, ...]:
        """What the pass over the text depends on."""
        return self.model, self.text, self.settings


@dataclass(frozen=True)
class Document:
    """A text that was read. tokens: of each side. stretched: the model reads longer texts than it was made
    for. heads: q and k of the layers that there was room for, by their addresses.
    """

    tokens: dict[str, list[str]]
    stretched: bool
    stacks: dict[str, Attention]
    heads: dict[str, LongHeads]

    @property
    def n_bytes(self) -> int:
        n_tokens = sum(map(len, self.tokens.values()))
        return sum(heads.n_bytes for heads in self.heads.values()) + 60 * n_tokens


@dataclass(frozen=True)
class HeadPlace:
    """One head of a document, as near to what was asked for as the model has it."""

    stack: str
    layer: int
    head: int

    @property
    def address(self) -> str:
        return attention_at(self.stack, self.layer)


def place_in(stacks: dict[str, Attention], request: DocumentRequest) -> HeadPlace:
    """Where a wish leads in a model of these stacks."""
    stack = request.stack if request.stack in stacks else next(iter(stacks))
    about = stacks[stack]
    return HeadPlace(stack, about.nearest(request.layer), min(request.head, about.n_heads - 1))


def fits(stacks: dict[str, Attention], tokens: dict[str, list[str]], place: HeadPlace, most: int) -> bool:
    """Whether all layers of all stacks have room. Raises ValueError where the wanted one alone has none."""

    def layer_bytes(stack: str, about: Attention) -> int:
        queries, keys = (len(tokens[side]) for side in sides_of(stack))
        return 4 * about.d_head * (queries * about.n_heads + keys * about.n_key_heads)

    layer_size = layer_bytes(place.stack, stacks[place.stack])
    if layer_size > most:
        raise ValueError(
            f"One layer's queries and keys take {readable(layer_size)}, more than {readable(most)}; "
            "take a shorter document or a smaller model."
        )
    return sum(about.n_layers * layer_bytes(name, about) for name, about in stacks.items()) <= most


MOST_TOKENS = in_force().document_tokens
KEPT_BYTES = in_force().document_mb * MB
FIRST = 0.9
"""The share of the work that reading takes; the picture of a head takes the rest."""


class GoneError(ValueError):
    """A document was read, and is not kept any more."""


@dataclass(frozen=True)
class HeadPicture:
    """The picture of a head over a whole document, and its brightest pairs. The document itself may go.

    n_lone: queries that see one key alone, and are among no brightest pairs.
    """

    request: DocumentRequest
    tokens: dict[str, list[str]]
    stretched: bool
    stacks: dict[str, Attention]
    place: HeadPlace
    picture: Picture
    pairs: list[Pair]
    n_lone: int

    @property
    def queries(self) -> list[str]:
        return self.tokens[sides_of(self.place.stack)[0]]

    @property
    def keys(self) -> list[str]:
        return self.tokens[sides_of(self.place.stack)[1]]

    @property
    def heads(self) -> LongHeads:
        """The layer's queries and keys. Raises GoneError where other documents have taken their place."""
        with _lock:
            document = _documents.get(self.request.document)
        heads = None if document is None else document.heads.get(self.place.address)
        if heads is None:
            raise GoneError
        return heads


_documents: LRUCache[Any, Document] = LRUCache(KEPT_BYTES, getsizeof=lambda document: document.n_bytes)
_lock = threading.Lock()


def _forget() -> None:
    with _lock:
        _documents.clear()


server_load.cache_clearers.append(_forget)


def compute(job: Job) -> HeadPicture:
    """The picture of a head. Raises ValueError, with a sentence, where the document cannot be read."""
    request: DocumentRequest = job.request
    document = _read(job)
    place = place_in(document.stacks, request)
    heads, head = document.heads[place.address], place.head
    tell = job.part("computes the picture of the head", FIRST, 1 - FIRST)
    picture = heads.whole(head, measure=request.measure, without=request.without, progress=tell)
    largest = picture
    if request.measure != "largest":
        largest = heads.whole(head, without=request.without, progress=tell)
    pairs = heads.brightest(head, largest, without=request.without)
    n_lone = int(heads.lone(head).sum())
    return HeadPicture(
        request, document.tokens, document.stretched, document.stacks, place, picture, pairs, n_lone
    )


def _read(job: Job) -> Document:
    """The document of a request, from memory if the wanted layer of it is there."""
    request: DocumentRequest = job.request
    with _lock:
        known = _documents.get(request.document)
    if known is not None and place_in(known.stacks, request).address in known.heads:
        return known
    job.doing = "opens the model and cuts the text into tokens"
    model, reading, stretched = _cut(request)
    most = max(map(len, reading.tokens.values()))
    if most > MOST_TOKENS:
        raise ValueError(f"The document has {most:,} tokens; at most {MOST_TOKENS:,} are read; shorten it.")
    stacks = {stack: model.attention(stack) for stack in model.stacks(tuple(reading.tokens))}
    place = place_in(stacks, request)
    every = fits(stacks, reading.tokens, place, KEPT_BYTES // 2)
    heads = model.long(
        reading,
        wants=lambda address: every or address == place.address,
        progress=job.part(f"reads {most:,} tokens", 0.0, FIRST),
    )
    document = Document(reading.tokens, stretched, stacks, heads)
    with _lock:
        _documents[request.document] = document
    return document


def _cut(request: DocumentRequest) -> tuple[Model, Reading, bool]:
    """The model, the text as it reads it, and whether it had to be stretched for that."""
    model = cache.model(request.model, dict(request.settings))
    try:
        return model, model.read(request.text), False
    except ValueError:
        longer = model.stretched(MOST_TOKENS)
        return longer, longer.read(request.text), True


queue = Queue(
    "documents", compute, doing="waits for the documents before it",
    smaller="take a shorter one or a smaller model",
)  # fmt: skip
tiles = Queue("parts of pictures", smaller="take a smaller part", most=any_number)
"""Where parts of pictures are computed, beside which nobody's sliders wait."""

AROUND = 4
"""Tokens that are shown on each side of one that is spoken of."""
MOST_NAMED = 12
LONGEST = 24
LEAST = 5e-4
MOST_CELLS = 24_000_000
"""The pairs of a window: about a tenth of a second."""


def whole_message(picture: HeadPicture, **own: Any) -> bytes:
    """The message with everything: the tokens, the picture of the whole, the brightest pairs."""
    queries = [visible(token, max_length=LONGEST) for token in picture.queries]
    keys = [visible(token, max_length=LONGEST) for token in picture.keys]
    pairs = [
        pair._asdict() | {"words": [_around(queries, pair.query), _around(keys, pair.key)]}
        for pair in picture.pairs
    ]
    own |= {"lone": picture.n_lone}
    if picture.queries is not picture.keys:
        own["queries"] = queries
    return pack(tokens=keys, whole=_cells(picture.picture), pairs=pairs).message(**own)


def window(picture: HeadPicture, area: dict[str, int]) -> dict[str, Any] | None:
    """A part of the pattern, in as many cells as a screen has; None for a part so large that it would take
    longer than a person waits, and show little more than the picture of the whole.
    """
    rows, keys = bounded_window(picture, area)
    if (rows.stop - rows.start) * (keys.stop - keys.start) > MOST_CELLS:
        return None
    head, how = picture.place.head, picture.request
    return _cells(picture.heads.window(head, rows, keys, measure=how.measure, without=how.without))


def row_and_column(picture: HeadPicture, query: int, key: int) -> dict[str, Any]:
    """Where one query looks most, and which queries look most at one key; with the whole row and column."""
    query, key = min(max(query, 0), len(picture.queries) - 1), min(max(key, 0), len(picture.keys) - 1)
    head = picture.place.head
    row, column = picture.heads.row(head, query), picture.heads.column(head, key)
    return {
        "query": query, "key": key, "weight": float(row[key]),
        "row": _top(row.numpy()), "column": _top(column.numpy()),
    }  # fmt: skip


def bounded_window(picture: HeadPicture, area: dict[str, int]) -> tuple[slice, slice]:
    """The window that was asked for, within the document and with at least one cell."""

    def part(begin: int, end: int, n: int) -> slice:
        start = min(max(0, begin), n - 1)
        return slice(start, min(max(start + 1, end), n))

    rows = part(area["q0"], area["q1"], len(picture.queries))
    return rows, part(area["k0"], area["k1"], len(picture.keys))


def _cells(picture: Picture) -> dict[str, Any]:
    """A picture, with the sizes of its cells."""
    cells = np.ascontiguousarray(picture.cells.numpy(), dtype=np.float32)
    place = {"q0": picture.q0, "k0": picture.k0, "tall": picture.tall, "wide": picture.wide}
    return {"cells": cells, **place}


def _top(weights: np.ndarray) -> list[tuple[int, float]]:
    """The heaviest positions with their weights, without those that are next to nothing."""
    order = np.argsort(-weights, kind="stable")[:MOST_NAMED]
    return [(int(at), float(weights[at])) for at in order if weights[at] >= LEAST]


def _around(tokens: list[str], at: int) -> list[str]:
    before, after = tokens[max(0, at - AROUND) : at], tokens[at + 1 : at + 1 + AROUND]
    return [" ".join(before), tokens[at], " ".join(after)]
