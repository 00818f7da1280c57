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
from attention_lab.models.data.tasks import make_task
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from tests.models.training.small import QUICK, SMALL

parts = []
def backend(graph, inputs):
    parts.extend(str(node.target) for node in graph.graph.nodes)
    return graph.forward

torch.compile = partial(torch.compile, backend=backend)
for name in %r:
    torch.compiler.reset()
    parts.clear()
    plain = run_config(make_task(name), sizes=SMALL, training=QUICK)
    compiled = Training(replace(plain, training=replace(plain.training, compile=True)))
    losses = [next(each).losses for each in (compiled, Training(plain))]
    attended, asked = ([p for p in parts if q in p] for q in ("scaled_dot_product", "cross_entropy"))
    kind = plain.model.kind
    print(json.dumps([name, kind, compiled.chosen, len(attended), len(asked), *losses]))
"""

# Those with a pass of their own: two stacks, pieces, pictures, one row of logits, all rows.
DIFFERENT = ("translation", "everyday", "masked", "sentiment", "digits-autoencoder")


def test_tasks_of_each_kind_compute_their_steps_compiled_and_alike() -> None:
    """In a process of its own, where nothing watches shapes, which no compiler can read."""
    program = [sys.executable, "-W", "ignore", "-c", PROGRAM % (DIFFERENT,)]
    rows = [json.loads(line) for line in subprocess.check_output(program, text=True).splitlines()]
    assert len(rows) == len(DIFFERENT)
    for name, kind, sentence, n_attended, n_asked, compiled, plain in rows:
        assert "compiled" in sentence
        assert compiled == pytest.approx(plain, rel=1e-5), name
        assert n_attended == (3 if kind == "encoder-decoder" else 1), name
        assert n_asked == (0 if "autoencoder" in name else 2 if name == "translation" else 1), name
