"""The commands of sweeps and of the learning-rate finder, such as `python -m models.training sweep`."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from models.names import nearest
from models.runs.owners import MACHINE
from models.runs.printing import aligned
from models.sweeps import control
from models.sweeps.shipped import SHIPPED, ShippedSweep, list_shipped, write_results
from models.sweeps.spec import USUAL_TRIALS, Spec, parse
from models.sweeps.sweep import Sweep, Trial, in_words
from models.zoo.folders import check_runs_root

if TYPE_CHECKING:
    from models.sweeps.driver import Open

_SETTING = (
    "a setting: n_heads=8 is fixed, n_heads=1,2,4 are choices; ranges are log(lo,hi), uniform(lo,hi), "
    "int(lo,hi)"
)


def sweep(arguments: argparse.Namespace) -> None:
    """Starts a sweep, or goes on with one, and works on it here; Ctrl-C pauses it."""
    found = _resumed(arguments) if arguments.resume else _made(arguments)
    _work(found, arguments.slots)


def sweeps(arguments: argparse.Namespace) -> None:
    """Prints all sweeps, newest first."""
    check_runs_root()
    rows: list[tuple[str, ...]] = [("SWEEP", "TASK", "STATE", "TRIALS", "BEST", "VARIES")]
    for each in (*control.list_sweeps(), *list_shipped()):
        try:
            rows.append(_row(each))
        except ValueError as error:
            rows.append((each.name, "", "damaged", "", "", str(error)))
    none = "no sweeps yet; `sweep --task copy --set n_heads=1,2` starts one"
    print(aligned(rows) if len(rows) > 1 else none)


def sweep_show(arguments: argparse.Namespace) -> None:
    """Prints a sweep's trials, the best first, and how much each setting matters."""
    found = control.find(arguments.name)
    _print(found)
    status = found.status()
    if status.sentence:
        print(status.sentence)
    if not isinstance(found, ShippedSweep) and not status.live and status.state != "finished":
        print(_goes_on(found))


def sweep_delete(arguments: argparse.Namespace) -> None:
    """Removes a sweep's folder; its runs stay."""
    control.delete(arguments.name, by=MACHINE)
    print(f"deleted sweep {arguments.name}; its runs stay")


def find_rate(arguments: argparse.Namespace) -> None:
    """Trains a fresh model while the rate rises, and prints the loss at each rate and a suggestion."""
    from models.training.rates import RateFinder
    from models.training.settings import configured

    config = configured(arguments.task, arguments.set)
    finder = RateFinder(config, low=arguments.low, high=arguments.high, steps=arguments.steps)
    for found in tqdm(finder, total=arguments.steps, unit="step", leave=False):
        last = found
    every = max(1, len(last.rates) // 24)
    kept = range(0, len(last.rates), every)
    rows = [("RATE", "LOSS", "SMOOTHED")]
    rows += [(f"{last.rates[i]:.2e}", f"{last.losses[i]:.4f}", f"{last.smoothed[i]:.4f}") for i in kept]
    print(f"{aligned(rows)}\n{last.sentence}")


def sweep_export(arguments: argparse.Namespace) -> None:
    """Writes what a sweep asked and found to a folder, without its runs."""
    found, out = control.find(arguments.name), arguments.out
    shipped = out.resolve().parent == SHIPPED.resolve()
    print("wrote", write_results(found, out, answer=arguments.answer, shipped=shipped))


def _shipped(name: str) -> Spec:
    """What a shipped sweep asked."""
    known = {each.name: each for each in list_shipped()}
    if name not in known:
        raise ValueError(f"no shipped sweep is named {name!r}; {nearest(name, known)}")
    return known[name].spec


def _made(arguments: argparse.Namespace) -> Sweep:
    from models.sweeps.plan import plan

    spec = _spec(arguments)
    found = plan(spec)
    print(found.sentence)
    chosen = found.spec
    print(f"sampler {chosen.how}; {chosen.direction} {chosen.score!r}, the mean over the seeds")
    return control.create(spec, by=MACHINE)


def _spec(arguments: argparse.Namespace) -> Spec:
    if arguments.shipped:
        if arguments.set or arguments.task:
            raise ValueError("--shipped repeats a sweep as it is; leave out --task and --set")
        spec = _shipped(arguments.shipped)
        return replace(spec, name=arguments.name or spec.name)
    if not arguments.task:
        raise ValueError("a sweep needs a task; give --task, such as --task reverse (`tasks` lists them)")
    fixed, space = parse(arguments.set)
    return Spec(
        task=arguments.task,
        space=space,
        name=arguments.name,
        fixed=fixed,
        sampler=arguments.sampler,
        seeds=arguments.seeds,
        trials=arguments.trials,
        score=arguments.score,
        prune=arguments.prune,
    )


def _resumed(arguments: argparse.Namespace) -> Sweep:
    if arguments.set or arguments.task:
        raise ValueError("--resume goes on with a sweep as it is; leave out --task and --set")
    return control.find(arguments.resume)


def _work(found: Sweep, n_slots: int) -> None:
    from models.sweeps.driver import drive_here

    print(f"sweep {found.name} in {found.path}")
    start, spec = time.monotonic(), found.spec
    with tqdm(total=spec.trials, unit="trial", dynamic_ncols=True) as bar:

        def show(n_ended: int, sentence: str) -> None:
            if (n_ended, sentence) != (bar.n, bar.postfix):
                bar.n = n_ended
                bar.set_postfix_str(sentence)

        def ended(trial: Open, state: str, value: float | None, sentence: str) -> None:
            score = "" if value is None else f"  {spec.score} {value:.4g}"
            why = f"  ({sentence})" if sentence else ""
            bar.write(f"trial {trial.number}  {in_words(trial.settings)}  {state}{score}{why}")

        status = drive_here(found, n_slots=n_slots, show=show, ended=ended)
    if status.state == "failed":
        raise ValueError(status.sentence)
    _print(found)
    said = status.sentence or "its runs keep their checkpoints"
    print(f"{status.state} after {time.monotonic() - start:.0f} s: {said}")
    if status.state != "finished":
        print(_goes_on(found))


def _goes_on(found: Sweep) -> str:
    return f"go on with: python -m models.training sweep --resume {found.name}"


def _row(each: Sweep) -> tuple[str, ...]:
    spec, status, best = each.spec, each.status(), each.best()
    varies = ", ".join(f"{name}={varied}" for name, varied in spec.space.items())
    said = "" if best is None else f"{spec.score} {best.value:.4g}"
    return each.name, spec.task, status.state, f"{status.step} of {spec.trials}", said, varies


def _print(found: Sweep) -> None:
    spec, trials = found.spec, found.trials()
    names = list(spec.space)
    head = ("TRIAL", *map(str.upper, names), "STATE", spec.score.upper(), "±", "SEEDS", "NOTE")
    rows = [(str(each.number), *_settings(each, names), *_result(each)) for each in _ranked(spec, trials)]
    print(aligned([head, *rows]))
    left_out = sum(each.state == "skipped" for each in trials) + len(found.skipped())
    if left_out:
        print(f"{left_out} settings make no model, or were drawn twice, and were left out")
    shares = found.importance()
    if shares:
        said = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
        print(f"importance (PED-ANOVA): {said}")


def _ranked(spec: Spec, trials: list[Trial]) -> list[Trial]:
    """Finished trials, the best first, then the others as they came; skipped ones are left out."""
    sign = 1 if spec.direction == "minimize" else -1
    counted = [each for each in trials if each.state != "skipped"]
    return sorted(
        counted,
        key=lambda each: (0, sign * (each.value or 0.0)) if each.state == "finished" else (1, each.number),
    )


def _settings(trial: Trial, names: list[str]) -> list[str]:
    return [in_words({name: trial.settings.get(name)}).partition("=")[2] for name in names]


def _result(trial: Trial) -> tuple[str, ...]:
    value = "" if trial.value is None else f"{trial.value:.4g}"
    spread = "" if trial.spread is None or not value else f"{trial.spread:.2g}"
    return trial.state, value, spread, str(trial.n or ""), trial.sentence


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the commands of this module to those of `python -m models.training`."""
    _add_sweep(commands)
    commands.add_parser("sweeps", help="show all sweeps").set_defaults(act=sweeps)
    for name, act, about in (
        ("sweep-show", sweep_show, "show a sweep's trials and which settings matter"),
        ("sweep-delete", sweep_delete, "delete a sweep; its runs stay"),
    ):
        command = commands.add_parser(name, help=about)
        command.set_defaults(act=act)
        command.add_argument("name", help="the sweep's name")
    kept = commands.add_parser("sweep-export", help="write a sweep's spec and results, without its runs")
    kept.set_defaults(act=sweep_export)
    kept.add_argument("name", help="the sweep's name")
    kept.add_argument("--out", type=Path, required=True, help="the folder to write to")
    kept.add_argument("--answer", default="", help="what it shows, in words, kept with the results")
    finder = commands.add_parser("find-rate", help="look for a learning rate: a range test")
    finder.set_defaults(act=find_rate)
    finder.add_argument("--task", required=True, help="what to learn; `tasks` lists them")
    finder.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="as for `run`")
    for name, kind, value in (("low", float, 1e-6), ("high", float, 1.0), ("steps", int, 120)):
        finder.add_argument(f"--{name}", type=kind, default=value, help="default %(default)s")


def _add_sweep(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("sweep", help="train a task with many settings, and compare them")
    command.set_defaults(act=sweep)
    command.add_argument("--task", default="", help="what to learn; `tasks` lists them")
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUES", help=_SETTING)
    command.add_argument("--seeds", type=int, default=1, help="runs of each setting; default %(default)s")
    command.add_argument(
        "--trials", type=int, default=0, help=f"settings to try; default: the whole grid, or {USUAL_TRIALS}"
    )
    command.add_argument(
        "--sampler",
        default="",
        choices=("grid", "random", "tpe"),
        help="default: grid, or tpe for ranges",
    )
    command.add_argument(
        "--prune", default="none", choices=("none", "asha"), help="stop trials that are behind; default none"
    )
    command.add_argument("--score", default="", help="what is compared; default: the task's main score")
    command.add_argument("--name", default="", help="what to call the sweep; left out, made up")
    command.add_argument("--slots", type=int, default=0, help="runs at once; default: what the limits allow")
    command.add_argument(
        "--shipped", default="", metavar="NAME", help="repeat a sweep that ships with the app"
    )
    command.add_argument("--resume", default="", metavar="NAME", help="go on with this sweep")
