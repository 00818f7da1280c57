from pathlib import Path

import pytest
import torch

from attention_lab.models.data.tasks import make_task
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training.config import run_config
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import subject_of
from attention_lab.pages.runs import try_it
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.training import runs
from tests.pages.shared.runs import write_run


def untrained(name: str) -> TrainedModel:
    task = make_task(name)
    return TrainedModel(name, task, Transformer(run_config(task).model, seed=0), {})


@pytest.mark.parametrize(
    ("task", "way"),
    [
        ("reverse", "_answer"),
        ("induction", "_write"),
        ("sentiment", "_classify"),
        ("digits-autoencoder", "_rebuild"),
        ("masked", "_fill"),
        ("everyday", "_answer"),
    ],
)
def test_every_kind_of_model_has_something_to_try(task: str, way: str) -> None:
    model = untrained(task)
    assert try_it.way_of(model) == getattr(try_it, way)
    model.read(model.task.probe().text)


def test_a_model_goes_on_writing_from_a_text_as_long_as_its_context() -> None:
    model = untrained("induction")
    text = model.task.probe().text
    assert len(text) == model.config.max_len
    written = try_it.go_on(model, text, temperature=1.0, seed=3)
    assert 0 < len(written) <= try_it.MOST_TOKENS
    assert written == try_it.go_on(model, text, temperature=1.0, seed=3)


def test_the_likeliest_come_first_with_their_probabilities() -> None:
    logits = torch.tensor([0.0, 2.0, 1.0])
    chances = logits.softmax(0).tolist()
    expected = [("b", pytest.approx(chances[1])), ("c", pytest.approx(chances[2]))]
    assert try_it._likeliest(logits, ("a", "b", "c"))[:2] == expected


@pytest.mark.parametrize("run_id", ["reverse", "zoo_induction"])
def test_explore_and_runs_hold_one_model_of_a_run_between_them(
    run_id: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "models", cache.ByteCache("models", cache.MODEL_BYTES))
    root.mkdir()
    write_run(root, "reverse")
    run = runs.find(run_id)
    shown = subject_of(Inputs(run.model_link, "dcba" if run_id == "reverse" else "abcdabc")).model
    assert try_it._on_model(run, lambda model: model) is shown
    assert [model for model, _ in cache.models._entries.values()] == [shown]
