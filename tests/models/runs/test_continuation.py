"""Going on from a checkpoint with other settings: what may change, what is kept, and that it is exact."""

import json
from dataclasses import replace

import pytest
import torch

from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs.checkpoints import Checkpoint, write_checkpoint
from attention_lab.models.runs.continuation import Change, changed_config, kept_step, make_further
from attention_lab.models.runs.export import card_of
from attention_lab.models.runs.folder import RunFolder, create_run
from attention_lab.models.runs.recording import train_into
from attention_lab.models.training.config import TrainingConfig
from attention_lab.models.training.loop import Training, learning_rate
from tests.small_runs import assert_same, small_run, stop_after

CONFIG = small_run(dropout=0.1, warmup_steps=2, validate_every=3, n_snapshots=3, checkpoint_seconds=0.0)
CHANGE = Change(steps=14, training={"learning_rate": 3e-4, "batch_size": 6}, schedule="anew")


@pytest.fixture
def trained(root) -> RunFolder:
    run = create_run(CONFIG, name="base")
    train_into(run, CONFIG)
    return run


def further_of(run: RunFolder, change: Change) -> RunFolder:
    step = kept_step(run)
    return make_further(run, changed_config(run, run.config(), change, step), change, step)


def test_a_changed_run_that_is_killed_ends_as_if_it_never_was(trained):
    """The exactness of ordinary runs holds: stopped anywhere and resumed is not stopped, to the bit."""
    whole, killed = further_of(trained, CHANGE), further_of(trained, CHANGE)
    train_into(whole, whole.config())
    for n_steps in (2, 3):
        train_into(killed, killed.config(), **stop_after(n_steps))
    train_into(killed, killed.config())
    assert_same(killed, whole)
    assert [line["step"] for line in killed.metrics()] == list(range(1, 15))
    rates = [line["learning_rate"] for line in killed.metrics()]
    assert rates[6:8] == pytest.approx([1.5e-4, 3e-4])  # a warm-up of two steps, again
    assert rates[-1] == pytest.approx(0.0, abs=1e-12)


def test_a_run_further_with_nothing_changed_is_the_same_training(trained):
    """With a constant rate and the schedule that goes on, 6 + 4 steps are 10 steps, to the bit."""
    constant = replace(CONFIG, training=replace(CONFIG.training, schedule="constant"))
    first = create_run(constant, name="first")
    train_into(first, constant)
    on = further_of(first, Change(steps=10))
    train_into(on, on.config())
    at_once = replace(constant, training=replace(constant.training, steps=10))
    training = Training(at_once)
    losses = [record.loss for record in training]
    assert [line["loss"] for line in on.metrics()] == losses


def test_the_new_run_tells_what_changed_and_keeps_what_was_recorded(trained):
    trained.annotate(tags=["first try"], notes="mine")
    on = further_of(trained, CHANGE)
    said = on.description()
    assert said["name"] == "base to 14 steps"
    assert said["tags"] == ["first try"] and "notes" not in said
    default = CONFIG.training.learning_rate
    changed = {"steps": [6, 14], "batch_size": [4, 6], "learning_rate": [default, 3e-4]}
    [entry] = said["history"]
    assert entry == {"step": 6, "from": trained.id, "changed": changed, "schedule": "anew"}
    assert on.metrics() == trained.metrics() and on.snapshots() == trained.snapshots()
    again = further_of(on, replace(CHANGE, steps=20, training={}, schedule="goes on"))
    assert [each["from"] for each in again.description()["history"]] == [trained.id, on.id]
    assert again.config().training.schedule_from == 6  # it goes on with the schedule that started there


def test_the_exported_card_tells_the_history(trained):
    on = further_of(trained, CHANGE)
    card = card_of(on, on.config(), on.model(), "on")
    assert card["training"]["history"] == [
        "from step 6: steps 6 → 14, batch_size 4 → 6, learning_rate 0.003 → 0.0003, the schedule starts anew"
    ]
    assert "schedule_from" not in card["training"]["command"]


def test_forgotten_moments_leave_the_weights(trained):
    on = further_of(trained, replace(CHANGE, moments="forgotten"))
    names = set(on.checkpoint().tensors)
    assert not [name for name in names if name.startswith("optimizer.")]
    weights = {name: w for name, w in trained.checkpoint().tensors.items() if name.startswith("model.")}
    assert all(torch.equal(on.checkpoint().tensors[name], w) for name, w in weights.items())
    assert on.description()["history"][0]["moments"] == "forgotten"
    train_into(on, on.config())
    assert on.checkpoint().step == 14


def test_dropout_may_change_and_sizes_may_not(trained):
    after = changed_config(trained, CONFIG, replace(CHANGE, model={"dropout": 0.0}), 6)
    assert after.model.dropout == 0.0
    with pytest.raises(ValueError, match="n_heads belongs to the weights and cannot change"):
        changed_config(trained, CONFIG, replace(CHANGE, model={"n_heads": 4}), 6)
    with pytest.raises(ValueError, match="splits stays when a run is trained further: its held-out and test"):
        changed_config(trained, CONFIG, replace(CHANGE, options={"splits": "two"}), 6)
    with pytest.raises(ValueError, match="seed stays when a run is trained further"):
        changed_config(trained, CONFIG, replace(CHANGE, training={"seed": 4}), 6)


def test_data_may_change_where_the_vocabulary_stays(tmp_path, root):
    first, other = tmp_path / "first.txt", tmp_path / "same letters.txt"
    first.write_text("the cat sat on the mat and the dog sat on the log. " * 30)
    other.write_text("the log sat on the cat and the mat sat on the dog. " * 30)
    task = make_task("language-model", {"file": str(first), "length": 16})
    config = small_run(task, warmup_steps=2)
    run = create_run(config, name="words")
    write_checkpoint(run.path / "checkpoint.safetensors", Checkpoint(6, *Training(config).state()))
    on = further_of(run, Change(steps=8, options={"file": str(other)}))
    assert on.config().task.file == str(other)
    assert next(on.config().task.batches(0, 2)).n_tokens == 32
    assert json.loads((on.path / "task.json").read_text())["tokenizer"] == task.learnt()["tokenizer"]
    with pytest.raises(ValueError, match="length=32 gives data that the model of 'words' cannot read"):
        further_of(run, Change(steps=8, options={"length": 32}))


def test_the_schedule_starts_anew_where_it_is_said():
    config = TrainingConfig(steps=100, warmup_steps=10, learning_rate=1.0)
    later = replace(config, steps=140, schedule_from=40)
    assert [learning_rate(later, 40 + step) for step in range(1, 101)] == [
        learning_rate(config, step) for step in range(1, 101)
    ]
    paper = replace(later, schedule="warm-up")
    assert learning_rate(paper, 80) == pytest.approx((10 / 40) ** 0.5)
