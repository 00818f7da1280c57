"""Trains models on tasks, from the command line.

`run` trains, `resume` goes on, `further` goes on with other settings, `list` shows all runs, `show` one,
`compare` what several show against each other, `report` scores one with intervals, `note` names and tags
one, `export` writes one to a folder, `tasks` says what there is to learn, `data` shows
what a task reads. `sweep` trains many settings and
compares them, `sweeps` lists sweeps, `sweep-show` shows one, `find-rate` looks for a learning rate.
`evaluate` scores translators on held-out sentences; `zoo` trains again all that ships.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.runs import comparing, jobs
from models.runs.folder import LOG, REPORT, RunFolder, create_run, find_run, list_runs
from models.runs.ray.cluster import wanted
from models.zoo.cards import SHIPPED
from models.zoo.run_folders import Which, check_runs_root, runs_root

if TYPE_CHECKING:
    from models.training.config import RunConfig

AddCommands = Callable[[Any], None]
"""A function that adds commands to those of a parser."""


def run(arguments: argparse.Namespace) -> None:
    """Makes a run's folder and trains it."""
    from models.runs.limits import check_memory
    from models.training.devices import check_threads, choose
    from models.training.settings import configured

    config = configured(arguments.task, arguments.set)
    # Everything that can be refused is refused before a folder is made.
    if wanted():
        jobs.backend().check(config)
    else:
        check_threads(config.training)
        choose(config.training)
        check_memory(config)  # it reads some of the task's examples, too
    about = comparing.about(arguments)
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
    folder = comparing.make(arguments)
    _train(folder, folder.config())


def show_runs(arguments: argparse.Namespace) -> None:
    """Prints all runs, or those that a filter finds."""
    from models.runs.printing import filtered, runs_table

    check_runs_root()
    runs = filtered(list_runs(), arguments.filter)
    print("\n".join(run.id for run in runs) if arguments.ids else runs_table(runs))


def show_data(arguments: argparse.Namespace) -> None:
    """Prints what a task's data is, as a model will read it."""
    from models.data.looks import look
    from models.runs.shown_data import told
    from models.training.settings import configured

    config = configured(arguments.task, arguments.set)
    print(told(look(config.task, config.training.batch_size)))


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
    from models.training.scoring import score

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
    comparing.add_notes(training)
    comparing.add(commands).set_defaults(act=further)
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
