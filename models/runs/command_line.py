"""Trains models on tasks, from the command line.

`run` trains, `resume` goes on, `further` goes on with other settings, `list` shows all runs, `show` one,
`compare` what several show against each other, `report` scores one with intervals, `note` names and tags
one, `export` writes one to a folder, `tasks` says what there is to learn, `data` shows what a task reads.
`sweep` trains many settings and compares them, `sweeps` lists sweeps, `sweep-show` shows one, `find-rate`
looks for a learning rate. `evaluate` scores translators on held-out sentences; `zoo` trains again all that
ships.
"""

from __future__ import annotations

import argparse
import inspect
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import closing, redirect_stderr
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from ..zoo.folders import SHIPPED, check_runs_root, runs_root
from . import jobs
from .folder import (
    LOG,
    REPORT,
    RunFolder,
    create_run,
    find_run,
    is_watched,
    list_runs,
    notes_of,
    own_names_in,
    read_status,
    tags_of,
)
from .printing import align
from .ranking import (
    OVER_SEEDS,
    differences_table,
    differing_table,
    groups,
    number,
    outcomes_in,
    scores_table,
    verdict,
)
from .ray import cluster
from .results import changed_words, history_of, result_of

if TYPE_CHECKING:
    from ..training.config import RunConfig


COMMANDS: dict[str, Callable[..., None]] = {}
"""The functions that are commands, by their names; other modules add theirs when they are imported."""
_Act = TypeVar("_Act", bound=Callable[..., None])
_NONE: list[str] = []


def command(name: str) -> Callable[[_Act], _Act]:
    """Makes a function a command: its docstring is the help, its parameters are the arguments.

    Those before the star are given by place, those behind it as --name. An annotation has the type, the help
    and, where a name says too little, what stands for the value. What has no default is required; a bool is a
    flag, a list is given several times.
    """

    def add(act: _Act) -> _Act:
        COMMANDS[name] = act
        return act

    return add


def _add(parser: argparse.ArgumentParser, act: Callable[..., None]) -> None:
    """Gives a parser the arguments of a command's parameters."""
    parser.set_defaults(act=act)
    annotations = get_type_hints(act, include_extras=True)
    for name, parameter in inspect.signature(act).parameters.items():
        kind, help, *placeholder = get_args(annotations[name])
        kinds = [kind, *get_args(kind)] if get_origin(kind) is UnionType else [kind]
        required = parameter.default is parameter.empty
        by_place = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        options: dict[str, Any] = {"help": help} if required else {"help": help, "default": parameter.default}
        if parameter.default not in (parameter.empty, None, "", 0, False) and parameter.default != []:
            options["help"] += "; default %(default)s"
        if placeholder:
            options["metavar"] = placeholder[0]
        if any(get_origin(each) is list for each in kinds):
            several = {"nargs": "+" if required else "*", "metavar": name[:-1]}
            options |= several if by_place else {"action": "append"}
        elif get_origin(kind) is Literal:
            options["choices"] = get_args(kind)
        elif kind is bool:
            options["action"] = "store_true"
        else:
            options["type"] = next((each for each in kinds if each in (int, float, Path)), str)
        if by_place:
            parser.add_argument(name, **options)
        else:
            parser.add_argument(f"--{name}", required=required, **options)


RUN = "the run's id, name or folder"
TASK = "what to learn; `tasks` lists them"
SETTING = "an option of the task, a size of the model or a number of the training, such as n_heads=8"
TAG = "a tag, to find the run by; may be given several times"
NOTE = "what is to be remembered of the run"


@command("compare")
def compare(
    runs: Annotated[list[str], "ids, names or folders; runs that differ by their seed alone count as one"],
    *,
    score: Annotated[str, "by which they are ranked; left out, the task's main one"] = "",
) -> None:
    """Says what runs show against each other, with tests: the sentences and tables that Runs shows."""
    folders = {run.path: run for run in map(find_run, runs)}
    candidates = groups(map(result_of, folders.values()))
    known = {name for group in candidates for run in group.counted for name in run.scores}
    if score and score not in known:
        names = ", ".join(sorted(known)) or "none: none of these runs has finished and was validated"
        raise ValueError(f"score={score!r} is none of these runs'; they have {names}")
    outcomes = outcomes_in({run.id: run for run in folders.values()})
    print("\n".join(verdict(candidates, score, outcomes=outcomes)))
    print(f"\n{align(scores_table(candidates))}\n{OVER_SEEDS}")
    tests = differences_table(candidates, score, outcomes=outcomes)
    if len(tests) > 1:
        print(f"\n{align(tests)}")
    called = own_names_in(run.description() for run in folders.values())
    differing = differing_table(candidates, lambda value: _value_words(value, called))
    print(f"\n{align(differing)}" if len(differing) > 1 else "\nall settings but the seed are the same")


@command("show")
def show(run: Annotated[str, RUN]) -> None:
    """Shows one run: how it stands, its notes, history, scores and settings."""
    folder = find_run(run)
    described, result, status = folder.description(), result_of(folder), read_status(folder.path)
    progress = f"step {status.step or result.step:,} of {result.steps or status.steps:,}"
    print(f"{folder.name} ({folder.id}): {status.state}, {progress}")
    if status.refused:
        print(f"it could not be resumed: {status.sentence}")
    for label, words in (("tags", ", ".join(tags_of(described))), ("notes", notes_of(described))):
        if words:
            print(f"{label}: {words}")
    for entry in history_of(described):
        print(f"trained further from {entry.get('from', '?')}, {changed_words(entry)}")
    for name, value in result.scores.items():
        print(f"{name}, held out at step {result.step:,}: {number(value)}")
    chosen, called = {**result.data, **result.settings, "seed": result.seed}, own_names_in([described])
    settings = result.settings if is_watched(described) else chosen
    rows = [(name, _value_words(value, called)) for name, value in settings.items()]
    print(align([("SETTING", "VALUE"), *rows]))


@command("note")
def note(
    run: Annotated[str, RUN],
    *,
    name: Annotated[str, "another name"] = "",
    tag: Annotated[list[str] | None, TAG] = None,
    note: Annotated[str | None, NOTE] = None,
) -> None:
    """Gives a run a name, tags or notes."""
    folder = find_run(run)
    if name:
        folder.rename(name)
    folder.annotate(tags=tag, notes=note)
    described = folder.description()
    tags, notes = ", ".join(tags_of(described)) or "none", notes_of(described) or "none"
    print(f"{folder.name} ({folder.id}); tags: {tags}; notes: {notes}")


def _value_words(value: Any, called: Mapping[str, str]) -> str:
    """A value in words. called: what files that are kept by their content are called."""
    return f"{value:g}" if isinstance(value, float) else called.get(str(value), str(value))


@command("run")
def run(
    *,
    task: Annotated[str, TASK],
    set: Annotated[list[str], SETTING, "NAME=VALUE"] = _NONE,
    out: Annotated[Path | None, "the run's folder; left out, a new one among all runs"] = None,
    name: Annotated[str, "what to call the run"] = "",
    tag: Annotated[list[str] | None, TAG] = None,
    note: Annotated[str | None, NOTE] = None,
) -> None:
    """Trains a model on a task."""
    from ..training.settings import configured

    config = configured(task, set)
    # Everything that can be refused is refused before a folder is made.
    if cluster.setting():
        jobs.backend().check(config)
    else:
        _check_fits(config)
    about = {part: value for part, value in (("tags", tag), ("notes", note)) if value}
    _train(create_run(config, name=name, path=out, about=about), config)


def _check_fits(config: RunConfig) -> None:
    """Raises ValueError where this machine has not the threads, the device or the memory for a run."""
    from ..training.memory import check_threads, choose
    from .queue import check_memory

    check_threads(config.training)
    choose(config.training)
    check_memory(config)  # it reads some of the task's examples, too


@command("resume")
def resume(run: Annotated[str, RUN]) -> None:
    """Goes on with a run from its last checkpoint."""
    folder = find_run(run)
    _train(folder, folder.config())


def _train(folder: RunFolder, config: RunConfig) -> None:
    """Trains in this process, or on the cluster that the environment names, and shows a progress bar.

    Ctrl-C pauses after the step.
    """
    from .printing import Bar
    from .worker import train_here

    if cluster.setting():
        from .worker import train_there as train_here

    print(f"run {folder.id} in {folder.path}")
    log = (folder.path / LOG).open("a", encoding="utf-8")
    with log, closing(Bar(config)) as bar, redirect_stderr(log):
        status = train_here(folder, bar.show)
    if status.state == "failed" or status.refused:
        raise ValueError(status.sentence)
    print(status.sentence)
    if status.outcome:
        print(status.outcome)
    last = next((line for line in reversed(folder.metrics()) if "validation" in line), None)
    if last:
        scores = ", ".join(f"{name} {value:.4g}" for name, value in last["validation"].items())
        print(f"held out at step {last['step']:,}: {scores}")
    if status.state != "finished":
        where = folder.id if folder.path.parent == runs_root() else folder.path
        command = shlex.join(["python", "-m", "attention_lab.models.training", "resume", str(where)])
        print(f"{status.state} at step {status.step:,}; go on with: {command}")


@command("further")
def further(
    run: Annotated[str, RUN],
    *,
    steps: Annotated[int, "in all, those of the old run among them"],
    set: Annotated[
        list[str],
        "what changes, such as learning_rate=1e-4, batch_size=64, dropout=0; sizes of the model cannot",
        "NAME=VALUE",
    ] = _NONE,
    schedule: Annotated[
        Literal["anew", "goes-on"], "of the rate: it goes on from the step, or starts anew with its warm-up"
    ] = "goes-on",
    moments: Annotated[Literal["kept", "forgotten"], "of the optimiser"] = "kept",
    name: Annotated[str, "what to call the new run"] = "",
) -> None:
    """Trains on from a run's last checkpoint with other settings, as a new run."""
    from ..training.settings import parted
    from .continuation import Change, changed_config, kept_step, make_further

    folder = find_run(run)
    before, status = folder.config(), read_status(folder.path)
    if status.live:
        raise ValueError(f"run {folder.name!r} is {status.state}; wait until it has ended, or stop it")
    step = kept_step(folder)
    if steps <= step:
        raise ValueError(f"steps={steps:,} are done already: {folder.name!r} has {step:,}; give more")
    options, sizes, training = parted(before.task.name, set)
    how: Any = {"schedule": schedule.replace("-", " "), "moments": moments}
    change = Change(steps=steps, training=training, model=sizes, options=options, **how)
    config = changed_config(folder, before, change, step)
    _check_fits(config)
    _train(make_further(folder, config, change, step, name), config)


@command("list")
def show_runs(
    *,
    filter: Annotated[str, "words that name, tags, task, state or notes have"] = "",
    ids: Annotated[bool, "the ids alone, for a shell's completion"] = False,
) -> None:
    """Shows all runs, or those that a filter finds."""
    from .printing import filtered, runs_table

    check_runs_root()
    runs = filtered(list_runs(), filter)
    print("\n".join(run.id for run in runs) if ids else runs_table(runs))


@command("data")
def show_data(
    *, task: Annotated[str, TASK], set: Annotated[list[str], SETTING, "NAME=VALUE"] = _NONE
) -> None:
    """Shows a task's data as the model will read it."""
    from ..data.tasks.summary import summary_of
    from ..training.settings import configured
    from .printing import data_lines

    config = configured(task, set)
    print(data_lines(summary_of(config.task, config.training.batch_size)))


@command("tasks")
def show_tasks() -> None:
    """Shows what there is to learn, with all options."""
    from .printing import tasks_table

    print(tasks_table())


@command("export")
def export(
    run: Annotated[str, RUN],
    *,
    out: Annotated[Path, "the folder to write to"],
    best: Annotated[bool, "the best validation's weights, not the last step's"] = False,
    name: Annotated[str, "the model's name; left out, the run's"] = "",
    format: Annotated[
        Literal["own", "transformers", "onnx"],
        "own (opens here again), transformers (where GPT-2, BERT or another of theirs fits), or onnx",
    ] = "own",
) -> None:
    """Writes a run's model, card, metrics and config to a folder."""
    from .export import export_run

    print("wrote", export_run(find_run(run), out, name=name, which="best" if best else "last", form=format))


@command("find-rate")
def find_rate(
    *,
    task: Annotated[str, TASK],
    set: Annotated[list[str], SETTING, "NAME=VALUE"] = _NONE,
    low: Annotated[float, "the first rate"] = 1e-6,
    high: Annotated[float, "the last rate"] = 1.0,
    steps: Annotated[int, "from the first to the last"] = 120,
) -> None:
    """Looks for a learning rate by a range test: prints the loss while the rate rises, and a suggestion."""
    from tqdm import tqdm

    from ..training.rate_range_test import RateFinder
    from ..training.settings import configured

    config = configured(task, set)
    finder = RateFinder(config, low=low, high=high, steps=steps)
    for curve in tqdm(finder, total=steps, unit="step", leave=False):
        last = curve
    every = max(1, len(last.rates) // 24)
    places = range(0, len(last.rates), every)
    rows = [("RATE", "LOSS", "SMOOTHED")]
    rows += [(f"{last.rates[i]:.2e}", f"{last.losses[i]:.4f}", f"{last.smoothed[i]:.4f}") for i in places]
    print(f"{align(rows)}\n{last.sentence}")


@command("report")
def report(
    run: Annotated[str, RUN], *, examples: Annotated[int, "of each part; 0 for as many as in validation"] = 0
) -> None:
    """Scores a run on held-out and test examples, writes report.json and prints the scores."""
    from .report import table, write_report

    folder = find_run(run)
    print(table(write_report(folder, examples=examples)))
    print("wrote", folder.path / REPORT)


@command("evaluate")
def evaluate(
    models: Annotated[list[str], "names, folders or files"] = ("translator", "translator-plain"),  # type: ignore[assignment]
    *,
    sentences: Annotated[int, "held out"] = 2_000,
) -> None:
    """Scores translators on held-out sentences."""
    from ..training.evaluation import score

    for name in models:
        if len(models) > 1:
            print(f"{name}:")
        print(score(name, sentences))


@command("zoo")
def zoo(
    names: Annotated[list[str], "of shipped models; all where none is named"] = _NONE,
    *,
    out: Annotated[Path, "folder with a folder for each model"] = SHIPPED,
    file: Annotated[str, "the data that a model needs which this project did not make (everyday)"] = "",
) -> None:
    """Trains again all that ships, or what is named; without its file, everyday is left out, unless named."""
    from .train_shipped import train_all

    train_all(names, out, file)


def main() -> None:
    """Runs one command; a fault ends it with a sentence."""
    as_it_stands = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m attention_lab.models.training", description=__doc__, formatter_class=as_it_stands
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, act in COMMANDS.items():
        _add(commands.add_parser(name, help=inspect.getdoc(act)), act)
    arguments = vars(parser.parse_args())
    try:
        arguments.pop("act")(**arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # who reads, such as `head`, has enough; nothing more is flushed into the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + 13)  # as of SIGPIPE
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped")
