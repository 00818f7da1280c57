"""The commands of sweeps and of the learning-rate finder: `python -m attention_lab.models.training sweep`."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tqdm import tqdm

from ..fields import nearest
from ..runs.command_line import SETTING, TASK, command
from ..runs.owners import MACHINE
from ..runs.printing import align
from ..zoo.folders import check_runs_root
from . import control
from .spec import USUAL_TRIALS, Spec, parse
from .sweep import SHIPPED, ShippedSweep, Sweep, Trial, in_words, list_shipped, write_results

if TYPE_CHECKING:
    from .driver import OpenTrial

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
        chosen = control.find(resume)
    elif shipped:
        known = {each.name: each for each in list_shipped()}
        if shipped not in known:
            raise ValueError(f"no shipped sweep is named {shipped!r}; {nearest(shipped, known)}")
        spec = known[shipped].spec
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
    for each in (*control.list_sweeps(), *list_shipped()):
        try:
            spec, status, best = each.spec, each.status(), each.best()
            varies = ", ".join(f"{name}={varied}" for name, varied in spec.space.items())
            score = "" if best is None else f"{spec.score} {best.value:.4g}"
            trials = f"{status.step} of {spec.trials}"
            rows.append((each.name, spec.task, status.state, trials, score, varies))
        except ValueError as error:
            rows.append((each.name, "", "damaged", "", "", str(error)))
    none = "no sweeps yet; `sweep --task copy --set n_heads=1,2` starts one"
    print(align(rows) if len(rows) > 1 else none)


@command("sweep-show")
def sweep_show(name: Annotated[str, NAME]) -> None:
    """Shows a sweep's trials, the best first, and which settings matter."""
    chosen = control.find(name)
    _print(chosen)
    status = chosen.status()
    if status.sentence:
        print(status.sentence)
    if not isinstance(chosen, ShippedSweep) and not status.live and status.state != "finished":
        print(_goes_on(chosen))


@command("sweep-delete")
def sweep_delete(name: Annotated[str, NAME]) -> None:
    """Deletes a sweep; its runs stay."""
    control.delete(name, by=MACHINE)
    print(f"deleted sweep {name}; its runs stay")


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
    from ..training.rates import RateFinder
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


@command("sweep-export")
def sweep_export(
    name: Annotated[str, NAME],
    *,
    out: Annotated[Path, "the folder to write to"],
    answer: Annotated[str, "what it shows, in words, kept with the results"] = "",
) -> None:
    """Writes a sweep's spec and results, without its runs."""
    chosen, out = control.find(name), out
    shipped = out.resolve().parent == SHIPPED.resolve()
    print("wrote", write_results(chosen, out, answer=answer, shipped=shipped))


def _create(spec: Spec) -> Sweep:
    """Makes a sweep, and prints what it comes to."""
    from .plan import plan

    whole = plan(spec)
    print(whole.sentence)
    chosen = whole.spec
    print(f"sampler {chosen.how}; {chosen.direction} {chosen.score!r}, the mean over the seeds")
    return control.create(spec, by=MACHINE)


def _work(chosen: Sweep, n_slots: int) -> None:
    from .driver import drive_here

    print(f"sweep {chosen.name} in {chosen.path}")
    start, spec = time.monotonic(), chosen.spec
    with tqdm(total=spec.trials, unit="trial", dynamic_ncols=True) as bar:

        def show(n_ended: int, sentence: str) -> None:
            if (n_ended, sentence) != (bar.n, bar.postfix):
                bar.n = n_ended
                bar.set_postfix_str(sentence)

        def ended(trial: OpenTrial, state: str, value: float | None, sentence: str) -> None:
            score = "" if value is None else f"  {spec.score} {value:.4g}"
            why = f"  ({sentence})" if sentence else ""
            bar.write(f"trial {trial.number}  {in_words(trial.settings)}  {state}{score}{why}")

        status = drive_here(chosen, n_slots=n_slots, show=show, ended=ended)
    if status.state == "failed":
        raise ValueError(status.sentence)
    _print(chosen)
    outcome = status.sentence or "its runs keep their checkpoints"
    print(f"{status.state} after {time.monotonic() - start:.0f} s: {outcome}")
    if status.state != "finished":
        print(_goes_on(chosen))


def _goes_on(paused: Sweep) -> str:
    return f"go on with: python -m attention_lab.models.training sweep --resume {paused.name}"


def _print(chosen: Sweep) -> None:
    spec, trials = chosen.spec, chosen.trials()
    names = list(spec.space)
    rows = [["TRIAL", *map(str.upper, names), "STATE", spec.score.upper(), "±", "SEEDS", "NOTE"]]
    for each in _by_rank(spec, trials):
        settings = [in_words({name: each.settings.get(name)}).partition("=")[2] for name in names]
        value = "" if each.value is None else f"{each.value:.4g}"
        spread = "" if each.spread is None or not value else f"{each.spread:.2g}"
        rows.append(
            [str(each.number), *settings, each.state, value, spread, str(each.n or ""), each.sentence]
        )
    print(align(rows))
    left_out = sum(each.state == "skipped" for each in trials) + len(chosen.skipped())
    if left_out:
        print(f"{left_out} settings make no model, or were drawn twice, and were left out")
    shares = chosen.importance()
    if shares:
        words = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
        print(f"importance (PED-ANOVA): {words}")


def _by_rank(spec: Spec, trials: list[Trial]) -> list[Trial]:
    """Finished trials, the best first, then the others as they came; skipped ones are left out."""
    sign = 1 if spec.direction == "minimize" else -1
    finished = sorted(
        (each for each in trials if each.state == "finished"), key=lambda each: sign * (each.value or 0.0)
    )
    others = (each for each in trials if each.state not in ("finished", "skipped"))
    return [*finished, *sorted(others, key=lambda each: each.number)]
