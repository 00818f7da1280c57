"""What README shows works as it stands there."""

import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from models.data.tasks import TASKS, Task, generator_of
from models.training.config import run_config
from models.training.loop import Training

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def majority(monkeypatch: pytest.MonkeyPatch) -> type[Task]:
    """The task that README shows, as if it lay in a file of its own."""
    monkeypatch.setattr("models.data.tasks.task.TASKS", dict(TASKS))
    (code,) = (block for block in BLOCKS if "(Task)" in block)
    names: dict[str, Any] = {"__name__": "majority"}
    exec(code, names)
    return names["Majority"]


def test_a_task_of_one_s_own_learns(majority: type[Task]):
    """Guessing is right in half of the cases."""
    config = run_config(
        majority(), sizes={"n_layers": 1, "n_heads": 2, "d_model": 16}, training={"steps": 150, "threads": 1}
    )
    training = Training(config)
    for record in islice(training, 150):
        assert record.loss < 2
    held_out = config.task.batch(generator_of(99, 0), 300, held_out=True)
    assert config.task.score(training.model, held_out)["exact match"] > 0.9


def test_the_notebook_s_lines_run():
    (code,) = (block for block in BLOCKS if "load_model(" in block)
    names: dict[str, Any] = {}
    exec(code.replace(".show()", ""), names)
    assert names["pattern"].shape[0] == names["lm"].config.n_heads
