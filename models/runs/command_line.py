"""The commands that compare runs, describe one, note something on it, and train it further."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.runs import jobs
from models.runs.comparison import (
    OVER_SEEDS,
    differences_table,
    differing_table,
    groups,
    number,
    outcomes_in,
    scores_table,
    verdict,
)
from models.runs.folder import (
    LOG,
    REPORT,
    RunFolder,
    create_run,
    find_run,
    list_runs,
    notes_of,
    own_names_in,
    tags_of,
)
from models.runs.printing import aligned
from models.runs.ray.cluster import wanted
from models.runs.results import changed_words, history_of, result_of
from models.runs.status import read_status
from models.zoo.folders import SHIPPED, Which, check_runs_root, runs_root

if TYPE_CHECKING:
    from models.training.config import RunConfig


_ANEW = {"anew": "anew", "goes-on": "goes on"}


def compare(arguments: argparse.Namespace) -> None:
    """Prints what runs show against each other: the sentences and tables that Runs shows."""
    folders = {run.path: run for run in map(find_run, arguments.runs)}
    found = groups(map(result_of, folders.values()))
    known = {name for group in found for run in group.counted for name in run.scores}
    if arguments.score and arguments.score not in known:
        said = ", ".join(sorted(known)) or "none: none of these runs has finished and was validated"
        raise ValueError(f"score={arguments.score!r} is none of these runs'; they have {said}")
    outcomes = outcomes_in({run.id: run for run in folders.values()})
    print("\n".join(verdict(found, arguments.score, outcomes=outcomes)))
    print(f"\n{aligned(scores_table(found))}\n{OVER_SEEDS}")
    tests = differences_table(found, arguments.score, outcomes=outcomes)
    if len(tests) > 1:
        print(f"\n{aligned(tests)}")
    called = own_names_in(run.description() for run in folders.values())
    differing = differing_table(found, lambda value: _said(value, called))
    print(f"\n{aligned(differing)}" if len(differing) > 1 else "\nall settings but the seed are the same")


def show(arguments: argparse.Namespace) -> None:
    """Prints all that is known of one run: how it stands, notes, history, scores, settings."""
    run = find_run(arguments.run)
    said, result, status = run.description(), result_of(run), read_status(run.path)
    print(f"{run.name} ({run.id}): {status.state}, step {status.step or result.step:,} of {result.steps:,}")
    if status.refused:
        print(f"it could not be resumed: {status.sentence}")
    for label, words in (("tags", ", ".join(tags_of(said))), ("notes", notes_of(said))):
        if words:
            print(f"{label}: {words}")
    for entry in history_of(said):
        print(f"trained further from {entry.get('from', '?')}, {changed_words(entry)}")
    for name, value in result.scores.items():
        print(f"{name}, held out at step {result.step:,}: {number(value)}")
    settings, called = {**result.data, **result.settings, "seed": result.seed}, own_names_in([said])
    rows = [(name, _said(value, called)) for name, value in settings.items()]
    print(aligned([("SETTING", "VALUE"), *rows]))


def note(arguments: argparse.Namespace) -> None:
    """Gives a run another name, tags or notes."""
    run = find_run(arguments.run)
    if arguments.name:
        run.rename(arguments.name)
    run.annotate(tags=arguments.tag, notes=arguments.note)
    said = run.description()
    tags, notes = ", ".join(tags_of(said)) or "none", notes_of(said) or "none"
    print(f"{run.name} ({run.id}); tags: {tags}; notes: {notes}")


def make_continuation(arguments: argparse.Namespace) -> RunFolder:
    """Makes the folder of a run that goes on from another's last checkpoint, as `further` says.

    Raises ValueError, before anything is made, for a run without a checkpoint and a change it cannot take.
    """
    from models.runs.continuation import Change, changed_config, kept_step, make_further
    from models.runs.limits import check_memory
    from models.training.memory import check_threads, choose
    from models.training.settings import parted
    from models.zoo.folders import CHECKPOINT

    run = find_run(arguments.run)
    if read_status(run.path).live:
        raise ValueError(
            f"run {run.name!r} is {read_status(run.path).state}; wait until it has ended, or stop it"
        )
    if not (run.path / CHECKPOINT).is_file():
        raise ValueError(f"run {run.name!r} has no checkpoint to go on from; resume it, or start a new run")
    step, before = kept_step(run), run.config()
    if arguments.steps <= step:
        raise ValueError(f"steps={arguments.steps:,} are done already: {run.name!r} has {step:,}; give more")
    options, sizes, training = parted(before.task.name, arguments.set)
    change = Change(
        steps=arguments.steps,
        training=training,
        model=sizes,
        options=options,
        schedule=_ANEW[arguments.schedule],  # type: ignore[arg-type]
        moments=arguments.moments,
    )
    config = changed_config(run, before, change, step)
    check_threads(config.training)
    choose(config.training)
    check_memory(config)
    return make_further(run, config, change, step, arguments.name)


def notes_given(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the arguments of a new run say of it, for its config.json."""
    found: dict[str, Any] = {"tags": arguments.tag} if arguments.tag else {}
    return found | ({"notes": arguments.note} if arguments.note else {})


def add_notes(command: argparse.ArgumentParser) -> None:
    """The arguments for a run's tags and notes."""
    command.add_argument(
        "--tag", action="append", help="a tag, to find the run by; may be given several times"
    )
    command.add_argument("--note", help="what is to be remembered of the run")


def add_comparing(commands: Any) -> argparse.ArgumentParser:
    """Adds the commands; returns that of `further`, whose act trains."""
    comparing = commands.add_parser("compare", help="say what runs show against each other, with tests")
    comparing.set_defaults(act=compare)
    seeds = "ids, names or folders; runs that differ by their seed alone count as one configuration"
    comparing.add_argument("runs", nargs="+", metavar="run", help=seeds)
    by = "by which they are ranked; left out, the task's main one"
    comparing.add_argument("--score", default="", help=by)
    showing = commands.add_parser("show", help="show one run: its settings, scores, notes and history")
    showing.set_defaults(act=show)
    noting = commands.add_parser("note", help="give a run a name, tags or notes")
    noting.set_defaults(act=note)
    noting.add_argument("--name", default="", help="another name")
    add_notes(noting)
    further = _further(commands)
    for command in (showing, noting, further):
        command.add_argument("run", help="the run's id, name or folder")
    return further


def _further(commands: Any) -> argparse.ArgumentParser:
    further: argparse.ArgumentParser = commands.add_parser(
        "further", help="train on from a run's last checkpoint, with other settings, as a new run"
    )
    steps = "in all, those of the old run among them"
    changes = "what changes, such as learning_rate=1e-4, batch_size=64, dropout=0; sizes of the model cannot"
    schedule = "of the rate: it goes on from the step, or starts anew with its warm-up; default %(default)s"
    further.add_argument("--steps", type=int, required=True, help=steps)
    further.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=changes)
    further.add_argument("--schedule", choices=list(_ANEW), default="goes-on", help=schedule)
    moments = "of the optimiser; default %(default)s"
    further.add_argument("--moments", choices=("kept", "forgotten"), default="kept", help=moments)
    further.add_argument("--name", default="", help="what to call the new run")
    return further


def _said(value: Any, called: Mapping[str, str]) -> str:
    """A value in words. called: what files that are kept by their content are called."""
    return f"{value:g}" if isinstance(value, float) else called.get(str(value), str(value))


# Trains models on tasks, from the command line.
# `run` trains, `resume` goes on, `further` goes on with other settings, `list` shows all runs, `show` one,
# `compare` what several show against each other, `report` scores one with intervals, `note` names and tags
# one, `export` writes one to a folder, `tasks` says what there is to learn, `data` shows what a task
# reads. `sweep` trains many settings and compares them, `sweeps` lists sweeps, `sweep-show` shows one,
# `find-rate` looks for a learning rate. `evaluate` scores translators on held-out sentences; `zoo` trains
# again all that ships.

AddCommands = Callable[[Any], None]
"""A function that adds commands to those of a parser."""


def run(arguments: argparse.Namespace) -> None:
    """Makes a run's folder and trains it."""
    from models.runs.limits import check_memory
    from models.training.memory import check_threads, choose
    from models.training.settings import configured

    config = configured(arguments.task, arguments.set)
    # Everything that can be refused is refused before a folder is made.
    if wanted():
        jobs.backend().check(config)
    else:
        check_threads(config.training)
        choose(config.training)
        check_memory(config)  # it reads some of the task's examples, too
    about = notes_given(arguments)
    _train(create_run(config, name=arguments.name, path=arguments.out, about=about), config)


def resume(arguments: argparse.Namespace) -> None:
    """Trains a run on from its last checkpoint."""
    folder = find_run(arguments.run)
    _train(folder, folder.config())


def _train(folder: RunFolder, config: RunConfig) -> None:
    """Trains in this process, or on the cluster that the environment names, and shows a progress bar.

    Ctrl-C pauses after the step.
    """
    from models.runs.printing import Bar
    from models.runs.worker import train_here

    if wanted():
        from models.runs.ray.following import train_there as train_here

    print(f"run {folder.id} in {folder.path}")
    with (folder.path / LOG).open("a", encoding="utf-8") as log, Bar(config) as bar, redirect_stderr(log):
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
        print(f"{status.state} at step {status.step:,}; go on with: {_command('resume', str(where))}")


def further(arguments: argparse.Namespace) -> None:
    """Trains on from a run's last checkpoint with other settings, as a new run."""
    folder = make_continuation(arguments)
    _train(folder, folder.config())


def show_runs(arguments: argparse.Namespace) -> None:
    """Prints all runs, or those that a filter finds."""
    from models.runs.printing import filtered, runs_table

    check_runs_root()
    runs = filtered(list_runs(), arguments.filter)
    print("\n".join(run.id for run in runs) if arguments.ids else runs_table(runs))


def show_data(arguments: argparse.Namespace) -> None:
    """Prints what a task's data is, as a model will read it."""
    from models.data.tasks.summary import summary_of
    from models.runs.shown_data import told
    from models.training.settings import configured

    config = configured(arguments.task, arguments.set)
    print(told(summary_of(config.task, config.training.batch_size)))


def show_tasks(arguments: argparse.Namespace) -> None:
    """Prints all tasks with their options."""
    from models.runs.printing import tasks_table

    print(tasks_table())


def export(arguments: argparse.Namespace) -> None:
    """Writes a run's model, card and numbers to a folder."""
    from models.runs.export import export_run

    which: Which = "best" if arguments.best else "last"
    found, out, name = find_run(arguments.run), arguments.out, arguments.name
    print("wrote", export_run(found, out, name=name, which=which, form=arguments.format))


def report(arguments: argparse.Namespace) -> None:
    """Scores a run's last checkpoint, writes report.json and prints its scores."""
    from models.runs.report import table, write_report

    found = find_run(arguments.run)
    print(table(write_report(found, examples=arguments.examples)))
    print("wrote", found.path / REPORT)


def evaluate(arguments: argparse.Namespace) -> None:
    """Prints the measures of translators."""
    from models.training.evaluation import score

    for name in arguments.models:
        if len(arguments.models) > 1:
            print(f"{name}:")
        print(score(name, arguments.sentences))


def zoo(arguments: argparse.Namespace) -> None:
    """Trains the shipped models again."""
    from models.runs.shipping import train_all

    train_all(arguments.names, arguments.out)


def _command(*words: str) -> str:
    return shlex.join(["python", "-m", "models.training", *words])


def parser(*more: AddCommands) -> argparse.ArgumentParser:
    """All commands with their arguments. more: functions that add commands of other modules."""
    top = argparse.ArgumentParser(
        prog="python -m models.training",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(required=True, metavar="command")
    _add_runs(commands)
    _add_translators(commands)
    for add in more:
        add(commands)
    return top


def _add_runs(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    training = commands.add_parser("run", help="train a model on a task")
    training.set_defaults(act=run)
    looking = commands.add_parser("data", help="show a task's data as the model will read it")
    looking.set_defaults(act=show_data)
    for command in (training, looking):
        command.add_argument("--task", required=True, help="what to learn; `tasks` lists them")
        command.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an option of the task, a size of the model or a number of the training, such as n_heads=8",
        )
    training.add_argument("--out", type=Path, help="the run's folder; left out, a new one among all runs")
    training.add_argument("--name", default="", help="what to call the run")
    add_notes(training)
    add_comparing(commands).set_defaults(act=further)
    going_on = commands.add_parser("resume", help="go on with a run from its last checkpoint")
    going_on.set_defaults(act=resume)
    writing = commands.add_parser("export", help="write a run's model, card, metrics and config to a folder")
    writing.set_defaults(act=export)
    writing.add_argument("--out", type=Path, required=True, help="the folder to write to")
    writing.add_argument(
        "--best", action="store_true", help="the best validation's weights, not the last step's"
    )
    writing.add_argument("--name", default="", help="the model's name; left out, the run's")
    writing.add_argument(
        "--format",
        default="own",
        choices=("own", "transformers", "onnx"),
        help="own (opens here again), transformers (where GPT-2, BERT or another of theirs fits), or onnx",
    )
    scoring = commands.add_parser("report", help="score a run on held-out and test examples: report.json")
    scoring.set_defaults(act=report)
    scoring.add_argument("--examples", type=int, default=0, help="of each part; default: as in validation")
    for command in (going_on, writing, scoring):
        command.add_argument("run", help="the run's id, name or folder")
    listing = commands.add_parser("list", help="show all runs")
    listing.set_defaults(act=show_runs)
    listing.add_argument("--filter", default="", help="words that name, tags, task, state or notes have")
    listing.add_argument("--ids", action="store_true", help="the ids alone, for a shell's completion")
    commands.add_parser("tasks", help="show what there is to learn").set_defaults(act=show_tasks)


def _add_translators(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    shipping = commands.add_parser("zoo", help="train again all that ships, or what is named")
    shipping.set_defaults(act=zoo)
    shipping.add_argument("names", nargs="*", metavar="name", help="of shipped models; default: all")
    shipping.add_argument("--out", type=Path, default=SHIPPED, help="folder with a folder for each model")
    scoring = commands.add_parser("evaluate", help="score translators on held-out sentences")
    scoring.set_defaults(act=evaluate)
    scoring.add_argument(
        "models",
        nargs="*",
        metavar="model",
        default=["translator", "translator-plain"],
        help="names, folders or files; default %(default)s",
    )
    scoring.add_argument("--sentences", type=int, default=2_000, help="held out; default %(default)s")


def main(*more: AddCommands) -> None:
    """Runs one command; a fault ends it with a sentence. more: functions that add commands."""
    arguments = parser(*more).parse_args()
    try:
        arguments.act(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # who reads, such as `head`, has enough; nothing more is flushed into the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + 13)  # as of SIGPIPE
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped")
