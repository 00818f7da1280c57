"""Runs that were begun before scores, sweeps and best checkpoints were known go on as they would have then.

Each folder of `older` was stopped at step 7 of 12 by the program of that time (commit 8d0ea52, one thread);
`whole.jsonl` has the metrics of the same run, which it was not stopped in.
"""

import json
import shutil
from pathlib import Path

import pytest
import torch

from attention_lab.models.runs.folder import RunFolder
from attention_lab.models.runs.recording import train_into

OLDER = Path(__file__).with_name("older")
FLOAT32 = 1e-4
"""The relative difference that another processor's sums may make in twelve steps."""


@pytest.mark.parametrize("name", ["reverse", "sentiment"])
def test_a_run_that_was_begun_before_goes_on_to_the_numbers_of_then(name: str, tmp_path: Path) -> None:
    run = RunFolder(shutil.copytree(OLDER / name, tmp_path / name))
    whole = [json.loads(line) for line in (OLDER / name / "whole.jsonl").read_text().splitlines()]
    n_threads = torch.get_num_threads()
    try:
        assert train_into(run, run.config())
    finally:
        torch.set_num_threads(n_threads)
    told = run.metrics()
    assert [line["step"] for line in told] == [line["step"] for line in whole] == list(range(1, 13))
    for now, then in zip(told, whole, strict=True):
        assert now["loss"] == pytest.approx(then["loss"], rel=FLOAT32)
        assert now["losses"] == pytest.approx(then["losses"], rel=FLOAT32)
        assert ("validation" in now) == ("validation" in then)
        if "validation" in then:  # newer scores may stand beside those of then
            assert {score: now["validation"][score] for score in then["validation"]} == pytest.approx(
                then["validation"], rel=FLOAT32
            )
