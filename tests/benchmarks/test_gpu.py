"""The benchmark of a GPU, tried on the CPU."""

import sys

import pytest
import torch

from benchmarks import gpu


def test_the_program_runs_and_prints_its_tables(tmp_path, monkeypatch, capsys):
    text = tmp_path / "input.txt"
    text.write_text("To be, or not to be, that is the question.\n" * 200)
    monkeypatch.setattr(sys, "argv", ["gpu", "--small", "--file", str(text)])
    monkeypatch.setattr(gpu, "WAYS", {way: how for way, how in gpu.WAYS.items() if "compile" not in how})
    monkeypatch.setattr(gpu, "TARGET_LOSS", 3.0)
    gpu.main()
    out = capsys.readouterr().out
    rows = {line.split(" | ")[0].strip("| "): line for line in out.splitlines() if line.startswith("| ")}
    assert "precision='float16' needs a GPU" in rows["float16"]
    for way in ("float32 (TF32)", "bfloat16"):
        assert len(rows[way].split(" | ")) == 6 and "MB" in rows[way]
    assert "not in" not in rows["seconds to 3.0"]
    assert "The same as a run" in out


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["gpu"])
    gpu.main()
    assert (
        capsys.readouterr().out == "no GPU that PyTorch can use here: nothing is run, nothing is measured\n"
    )
