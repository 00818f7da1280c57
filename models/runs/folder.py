"""A run's folder, which is the truth about the run: config, notes, own files, records by step, and status.

Nothing here imports torch, so that a page can list its runs while torch is still being imported; but for
`config` and what reads tensors.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import Field, TypeAdapter, ValidationError

from ..byte_units import MB, readable
from ..data.text_files import own_name
from ..fields import options_of
from ..files import (
    FileError,
    WriteError,
    only_file,
    read_json,
    read_json_if_any,
    read_lines,
    write_json,
    write_whole,
    writing,
)
from ..training.config import RunConfig, TrainingConfig
from ..zoo.folders import (
    BEST,
    CHECKPOINT,
    CONFIG,
    NEXT_BEST,
    PROBE,
    TASK,
    VERSION,
    Which,
    check_runs_root,
    read_description,
    runs_root,
    weights_path,
)
from .owners import OWNER
from .processes import Identity, boot, oom_kills

if TYPE_CHECKING:
    from torch import Tensor

    from ..data.tasks import Task
    from ..engine.transformer import Transformer
    from .checkpoints import Checkpoint

# Tags, notes, and the filter that finds them (in config.json)

MAX_NAME, MAX_NOTES = 80, 2_000
MAX_TAG, MAX_TAGS = 30, 8
MAX_FILTER = 100


def checked_name(name: str) -> str:
    """A run's name without needless blanks. Raises ValueError for an empty or very long one."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME:
        raise ValueError(f"{name[:100]!r} is no name for a run: give one of 1 to {MAX_NAME} letters")
    return name


def checked_tags(tags: Iterable[str]) -> list[str]:
    """Tags without needless blanks, each once, in their order; a comma parts two tags.

    Raises ValueError for more than eight, or one that is longer than 30 characters.
    """
    words = [" ".join(word.split()) for tag in tags for word in tag.split(",")]
    distinct = list(dict.fromkeys(filter(None, words)))
    for tag in distinct:
        if len(tag) > MAX_TAG:
            raise ValueError(f"tag {tag[:MAX_TAG]!r}… has {len(tag)} characters; give at most {MAX_TAG}")
    if len(distinct) > MAX_TAGS:
        raise ValueError(f"{len(distinct)} tags are too many for one run; give at most {MAX_TAGS}")
    return distinct


def checked_notes(notes: str) -> str:
    """Notes without blanks around them. Raises ValueError for more than 2,000 characters."""
    notes = notes.strip()
    if len(notes) > MAX_NOTES:
        raise ValueError(f"the notes have {len(notes):,} characters; give at most {MAX_NOTES:,}")
    return notes


def tags_of(described: Mapping[str, Any]) -> list[str]:
    """The tags in a config.json, whatever it says; at most eight."""
    entries = described.get("tags")
    tags = entries if isinstance(entries, list) else []
    return [tag[:MAX_TAG] for tag in tags if isinstance(tag, str) and tag][:MAX_TAGS]


def notes_of(described: Mapping[str, Any]) -> str:
    """The notes in a config.json, whatever it says; at most 2,000 characters."""
    notes = described.get("notes")
    return notes[:MAX_NOTES] if isinstance(notes, str) else ""


def matches(words: str, described: Mapping[str, Any], state: str, *, name: str = "") -> bool:
    """Whether every word of a filter is in the run's name, tags, task, notes or state; case does not count.

    name: where it is another than the config's.
    """
    task = described.get("task")
    task_name = task.get("name", "") if isinstance(task, dict) else ""
    parts = [name or str(described.get("name", "")), str(task_name), state, notes_of(described)]
    text = "\n".join([*parts, *tags_of(described)]).casefold()
    return all(word in text for word in words[:MAX_FILTER].casefold().split())


# Files by step: tensors and lines of JSON, and how a resumed run cuts them


def numbered(step: int) -> str:
    """The name of the file of one step."""
    return f"{step:08d}.safetensors"


def cut_lines(path: Path, last_step: int) -> None:
    """Removes the lines of later steps, and a line that a kill left half-written."""
    if path.is_file():
        lines = [line for line in read_lines(path) if 0 <= step_of(line) <= last_step]
        write_whole(path, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode())


def cut_files(folder: Path, last_step: int) -> None:
    """Removes the numbered files of later steps."""
    for step, path in numbered_files(folder).items():
        if step > last_step:
            path.unlink(missing_ok=True)


def numbered_files(folder: Path) -> dict[int, Path]:
    """The files of a folder that belong to a step, by step."""
    if not folder.is_dir():
        return {}
    return {
        int(path.stem): path
        for path in folder.iterdir()
        if path.suffix == ".safetensors"
        and re.fullmatch(r"\d{8,20}", path.stem)
        and path.is_file()
        and not path.is_symlink()
    }


def tensors_of(path: Path) -> dict[str, Tensor]:
    """A file's tensors by name. Raises FileError for one that is gone or damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        return load(only_file(path).read_bytes())
    except FileNotFoundError:
        raise FileError(f"{str(path)!r} is not there; choose a step that was kept") from None
    except (OSError, SafetensorError, ValueError, KeyError, TypeError):
        raise FileError(f"{str(path)!r} is damaged; delete it, or restore it") from None


def step_of(line: dict[str, Any]) -> int:
    """The step of a line; -1 where it states none."""
    step = line.get("step")
    return step if isinstance(step, int) and not isinstance(step, bool) else -1


# A person's own files
# config.json holds them as "files": for each option that names one, its name, its bytes and its SHA-256.

FILES = "files"
_BY_CONTENT = re.compile(r"([0-9a-f]{64})\.[a-z0-9-]{1,12}")  # an uploaded file is named by its SHA-256


def files_of(task: Task, before: Mapping[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    """The files that a task reads, by option, as they are now; those that are not there are left out.

    before: the config.json of a run that this one goes on from: what that says of a file still counts.
    """
    files = {}
    options = task.to_dict()
    for name in [name for name, option in options_of(type(task)).items() if option.file]:
        if not options.get(name):
            continue
        if before is not None and _options(before).get(name) == options[name]:
            known = _files(before).get(name)
            if known is not None:
                files[name] = known
            continue
        path = Path(options[name]).expanduser()
        try:
            size, digest = path.stat().st_size, _digest(path, trust_name=True)
        except OSError:
            continue  # whoever reads it says so
        files[name] = {"name": own_name(path), "bytes": size, "sha256": digest}
    return files


def check_files(described: Mapping[str, Any]) -> None:
    """Raises ValueError where a file of this run is gone or has other content than when the run was made.

    Runs from before "files" were kept are not checked.
    """
    for option, file in _files(described).items():
        path, name = Path(str(_options(described).get(option, ""))).expanduser(), str(file.get("name"))[:120]
        try:
            size, digest = path.stat().st_size, _digest(path)
        except OSError as error:
            raise ValueError(
                f"{name!r}, which this run reads, is gone ({error.strerror}); put it back, or hand it in "
                "again on Train, and resume"
            ) from None
        if (size, digest) != (file.get("bytes"), file.get("sha256")):
            raise ValueError(
                f"{name!r} has changed since this run began; put it back and resume, or start a new run"
            )


def name_of(described: Mapping[str, Any], option: str) -> str:
    """What the file of an option is called; "" where nobody knows, or it is none."""
    name = _files(described).get(option, {}).get("name")
    if isinstance(name, str):
        return name[:120]
    path = _options(described).get(option)
    return own_name(Path(path)) if isinstance(path, str) and _BY_CONTENT.fullmatch(Path(path).name) else ""


def own_names_in(runs: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What files are called that a server keeps by their content, in the config.json of these runs; two of
    one name are told apart by the beginning of their digests.
    """
    names: dict[str, str] = {}
    for described in runs:
        for option, path in _options(described).items():
            file_name = Path(path).name if isinstance(path, str) else ""
            if _BY_CONTENT.fullmatch(file_name):
                names.setdefault(file_name, name_of(described, option) or file_name)
    many = Counter(names.values())
    return {file: own if many[own] == 1 else f"{own} ({file[:8]}…)" for file, own in names.items()}


def _digest(path: Path, *, trust_name: bool = False) -> str:
    """The SHA-256 of a file; one that is named by it is not read where that name can be trusted."""
    match = _BY_CONTENT.fullmatch(path.name)
    if match and trust_name:
        return match[1]
    with only_file(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(described: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    files = described.get(FILES)
    entries = files if isinstance(files, dict) else {}
    return {name: file for name, file in entries.items() if isinstance(file, dict)}


def _options(described: Mapping[str, Any]) -> Mapping[str, Any]:
    task = described.get("task")
    options = task.get("options") if isinstance(task, dict) else None
    return options if isinstance(options, dict) else {}


@contextmanager
def delete_on(run: RunFolder, *errors: type[Exception]) -> Iterator[None]:
    """Inside, one of these errors takes the run's new folder away again."""
    try:
        yield
    except errors:
        with suppress(OSError):
            run.delete()
        raise


# The folder, read by the page, the command line and the worker

STATUS, REQUEST = "status.json", "request.json"
METRICS, SAMPLES, REPORT = "metrics.jsonl", "samples.jsonl", "report.json"
LOG, LOCK = "log.txt", ".lock"  # of the process that trains
SNAPSHOTS, PICTURES, EVENTS = "snapshots", "pictures", "events.out.tfevents"
_FILES = (
    CONFIG, TASK, PROBE, STATUS, REQUEST, METRICS, SAMPLES, REPORT, CHECKPOINT, LOG, LOCK, OWNER, BEST,
    NEXT_BEST,
)  # fmt: skip


class RunFolder:
    """One run on disk. Missing files read as empty; half-written last lines and foreign files are left out.

    Methods raise FileError, with a remedy, for what is damaged or of a newer version, and
    WriteError where the disk refuses to write.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"RunFolder({str(self.path)!r})"

    @property
    def id(self) -> str:
        """The run's name in links and on the command line."""
        return self.path.name

    @property
    def name(self) -> str:
        """What a person calls the run; the folder's name where nothing is said or the config is damaged."""
        try:
            return str(self.description().get("name") or self.id)
        except FileError:
            return self.id

    @property
    def created(self) -> str:
        """When it was made, as ISO 8601 text in UTC; "" where that is not known."""
        try:
            return str(self.description().get("created", ""))
        except FileError:
            return ""

    def description(self) -> dict[str, Any]:
        """config.json as it stands: version, name, created, task, model, training."""
        return read_description(self.path)

    def config(self) -> RunConfig:
        """The run's config; its task has what it learnt from its data."""
        from ..zoo.model_file import checked, read_config, read_task

        described, path = self.description(), self.path / CONFIG
        if is_watched(described):
            raise FileError(
                f"run {self.name!r} was watched while a program trained it, so it has no weights or task "
                "here; list, show, compare and Runs know it"
            )
        model = read_config(path, described["model"])
        task = read_task(path, described["task"], read_json(self.path / TASK), model)
        training = checked(path, "training", lambda: TrainingConfig.from_file(described["training"]))
        return RunConfig(task=task, model=model, training=training)

    def metrics(self, after_step: int = 0) -> list[dict[str, Any]]:
        """The kept records of the steps after `after_step`, in order."""
        lines = read_lines(self.path / METRICS)
        return [line for line in lines if step_of(line) > after_step and _is_record(line)]

    def samples(self) -> list[dict[str, Any]]:
        """The samples taken during training: {"step", "samples": [{"given", "made", "wanted"}]}, in order."""
        return [line for line in read_lines(self.path / SAMPLES) if step_of(line) >= 0]

    def probe(self) -> dict[str, Any]:
        """The example whose attention was watched: {"tokens", "text", "picture"}; {} before the start."""
        return read_json_if_any(self.path / PROBE)

    def snapshots(self) -> list[int]:
        """The steps that have a snapshot, in order; step 0 is the untrained model."""
        return sorted(numbered_files(self.path / SNAPSHOTS))

    def snapshot(self, step: int) -> dict[str, Tensor]:
        """The probe's patterns at a step: address -> float16 [head, query, key]."""
        return tensors_of(self.path / SNAPSHOTS / numbered(step))

    def picture_steps(self) -> list[int]:
        """The steps that have pictures, in order."""
        return sorted(numbered_files(self.path / PICTURES))

    def pictures(self, step: int) -> dict[str, Tensor]:
        """ "originals" and "pictures" at a step, each [picture, row, column] in 0..1."""
        return tensors_of(self.path / PICTURES / numbered(step))

    def checkpoint(self) -> Checkpoint | None:
        """The last checkpoint; None before the first."""
        from .checkpoints import read_checkpoint

        return read_checkpoint(self.path / CHECKPOINT)

    def model(self, which: Which = "last") -> Transformer:
        """The model with the weights of the last checkpoint, or of the best validation. Raises FileError."""
        from ..zoo.model_file import read_weights

        path = weights_path(self.path, which)
        return read_weights(path, self.config().model, part="model." if which == "last" else "")

    def rename(self, name: str) -> None:
        """Gives the run another name. Raises ValueError for an empty or very long one."""
        self._describe(name=checked_name(name))

    def annotate(self, *, tags: Iterable[str] | None = None, notes: str | None = None) -> None:
        """Replaces the run's tags or notes, or both. Raises ValueError for too many, or too long ones."""
        if tags is not None:
            self._describe(tags=checked_tags(tags))
        if notes is not None:
            self._describe(notes=checked_notes(notes))

    def _describe(self, **changed: Any) -> None:
        """Writes config.json with these entries changed; the process that trains only reads it."""
        write_json(self.path / CONFIG, {**self.description(), **changed})

    def size_bytes(self) -> int:
        """The bytes that the folder's files have together."""
        total = 0
        for folder, _, names in os.walk(self.path):
            for name in names:
                with suppress(OSError):  # gone since it was listed
                    total += os.lstat(os.path.join(folder, name)).st_size
        return total

    def delete(self) -> None:
        """Removes all files that runs write, and then the folder, unless it holds other files."""
        with writing(self.path):
            for path in self._written():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
            if not any(self.path.iterdir()):
                self.path.rmdir()

    def _written(self) -> Iterator[Path]:
        """All that a run writes; the config comes last, so that a half-deleted run is still listed."""
        for path in sorted(self.path.iterdir()):
            known = path.name in (*_FILES[1:], SNAPSHOTS, PICTURES) or path.name.startswith(EVENTS)
            if known or re.fullmatch(r"\..*\.tmp", path.name):
                yield path
        if (self.path / CONFIG).exists():
            yield self.path / CONFIG


def create_run(
    config: RunConfig, *, name: str = "", path: Path | None = None, about: Mapping[str, Any] | None = None
) -> RunFolder:
    """Makes a new run's folder with its config and what its task learnt from its data.

    path: by default a new folder in `runs_root()`. about: what else config.json says of the run: "tags",
    "notes", "history", "sweep". Raises FileError where there is a run already, ValueError for a name, tags or
    notes that are too long, and WriteError where the disk refuses; no folder is left behind then.
    """
    files = {FILES: own} if FILES not in (about or {}) and (own := files_of(config.task)) else {}
    about = {**(about or {}), **files}
    return new_run(
        config.task.name, config.to_dict(), config.task.learnt(), name=name, path=path, about=about
    )


def new_run(
    kind: str,
    parts: Mapping[str, Any],
    learnt: Mapping[str, Any],
    *,
    name: str = "",
    path: Path | None = None,
    about: Mapping[str, Any] | None = None,
) -> RunFolder:
    """As `create_run`, of what config.json and task.json say. kind: how a new folder's name begins."""
    if path is None:
        check_runs_root()
        plain = re.sub(r"[^a-z0-9]+", "-", kind.lower())[:60].strip("-")
        begins = f"{plain}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        while path is None or path.exists():  # another one of this second may have the same letters
            path = runs_root() / f"{begins}-{secrets.token_hex(2)}"
    folder = RunFolder(path)
    if (folder.path / CONFIG).exists():
        raise FileError(f"{str(folder.path)!r} holds a run already; resume it, or choose another folder")
    name, about = checked_name(name or folder.id), dict(about or {})
    if "tags" in about:
        about["tags"] = checked_tags(about["tags"])
    if "notes" in about:
        about["notes"] = checked_notes(about["notes"])
    described = {
        "version": VERSION,
        "name": name,
        "created": datetime.now(UTC).isoformat(timespec="microseconds"),
        **about,
        **parts,
    }
    with delete_on(folder, WriteError):
        with writing(folder.path):
            folder.path.mkdir(parents=True, exist_ok=True)
        write_json(folder.path / TASK, learnt)
        write_json(folder.path / CONFIG, described)  # last: it makes the folder a run
    return folder


def list_runs(root: Path | None = None) -> list[RunFolder]:
    """All runs, newest first, including damaged ones."""
    root = root or runs_root()
    if not root.is_dir():
        return []
    runs = [RunFolder(path.parent) for path in root.glob(f"*/{CONFIG}") if not path.parent.is_symlink()]
    return sorted(runs, key=lambda run: (run.created, run.id), reverse=True)


def find_run(name: str) -> RunFolder:
    """The run with an id, a name or a path. Raises FileError where there is none, or more than one."""
    for path in (runs_root() / name, Path(name)):
        if (path / CONFIG).is_file():
            return RunFolder(path)
    called = [run for run in list_runs() if run.name == name]
    if len(called) == 1:
        return called[0]
    check_runs_root()
    if called:
        ids = ", ".join(run.id for run in called)
        raise FileError(f"{len(called)} runs are called {name!r}; say which: {ids}")
    known = ", ".join(run.id for run in list_runs()[:5]) or "none"
    raise FileError(f"there is no run {name!r}; the latest are: {known}")


def _is_record(line: dict[str, Any]) -> bool:
    """Whether the scores and norms of a line, if it has them, are numbers by their names."""
    scores, norms = line.get("validation", {}), line.get("norms", {})
    if not isinstance(scores, dict) or not isinstance(norms, dict):
        return False
    pairs = [pair if isinstance(pair, list) and len(pair) == 2 else [None] for pair in norms.values()]
    return all(isinstance(value, int | float) for value in [*scores.values(), *chain(*pairs)])


# The status: what a run's process says of itself in `status.json`, and what its silence means

State = Literal["queued", "running", "paused", "stopping", "finished", "stopped", "failed"]
Ask = Literal["pause", "stop"]


class Cause(StrEnum):
    """Why a run or a sweep ended as it did. Programs read this; the sentence beside it is for people."""

    NONE = ""
    PERSON = "person"  # paused or stopped it
    SERVER = "server"  # it paused as the server that started it was gone,
    SIGNAL = "signal"  # as the system or Ctrl-C asked for it,
    TIME = "time"  # or as its minutes in the slot were over
    KILLED = "killed"  # its process ended without a word,
    MEMORY = "memory"  # most likely because there was too little memory,
    SILENT = "silent"  # or is there and gives no sign
    DISK = "disk"  # the disk is full, or refuses
    CLUSTER = "cluster"  # the cluster went away, or was never reached
    ROOM = "room"  # a sweep paused until there is room for its runs
    EXHAUSTED = "exhausted"  # a sweep finished early, since there are no more settings
    GREW = "grew"  # it finished, and its loss grew


LOST = (Cause.KILLED, Cause.MEMORY, Cause.SILENT)
"""Of a run that lost its process, and goes on from its last checkpoint when another takes it."""

WATCHED = "watched"
"""The task of a run that a program of a person's own trains."""


def is_watched(described: Mapping[str, Any]) -> bool:
    """True for the description of a run that a program of a person's own trains."""
    task = described.get("task")
    return isinstance(task, dict) and task.get("name") == WATCHED


STATUS_VERSION = 1
SILENT_SECONDS = 15.0
"""A process that writes its sign of life every second, and has not for so long, counts as dead."""
START_SECONDS = 60.0
"""A process takes at most so long to start and give its first sign, on a machine that is busy."""

AFAR_SECONDS = 30.0
"""The same for a process on another machine, whose clock and file system may lag."""
CLUSTER = "cluster"
"""The `node` of a run that waits for one."""

_OVERWRITING_SECONDS = 0.02  # a reader may see half of a file that is overwritten in place
_LIVE = ("queued", "running", "stopping")


Count = Annotated[int, Field(ge=0, lt=10**18)]
Seconds = Annotated[float, Field(gt=-1e18, lt=1e18)]


@dataclass(frozen=True, kw_only=True)
class Status:
    """How a run stands. step of steps; seconds of training so far, without those of compiling; times are Unix
    times.

    sentence: what was chosen, what it waits for, or why it ended. asked: a request that it has not met yet.
    born, up: when the process began and gave its last sign by the machine's own counters, which nobody sets.
    smaller: sizes that need less memory, in case the system kills the process without a word. memory, free:
    bytes that the process holds, and that the machine had left beside it. oom_kills: processes that the
    system had killed by then because memory ran out. unnoted: seconds in its slot that no file of the owner's
    minutes counts yet. node: the machine of a Ray cluster where the run trains, or "cluster" while it waits
    there; "" on this machine. attempt: counts the processes that were given the run; one that finds a later
    attempt in the file ends, so that no two write it. outcome: that it stopped early, or that its loss
    grew, else "". cause: why it ended, for programs. resumed: it was paused and is to go on, but has not
    trained since. watched: a program of a person's own trains it, whatever that does between two steps; it
    hears no requests.
    """

    state: State
    step: Count = 0
    steps: Count = 0
    seconds: Seconds = 0.0
    compiling: Seconds = 0.0
    device: str = ""
    sentence: str = ""
    asked: str = ""
    keep_going: bool = False
    queued_at: Seconds = 0.0
    pid: Count | None = None
    started_at: Seconds | None = None
    born: str = ""
    heartbeat: Seconds = 0.0
    up: Seconds = 0.0
    memory: Count = 0
    free: Count = 0
    oom_kills: Count = 0
    smaller: str = ""
    unnoted: Seconds = 0.0
    node: str = ""
    attempt: Count = 0
    outcome: str = ""
    cause: Cause = Cause.NONE
    resumed: bool = False
    watched: bool = False

    @property
    def refused(self) -> bool:
        """Whether it is paused still because what was to let it go on was refused; the sentence says why."""
        return self.state == "paused" and self.resumed

    @property
    def live(self) -> bool:
        """Whether its process waits, trains or is ending; only then can it be paused or stopped."""
        return self.state in _LIVE

    @property
    def process(self) -> Identity | None:
        """The process that writes this status, if one has started."""
        if self.pid is None or self.started_at is None:
            return None
        return Identity(self.pid, self.started_at, self.born)


def read_status(folder: Path) -> Status:
    """How the run in `folder` stands, whatever its file says: a dead process's "running" reads as failed."""
    try:
        written = _written(folder)
    except ValueError:
        time.sleep(_OVERWRITING_SECONDS)
        try:
            written = _written(folder)
        except ValueError as error:
            return Status(state="failed", sentence=f"{error}; resume goes on from the last checkpoint")
    if written is None:
        return Status(state="stopped", sentence="no process has worked here; resume starts one")
    request, killed = read_request(folder), oom_kills()
    return judge(written, request, now=time.time(), alive=lambda process: process.alive, oom_kills=killed)


def judge(
    status: Status, request: Ask | None, *, now: float, alive: Callable[[Identity], bool], oom_kills: int = 0
) -> Status:
    """`status` as it is, or, where its process has fallen silent, the state in which it ended."""
    if not status.live or (status.watched and status.process and alive(status.process)):
        return status
    if status.watched:
        return replace(status, state="stopped", sentence="the program that trained it ended without a word")
    silent, process = _silence(status, now), status.process
    if status.node:
        return _judged_afar(status, silent)
    if process is None:
        if silent <= START_SECONDS:
            return status
        return _lost(status, Cause.SILENT, "its process did not start; log.txt may say why")
    if alive(process):
        if silent <= SILENT_SECONDS:
            return status
        sentence = (
            f"its process (pid {process.pid}) gave no sign for {silent:.0f} seconds; "
            "stop ends it, and resume goes on from the last checkpoint"
        )
        return _lost(status, Cause.SILENT, sentence)
    wanted_end = status.asked or request
    if wanted_end:
        return ended_on_request(status, wanted_end, CUT_SHORT)
    return _lost(status, *_last_words(status, oom_kills))


def _lost(status: Status, cause: Cause, sentence: str) -> Status:
    return replace(status, state="failed", sentence=sentence, cause=cause)


def _judged_afar(status: Status, silent: float) -> Status:
    """A run on a cluster: its process is out of sight, so only its signs of life count."""
    if silent <= (AFAR_SECONDS if status.pid else START_SECONDS):
        return status
    where = "its turn" if status.node == CLUSTER else status.node
    sentence = (
        f"the cluster gave no sign of this run for {silent:.0f} seconds (last at step {status.step:,}, "
        f"{'waiting for ' if status.node == CLUSTER else 'on '}{where}); "
        "resume goes on from the last checkpoint"
    )
    return _lost(status, Cause.CLUSTER, sentence)


def _silence(status: Status, now: float) -> float:
    """Seconds since the last sign of life: by the machine's counter, unless the machine was restarted."""
    if status.up and boot() and status.born.startswith(f"{boot()}:"):
        return time.monotonic() - status.up
    return now - status.heartbeat


CUT_SHORT = "ended in a step that took too long; resume goes on from the last checkpoint"


def ended_by(request: str) -> State:
    """The state of a run that has met a request."""
    return "paused" if request == "pause" else "stopped"


def ended_on_request(status: Status, request: str, sentence: str) -> Status:
    """The last status of a run that was asked to end: by a person, unless it says that something else did."""
    cause = status.cause or Cause.PERSON
    return replace(status, state=ended_by(request), asked="", sentence=sentence, cause=cause, resumed=False)


def _last_words(status: Status, oom_kills: int) -> tuple[Cause, str]:
    short = status.free < max(status.memory // 4, 256 * MB) or oom_kills > status.oom_kills
    if status.memory and short:
        memory, free = map(readable, (status.memory, status.free))
        sentence = (
            f"the process was killed, most likely for lack of memory: it held {memory}, and {free} were left"
        )
        return Cause.MEMORY, f"{sentence}; {status.smaller}" if status.smaller else sentence
    return Cause.KILLED, (
        f"the process ended without a word at step {status.step:,} (killed?); resume goes on from the last "
        "checkpoint"
    )


def refusal_of(status: Status, sentence: str, cause: Cause = Cause.NONE) -> Status:
    """The last status of a run that may not train: one that was to go on after a pause is paused still."""
    state: State = "paused" if status.resumed else "failed"
    return replace(status, state=state, asked="", sentence=sentence, cause=cause)


def hanging(folder: Path) -> Identity | None:
    """The run's process if it is alive but has given no sign for long, so that it may be killed."""
    try:
        written = _written(folder)
    except ValueError:
        return None
    if written is None or not written.live or written.process is None or written.node or written.watched:
        return None
    silent = _silence(written, time.time()) > SILENT_SECONDS
    return written.process if silent and written.process.alive else None


def read_request(folder: Path) -> Ask | None:
    """What a page or the command line asks of the run's process, if anything."""
    try:
        request = read_json_if_any(folder / REQUEST).get("ask")
    except ValueError:
        return None
    return request if request in get_args(Ask) else None


def write_request(folder: Path, ask: Ask) -> None:
    """Asks the run's process to pause or to stop. Raises OSError."""
    _write(folder / REQUEST, {"version": STATUS_VERSION, "ask": ask})


def write_status(folder: Path, status: Status) -> None:
    """Writes the status. Raises OSError where the folder is gone or cannot be written."""
    _write(folder / STATUS, {"version": STATUS_VERSION, **asdict(status)})


def _write(path: Path, values: dict[str, Any]) -> None:
    """Writes whole or not at all; on a full disk it overwrites the old file, whose space it already has."""
    try:
        write_json(path, values)
    except OSError as refusal:
        try:
            with path.open("r+b") as file:
                length = file.seek(0, os.SEEK_END)
                file.seek(0)
                file.write(json.dumps(values).encode().ljust(length))
                file.truncate()
        except OSError:
            raise refusal from None


def latest_attempt(folder: Path) -> int:
    """The attempt that the run's status names; 0 where it names none or cannot be read."""
    try:
        written = _written(folder)
    except ValueError:
        return 0
    return written.attempt if written else 0


def _written(folder: Path) -> Status | None:
    """What the file says; None where there is none. Raises ValueError for a damaged or newer one."""
    values = read_json_if_any(folder / STATUS, newest=STATUS_VERSION)
    if not values:
        return None
    try:
        return _status_reader().validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        wrong = [
            "it has no state" if each["type"] == "missing" else f"{each['loc'][0]}={each['input']!r}"
            for each in error.errors()
        ]
        raise ValueError(f"{STATUS} is damaged: {', '.join(wrong)}") from None


@cache
def _status_reader() -> TypeAdapter[Status]:
    return TypeAdapter(Status)
