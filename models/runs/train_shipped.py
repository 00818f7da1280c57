"""Trains the shipped models: `python -m attention_lab.models.training zoo [name ...]`, or `make zoo`."""

import json
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..data.tasks import make_task
from ..files import read_json, read_lines, write_json, write_whole
from ..training.config import RunConfig, run_config
from ..zoo import MEMBERS
from ..zoo.folders import BEST, CHECKPOINT, LEARNT
from ..zoo.model_file import write_model
from .export import card_of
from .folder import EVENTS, LOCK, LOG, METRICS, create_run, read_status, write_status
from .printing import Bar
from .recipes import RECIPES, Recipe
from .worker import train_here

CURVE = 300
"""Records of a shipped run, about: its curves are drawn from as many."""
RUN = "run"
"""The folder of a shipped model with its curves and snapshots, where it ships with them."""
AS_SHIPPED: dict[str, Any] = {"decay": "all", "compile": False}
"""How every shipped model was trained, where that is no longer the default."""


def config_of(recipe: Recipe, file: str = "") -> RunConfig:
    """The whole config of a recipe; file: its data, if they are a file's. Raises ValueError where they are
    missing.
    """
    if recipe.file and not file:
        raise ValueError(f"it is trained on {recipe.data}; name that file: --file eng-fra.tsv")
    own = {recipe.file: str(Path(file).expanduser().absolute())} if recipe.file else {}
    task = make_task(recipe.task, {**recipe.options, **own}, from_disk=True)
    return run_config(task, sizes=recipe.sizes, training={**AS_SHIPPED, **recipe.training})


def train(name: str, out: Path, file: str = "") -> Path:
    """Trains one shipped model into `out`/`name`; returns where it was written. Raises ValueError."""
    recipe = RECIPES[name]
    config = config_of(recipe, file)
    with tempfile.TemporaryDirectory() as place:
        folder = create_run(config, name=name, path=Path(place) / Path(name).name)
        with closing(Bar(config)) as bar:
            status = train_here(folder, bar.show)
        if status.state != "finished":
            raise ValueError(f"{name} did not finish: {status.sentence}")
        model = folder.model()
        if recipe.half:
            model = model.half().float()  # so that the card's numbers are those of what ships
        card = card_of(folder, config, model, name) | said_by(recipe)
        data = ["--file", Path(getattr(config.task, recipe.file)).name] if recipe.file else []
        card["training"]["command"] = shlex.join(
            ["python", "-m", "attention_lab.models.training", "zoo", name, *data]
        )
        card["showcase"] |= recipe.showcase
        shared = out / name.partition("/")[0] / LEARNT
        learnt = card["learnt"] if name in MEMBERS else {}
        if learnt and (not shared.exists() or read_json(shared) == learnt):
            shared.parent.mkdir(parents=True, exist_ok=True)
            write_json(shared, card.pop("learnt"))
        weights = write_model(out / name, Path(name).name, model, card, half=recipe.half)
        if recipe.keeps_run:
            # Its checkpoint, whose weights lie beside it, its events, log and lock do not ship.
            copy = out / name / RUN
            shutil.rmtree(copy, ignore_errors=True)
            left_out = shutil.ignore_patterns(CHECKPOINT, BEST, f"{EVENTS}*", LOG, LOCK)
            shutil.copytree(folder.path, copy, ignore=left_out)
            gone: dict[str, Any] = {"pid": None, "started_at": None, "born": "", "heartbeat": 0.0, "up": 0.0}
            write_status(copy, replace(read_status(folder.path), memory=0, free=0, **gone))
            thin(copy / METRICS)
        return weights


def said_by(recipe: Recipe) -> dict[str, Any]:
    """The entries of a card that the recipe words."""
    card: dict[str, Any] = {
        name: value
        for name in ("title", "contrast", "memory", "wider", "note")
        if (value := getattr(recipe, name))
    }
    if recipe.summary:
        card |= {"summary": recipe.summary, "limits": recipe.limits, "examples": recipe.examples}
    if recipe.data:
        card |= {"data": recipe.data, "license": recipe.license}
    return card


def thin(metrics: Path) -> None:
    """Keeps of a run's records those that validate, and of the others as many as a curve needs."""
    lines = read_lines(metrics)
    apart = max(1, len(lines) // CURVE)
    fewer = [line for at, line in enumerate(lines, 1) if "validation" in line or at % apart == 0]
    write_whole(metrics, "".join(json.dumps(line) + "\n" for line in fewer).encode())


def train_all(names: Sequence[str], out: Path, file: str = "") -> None:
    """Trains the shipped models of these names, or all of them; the name of a folder means all in it.

    file: the data of a recipe whose data are a file's. Of all models, those without their data are left out.
    Raises ValueError for an unknown name, and where data are missing.
    """
    chosen = {name: [known for known in RECIPES if name in (known, known.split("/")[0])] for name in names}
    groups = dict.fromkeys(known.split("/")[0] for known in RECIPES)
    unknown = [name for name, names_there in chosen.items() if not names_there]
    if unknown:
        raise ValueError(f"no shipped model is named {', '.join(unknown)}; choose from {', '.join(groups)}")
    for name in [known for names_there in chosen.values() for known in names_there] or RECIPES:
        if RECIPES[name].file and not file and not names:
            print(f"left out {name}: it is trained on {RECIPES[name].data}; name that file with --file")
            continue
        print("wrote", train(name, out, file))
