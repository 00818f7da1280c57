"""Steps are repeatable, equal to a plain loop's, the same in pieces, and go on from a state bit for bit."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch.nn.functional import cross_entropy

from models.byte_units import GB, MB
from models.data.tasks import IGNORED, generator_of, make_task
from models.engine.transformer import Transformer
from models.training.config import TrainingConfig, run_config
from models.training.devices import Machine
from models.training.loop import DivergedError, Training
from models.training.schedule import learning_rate
from models.training.snapshots import snapshot_bytes, snapshot_steps

SMALL = {"n_layers": 1, "n_heads": 2, "d_model": 16}
QUICK = {
    "steps": 6, "batch_size": 4, "threads": 1, "device": "cpu", "warmup_steps": 2,
    "held_out": 8, "validate_every": 1_000,
}  # fmt: skip


def config(sizes=None, task="reverse", **training):
    return run_config(make_task(task), sizes={**SMALL, **(sizes or {})}, training={**QUICK, **training})


def numbers(records):
    """What two runs have in common, if they are the same; times and memory are not."""
    return [(r.step, r.losses, r.learning_rate, r.gradient_norm, r.validation) for r in records]


def same_weights(one, other):
    pairs = zip(one.model.state_dict().values(), other.model.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("changes", [{}, {"sizes": {"dropout": 0.2}}, {"precision": "bfloat16"}])
def test_a_rerun_gives_the_same_numbers_bit_for_bit(changes):
    one = Training(config(**changes))
    first = list(one)
    torch.manual_seed(123)  # what else draws random numbers changes nothing
    other = Training(config(**changes))
    assert numbers(other) == numbers(first)
    assert same_weights(one, other)
    assert numbers(Training(config(**changes, seed=1))) != numbers(first)


def test_a_run_leaves_global_random_numbers_alone():
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    list(Training(config({"dropout": 0.5}, steps=2)))
    assert torch.equal(torch.rand(3), wanted)


@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
def test_steps_are_those_of_a_plain_loop(optimizer):
    run = config(steps=5, optimizer=optimizer, weight_decay=0.1, clip=0.5)
    training = Training(run)
    model = Transformer(run.model, seed=0)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[optimizer]
    plain = kind(model.parameters(), betas=(0.9, 0.98), weight_decay=0.1)
    for step, record in enumerate(training, start=1):
        batch = run.task.batch(generator_of(0, step - 1), 4)
        logits = model(*batch.inputs)
        loss = cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORED)
        plain.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        plain.param_groups[0]["lr"] = learning_rate(run.training, step)
        plain.step()
        assert record.step == step
        assert record.loss == pytest.approx(loss.item(), rel=1e-5)
        assert record.gradient_norm == pytest.approx(norm.item(), rel=1e-4)
        assert record.tokens_per_second > 0
        assert record.memory > 50 * MB
    for ours, theirs in zip(training.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("pieces", "task"),
    [
        *((pieces, make_task("reverse")) for pieces in (2, 3, 4)),
        (2, make_task("translation")),  # whose terms are asked differently often in the pieces
        (3, make_task("masked", {"next_sentence": True})),
    ],
)
def test_pieces_of_a_batch_have_the_gradient_of_the_whole(pieces, task):
    runs = [
        run_config(task, sizes=SMALL, training={**QUICK, "steps": 3, "accumulation": n}) for n in (1, pieces)
    ]
    for one, other in zip(*map(Training, runs), strict=True):
        assert other.losses == pytest.approx(one.losses, rel=1e-5)
        assert other.gradient_norm == pytest.approx(one.gradient_norm, rel=1e-4)


def test_recomputed_layers_train_alike():
    sizes = {"dropout": 0.1}
    plain = Training(config(sizes))
    recomputed = Training(config(sizes, gradient_checkpointing=True))
    assert recomputed.model.recompute
    for one, other in zip(plain, recomputed, strict=True):
        assert other.loss == pytest.approx(one.loss, rel=1e-6)
        assert other.gradient_norm == pytest.approx(one.gradient_norm, rel=1e-5)


@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_run_that_goes_on_from_a_state_ends_as_if_it_had_never_stopped(at):
    whole = Training(config({"dropout": 0.3}))
    records = list(whole)
    first = Training(config({"dropout": 0.3}))
    for _ in range(at):
        next(first)
    tensors, values = first.state()
    tensors = {name: tensor.clone() for name, tensor in tensors.items()}
    list(first)  # what it does afterwards is of no concern
    second = Training(config({"dropout": 0.3}))
    second.load_state(tensors, values)
    assert second.step == at
    assert numbers(second) == numbers(records[at:])
    assert same_weights(second, whole)


def test_a_state_of_another_model_is_refused():
    tensors, values = Training(config()).state()
    with pytest.raises(ValueError, match="not that of this model and training"):
        Training(config({"d_model": 32})).load_state(tensors, values)
    one = Training(config())
    next(one)
    tensors, values = one.state()
    tensors["optimizer.embedding.weight|exp_avg"] = torch.zeros(2)
    with pytest.raises(ValueError, match=r"optimiser's state has 'embedding\.weight'"):
        Training(config()).load_state(tensors, values)


def test_label_smoothing_is_the_formulas():
    smoothed, plain = config(label_smoothing=0.1), config()
    batch = plain.task.batch(generator_of(0, 0), 4)
    with torch.no_grad():
        log_probs = Transformer(plain.model, seed=0)(*batch.inputs).double().log_softmax(-1)
    asked = batch.targets != IGNORED
    right = log_probs[asked].gather(1, batch.targets[asked][:, None]).squeeze(1)
    wanted = -(0.9 * right + 0.1 * log_probs[asked].mean(dim=1)).mean().item()
    assert next(Training(smoothed)).loss == pytest.approx(wanted, rel=1e-5)
    assert next(Training(plain)).loss == pytest.approx(-right.mean().item(), rel=1e-5)


def test_validation_is_the_mean_over_the_same_held_out_examples():
    run = config(steps=2, validate_every=1, held_out=300, learning_rate=1e-9, warmup_steps=0)
    training = Training(run)
    batch = run.task.batch(generator_of(1, 0), 300, held_out=True)
    with torch.no_grad():
        logits = training.model(*batch.inputs).flatten(0, 1)
    wanted = cross_entropy(logits, batch.targets.flatten(), ignore_index=IGNORED).item()
    for record in training:
        assert record.validation["loss"] == pytest.approx(wanted, rel=1e-5)
        assert 0 <= record.validation["exact match"] <= 1
        assert record.samples


def test_records_are_rich_at_their_own_steps_only():
    records = list(Training(config(steps=40, n_snapshots=5, validate_every=4)))
    assert [r.step for r in records if r.validation] == list(range(4, 41, 4))
    assert [0, *(r.step for r in records if r.snapshot)] == snapshot_steps(40, 5)
    last = records[-1].snapshot["decoder.0.self.pattern"]
    assert last.dtype == torch.float16
    assert last.shape[0] == 2
    assert torch.allclose(last.float().sum(-1), torch.ones(last.shape[:2]), atol=2e-3)


def test_a_short_run_learns():
    records = list(
        Training(config({"d_model": 32}, task="copy", steps=100, batch_size=16, learning_rate=1e-2))
    )
    assert records[-1].validation["loss"] < 0.75 * math.log(16)


def test_a_run_that_diverges_says_so():
    training = Training(config())
    with torch.no_grad():
        training.model.embedding.weight.fill_(math.nan)
    with pytest.raises(DivergedError, match=r"the loss is nan at step 1: .* try learning_rate=") as error:
        next(training)
    assert "instead of" in str(error.value)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"device": "cuda"}, "device='cuda', but PyTorch finds no such GPU here; choose 'auto' or 'cpu'"),
        ({"precision": "float16"}, "float16.* needs a GPU, .* choose 'bfloat16' or 'float32'"),
    ],
)
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_machine_that_is_not_there_is_said(changes, text):
    with pytest.raises(ValueError, match=text):
        Training(config(**changes))


def test_a_sentence_says_where_the_run_trains(monkeypatch):
    assert "trains on the CPU with 1 thread" in Training(config()).chosen
    monkeypatch.setattr("models.training.devices.shutil.which", lambda name: None)
    training = Training(config(compile=True))
    assert "without torch.compile, as it needs a C++ compiler" in training.chosen
    assert math.isfinite(next(training).loss)


@pytest.mark.parametrize(
    ("changes", "interval"),
    [
        ({"steps": 1_000}, 50),  # 20 times
        ({"steps": 1_000, "validate_every": 7}, 7),
        ({"steps": 600, "batch_size": 12}, 86),  # 14 steps' price each: a sixth of the time
        ({"steps": 40, "batch_size": 4}, 10),  # dear, but four times at the least
        ({"steps": 3, "batch_size": 4}, 1),
    ],
)
def test_validations_are_as_many_as_the_time_allows(changes, interval):
    assert TrainingConfig(**{"held_out": 256, "batch_size": 64, **changes}).validation_interval == interval


@pytest.mark.parametrize(("steps", "n"), [(1, 2), (5, 40), (100, 40), (2_000, 40), (100_000, 12), (9, 2)])
def test_snapshot_steps_are_dense_at_the_start_and_hold_both_ends(steps, n):
    chosen = snapshot_steps(steps, n)
    assert chosen[0] == 0
    assert chosen[-1] == steps
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(n, steps + 1)
    gaps = [b - a for a, b in pairwise(chosen)]
    assert gaps[:-1] == sorted(gaps[:-1]) or max(gaps) <= steps / 10


def test_large_snapshots_are_fewer():
    run = config()
    assert len(snapshot_steps(1_000, 40, MB)) == 16
    assert len(snapshot_steps(1_000, 40, GB)) == 2
    probe = run.task.probe()
    n = len(probe.tokens["decoder"])
    assert snapshot_bytes(run.model, probe) == 2 * 1 * 2 * n * n
    pattern = Training(run).snapshot()["decoder.0.self.pattern"]
    assert pattern.numel() * pattern.element_size() == snapshot_bytes(run.model, probe)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"steps": 0}, r"steps=0 is not within 1 to 1e\+07; try 1,000"),
        ({"learning_rate": math.nan}, "learning_rate=nan is no number; try 0.001"),
        ({"batch_size": 2.5}, "batch_size=2.5 is no whole number; try 32"),
        ({"schedule": "linear"}, "schedule='linear' is unknown; choose one of cosine, constant, warm-up"),
        ({"compile": 1}, "compile=1 is neither True nor False"),
        ({"accumulation": 40}, "accumulation=40 cannot divide batch_size=32; try accumulation=32"),
    ],
)
def test_a_config_that_trains_nothing_is_refused(changes, text):
    with pytest.raises(ValueError, match=text):
        TrainingConfig(**changes)


def test_configs_are_the_same_after_a_trip_through_json():
    training = config({"dropout": 0.1}, precision="bfloat16").training
    again = TrainingConfig.from_dict(json.loads(json.dumps(training.to_dict())))
    assert again == training
    assert replace(again, steps=7) != training
    with pytest.raises(ValueError, match="'step' is no field of TrainingConfig; did you mean steps"):
        TrainingConfig.from_dict({"step": 3})


@pytest.mark.parametrize("at", [0, 3])
def test_batches_made_ready_ahead_are_the_same_ones(at, monkeypatch):
    plain = Training(config())
    wanted = numbers(plain)
    monkeypatch.setattr(Machine, "works_by_itself", True)
    first, second = Training(config()), Training(config())
    found = [next(first) for _ in range(at)]
    second.load_state(*first.state())
    assert numbers([*found, *second]) == wanted
    assert same_weights(plain, second)


def test_going_ahead_does_not_grow_with_the_steps(monkeypatch):
    monkeypatch.setattr(Machine, "works_by_itself", True)
    training = Training(config())
    next(training)
    source = training._batches
    list(training)
    assert training._batches is source


@pytest.mark.parametrize("changes", [{"step": "x"}, {"seconds": None}])
def test_a_state_with_damaged_values_is_refused(changes):
    training = Training(config())
    tensors, values = training.state()
    with pytest.raises(ValueError, match="the state is not that of this model and training"):
        training.load_state(tensors, {**values, **changes})


@pytest.fixture
def few_words(tmp_path):
    """Options of the task masked: to learn pieces of words from the whole grammar takes most of a test."""
    file = tmp_path / "fish.txt"
    file.write_text("One fish swims. Two fish swim!\nRed fish? Blue fish.\n" * 40)
    return {"file": str(file), "vocabulary": 100}


@pytest.mark.parametrize("name", ["reverse", "masked", "sentiment", "digits-autoencoder", "translation"])
def test_a_validation_reads_as_many_as_a_step_and_says_the_same(name, few_words, monkeypatch):
    """Of one example at a time, some ask for nothing that a score counts."""
    found, read = [], []
    forward = Transformer.encode if name == "translation" else Transformer.forward

    def counted(model, tokens, *others, **options):
        read.append(len(tokens))
        return forward(model, tokens, *others, **options)

    monkeypatch.setattr(Transformer, forward.__name__, counted)
    for batch_size, accumulation in ((1, 1), (30, 4), (64, 1)):
        sizes = {"n_layers": 1, "n_heads": 1, "d_model": 16}
        training = {"batch_size": batch_size, "accumulation": accumulation, "held_out": 40, "threads": 1}
        task = make_task(name, few_words if name == "masked" else {})
        run = run_config(task, sizes=sizes, training=training)
        found.append(Training(run).validate())
        assert max(read) == min(-(-batch_size // accumulation), 40)
        read.clear()
    assert found[0] == pytest.approx(found[2], rel=1e-4) and found[1] == pytest.approx(found[2], rel=1e-4)


def test_a_validation_computes_no_logits_where_nothing_is_asked(few_words, monkeypatch):
    run = run_config(make_task("masked", few_words), training={"held_out": 8, "threads": 1})
    training, read, unembed = Training(run), [], Transformer.unembed

    def counted(model, x):
        read.append(x.shape[:-1].numel())
        return unembed(model, x)

    monkeypatch.setattr(Transformer, "unembed", counted)
    training.validate()
    (held_out,) = training._held_out
    assert read == [held_out.n_asked] * 2 and 0 < held_out.n_asked < held_out.n_tokens / 3
