"""Steps are repeatable, equal to a plain loop's, the same in pieces, and go on from a state bit for bit."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch.nn.functional import cross_entropy

from attention_lab.models.byte_units import GB, MB
from attention_lab.models.data.tasks import IGNORED, generator_of, make_task
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.runs.folder import create_run
from attention_lab.models.training.config import TrainingConfig, run_config
from attention_lab.models.training.loop import Training, decays, learning_rate, snapshot_bytes, snapshot_steps
from attention_lab.models.training.memory import Machine
from tests.models.training.small import QUICK, SMALL, config


def numbers(records):
    """What two runs have in common, if they are the same; times and memory are not."""
    return [(r.step, r.losses, r.learning_rate, r.gradient_norm, r.validation) for r in records]


def same_weights(one, other):
    pairs = zip(one.model.state_dict().values(), other.model.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize(
    "changes", [{}, {"sizes": {"dropout": 0.2}}, {"precision": "bfloat16"}, {"optimizer": "muon"}]
)
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
    run = config(steps=5, optimizer=optimizer, weight_decay=0.1, decay="all", clip=0.5)
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


def orthogonalised(gradient):
    """Five Newton-Schulz steps in float64 towards U Vᵀ of U S Vᵀ (Jordan et al. 2024)."""
    wide = gradient.double() if gradient.shape[0] <= gradient.shape[1] else gradient.double().T
    x = wide / wide.norm()
    for _ in range(5):
        square = x @ x.T
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x if wide.shape == gradient.shape else x.T


def test_a_step_of_muon_is_along_the_orthogonalised_gradient_of_each_matrix_of_a_layer():
    """It is as long as AdamW's steps are, 0.2 an entry; all other weights step as AdamW has it."""
    run = config(steps=1, optimizer="muon", weight_decay=0.0, clip=0.0, warmup_steps=0, schedule="constant")
    training, model = Training(run), Transformer(run.model, seed=0)
    batch = run.task.batch(generator_of(0, 0), 4)
    logits = model(*batch.inputs)
    cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORED).backward()
    list(training)
    rate, after = run.training.learning_rate, dict(training.model.named_parameters())
    assert [len(part.param_groups) for part in training._optimizer.parts] == [1, 2]
    for name, weight in model.named_parameters():
        moved = (weight - after[name]).detach().double() / rate
        if ".layers." not in name or weight.dim() < 2:  # AdamW: its first step is 1 in each channel
            assert moved.abs().max() < 1.01
            continue
        wanted = 0.2 * max(weight.shape) ** 0.5 * orthogonalised(weight.grad)
        assert (moved - wanted).norm() < 0.15 * wanted.norm(), name  # PyTorch's steps are in bfloat16


@pytest.mark.parametrize(
    ("pieces", "task"),
    [
        *((pieces, make_task("reverse")) for pieces in (2, 3, 4)),
        (2, make_task("translation")),  # whose terms are asked differently often in the pieces
        (3, make_task("masked")),
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


def test_a_state_of_another_model_is_refused():
    tensors, values = Training(config()).state()
    with pytest.raises(ValueError, match="of another model or training"):
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


def test_records_are_rich_at_their_own_steps_only():
    records = list(Training(config(steps=40, n_snapshots=5, validate_every=4)))
    assert [r.step for r in records if r.validation] == list(range(4, 41, 4))
    assert [0, *(r.step for r in records if r.snapshot)] == snapshot_steps(40, 5)
    last = records[-1].snapshot["decoder.0.self.pattern"]
    assert last.dtype == torch.float16
    assert last.shape[0] == 2
    assert torch.allclose(last.float().sum(-1), torch.ones(last.shape[:2]), atol=2e-3)


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
    monkeypatch.setattr("attention_lab.models.training.memory.shutil.which", lambda name: None)
    training = Training(config(compile=True))
    assert "without torch.compile, as it needs a C++ compiler" in training.chosen
    assert math.isfinite(next(training).loss)


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


def test_a_gpu_takes_steps_ahead_up_to_one_that_is_looked_at(monkeypatch):
    run = config(steps=23, n_snapshots=2, validate_every=11)
    plain = Training(run)
    wanted = numbers(plain)
    monkeypatch.setattr(Machine, "works_by_itself", True)
    ahead = Training(run)
    found, settled = [], []
    for record in ahead:
        found.append(record)
        if not ahead.waiting:
            assert ahead.step == record.step
            settled.append(record.step)
    assert settled == [8, 11, 19, 22, 23]
    assert numbers(found) == wanted
    assert [r.tokens for r in found] == [r.tokens for r in Training(run)]
    assert same_weights(plain, ahead)


def test_a_scaled_loss_trains_alike_and_an_overflow_changes_nothing(monkeypatch):
    wanted = numbers(Training(config()))
    monkeypatch.setattr(Machine, "scales_loss", True)
    scaled = Training(config())
    for record, (step, losses, _, norm, _) in zip(scaled, wanted, strict=True):
        assert record.step == step
        assert record.losses == pytest.approx(losses, rel=1e-4)
        assert record.gradient_norm == pytest.approx(norm, rel=1e-4)
    scaled = Training(config())
    scaled._scaler = torch.amp.GradScaler("cpu", init_scale=math.inf)
    before = Transformer(scaled.config.model, seed=0)
    assert not math.isfinite(next(scaled).gradient_norm)
    assert all(map(torch.equal, before.parameters(), scaled.model.parameters()))


@pytest.mark.parametrize("changes", [{"step": "x"}, {"seconds": None}])
def test_a_state_with_damaged_values_is_refused(changes):
    training = Training(config())
    tensors, values = training.state()
    with pytest.raises(ValueError, match="the state is of another model or training"):
        training.load_state(tensors, {**values, **changes})


FREE = ("bias", "norm.weight", "positions.u", "positions.v")
"""Ends of the names of weights that do not decay: those of norms, biases, and Transformer-XL's u and v."""


@pytest.mark.parametrize("scheme", ["learned", "t5", "transformer-xl"])
@pytest.mark.parametrize("decay", ["matrices", "all"])
def test_decay_draws_matrices_alone_unless_all_are_named(scheme, decay):
    sizes = {"positions": scheme, "n_layers": 2}
    rate, strength = 0.01, 0.5
    how = {"steps": 1, "learning_rate": rate, "warmup_steps": 0, "schedule": "constant", "decay": decay}
    with_decay, without = (Training(config(sizes, **how, weight_decay=w)) for w in (strength, 0.0))
    before = {name: weight.detach().clone() for name, weight in without.model.named_parameters()}
    next(with_decay), next(without)
    others = dict(without.model.named_parameters())
    for name, weight in with_decay.model.named_parameters():
        # Decoupled decay: w - rate * strength * w, and then Adam's step, which is that of the undecayed.
        share = 0.0 if decay == "matrices" and name.endswith(FREE) else rate * strength
        torch.testing.assert_close(weight, others[name] - share * before[name], rtol=1e-5, atol=1e-7)
        assert decays(name, weight) != name.endswith(FREE)


def test_a_state_comes_back_to_the_weights_of_its_names_in_either_order_of_groups():
    one = Training(config(decay="all"))
    for _ in range(3):
        next(one)
    tensors, values = one.state()
    other = Training(config(decay="matrices"))
    other.load_state(tensors, values)
    again, _ = other.state()
    assert all(torch.equal(again[name], tensor) for name, tensor in tensors.items())


def test_a_file_from_before_the_field_decays_all_weights(tmp_path):
    run = config()
    assert run.training.decay == "matrices"
    folder = create_run(run, path=tmp_path / "old")
    path = folder.path / "config.json"
    said = json.loads(path.read_text())
    assert said["training"].pop("decay") == "matrices"
    path.write_text(json.dumps(said))
    assert folder.config().training == replace(run.training, decay="all")
    assert TrainingConfig.from_dict({}).decay == "matrices"


def rates(**changes):
    config = TrainingConfig(**{"steps": 100, "warmup_steps": 10, "learning_rate": 1.0, **changes})
    return [learning_rate(config, step) for step in range(1, config.steps + 1)]


def test_a_trapezoid_stays_at_the_peak_until_the_last_fifth():
    assert set(rates(schedule="trapezoid")[9:80]) == {1.0}
    assert rates(schedule="trapezoid")[80:] == pytest.approx([1 - k / 20 for k in range(1, 21)])


@pytest.mark.parametrize("schedule", ["cosine", "constant", "warm-up", "trapezoid"])
def test_all_schedules_rise_in_a_line_to_the_peak(schedule):
    assert rates(schedule=schedule)[:10] == pytest.approx([step / 10 for step in range(1, 11)])
    assert max(rates(schedule=schedule)) == 1.0


def test_cosine_falls_along_half_a_cosine_to_its_share():
    falling = rates()[9:]
    assert falling == sorted(falling, reverse=True)
    assert rates()[54] == pytest.approx(0.5)
    assert rates()[-1] == pytest.approx(0.0)
    assert rates(final_rate=0.1)[-1] == pytest.approx(0.1)
    assert rates(final_rate=0.1)[54] == pytest.approx(0.55)
    assert rates(warmup_steps=0)[0] == pytest.approx(0.5 * (1 + math.cos(math.pi / 100)))


def test_warm_up_is_the_papers_formula_but_for_its_peak():
    d_model = 64
    paper = [d_model**-0.5 * min(step**-0.5, step * 10**-1.5) for step in range(1, 101)]
    ours = rates(schedule="warm-up", learning_rate=max(paper))
    assert ours == pytest.approx(paper)


def test_constant_stays():
    assert rates(schedule="constant")[9:] == [1.0] * 91
    assert rates(schedule="constant", warmup_steps=0) == [1.0] * 100


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


def test_what_a_task_watches_is_kept_with_the_patterns():
    run = config(sizes={"norm": "none"}, task="modular-addition")
    training = Training(run)
    kept = training.snapshot()
    assert kept["decoder.0.self.pattern"].shape == (2, 3, 3)
    numbers = training.model.embedding.weight.detach()[:113].double()
    waves = torch.arange(113)[:, None] * torch.arange(1, 57) * 2 * torch.pi / 113  # [number, frequency]
    power = (waves.cos().double().T @ numbers).square() + (waves.sin().double().T @ numbers).square()
    shares = power.sum(dim=1) / power.sum()
    torch.testing.assert_close(kept["embedding.powers"].double(), shares, rtol=1e-3, atol=1e-5)


def test_a_run_begins_and_a_model_is_opened_without_what_takes_seconds_to_import():
    """PyTorch's compiler, which its optimizers import to hide from it, and scipy's statistics."""
    program = (
        "import sys\nfrom attention_lab.models import load_model\nload_model('grokking')\n"
        "from attention_lab.models.training.loop import Training\n"
        "from tests.models.training.small import config\n"
        "list(Training(config()))\n"
        "print({'torch._dynamo', 'scipy.stats', 'pandas'} & {*sys.modules})"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "set()\n"
