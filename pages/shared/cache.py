"""The only caches of the app: bounded in bytes, shared by all sessions, filled by a few long-lived threads.

One of them at a time computes, for everybody: PyTorch starts its own threads in every thread that calls it,
and each Streamlit rerun is a new one; and the memory of a trace in the making is then needed once, not once a
visitor. One that waits for another process gives its turn to the next.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import psutil
from cachetools import LRUCache

from attention_lab.models.byte_units import MB
from attention_lab.models.limits import in_force
from attention_lab.models.zoo.catalogue import Offer, offer_of
from attention_lab.models.zoo.hub.model_folder import PREFIX, NoRoomError
from attention_lab.pages.shared import server_load

if TYPE_CHECKING:
    from attention_lab.models.data.tasks.translation import Translation
    from attention_lab.models.zoo.engine_model import TrainedModel
    from attention_lab.models.zoo.model import Model

Given = ParamSpec("Given")
Made = TypeVar("Made")
PAYLOAD_BYTES = 32 * MB
MODEL_BYTES = in_force().cache_models_mb * MB
HUB_BYTES = in_force().hub_mb * MB or psutil.virtual_memory().total // 2
RESULT_BYTES = 4 * MB
"""Of lessons' results: they are small and quickly computed again."""
LOOK_SECONDS = 0.05
"""How often whoever waits is asked whether they still do."""


class ByteCache:
    """A cache of `limit` bytes that drops the least recently used entries; it keeps no larger value."""

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self._entries: LRUCache[Hashable, tuple[Any, int]] = LRUCache(limit, getsizeof=lambda entry: entry[1])
        self._lock = threading.Lock()
        server_load.cache_clearers.append(self.drop)

    def drop(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._entries.clear()
            server_load.cache_bytes.labels(self.name).set(0)

    def get(self, key: Hashable) -> Any | None:
        with self._lock:
            entry = self._entries.get(key)
        return None if entry is None else entry[0]

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Keeps `value`, of so many bytes; its key's bytes count, too, since a visitor typed them."""
        size += held_by(key)
        with self._lock:
            if size <= self._entries.maxsize:
                self._entries[key] = (value, size)
                server_load.cache_bytes.labels(self.name).set(self._entries.currsize)


def held_by(key: object) -> int:
    """The bytes of a key with everything in it."""
    if isinstance(key, str):
        return sys.getsizeof(key) - _NO_TEXT
    if isinstance(key, tuple):
        return sum(map(held_by, key))
    if is_dataclass(key) and not isinstance(key, type):
        return sum(map(held_by, vars(key).values()))
    return sys.getsizeof(key)


_NO_TEXT = sys.getsizeof("")
payloads = ByteCache("pictures", PAYLOAD_BYTES)
models = ByteCache("models", MODEL_BYTES)
transformers = ByteCache("transformers", HUB_BYTES)
results = ByteCache("results", RESULT_BYTES)


def _start_worker() -> None:
    import torch  # here, once, while the first page is already painting

    torch.set_num_threads(1)
    if not gc.get_freeze_count():
        gc.collect()
        gc.freeze()


_worker = ThreadPoolExecutor(max_workers=8, thread_name_prefix="inference", initializer=_start_worker)
_turn = threading.Lock()
"""Held by the one inference thread that computes; the others wait for it, or for another process."""


@contextmanager
def leaving_turn() -> Iterator[None]:
    """Within it, an inference thread waits for another process, and the next one computes meanwhile."""
    mine = _is_inference()
    if mine:
        _turn.release()
    try:
        yield
    finally:
        if mine:
            _turn.acquire()


def _is_inference() -> bool:
    return threading.current_thread().name.startswith("inference")


def on_worker(
    function: Callable[[], Any], kind: str = "other", waiting: Callable[[], Any] | None = None
) -> Any:
    """Run `function` on the inference thread and return its result or raise its error.

    kind: the label under which the metrics count its seconds. waiting: is called again and again meanwhile;
    what it raises is passed on, and work that has not begun is then left out.
    """
    if _is_inference():
        return function()
    if waiting:
        waiting()
    asked_at, given_up = time.perf_counter(), threading.Event()

    def work() -> Any:
        with _turn, server_load.counted_working(kind, asked_at):
            return None if given_up.is_set() else function()

    with server_load.waiting.track_inprogress():
        future = _worker.submit(work)
        try:
            while waiting and not wait([future], LOOK_SECONDS).done:
                waiting()
        except BaseException:  # Streamlit's own exceptions, too, which say that nobody waits any more
            given_up.set()
            raise
        return future.result()


def cached(
    cache: ByteCache,
    key: Hashable,
    make: Callable[[], tuple[Any, int]],
    waiting: Callable[[], Any] | None = None,
) -> Any:
    """The value under `key`; if it is not there, `make` it on the inference thread: (value, bytes).

    waiting: as `on_worker` calls it.
    """
    value = cache.get(key)
    if value is not None:
        return value

    def fill() -> Any:
        again = cache.get(key)  # another visitor may have asked for the same while this one waited
        if again is not None:
            return again
        value, size = make()
        cache.put(key, value, size)
        return value

    return on_worker(fill, cache.name, waiting)


def kept(
    where: ByteCache, size: int | Callable[[Any], int]
) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Keeps a function's values by its arguments. size: the bytes of one, or what counts them."""

    def keep(make: Callable[Given, Made]) -> Callable[Given, Made]:
        @wraps(make)
        def read(*arguments: Given.args, **named: Given.kwargs) -> Made:
            def made() -> tuple[Made, int]:
                value = make(*arguments, **named)
                return value, size if isinstance(size, int) else size(value)

            key = (make.__module__, make.__qualname__, *arguments, *named.items())
            return cast(Made, cached(where, key, made))

        return read

    return keep


def model(name: str, settings: Mapping[str, Any] | None = None) -> Model:
    """The model of a name in links, made with these settings; a run has its last checkpoint's weights.

    Raises ValueError where there is none.
    """
    offer, values = offer_of(name), settings or {}
    if offer is None:
        raise ValueError(f"There is no {name} with a checkpoint here; choose another model.")
    building = {s.name: values.get(s.name, s.default) for s in offer.settings if s.builds}

    def load() -> tuple[Model, int]:
        opened = _loaded(offer, building)
        return opened, opened.n_bytes

    where = transformers if name.startswith(PREFIX) else models
    return cast("Model", cached(where, ("model", name, offer.stamp, *building.values()), load))


def _loaded(offer: Offer, building: dict[str, Any]) -> Model:
    """The model of an offer; where there is no room for it, those that were opened before it go first."""
    try:
        return offer.load(**building)
    except NoRoomError:
        transformers.drop()
        gc.collect()
        return offer.load(**building)


def trained(name: str) -> TrainedModel[Any]:
    """The model of a name, as `model` gives it, where it has a task."""
    return cast("TrainedModel[Any]", model(name))


def translator() -> TrainedModel[Translation]:
    """The shipped translator."""
    return trained("translator")
