"""Defines the commands of sweeps: `python -m attention_lab.models.training sweep`."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Annotated, Literal

from tqdm import tqdm

from ..fields import nearest
from ..runs.command_line import TASK, command
from ..runs.owners import MACHINE
from ..runs.printing import align
from ..runs.queue import SLOTS
from ..runs.worker import Signalled, heeding_signals
from ..zoo.folders import check_runs_root
from .control import ask, create, delete, find, list_shipped, list_sweeps, start
from .spec import USUAL_TRIALS, Spec, parse
from .sweep import Sweep, by_rank, in_words

FOLLOW_SECONDS = 0.5

_NONE: list[str] = []
NAME = "the sweep's name"


@command("sweep")
def sweep(
    *,
    task: Annotated[str, TASK] = "",
    set: Annotated[
        list[str],
        "a setting: n_heads=8 is fixed, n_heads=1,2,4 are choices; ranges are log(lo,hi), uniform(lo,hi), "
        "int(lo,hi)",
        "NAME=VALUES",
    ] = _NONE,
    seeds: Annotated[int, "runs of each setting"] = 1,
    trials: Annotated[int, f"settings to try; 0 for the whole grid, or {USUAL_TRIALS}"] = 0,
    sampler: Annotated[Literal["", "grid", "random", "tpe"], "left out, grid, or tpe for ranges"] = "",
    prune: Annotated[Literal["none", "asha"], "stop trials that are behind"] = "none",
    score: Annotated[str, "what is compared; left out, the task's main score"] = "",
    name: Annotated[str, "what to call the sweep; left out, made up"] = "",
    slots: Annotated[int, "runs at once; 0 for what the limits allow"] = 0,
    shipped: Annotated[str, "repeat a sweep that ships with the app", "NAME"] = "",
    resume: Annotated[str, "go on with this sweep", "NAME"] = "",
) -> None:
    """Trains a task with many settings, and compares them; Ctrl-C pauses it."""
    if (shipped or resume) and (set or task):
        what = "--resume goes on with" if resume else "--shipped repeats"
        raise ValueError(f"{what} a sweep as it is; leave out --task and --set")
    if resume:
        chosen = find(resume)
    elif shipped:
        known = {each.name: each.spec for each in list_shipped() if each.repeats}
        if shipped not in known:
            raise ValueError(f"no shipped sweep is named {shipped!r}; {nearest(shipped, known)}")
        spec = known[shipped]
        chosen = _create(replace(spec, name=name or spec.name))
    elif not task:
        raise ValueError("a sweep needs a task; give --task, such as --task reverse (`tasks` lists them)")
    else:
        fixed, space = parse(set)
        settings = {"sampler": sampler, "seeds": seeds, "trials": trials, "score": score, "prune": prune}
        chosen = _create(Spec(task=task, space=space, name=name, fixed=fixed, **settings))  # type: ignore[arg-type]
    _work(chosen, slots)


@command("sweeps")
def sweeps() -> None:
    """Shows all sweeps, newest first."""
    check_runs_root()
    rows: list[tuple[str, ...]] = [("SWEEP", "TASK", "STATE", "TRIALS", "BEST", "VARIES")]
    for each in (*list_sweeps(), *list_shipped()):
        try:
            spec, status, best = each.spec, each.status(), each.best()
            varies = ", ".join(f"{name}={varied}" for name, varied in spec.space.items())
            score = "" if best is None else f"{spec.score} {best.value:.4g}"
            rows.append(
                (each.name, spec.task, status.state, f"{status.step} of {spec.trials}", score, varies)
            )
        except ValueError as error:
            rows.append((each.name, "", "damaged", "", "", str(error)))
    none = "no sweeps yet; `sweep --task reverse --set n_heads=1,2` starts one"
    print(align(rows) if len(rows) > 1 else none)


@command("sweep-show")
def sweep_show(name: Annotated[str, NAME]) -> None:
    """Shows a sweep's trials, the best first, and which settings matter."""
    chosen = find(name)
    _print(chosen)
    status = chosen.status()
    print(status.sentence, end="\n" * bool(status.sentence))
    if not chosen.shipped and not status.live and status.state != "finished":
        print(_goes_on(chosen))


@command("sweep-delete")
def sweep_delete(name: Annotated[str, NAME]) -> None:
    """Deletes a sweep; its runs stay."""
    delete(name, by=MACHINE)
    print(f"deleted sweep {name}; its runs stay")


def _create(spec: Spec) -> Sweep:
    """Makes a sweep, and prints what it comes to."""
    from .plan import plan

    whole = plan(spec)
    chosen = whole.spec
    print(whole.sentence)
    print(f"sampler {chosen.sampler}; {chosen.direction} {chosen.score!r}, the mean over the seeds")
    return create(spec, by=MACHINE)


def _work(chosen: Sweep, n_slots: int) -> None:
    """Starts a sweep and shows how far it is. A signal to end (Ctrl-C, SIGTERM) pauses it.

    n_slots: runs at once, also above the limit of this machine, since a person at it asks.
    """
    if n_slots:
        os.environ[SLOTS] = str(n_slots)
    print(f"sweep {chosen.name} in {chosen.path}")
    began, signals = time.monotonic(), Signalled()
    with heeding_signals(signals), tqdm(total=chosen.spec.trials, unit="trial", dynamic_ncols=True) as bar:
        start(chosen.name, by=MACHINE, n_slots=n_slots)
        while (status := chosen.status()).live:
            bar.n = status.step
            bar.set_postfix_str(status.sentence)
            time.sleep(FOLLOW_SECONDS)
            if signals.signalled:
                signals.signalled = False
                ask(chosen.name, "pause", by=MACHINE)
    if status.state == "failed":
        raise ValueError(status.sentence)
    _print(chosen)
    print(
        f"{status.state} after {time.monotonic() - began:.0f} s", *filter(None, [status.sentence]), sep=": "
    )
    if status.state != "finished":
        print(_goes_on(chosen))


def _goes_on(paused: Sweep) -> str:
    return f"go on with: python -m attention_lab.models.training sweep --resume {paused.name}"


def _print(chosen: Sweep) -> None:
    spec = chosen.spec
    rows = [["TRIAL", *map(str.upper, spec.space), "STATE", spec.score.upper(), "±", "SEEDS", "NOTE"]]
    for each in by_rank(spec, chosen.trials()):
        settings = [in_words({name: each.settings.get(name)}).partition("=")[2] for name in spec.space]
        value = "" if each.value is None else f"{each.value:.4g}"
        spread = "" if each.spread is None or not value else f"{each.spread:.2g}"
        rows.append(
            [f"{each.number}", *settings, each.state, value, spread, f"{each.n or ''}", each.sentence]
        )
    print(align(rows))
    shares = ", ".join(f"{name} {share:.0%}" for name, share in chosen.importance().items())
    if shares:
        print(f"importance (PED-ANOVA): {shares}")
