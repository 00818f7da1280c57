"""A run so small that a test can train it."""

from attention_lab.models.data.tasks import make_task
from attention_lab.models.training.config import run_config

SMALL = {"n_layers": 1, "n_heads": 2, "d_model": 16}
QUICK = {
    "steps": 6, "batch_size": 4, "threads": 1, "device": "cpu", "warmup_steps": 2,
    "held_out": 8, "validate_every": 1_000,
}  # fmt: skip


FEW = {"everyday": {"vocabulary": 300}, "next-word": {"words": 10_000}}
"""Options of tasks that else read or draw much text before their first example."""


def small_task(name):
    return make_task(name, FEW.get(name, {}))


def config(sizes=None, task="reverse", **training):
    return run_config(small_task(task), sizes={**SMALL, **(sizes or {})}, training={**QUICK, **training})
