"""Downloads named data of others when asked: whole and as its checksum says, or not at all."""

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from ..byte_units import readable
from ..files import OWN, read_toml

DATA = "ATTENTION_LAB_DATA"
"""The environment variable that says where downloads are kept; else it is `data/` in the project."""

Progress = Callable[[int, int], None]
"""Called with the bytes that have come and all that will; what it raises ends the download, cleanly."""

_CHUNK = 1 << 18
_PATIENCE = 30  # seconds without a byte
_AGENT = {"User-Agent": "attention-lab"}  # some servers refuse the library's own name


class SourceError(ValueError):
    """A source is not here, or could not be had. The message says the remedy, `source` its name."""

    def __init__(self, sentence: str, source: str) -> None:
        super().__init__(sentence)
        self.source = source


@dataclass(frozen=True)
class Download:
    """One file: its title for people, where it comes from, what it is called here, its bytes, its checksum.

    digest: SHA-256 of the file as it is kept. packed: the length of the zip archive, if the address gives
    one; the file is its only member.
    """

    title: str
    address: str
    file: str
    size: int
    digest: str
    packed: int = 0

    @property
    def to_come(self) -> int:
        """Bytes over the network."""
        return self.packed or self.size


@dataclass(frozen=True)
class _Sources:
    sources: dict[str, Download]


SOURCES = read_toml(Path(__file__).with_suffix(".toml"), _Sources).sources
"""What can be downloaded, by its name."""
_USUAL_ROOT = OWN / "data"


def data_root() -> Path:
    """The folder of downloads, whether it exists or not."""
    chosen = os.environ.get(DATA)
    return Path(chosen) if chosen else _USUAL_ROOT


def find(name: str) -> Path | None:
    """The file of a source; None while it is missing or has another length."""
    path = data_root() / name / source(name).file
    return path if path.is_file() and path.stat().st_size == source(name).size else None


def required_file(name: str) -> Path:
    """`find`, or a SourceError that says how to get the source."""
    path = find(name)
    if path is None:
        raise SourceError(
            f"{source(name).title} is not here yet; download it ({readable(source(name).to_come)}) on "
            f"the page Train, or with: python -m attention_lab.models.data.downloads {name}; or name a "
            "file of your own",
            name,
        )
    return path


def fetch(name: str, progress: Progress = lambda come, total: None) -> Path:
    """Downloads a source, unless it is here; returns its file.

    It takes its name only when it is whole and its checksum is right; what was begun is removed, however it
    ends. Raises SourceError where there is no network, no space, or something else comes than expected.
    """
    download, path = source(name), data_root() / name / source(name).file
    if find(name):
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _fetch(download, path, name, progress)
    except (urllib.error.URLError, TimeoutError, ConnectionError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise SourceError(
            f"{download.address} could not be read ({reason}); try again, or download it yourself "
            f"and save it as {path}",
            name,
        ) from None
    except OSError as error:
        raise SourceError(
            f"{path} cannot be written ({error.strerror or error}); make room, allow writing, or set "
            f"{DATA} to another folder",
            name,
        ) from None
    return path


def source(name: str) -> Download:
    """Raises SourceError for an unknown name."""
    if name not in SOURCES:
        raise SourceError(f"source={name!r} is unknown; choose one of {', '.join(SOURCES)}", name)
    return SOURCES[name]


def _fetch(download: Download, path: Path, name: str, progress: Progress) -> None:
    """Takes no more bytes than expected, and raises SourceError for fewer, or for others."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{download.file}.") as scratch:
        request = urllib.request.Request(download.address, headers=_AGENT)
        come, n_come = Path(scratch) / "come", 0
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer, come.open("wb") as file:
            while n_come <= download.to_come and (chunk := answer.read(_CHUNK)):
                n_come += len(chunk)
                file.write(chunk)
                progress(min(n_come, download.to_come), download.to_come)
        if n_come != download.to_come:
            more = "more" if n_come > download.to_come else f"{n_come:,}"
            raise SourceError(
                f"{download.address} gave {more} bytes instead of {download.to_come:,}; try again",
                name,
            )
        if download.packed:
            come = _unpack(download, come, name)
        with come.open("rb") as file:
            actual = hashlib.file_digest(file, "sha256").hexdigest()
        if actual != download.digest:
            raise SourceError(
                f"{download.address} gave a file with sha256 {actual}, not {download.digest}; "
                "try again, or name a file of your own",
                name,
            )
        come.replace(path)


def _unpack(part: Download, archive: Path, name: str) -> Path:
    """The archive's only member, at most as long as it should be."""
    to, room = archive.with_name("unpacked"), part.size + 1
    try:
        with zipfile.ZipFile(archive) as zipped, to.open("wb") as f:
            member = zipped.open(zipped.infolist()[0])
            while room > 0 and (chunk := member.read(min(_CHUNK, room))):
                f.write(chunk)
                room -= len(chunk)
    except (zipfile.BadZipFile, zlib.error, EOFError, IndexError, RuntimeError, NotImplementedError):
        raise SourceError(f"{part.address} gave no zip archive; try again", name) from None
    return to


def _main(names: list[str]) -> None:
    """`python -m attention_lab.models.data.downloads tiny-shakespeare` downloads, with a bar."""
    from tqdm import tqdm

    for name in names or list(SOURCES):
        with tqdm(total=source(name).to_come, desc=name, unit="B", unit_scale=True) as bar:
            print(fetch(name, lambda come, _: bar.update(come - bar.n)))


if __name__ == "__main__":
    import sys

    try:
        _main(sys.argv[1:])
    except SourceError as error:
        sys.exit(f"error: {error}")
