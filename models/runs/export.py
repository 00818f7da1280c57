"""The export of a run: weights and card as the zoo reads them, its numbers as a table, its config."""

import platform
import shlex
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from models.data.tasks.translation import Translation
from models.engine.transformer import Transformer
from models.files import write_json, write_whole, writing
from models.runs.folder import RunFolder
from models.runs.translator_card import make_card, measures
from models.training.config import RunConfig, run_config
from models.training.snapshots import snapshot
from models.zoo.files import write_model

METRICS_CSV, CONFIG_JSON = "metrics.csv", "config.json"


def export_run(folder: RunFolder, out: Path, *, name: str = "") -> Path:
    """Writes a run's last checkpoint as `<name>.safetensors` with card.json, metrics.csv and config.json.

    The card of a translator of the grammar also has its measures on held-out sentences.
    Returns the weights' path. Raises ValueError for a run without a checkpoint, OSError of the disk.
    """
    config, model = folder.config(), folder.model()
    name = name or folder.id
    card = card_of(folder, config, model, name)
    with writing(out):
        weights = write_model(out, name, model, card)
    write_whole(out / METRICS_CSV, metrics_table(folder.metrics()).encode())
    write_json(out / CONFIG_JSON, folder.description())
    return weights


def card_of(folder: RunFolder, config: RunConfig, model: Transformer, name: str) -> dict[str, Any]:
    """All that a reader needs to judge the model, to use it and to train it again."""
    training = _training(folder, config)
    probe = config.task.probe()
    validated = [line for line in folder.metrics() if "validation" in line]
    card = {
        "name": name,
        "summary": config.task.title,
        "license": "MIT",
        "date": datetime.now(UTC).date().isoformat(),
        "task": {"name": config.task.name, "options": config.task.to_dict()},
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
    """The command that trains the same run again."""
    task, usual = config.task, run_config(config.task)
    derived = {"d_head": config.model.d_model // config.model.n_heads, "d_ff": 4 * config.model.d_model}
    settings = [
        (spec.name, getattr(task, spec.name))
        for spec in fields(task)
        if getattr(task, spec.name) != spec.default
    ]
    for ours, theirs in ((config.model, usual.model), (config.training, usual.training)):
        for spec in fields(ours):
            value = getattr(ours, spec.name)
            follows = spec.name not in task.sizes and derived.get(spec.name) == value
            if value != getattr(theirs, spec.name) and not follows:
                settings.append((spec.name, value))
    words = [word for name, value in settings for word in ("--set", f"{name}={value}")]
    return shlex.join(["python", "-m", "models.training", "run", "--task", task.name, *words])


def _training(folder: RunFolder, config: RunConfig) -> dict[str, Any]:
    checkpoint = folder.checkpoint()
    assert checkpoint is not None  # its weights were read
    return {
        "command": command_of(config),
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
