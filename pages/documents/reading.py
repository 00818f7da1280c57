"""Documents being read: by a thread of their own, one after the other, told and stopped from the page.

A pass over 32,768 tokens takes a minute, the picture of one head some seconds. Neither may keep the inference
thread, on which all sliders of all visitors wait. What was read is kept as q and k, bounded in bytes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

import models as _before_torch  # noqa: F401  (so that torch's idle threads sleep)
from models.byte_units import MB
from models.limits import in_force
from pages.documents.document import Asked, Document, Place, fits, place_in
from pages.shared import cache, memory
from pages.shared.wishes import Wish, Wishes, start_worker

if TYPE_CHECKING:
    from models.data.tasks import Reading
    from models.engine.long_cells import Pair, Picture
    from models.engine.long_text import LongHeads
    from models.zoo.model import Attention, Model

MOST_TOKENS = in_force().document_tokens
KEPT_BYTES = in_force().document_mb * MB
FIRST = 0.9
"""The share of the work that reading takes; the picture of a head takes the rest."""


class GoneError(Exception):
    """A document was read, and is not kept any more."""


@dataclass(frozen=True)
class Seen:
    """The picture of a head over a whole document, and its brightest pairs. The document itself may go.

    n_lone: queries that see one key alone, and are among no brightest pairs.
    """

    asked: Asked
    tokens: dict[str, list[str]]
    stretched: bool
    stacks: dict[str, Attention]
    place: Place
    picture: Picture
    pairs: list[Pair]
    n_lone: int

    @property
    def queries(self) -> list[str]:
        return self.tokens[self.place.sides[0]]

    @property
    def keys(self) -> list[str]:
        return self.tokens[self.place.sides[1]]

    @property
    def heads(self) -> LongHeads:
        """The layer's queries and keys. Raises GoneError where other documents have taken their place."""
        with _lock:
            document = _documents.get(self.asked.document)
        found = None if document is None else document.heads.get(self.place.address)
        if found is None:
            raise GoneError
        return found


@dataclass(kw_only=True)
class Work(Wish):
    """One document on its way."""

    doing: str = "waits for the documents before it"
    seen: Seen | None = None

    def told(self, doing: str, begin: float, part: float) -> Callable[[float], None]:
        """Hears how much of a part of the work is done. Raises StoppedError once nobody wants it."""

        def tell(share: float) -> None:
            self.doing = doing
            self.tell(begin + part * share)

        return tell


_tiles = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tiles", initializer=start_worker)
_documents: LRUCache[Any, Document] = LRUCache(KEPT_BYTES, getsizeof=lambda document: document.n_bytes)
_lock = threading.Lock()


def _forget() -> None:
    with _lock:
        _documents.clear()


memory.droppers.append(_forget)


def ask(asked: Asked, page: str) -> Work:
    """The work on a page's wish, as `Wishes.ask` has it."""
    return wishes.ask(Work(asked=asked), page)


def on_tiles(make: Callable[[], Any]) -> Any:
    """What `make` returns, computed where parts of pictures are: nobody's sliders wait for it."""
    return _tiles.submit(make).result()


def _do(work: Work) -> None:
    seen = _seen(work)
    work.tell(1.0)
    work.seen = seen


wishes = Wishes("documents", _do, "a shorter one")
forget = wishes.forget


def _seen(work: Work) -> Seen:
    asked = work.asked
    document = _read(work)
    place = document.place(asked)
    heads, head = document.heads[place.address], place.head
    tell = work.told("computes the picture of the head", FIRST, 1 - FIRST)
    picture = heads.whole(head, measure=asked.measure, without=asked.without, told=tell)
    largest = picture
    if asked.measure != "largest":
        largest = heads.whole(head, without=asked.without, told=tell)
    pairs = heads.brightest(head, largest, without=asked.without)
    n_lone = int(heads.lone(head).sum())
    return Seen(
        asked, document.tokens, document.stretched, document.stacks, place, picture, pairs, n_lone
    )  # fmt: skip


def _read(work: Work) -> Document:
    """The document of a wish, from memory if the wanted layer of it is there."""
    asked = work.asked
    with _lock:
        known = _documents.get(asked.document)
    if known is not None and known.place(asked).address in known.heads:
        return known
    work.doing = "opens the model and cuts the text into tokens"
    model, reading, stretched = _cut(asked)
    most = max(map(len, reading.tokens.values()))
    if most > MOST_TOKENS:
        raise ValueError(f"The document has {most:,} tokens; at most {MOST_TOKENS:,} are read; shorten it.")
    stacks = {stack: model.attention(stack) for stack in model.stacks(tuple(reading.tokens))}
    place = place_in(stacks, asked)
    every = fits(stacks, reading.tokens, place, KEPT_BYTES // 2)
    heads = model.long(
        reading,
        wanted=lambda address: every or address == place.address,
        told=work.told(f"reads {most:,} tokens", 0.0, FIRST),
    )
    document = Document(reading.tokens, stretched, stacks, heads)
    with _lock:
        _documents[asked.document] = document
    return document


def _cut(asked: Asked) -> tuple[Model, Reading, bool]:
    """The model, the text as it reads it, and whether it had to be stretched for that."""
    model = cache.model(asked.model, dict(asked.settings))
    try:
        return model, model.read(asked.text), False
    except ValueError:
        longer = model.stretched(MOST_TOKENS)
        return longer, longer.read(asked.text), True
