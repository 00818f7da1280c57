"""What `compile` compiles: all that each task's steps compute, with the same losses."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from attention_lab.models.training import memory
from attention_lab.models.training.config import TrainingConfig
from attention_lab.models.training.loop import Training
from tests.models.training.small import config

PROGRAM = """
import json
import time
from dataclasses import replace
from functools import partial
import torch
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from tests.models.training.small import QUICK, SMALL, small_task

parts = []
def backend(graph, inputs):
    parts.extend(str(node.target) for node in graph.graph.nodes)
    return graph.forward

torch.compile = partial(torch.compile, backend=backend)
for name in %r:
    torch.compiler.reset()
    start = time.perf_counter()
    parts.clear()
    plain = run_config(small_task(name), sizes=SMALL, training=QUICK)
    compiled = Training(replace(plain, training=replace(plain.training, compile=True)))
    losses = [next(each).losses for each in (compiled, Training(plain))]
    attended, asked = ([p for p in parts if q in p] for q in ("scaled_dot_product", "cross_entropy"))
    kind = plain.model.kind
    clocks = compiled.compiling, compiled.seconds, time.perf_counter() - start
    print(json.dumps([name, kind, compiled.chosen, len(attended), len(asked), clocks, *losses]))
"""

# Those with a pass of their own: two stacks, pieces, pictures, one row of logits, all rows.
DIFFERENT = ("translation", "everyday", "masked", "sentiment", "digits-autoencoder")


def test_tasks_of_each_kind_compute_their_steps_compiled_and_alike() -> None:
    """In a process of its own, where nothing watches shapes, which no compiler can read."""
    program = [sys.executable, "-W", "ignore", "-c", PROGRAM % (DIFFERENT,)]
    rows = [json.loads(line) for line in subprocess.check_output(program, text=True).splitlines()]
    assert len(rows) == len(DIFFERENT)
    for name, kind, sentence, n_attended, n_asked, (compiling, seconds, in_all), compiled, plain in rows:
        assert 0 < compiling < compiling + seconds < in_all, name
        assert "compiled" in sentence
        assert compiled == pytest.approx(plain, rel=1e-5), name
        assert n_attended == (3 if kind == "encoder-decoder" else 1), name
        assert n_asked == (0 if "autoencoder" in name else 2 if name == "translation" else 1), name


@pytest.fixture
def nvidia(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside, PyTorch finds a GPU of NVIDIA's, and Triton is there."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    card = SimpleNamespace(name="H200", total_memory=141 * 10**9)
    monkeypatch.setattr(memory, "_available", lambda kind: kind == "cuda")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    monkeypatch.setattr(memory, "find_spec", lambda name: name)


@pytest.mark.usefixtures("nvidia")
def test_on_a_gpu_of_nvidias_steps_are_compiled_unless_a_setting_says_no() -> None:
    usual = memory.choose(TrainingConfig())
    assert (usual.device.type, usual.compiled) == ("cuda", True)
    assert usual.sentence == "trains on H200 (141 GB), compiled"
    assert not memory.choose(TrainingConfig(compile=False)).compiled
    assert not memory.choose(TrainingConfig(device="cpu")).compiled
    assert memory.choose(TrainingConfig(device="cpu", compile=True)).compiled


@pytest.mark.usefixtures("nvidia")
def test_a_gpu_without_kernels_of_the_compiler_is_not_compiled_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as older:
        older.setattr(torch.cuda, "get_device_capability", lambda device: (6, 1))
        assert not memory.choose(TrainingConfig()).compiled
    monkeypatch.setattr(torch.version, "hip", "6.4")  # AMD's
    assert not memory.choose(TrainingConfig()).compiled


@pytest.mark.usefixtures("nvidia")
def test_without_triton_the_usual_run_is_not_compiled_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "find_spec", lambda name: None)
    usual = memory.choose(TrainingConfig())
    assert not usual.compiled and "without torch.compile, as it needs Triton" in usual.sentence


def test_on_a_cpu_nothing_is_compiled_by_default_and_losses_are_the_same_bits() -> None:
    usual, never = (Training(config(device="cpu", steps=3, compile=how)) for how in ("auto", False))
    assert [each.loss for each in usual] == [each.loss for each in never]
    assert usual.compiling == 0.0


def test_a_run_that_goes_on_counts_what_was_compiled_before() -> None:
    first = Training(config(steps=4))
    next(first)
    first.compiling = 12.5
    again = Training(config(steps=4))
    again.load_state(*first.state())
    assert again.compiling == 12.5
    tensors, values = first.state()
    del values["compiling"]  # as a state of before
    again.load_state(tensors, values)
    assert again.compiling == 0.0


def test_a_run_of_before_that_says_nothing_was_not_compiled() -> None:
    assert TrainingConfig.from_file({}).compile is False
    assert TrainingConfig.from_file({"compile": True}).compile is True
