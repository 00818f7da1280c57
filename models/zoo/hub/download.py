"""Brings a model of the hub to this machine, after a look at whether it can be opened."""

import re
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...byte_units import MB, readable
from ...files import FileError
from .model_folder import CONFIG, NAME, PREFIX, inside, is_path

# What a model of the hub (Hugging Face) would bring to this machine, and bringing it: its files alone.

SECONDS = 10
"""How long the hub may take to answer."""
ABANDONED_SECONDS = 600
"""A half of a file that nobody has written to for so long is nobody's any more."""
INDEX = "model.safetensors.index.json"
WHOLE = "model.safetensors"
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_WEIGHTS = re.compile(r"[\w.-]+\.safetensors")
_OTHERS = re.compile(r"[\w.-]+\.(?:json|jinja|model|spm)|(?:vocab|merges)\.txt")
_TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}


class UnreachableError(FileError):
    """The hub cannot be reached from this machine."""


@dataclass(frozen=True)
class Coming:
    """A model that can be fetched: its name, its files with their bytes, and what the hub says of it.

    numbers: how many weights in which format, in words; "" where the hub does not say.
    """

    name: str
    files: dict[str, int]
    licence: str
    numbers: str

    @property
    def repository(self) -> str:
        return self.name.removeprefix(PREFIX)

    @property
    def n_bytes(self) -> int:
        return sum(self.files.values())


def look_up(name: str) -> Coming:
    """What the hub has under a name. Raises FileError where nothing can be had, UnreachableError offline."""
    plain = name.removeprefix(PREFIX)
    if not NAME.fullmatch(name) or is_path(name):
        raise FileError(f"{plain[:100]!r} is no name on the hub; give one like gpt2 or owner/name")
    from huggingface_hub import HfApi, get_token

    info = ask_hub(plain, lambda: HfApi().model_info(plain, files_metadata=True, timeout=SECONDS))
    if info.gated and not get_token():
        raise FileError(_gated(plain))
    counts = info.safetensors.parameters if info.safetensors else {}
    stated = (info.card_data or {}).get("license")
    tags = [tag.partition(":")[2] for tag in info.tags or () if tag.startswith("license:")]
    licence = stated if isinstance(stated, str) else ", ".join(map(str, stated or tags))
    return Coming(
        f"{PREFIX}{info.id}",
        files_of(plain, {each.rfilename: each.size or 0 for each in info.siblings or ()}),
        licence[:100],
        ", ".join(f"{_count(count)} weights as {_TYPES.get(kind, kind)}" for kind, count in counts.items()),
    )


def _gated(name: str) -> str:
    return f"{name!r} is gated: ask for it on its page, then log in on this machine with `hf auth login`"


def ask_hub(name: str, ask: Callable[[], Any]) -> Any:
    """What the hub answers. Raises FileError with a sentence for every way in which it does not."""
    from huggingface_hub import constants, errors

    try:
        return ask()
    except errors.GatedRepoError:
        raise FileError(_gated(name)) from None
    except (errors.RepositoryNotFoundError, errors.HFValidationError):
        raise FileError(f"{name!r} is no public model of the hub; check its name, owner/name") from None
    except errors.HfHubHTTPError as error:
        raise FileError(
            f"the hub answered {error.response.status_code} when asked for {name!r}; try again later"
        ) from None
    except (
        errors.OfflineModeIsEnabled,
        errors.LocalEntryNotFoundError,
        errors.HTTPError,  # type: ignore[attr-defined]
    ):
        raise UnreachableError(
            f"the hub ({constants.ENDPOINT}) cannot be reached from this machine; "
            "choose a model that is here, or bring its folder"
        ) from None


def files_of(name: str, sizes: dict[str, int]) -> dict[str, int]:
    """The files of a repository that a model is read from. Raises FileError where it has no weights."""
    weights = [file for file in sizes if _WEIGHTS.fullmatch(file)]
    if WHOLE in weights:
        weights = [WHOLE]
    elif INDEX in sizes:
        weights = [file for file in weights if _SHARD.fullmatch(file)]
    inner = {file.split("/")[0] for file in sizes if re.fullmatch(r"[^/]+/[\w.-]+\.safetensors", file)}
    folders = sorted(name for name in inner if f"{name}/{CONFIG}" in sizes)
    if not weights and folders:
        raise FileError(f"{inside(repr(name), folders)}, brought here by hand")
    if not weights:
        raise FileError(
            f"{name!r} has no .safetensors file on the hub, and no other format is read; choose another model"
        )
    if CONFIG not in sizes:
        raise FileError(f"{name!r} has no {CONFIG}, so it is no model of transformers; choose another")
    others = [file for file in sizes if _OTHERS.fullmatch(file) and (file != INDEX or WHOLE not in weights)]
    return {file: sizes[file] for file in (*weights, *others)}


def _count(count: int) -> str:
    for unit, name in ((10**9, "billion"), (10**6, "million")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count:,}"


def check_room(coming: Coming) -> None:
    """Raises FileError where the disk of the cache has too little room for it."""
    place = cache_folder()
    while not place.is_dir():
        place = place.parent
    free = shutil.disk_usage(place).free
    if coming.n_bytes > free:
        raise FileError(
            f"{coming.repository!r} has {readable(coming.n_bytes)}, but {readable(free)} of the disk are "
            "free; free some space, or choose a smaller model"
        )


def cache_folder() -> Path:
    """Where models of the hub are kept on this machine."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def fetch(coming: Coming, progress: Callable[[int], None]) -> None:
    """Brings the files into the local cache; those that are there already are not fetched again.

    The config comes last, so that a model is either here as a whole or not at all. progress: is called again
    and again with all bytes that have come, by several threads; what it raises ends the fetching: whole files
    stay for the next time, halves go. Raises FileError where the hub does not give them, or the disk has no
    room.
    """
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.file_download import repo_folder_name

    check_room(coming)
    # The library for the hub's newer transfers cannot be stopped between two pieces of a file.
    constants.HF_HUB_DISABLE_XET, constants.DOWNLOAD_CHUNK_SIZE = True, MB
    # The halves of files go that were left by whatever was killed while it fetched them.
    blobs = cache_folder() / repo_folder_name(repo_id=coming.repository, repo_type="model") / "blobs"
    for path in blobs.glob("*.incomplete"):
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - ABANDONED_SECONDS:
                path.unlink(missing_ok=True)
    come, stopped, lock = [0], list[BaseException](), threading.Lock()

    def count(n_bytes: int) -> None:
        with lock:
            come[0] += n_bytes
            try:
                if not stopped:
                    progress(min(come[0], coming.n_bytes))
            except BaseException as error:
                stopped.append(error)
        if stopped:
            raise stopped[0]

    bar = _progress(count)
    try:
        for files in ([file for file in coming.files if file != CONFIG], [CONFIG]):
            ask_hub(
                coming.repository,
                lambda files=files: snapshot_download(
                    coming.repository, allow_patterns=files, cache_dir=cache_folder(), tqdm_class=bar,
                    max_workers=2,
                ),
            )  # fmt: skip
    except FileError:
        raise
    except Exception as error:
        if stopped:
            raise
        raise FileError(f"{coming.repository!r} is incomplete ({error}); download it again") from None
    progress(coming.n_bytes)


def _progress(progress: Callable[[int], None]) -> type[Any]:
    """The class that huggingface_hub makes its bars of; one of them counts bytes, the others files."""
    from tqdm.auto import tqdm

    class Progress(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            is_download = str(kwargs.get("desc", "")).startswith("Download")
            self._counts = kwargs.get("unit") == "B" and not is_download
            super().__init__(*args, **(kwargs | {"disable": True}))

        def update(self, n: int | float | None = 1) -> bool | None:
            if self._counts:
                progress(int(n or 0))
            return super().update(n)

    return Progress
