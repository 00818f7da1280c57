"""The export of a run: weights and card as the zoo reads them, its numbers as a table, its config."""

import platform
import shlex
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from models.config import ModelConfig
from models.data.downloads import SOURCES
from models.data.tasks import Task
from models.data.tasks.mnist import Mnist
from models.data.tasks.translation import Translation
from models.engine.transformer import Transformer
from models.files import write_json, write_whole
from models.runs.folder import RunFolder
from models.runs.formats import write_format
from models.runs.results import changed_words, history_of
from models.runs.translator_card import make_card, measures
from models.training.config import RunConfig, run_config
from models.training.snapshots import snapshot
from models.zoo.run_folders import Which

METRICS_CSV, CONFIG_JSON, RUN_JSON = "metrics.csv", "config.json", "run.json"
NOT_STATED = "not stated"


def export_run(
    folder: RunFolder, out: Path, *, name: str = "", which: Which = "last", form: str = "own"
) -> Path:
    """Writes a run's last checkpoint as `<name>.safetensors` with card.json, metrics.csv and config.json.

    which: "best" writes the weights of the best validation instead, and its step and scores in the card.
    form: another of `formats.FORMATS`: "transformers" (its config.json is theirs, the run's is run.json) or
    "onnx".

    The card of a translator of the grammar also has its measures on held-out sentences. No path of this
    machine is in them: a file of the task's data is there by its name alone.
    Returns the weights' path. Raises ValueError for a run without a checkpoint, OSError of the disk.
    """
    config, model = folder.config(), folder.model(which)
    name = name or folder.id
    card = card_of(folder, config, model, name, which)
    weights = write_format(form, config.task, model, card, out, name)
    write_whole(out / METRICS_CSV, metrics_table(folder.metrics()).encode())
    described = folder.description()
    said = {**described["task"], "options": without_folders(config.task, described["task"]["options"])}
    described_in = RUN_JSON if form == "transformers" else CONFIG_JSON
    write_json(out / described_in, {**described, "task": said})
    return weights


def card_of(
    folder: RunFolder, config: RunConfig, model: Transformer, name: str, which: Which = "last"
) -> dict[str, Any]:
    """All that a reader needs to judge the model, to use it and to train it again."""
    best = folder.best() if which == "best" else None
    training = _training(folder, config)
    if best:
        training |= {"step": best.step, "chosen": f"the best {best.score} of the run's validations"}
    probe = config.task.probe()
    last = best.step if best else training["step"]
    validated = [line for line in folder.metrics() if "validation" in line and line["step"] <= last]
    card = {
        "name": name,
        "summary": config.task.title,
        "license": license_of(config.task),
        "date": datetime.now(UTC).date().isoformat(),
        "task": {
            "name": config.task.name,
            "options": without_folders(config.task, config.task.to_dict()),
        },
        "scaling": scaling(config.model),
        "learnt": config.task.learnt(),
        "training": training,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "metrics": validated[-1]["validation"] if validated else {},
        "examples": [{"label": "probe", "text": probe.text, "see": config.task.seen}],
        "showcase": sharpest_head(config, model),
    }
    if isinstance(config.task, Translation):
        metrics = measures(model, config.task.words)
        card |= make_card(config.task, model, metrics, config.training.seed)
    return card


def license_of(task: Task) -> str:
    """This project's own where its code makes the data; else nobody here knows what their owner allows."""
    handed_in = any(getattr(task, name) for name in _files_of(task))
    downloaded = getattr(task, "source", "") in SOURCES or isinstance(task, Mnist)
    return NOT_STATED if handed_in or downloaded else "MIT"


def without_folders(task: Task, options: Mapping[str, Any]) -> dict[str, Any]:
    """The task's options with the names of files instead of their paths on this machine."""
    named = {name: Path(str(options[name])).name for name in _files_of(task) if options.get(name)}
    return {**options, **named}


def _files_of(task: Task) -> list[str]:
    return [spec.name for spec in fields(task) if spec.metadata.get("file")]


def scaling(config: ModelConfig) -> dict[str, Any]:
    """What code of another's needs to compute the same from the weights: the factors of the embedding's rows,
    of the vectors of positions that are added to them (None where nothing is added), and of the dot products.
    """
    tokens = config.input_channels is None
    rows = config.d_model**0.5 if tokens else 1.0
    added = {"learned": config.d_model**0.5, "sinusoidal": 1.0}.get(config.positions)
    embedding = "rows of the embedding times sqrt(d_model)" if tokens else "a linear layer of the input"
    words = {
        "learned": "vectors of positions times sqrt(d_model)",
        "sinusoidal": "sines and cosines as they are",
    }
    plus = f", plus {words[config.positions]}" if added else f"; positions ({config.positions}) add no vector"
    norm = ", then a norm" if config.embedding_norm else ""
    return {
        "embedding": rows,
        "positions": added,
        "dot_products": config.scale,
        "said": f"The residual stream begins with {embedding}{plus}{norm}.",
    }


def sharpest_head(config: RunConfig, model: Transformer) -> dict[str, Any]:
    """The head whose strongest weight on the probe, averaged over the queries, is the highest.

    The first three queries are left out: under a causal mask they see so few keys that their weights are high
    whatever the head does.
    """
    found = []
    for address, pattern in snapshot(model, config.task.probe()).items():
        stack, layer, attention, _ = address.split(".")
        late = pattern[:, min(3, pattern.shape[1] - 1) :].float()  # [head, query, key]
        for head, strength in enumerate(late.amax(dim=-1).mean(dim=-1).tolist()):
            found.append((strength, f"{stack}.{attention}", int(layer), head))
    _, stack, at, head = max(found)
    return {"stack": stack, "layer": at, "head": head}


def metrics_table(lines: list[dict[str, Any]]) -> str:
    """The records as CSV, one step a line; losses, validations and norms have a column each."""
    return str(
        pd.json_normalize([_named_norms(line) for line in lines]).to_csv(index=False, lineterminator="\r\n")
    )


def _named_norms(line: dict[str, Any]) -> dict[str, Any]:
    """The record with the two norms of each part under a name each."""
    norms = line.get("norms")
    if not isinstance(norms, dict):
        return line
    named = {part: dict(zip(("gradient", "weight"), both, strict=False)) for part, both in norms.items()}
    return {**line, "norms": named}


def command_of(config: RunConfig) -> str:
    """The command that trains the same run again, in the folder of its data's files."""
    task, usual = config.task, run_config(config.task)
    derived = {"d_head": config.model.d_model // config.model.n_heads, "d_ff": 4 * config.model.d_model}
    options = without_folders(task, task.to_dict())
    settings = [
        (spec.name, options[spec.name]) for spec in fields(task) if options[spec.name] != spec.default
    ]
    for ours, theirs in ((config.model, usual.model), (config.training, usual.training)):
        for spec in fields(ours):
            value = getattr(ours, spec.name)
            if spec.name == "schedule_from":  # a new run has one schedule from its start
                continue
            follows = spec.name not in task.sizes and derived.get(spec.name) == value
            if value != getattr(theirs, spec.name) and not follows:
                settings.append((spec.name, value))
    words = [word for name, value in settings for word in ("--set", f"{name}={value}")]
    return shlex.join(["python", "-m", "models.training", "run", "--task", task.name, *words])


def _training(folder: RunFolder, config: RunConfig) -> dict[str, Any]:
    checkpoint = folder.checkpoint()
    assert checkpoint is not None  # its weights were read
    changes = history_of(folder.description())
    history = {"history": [changed_words(entry) for entry in changes]} if changes else {}
    return {
        "command": command_of(config),  # with a history, the settings at the end
        **history,
        "seconds": round(float(checkpoint.values.get("seconds", 0))),
        "machine": machine(),
        "step": checkpoint.step,
        **config.training.to_dict(),
    }


def machine() -> str:
    """The kind of this computer, without its name."""
    parts = [f"{platform.system()} {platform.machine()}", f"{torch.get_num_threads()} threads"]
    if torch.cuda.is_available():
        parts.append(torch.cuda.get_device_name())
    return ", ".join([*parts, f"PyTorch {torch.__version__}"])
