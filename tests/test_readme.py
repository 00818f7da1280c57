"""What the READMEs show works as it stands there, for a reader who copies it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from attention_lab.models.data.tasks import TASKS, Task, generator_of
from attention_lab.models.runs.command_line import main
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
OF_MODELS = (ROOT / "models" / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README + OF_MODELS, re.DOTALL)
(MAJORITY,) = (block for block in BLOCKS if "(Task)" in block)


@pytest.fixture
def majority(monkeypatch: pytest.MonkeyPatch) -> type[Task]:
    """The task that README shows, as if it lay in a file of its own."""
    monkeypatch.setattr("attention_lab.models.data.tasks.task.TASKS", dict(TASKS))
    names: dict[str, Any] = {"__name__": "majority"}
    exec(MAJORITY, names)
    return names["Majority"]


def test_a_task_of_one_s_own_learns(majority: type[Task]):
    """Guessing is right in half of the cases."""
    config = run_config(majority(), training={"steps": 80, "threads": 1})
    training = Training(config)
    for record in islice(training, 80):
        assert record.loss < 2
    held_out = config.task.batch(generator_of(99, 0), 300, held_out=True)
    assert config.task.score(training.model, held_out)["exact match"] > 0.9


def test_a_task_of_one_s_own_is_found_and_trained_by_the_command_line(tmp_path: Path):
    copy = tmp_path / "attention_lab" / "models"
    shutil.copytree(ROOT / "models", copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "attention_lab" / "__init__.py", copy.parent)
    (copy / "data" / "tasks" / "majority.py").write_text(MAJORITY)
    command = [
        sys.executable,
        "-m",
        "attention_lab.models.training",
        "run",
        "--task",
        "majority",
        "--set",
        "steps=3",
    ]
    environment = {**os.environ, "ATTENTION_LAB_RUNS": str(tmp_path / "runs")}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "held out at step 3: loss " in ended.stdout and "exact match" in ended.stdout


def test_the_command_line_s_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """All but the number of steps is as README has it."""
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    (example,) = re.findall(r"`python -m attention_lab\.models\.training (run --task [^`]+)`", README)
    words = shlex.split(example)
    assert words[-1] == "steps=500"
    for command in ([*words[:-1], "steps=3"], ["list"], ["tasks"]):
        monkeypatch.setattr("sys.argv", ["training", *command])
        main()
    printed = capsys.readouterr().out
    assert "held out at step 3: loss " in printed and "finished  3 of 3" in printed
    (run,) = (path.name for path in tmp_path.iterdir() if path.name.startswith("reverse-"))
    monkeypatch.setattr("sys.argv", ["training", "export", run, "--out", str(tmp_path / "kept")])
    main()
    assert (tmp_path / "kept" / f"{run}.safetensors").is_file()


def test_the_notebook_s_lines_run():
    (code,) = (block for block in BLOCKS if "load_model(" in block and not is_other(block))
    names: dict[str, Any] = {}
    exec(code.replace(".show()", ""), names)
    assert names["pattern"].shape[0] == names["lm"].config.n_heads


def is_other(block: str) -> bool:
    return "report(" in block or "TransformerBridge" in block


def test_what_stands_beside_the_calls_of_transformer_lens_runs_and_says_what_it_is_said_to():
    (code,) = (block for block in BLOCKS if "TransformerBridge" in block)
    names: dict[str, Any] = {}
    exec(code.replace(".show()", ""), names)
    assert len(re.findall(r"^# \d+ +\S", code, re.MULTILINE)) == 10
    lm, text, best, second = (names[each] for each in ("lm", "text", "best", "second"))
    plain, there = lm.trace(text)["logits"][-1], lm.trace(names["other"])

    def moved(trace: Any) -> float:
        after = trace["logits"][-1] - plain
        return float(after[best] - after[second])

    patched = lm.trace(text, edits=[f'decoder.1.self heads 2: from "{names["other"]}"'])
    assert float(names["heads"].effects["decoder.self"][1, 2]) == pytest.approx(moved(patched), abs=1e-4)
    stream = lm.trace(text, edits=[f'decoder.2.resid_pre at 9: from "{names["other"]}"'])
    assert float(names["positions"][2, 9]) == pytest.approx(moved(stream), abs=1e-4)
    z = names["trace"]["decoder.1.self.z"]
    slope = (names["grads"]["decoder.1.self.z"] * (there["decoder.1.self.z"] - z))[2].sum()
    assert float(names["told"].effects["decoder.self"][1, 2]) == pytest.approx(float(slope), abs=1e-4)
    assert names["by_position"].effects["decoder.self"].shape == (4, 4, len(names["tokens"]))
    total = names["parts"].values.sum(0)
    assert float(total[best] - total[second]) == pytest.approx(float(plain[best] - plain[second]), abs=1e-3)
    assert float(names["direct"].effects["decoder.self"].abs().max()) > 0
    assert (names["edited"]["decoder.1.self.z"][2] == 0).all() and names["ids"].shape == (1, 19)


def test_the_lines_for_the_scores_of_a_model_run():
    (code,) = (block for block in BLOCKS if "report(" in block)
    names: dict[str, Any] = {}
    exec(code, names)
    accuracy = names["found"]["parts"]["held out"]["scores"][1]
    assert accuracy["name"] == "accuracy" and 0.8 < accuracy["low"] < accuracy["value"] < accuracy["high"]


def test_the_lines_for_a_module_of_one_s_own_run():
    (code,) = (block for block in BLOCKS if "capture(" in block)
    names: dict[str, Any] = {}
    exec(code.replace(".show()", ""), names)
    assert names["output"].shape == (1, 6, 64) and names["weights"].shape == (4, 6, 6)
