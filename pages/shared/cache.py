"""The only caches of the app: bounded in bytes, shared by all sessions, filled by one long-lived thread.

One thread computes for everybody: PyTorch starts its own threads in every thread that calls it, and each
Streamlit rerun is a new one; and the memory of a trace in the making is then needed once, not once a visitor.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

from cachetools import LRUCache

import models as _before_torch  # noqa: F401  (so that torch's idle threads sleep)

if TYPE_CHECKING:
    from models.zoo.loaded import LoadedModel
    from models.zoo.trained import TrainedModel

PAYLOAD_BYTES = 32 << 20
MODEL_BYTES = 48 << 20
RESULT_BYTES = 4 << 20
TRANSLATOR_BYTES = 8 << 20


class ByteCache:
    """Least recently used entries within `limit` bytes; what is larger than that is computed, not kept."""

    def __init__(self, limit: int) -> None:
        self._entries: LRUCache[Hashable, tuple[Any, int]] = LRUCache(limit, getsizeof=lambda entry: entry[1])
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any | None:
        with self._lock:
            entry = self._entries.get(key)
        return None if entry is None else entry[0]

    def put(self, key: Hashable, value: Any, size: int) -> None:
        with self._lock:
            if size <= self._entries.maxsize:
                self._entries[key] = (value, size)


payloads = ByteCache(PAYLOAD_BYTES)
models = ByteCache(MODEL_BYTES)
results = ByteCache(RESULT_BYTES)


def _start_worker() -> None:
    import torch  # here, once, while the first page is already painting

    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()


_worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="inference", initializer=_start_worker)


def on_worker(function: Callable[[], Any]) -> Any:
    """Run `function` on the inference thread and return its result or raise its error."""
    if threading.current_thread().name.startswith("inference"):
        return function()
    return _worker.submit(function).result()


def cached(cache: ByteCache, key: Hashable, make: Callable[[], tuple[Any, int]]) -> Any:
    """The value under `key`; if it is not there, `make` it on the inference thread: (value, bytes)."""
    value = cache.get(key)
    if value is not None:
        return value

    def fill() -> Any:
        again = cache.get(key)  # another visitor may have asked for the same while this one waited
        if again is not None:
            return again
        made, size = make()
        cache.put(key, made, size)
        return made

    return on_worker(fill)


def translator() -> LoadedModel:
    """The shipped translator, loaded once for all pages."""

    def load() -> tuple[LoadedModel, int]:
        from models.zoo import load_translator

        return load_translator(), TRANSLATOR_BYTES

    return cast("LoadedModel", cached(models, "translator", load))


def trained(model: str) -> TrainedModel:
    """The model of a name in links: a shipped one, or a run with its last checkpoint's weights.

    Raises ValueError where there is none.
    """
    from pages.shared import model_choice

    folder = model_choice.path_of(model)
    if folder is None and model_choice.RUN.fullmatch(model):
        raise ValueError(f"There is no {model} with a checkpoint here; choose another model.")

    def load() -> tuple[TrainedModel, int]:
        from models.zoo import load_model

        loaded = cast("TrainedModel", load_model(folder or model))
        return loaded, 4 * sum(weights.numel() for weights in loaded.model.parameters())

    return cast("TrainedModel", cached(models, (model, model_choice.stamp_of(model)), load))
