"""What `compile` compiles: all that each task's steps compute, with the same losses."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json
from dataclasses import replace
from functools import partial
import torch
from attention_lab.models.data.tasks import TASKS, make_task
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from tests.models.training.small import QUICK, SMALL

parts = []
def backend(graph, inputs):
    parts.extend(str(node.target) for node in graph.graph.nodes)
    return graph.forward

torch.compile = partial(torch.compile, backend=backend)
for name in TASKS:
    if name.startswith("mnist"):  # they compute as those of digits do, of files
        continue
    torch.compiler.reset()
    parts.clear()
    plain = run_config(make_task(name), sizes=SMALL, training=QUICK)
    compiled = Training(replace(plain, training=replace(plain.training, compile=True)))
    losses = [next(each).losses for each in (compiled, Training(plain))]
    attended, asked = ([p for p in parts if q in p] for q in ("scaled_dot_product", "cross_entropy"))
    kind = plain.model.kind
    print(json.dumps([name, kind, compiled.chosen, len(attended), len(asked), *losses]))
"""


def test_every_task_computes_its_steps_compiled_and_alike() -> None:
    """In a process of its own, where nothing watches shapes, which no compiler can read."""
    printed = subprocess.check_output([sys.executable, "-W", "ignore", "-c", PROGRAM], text=True)
    rows = [json.loads(line) for line in printed.splitlines()]
    assert len(rows) > 15
    for name, kind, sentence, n_attended, n_asked, compiled, plain in rows:
        assert "compiled" in sentence
        assert compiled == pytest.approx(plain, rel=1e-5), name
        assert n_attended == (3 if kind == "encoder-decoder" else 1), name
        assert n_asked == (0 if "autoencoder" in name else 2 if name == "translation" else 1), name
