"""Two processes that share every batch, beside one process that reads it whole."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs.folder import create_run
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training

ROOT = Path(__file__).parents[2]
STEPS = 12
TOLERANCE = 2e-5  # of float32 sums in another order, over so many steps of Adam


def config(sharding):
    sizes = {"n_layers": 2, "n_heads": 2, "d_model": 16}
    how = {"steps": STEPS, "batch_size": 7, "accumulation": 2, "threads": 1, "device": "cpu", "held_out": 8}
    how |= {"workers": 2, "sharding": sharding}
    return run_config(make_task("translation"), sizes=sizes, training=how)


def trained_by_two(*folders):
    """What both processes say while they train the runs."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(Path(__file__).with_name("together.py"))]
    processes = [
        subprocess.Popen(
            [*command, str(rank), str(port), *map(str, folders)],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(2)
    ]  # fmt: skip
    try:
        said = [process.communicate(timeout=300) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0], said
    return [line.split() for out, _ in said for line in out.splitlines()]


def test_two_processes_train_as_one_does(tmp_path):
    """Weights and moments, in both ways to share the model; all but the keys' bias, whose true gradient is
    0: what rounding leaves of it is noise, and Adam makes steps of it.
    """
    training = Training(config("ddp"))
    *_, last = training
    whole = training.state()[0]
    runs = {how: create_run(config(how), path=tmp_path / how) for how in ("ddp", "fsdp")}
    said = trained_by_two(*(run.path for run in runs.values()))
    assert sorted((name, rank) for name, rank, _ in said) == [("ddp", "0"), ("fsdp", "0"), ("fsdp", "1")]
    for _, _, loss in said:
        assert float(loss) == pytest.approx(last.validation["loss"], rel=TOLERANCE)
    for run in runs.values():
        found = run.checkpoint()
        assert found.step == STEPS
        assert found.tensors.keys() == whole.keys()
        for name, tensor in found.tensors.items():
            if "k_proj.bias" not in name:
                torch.testing.assert_close(tensor, whole[name], rtol=TOLERANCE, atol=TOLERANCE)


def test_too_many_workers_are_refused_in_a_sentence():
    with pytest.raises(
        ValueError, match=r"workers=5 cannot share batch_size=7 in accumulation=2 pieces each; "
    ):
        run_config(make_task("reverse"), training={"batch_size": 7, "accumulation": 2, "workers": 5})
    with pytest.raises(ValueError, match="compile=True does not go with sharding='fsdp'; choose 'ddp'"):
        run_config(make_task("reverse"), training={"workers": 2, "sharding": "fsdp", "compile": True})
