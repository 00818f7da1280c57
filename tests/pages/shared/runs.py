"""Runs of untrained models, as folders that Explore can open."""

import json
from pathlib import Path

from safetensors.torch import save_file

from attention_lab.models.data.tasks import make_task
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.runs.folder import create_run
from attention_lab.models.training.config import run_config
from attention_lab.models.zoo.folders import PROBE

SIZES = {"n_layers": 2, "n_heads": 4, "d_model": 32}


def write_run(root: Path, task: str, name: str = "", *, sizes: dict | None = None, **options: object) -> str:
    """Writes the run `name` (the task's, if left out) below `root`; gives the model's name in links."""
    made = make_task(task, options)
    config = run_config(made, sizes={**SIZES, **(sizes or {})})
    folder = create_run(config, path=root / (name or task)).path
    (folder / PROBE).write_text(json.dumps({"tokens": made.probe().tokens, "text": made.probe().text}))
    tensors = Transformer(config.model, seed=1).state_dict()
    save_file({f"model.{key}": value for key, value in tensors.items()}, folder / "checkpoint.safetensors")
    return f"run:{folder.name}"
