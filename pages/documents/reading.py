"""Documents being read: by a thread of their own, one after the other, told and stopped from the page.

A pass over 32,768 tokens takes a minute, the picture of one head some seconds. Neither may keep the inference
thread, on which all sliders of all visitors wait. What was read is kept as q and k, bounded in bytes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

import models as _before_torch  # noqa: F401  (so that torch's idle threads sleep)
from models.byte_units import MB, readable
from models.limits import in_force
from pages.shared import cache, memory

if TYPE_CHECKING:
    from models.engine.long_cells import Measure, Pair, Picture
    from models.engine.long_text import LongHeads

MOST_TOKENS = in_force().document_tokens
KEPT_BYTES = in_force().document_mb * MB
MOST_WAITING = 8
FIRST = 0.9
"""The share of the work that reading takes; the picture of a head takes the rest."""


class StoppedError(Exception):
    """Nobody wants the answer any more."""


class GoneError(Exception):
    """A document was read, and is not kept any more."""


@dataclass(frozen=True)
class Asked:
    """What a page wants to see: one head of one layer over one document."""

    model: str
    text: str
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
    """A text that was read. heads: q and k of the layers that there was room for, by their addresses."""

    tokens: list[str]
    side: str
    n_layers: int
    n_heads: int
    heads: dict[str, LongHeads]

    def of(self, layer: int) -> LongHeads | None:
        return self.heads.get(f"{self.side}.{layer}.self")

    @property
    def n_bytes(self) -> int:
        return sum(heads.n_bytes for heads in self.heads.values()) + 60 * len(self.tokens)


@dataclass(frozen=True)
class Seen:
    """The picture of a head over a whole document, and its brightest pairs. The document itself may go.

    n_lone: queries that see one key alone, and are among no brightest pairs.
    """

    asked: Asked
    tokens: list[str]
    side: str
    n_layers: int
    n_heads: int
    head: int
    picture: Picture
    pairs: list[Pair]
    n_lone: int

    @property
    def heads(self) -> LongHeads:
        """The layer's queries and keys. Raises GoneError where other documents have taken their place."""
        with _lock:
            document = _documents.get(self.asked.document)
        found = None if document is None else document.of(min(self.asked.layer, self.n_layers - 1))
        if found is None:
            raise GoneError
        return found


@dataclass
class Work:
    """One wish on its way. share: how much is done; problem: a sentence, where it came to nothing."""

    asked: Asked
    visitor: str
    doing: str = "waits for the documents before it"
    share: float = 0.0
    seen: Seen | None = None
    problem: str = ""
    stopped: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)

    def told(self, doing: str, begin: float, part: float) -> Callable[[float], None]:
        """Hears how much of a part of the work is done. Raises StoppedError once nobody wants it."""

        def tell(share: float) -> None:
            self.doing, self.share = doing, begin + part * share
            if self.stopped.is_set():
                raise StoppedError

        return tell


def _start_worker() -> None:
    import torch

    torch.set_num_threads(1)  # the other cores answer sliders


_worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="documents", initializer=_start_worker)
_tiles = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tiles", initializer=_start_worker)
_documents: LRUCache[Any, Document] = LRUCache(KEPT_BYTES, getsizeof=lambda document: document.n_bytes)
_works: dict[str, Work] = {}
_lock = threading.Lock()


def _forget() -> None:
    with _lock:
        _documents.clear()


memory.droppers.append(_forget)


def ask(asked: Asked, visitor: str) -> Work:
    """The work on a wish, begun if it is a new one; the last wish of the same page is then stopped.

    Work that a person stopped stays so until it is forgotten. visitor: one open page; two of them may want
    different things. Raises ValueError where too many wait.
    """
    with _lock:
        known = _works.get(visitor)
        if known is not None and known.asked == asked:
            return known
        if known is not None:
            known.stopped.set()
        waiting = sum(not work.done.is_set() for work in _works.values())
        if waiting >= MOST_WAITING:
            raise ValueError(f"{waiting} documents are waiting, at most {MOST_WAITING} may; try again later.")
        work = _works[visitor] = Work(asked, visitor)
        for other in [name for name, each in _works.items() if each.done.is_set() and name != visitor][
            :-MOST_WAITING
        ]:
            del _works[other]
    _worker.submit(_do, work)
    return work


def forget(visitor: str) -> None:
    """Lets a visitor's next wish begin anew."""
    with _lock:
        _works.pop(visitor, None)


def on_tiles(make: Callable[[], Any]) -> Any:
    """What `make` returns, computed where parts of pictures are: nobody's sliders wait for it."""
    return _tiles.submit(make).result()


def _do(work: Work) -> None:
    try:
        work.told("", 0.0, 0.0)(0.0)
        memory.check()
        work.seen = _seen(work)
    except StoppedError:
        work.problem = "It was stopped."
    except ValueError as error:
        work.problem = str(error)
    except MemoryError:
        work.problem = "The document needs more memory than there is; take a shorter one or a smaller model."
    finally:
        work.done.set()


def _seen(work: Work) -> Seen:
    asked = work.asked
    document = _read(work)
    heads = document.of(min(asked.layer, document.n_layers - 1))
    assert heads is not None
    head = min(asked.head, document.n_heads - 1)
    tell = work.told("computes the picture of the head", FIRST, 1 - FIRST)
    picture = heads.whole(head, measure=asked.measure, without=asked.without, told=tell)
    largest = picture
    if asked.measure != "largest":
        largest = heads.whole(head, without=asked.without, told=tell)
    pairs = heads.brightest(head, largest, without=asked.without)
    return Seen(
        asked, document.tokens, document.side, document.n_layers, document.n_heads, head, picture, pairs,
        int(heads.lone(head).sum()),
    )  # fmt: skip


def _read(work: Work) -> Document:
    """The document of a wish, from memory if the wanted layer of it is there."""
    asked = work.asked
    with _lock:
        known = _documents.get(asked.document)
    if known is not None and known.of(min(asked.layer, known.n_layers - 1)) is not None:
        return known
    work.doing = "opens the model and cuts the text into tokens"
    model = cache.model(asked.model, dict(asked.settings)).stretched(MOST_TOKENS)
    reading = model.read(asked.text)
    if len(reading.tokens) != 1:
        raise ValueError(
            f"{asked.model!r} reads a text and writes another; choose a model that reads one text alone."
        )
    ((side, tokens),) = reading.tokens.items()
    if len(tokens) > MOST_TOKENS:
        raise ValueError(
            f"The document has {len(tokens):,} tokens; at most {MOST_TOKENS:,} are read; shorten it."
        )
    about = model.attention(f"{side}.self")
    width = (about.n_heads + about.n_key_heads) * about.d_head
    layer_bytes = 4 * len(tokens) * width
    if layer_bytes > KEPT_BYTES // 2:
        raise ValueError(
            f"One layer's queries and keys take {readable(layer_bytes)}; at most {readable(KEPT_BYTES // 2)} "
            "are kept; take a shorter document or a smaller model."
        )
    every = layer_bytes * about.n_layers <= KEPT_BYTES // 2
    layer = min(asked.layer, about.n_layers - 1)
    heads = model.long(
        reading,
        wanted=lambda address: every or address == f"{side}.{layer}.self",
        told=work.told(f"reads {len(tokens):,} tokens", 0.0, FIRST),
    )
    document = Document(tokens, side, about.n_layers, about.n_heads, heads)
    with _lock:
        _documents[asked.document] = document
    return document
