"""The commands that compare runs, describe one, note something on it, and train it further."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from models.runs.data_files import own_names_in
from models.runs.examples import outcomes_in
from models.runs.folder import RunFolder, find_run
from models.runs.groups import groups
from models.runs.notes import notes_of, tags_of
from models.runs.printing import aligned
from models.runs.results import changed_words, history_of, result_of
from models.runs.status import read_status
from models.runs.verdicts import OVER_SEEDS, differences_table, differing_table, number, scores_table, verdict

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


def make(arguments: argparse.Namespace) -> RunFolder:
    """Makes the folder of a run that goes on from another's last checkpoint, as `further` says.

    Raises ValueError, before anything is made, for a run without a checkpoint and a change it cannot take.
    """
    from models.runs.further import Change, changed_config, kept_step, make_further
    from models.runs.limits import check_memory
    from models.training.devices import check_threads, choose
    from models.training.settings import parted
    from models.zoo.run_folders import CHECKPOINT

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


def about(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the arguments of a new run say of it, for its config.json."""
    found: dict[str, Any] = {"tags": arguments.tag} if arguments.tag else {}
    return found | ({"notes": arguments.note} if arguments.note else {})


def add_notes(command: argparse.ArgumentParser) -> None:
    """The arguments for a run's tags and notes."""
    command.add_argument(
        "--tag", action="append", help="a tag, to find the run by; may be given several times"
    )
    command.add_argument("--note", help="what is to be remembered of the run")


def add(commands: Any) -> argparse.ArgumentParser:
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
