"""A run that is written down: thinned, bounded, whole at every moment, cut where it goes on."""

import json
import math
import struct
from dataclasses import replace

import pytest
import torch
from tensorboardX.proto.event_pb2 import Event
from tensorboardX.record_writer import masked_crc32c

from attention_lab.models.data.tasks import Sample
from attention_lab.models.files import WriteError
from attention_lab.models.runs import recording
from attention_lab.models.runs.folder import create_run
from attention_lab.models.runs.recording import train_into
from attention_lab.models.training.config import TrainingConfig
from attention_lab.models.training.loop import Training
from tests.small_runs import assert_same, small_run, stop_after


def config(**training):
    return small_run(dropout=0.1, **{"steps": 12, "n_snapshots": 6, "validate_every": 6, **training})


@pytest.fixture
def new_run(tmp_path):
    """Makes runs, each in a folder of its own."""
    numbers = iter(range(100))
    return lambda run_config: create_run(run_config, path=tmp_path / f"run{next(numbers)}")


def test_a_run_is_written_as_it_goes(new_run):
    run, seen = new_run(config()), []
    assert train_into(run, config(), on_record=seen.append)
    lines = run.metrics()
    assert [line["step"] for line in lines] == list(range(1, 13))
    for line, record in zip(lines, seen, strict=True):
        assert line["loss"] == record.loss
        assert line["losses"] == record.losses
        assert line.get("validation") == record.validation
    assert lines[-1]["seconds"] >= lines[0]["seconds"] > 0
    assert run.snapshots() == [0, *(record.step for record in seen if record.snapshot)]
    untrained = Training(config()).snapshot()
    for address, pattern in run.snapshot(0).items():
        assert torch.equal(pattern, untrained[address])
    assert [line["step"] for line in run.samples()] == [6, 12]
    assert set(run.samples()[0]["samples"][0]) == {"given", "made", "wanted"}
    assert run.probe()["tokens"] == run.config().task.probe().tokens
    assert run.checkpoint().step == 12
    assert run.model()(torch.tensor([[1, 2]])).shape == (1, 2, config().model.vocab_size)


@pytest.mark.parametrize("stops", [(5,), (1, 6, 11), (12,)])
def test_a_run_that_is_stopped_and_resumed_ends_as_if_never_stopped(new_run, stops):
    whole, stopped = new_run(config()), new_run(config())
    train_into(whole, config())
    done = 0
    for stop in stops:
        assert train_into(stopped, config(), **stop_after(stop - done)) == (stop == 12)
        done = stop
        assert stopped.checkpoint().step == stop
    assert train_into(stopped, stopped.config())
    assert_same(stopped, whole)
    assert stopped.snapshots() == whole.snapshots()
    assert [line["step"] for line in stopped.samples()] == [line["step"] for line in whole.samples()]


def test_what_was_written_after_the_checkpoint_is_dropped(new_run):
    run = new_run(config())
    train_into(run, config(), **stop_after(4))
    with (run.path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 5, "loss": 99.0}\n{"step": 6, "lo')
    (run.path / "snapshots" / "00000009.safetensors").write_bytes(b"half")
    (run.path / ".checkpoint.safetensors.abc.tmp").write_bytes(b"half")
    (run.path / "notes.txt").write_text("foreign")
    train_into(run, config(), **stop_after(0))
    assert [line["step"] for line in run.metrics()] == [1, 2, 3, 4]
    assert 9 not in run.snapshots()
    assert not list(run.path.glob(".*.tmp"))
    assert (run.path / "notes.txt").exists()


def test_long_runs_are_thinned(new_run, monkeypatch):
    monkeypatch.setattr(recording, "MOST_LINES", 4)
    monkeypatch.setattr(TrainingConfig, "norms_interval", 7)
    long = config(steps=20, validate_every=7)
    run = new_run(long)
    train_into(run, long)
    assert [line["step"] for line in run.metrics()] == [5, 7, 10, 14, 15, 20]
    steps = [event.step for event in events(run) if event.HasField("summary")]
    assert steps == [7, 14, 20]


def events(run):
    """TensorBoard's events, their checksums checked."""
    found = []
    for path in sorted(run.path.glob("events.out.tfevents.*")):
        raw = path.read_bytes()
        while raw:
            (length,) = struct.unpack("<Q", raw[:8])
            content = raw[12 : 12 + length]
            assert struct.unpack("<I", raw[8:12])[0] == masked_crc32c(raw[:8])
            assert struct.unpack("<I", raw[12 + length : 16 + length])[0] == masked_crc32c(content)
            found.append(Event.FromString(content))
            raw = raw[16 + length :]
    return found


def test_tensorboard_sees_the_same_numbers(new_run):
    run = new_run(config())
    train_into(run, config(), **stop_after(6))
    train_into(run, config())
    found = events(run)
    assert found[0].file_version == "brain.Event:2"
    assert [event.step for event in found if event.HasField("session_log")] == [7]
    scalars = {
        event.step: {value.tag: value.simple_value for value in event.summary.value}
        for event in found
        if event.HasField("summary")
    }
    assert sorted(scalars) == list(range(1, 13))
    for line in run.metrics():
        assert scalars[line["step"]]["training/loss"] == pytest.approx(line["loss"], rel=1e-6)
        assert scalars[line["step"]]["learning rate"] == pytest.approx(line["learning_rate"], rel=1e-6)
        for part, (gradient, weight) in line["norms"].items():
            assert scalars[line["step"]][f"gradient norm/{part}"] == pytest.approx(gradient, rel=1e-6)
            assert scalars[line["step"]][f"weight norm/{part}"] == pytest.approx(weight, rel=1e-6)
    last = run.metrics()[-1]["validation"]
    assert scalars[12]["validation/exact match"] == pytest.approx(last["exact match"])


def test_checkpoints_come_in_time_but_take_little_of_it(new_run, monkeypatch):
    often = config(checkpoint_seconds=0.0)
    run, steps = new_run(often), []
    monkeypatch.setattr(recording, "_CHECKPOINT_SHARE", 1e9)
    monkeypatch.setattr(recording, "write_checkpoint", lambda path, checkpoint: steps.append(checkpoint.step))
    train_into(run, often)
    assert steps == list(range(13))
    monkeypatch.setattr(recording, "_CHECKPOINT_SHARE", 1e-9)
    steps.clear()
    train_into(new_run(often), often)
    assert steps == [0, 12]


def test_pictures_are_kept_beside_the_words(new_run, monkeypatch):
    run = new_run(config())
    pictures = torch.rand(3, 4, 4)
    made = [Sample("3", "3", "", pictures, 1 - pictures)]
    monkeypatch.setattr(type(config().task), "samples", lambda *_: made)
    train_into(run, config())
    assert run.picture_steps() == [6, 12]
    assert torch.equal(run.pictures(12)["originals"], pictures)
    assert torch.equal(run.pictures(12)["pictures"], 1 - pictures)


def test_a_full_disk_ends_the_run_with_a_sentence(new_run, monkeypatch):
    run = new_run(config())
    train_into(run, config(), **stop_after(4))
    whole = (run.path / "checkpoint.safetensors").read_bytes()

    def refuse(**arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("attention_lab.models.files.tempfile.mkstemp", refuse)
        with pytest.raises(
            WriteError, match=r"could not be written to .*: the disk is full; free some space"
        ):
            train_into(run, config())
    assert (run.path / "checkpoint.safetensors").read_bytes() == whole
    undisturbed = new_run(config())
    train_into(undisturbed, config())
    assert train_into(run, config())  # there is room again
    assert_same(run, undisturbed)


def test_every_line_is_json_that_any_program_reads(new_run, monkeypatch):
    """Gradients that overflow in float16 have no norm: the line has none, and its other numbers stay."""
    take = Training.__next__

    def overflown(training):
        record = take(training)
        norms = {"embedding": [math.inf, 2.0], "decoder.0": [1.0, 2.0]}
        return replace(record, gradient_norm=math.inf, norms=norms) if record.step == 1 else record

    monkeypatch.setattr(Training, "__next__", overflown)
    run = new_run(config())
    train_into(run, config())
    assert "gradient_norm" not in run.metrics()[0] and run.metrics()[0]["norms"] == {"decoder.0": [1.0, 2.0]}

    def refuse(word):
        raise AssertionError(word)

    lines = (run.path / "metrics.jsonl").read_text().splitlines()
    found = [json.loads(line, parse_constant=refuse)["step"] for line in lines]
    assert found == [line["step"] for line in run.metrics()] and found[-1] == config().training.steps
