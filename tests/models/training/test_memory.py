"""Estimates against models that are really built, and passes that are really run."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attention_lab.models.byte_units import GB, MB
from attention_lab.models.data.tasks import generator_of, make_task
from attention_lab.models.engine.size import count_parameters
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from attention_lab.models.training.memory import (
    PROCESS_BYTES,
    Machine,
    activation_bytes,
    choose,
    fitting_sizes,
    memory_bytes,
    remedy,
)


def config(sizes=None, **training):
    return run_config(
        make_task("reverse"), sizes=sizes, training={"threads": 1, "batch_size": 64, **training}
    )


def kept_bytes(run, examples):
    """What autograd really keeps: every storage once, weights left out."""
    model = Transformer(run.model, seed=0).train()
    batch = run.task.batch(generator_of(0, 0), examples)
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = (storage.nbytes(), tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        run.task.losses(model, batch)["loss"].item()
    return sum(size for size, _ in kept.values())


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"n_layers": 4, "d_model": 128, "dropout": 0.1},
        {"norm": "post", "activation": "gelu"},
        {"norm": "none", "residual": False},
        {"feed_forward": False},
        {"positions": "alibi"},
        {"positions": "transformer-xl"},
        {"normalizer": "sigmoid", "n_heads": 8},
        *(
            {"normalizer": name, "n_heads": 8}
            for name in ("softmax-plus-one", "learnt-sink", "softpick", "scalable-softmax")
        ),
        {"gated": True, "activation": "silu", "n_kv_heads": 2},
        {"qk_norm": "head", "positions": "rotary"},
        {"n_experts": 4, "n_active": 2, "gated": True, "activation": "silu", "d_ff": 64},
        {"n_experts": 2, "gated": True, "activation": "gelu-quick", "ff_limit": 7.0},
        {"norm": "both", "norm_type": "rms"},
        {"head_gate": "channel", "exclusive": True},
        {"differential": True},
        {"depth_attention": True},
        {"depth_attention": True, "n_layers": 6, "d_model": 64},
        {"differential": True, "n_heads": 8, "dropout": 0.1},
        {"d_latent": 16, "value_residual": True, "positions": "rotary"},
        {"score_cap": 5.0, "local_window": 4, "global_every": 2},
    ],
    ids=str,
)
def test_activations_are_what_autograd_keeps(sizes):
    run = config(sizes)
    assert activation_bytes(run, 32) == pytest.approx(kept_bytes(run, 32), rel=0.25)


def test_memory_grows_with_what_needs_it():
    run = config({"d_model": 64})
    plain = memory_bytes(run)
    held_out = 256 * 2 * 16 * 8  # inputs and targets of 16 positions, as int64
    kept = round(1.3 * activation_bytes(run, 64))  # with gradients of some of it
    assert plain == PROCESS_BYTES + 16 * count_parameters(run.model).total + kept + held_out
    assert memory_bytes(config({"d_model": 128})) > plain
    assert memory_bytes(config({"d_model": 64}, accumulation=4)) < plain
    assert memory_bytes(config({"d_model": 64}, gradient_checkpointing=True)) < plain


def test_sizes_that_fit_are_the_nearest_ones():
    run = config({"n_layers": 8, "d_model": 256, "n_heads": 8}, batch_size=512)
    assert fitting_sizes(run, 1 << 50) == {}
    limit = memory_bytes(run) - 1
    assert fitting_sizes(run, limit) == {
        "accumulation": 2,
        "batch_size": 256,
        "gradient_checkpointing": True,
        "d_model": 128,
        "n_layers": 4,
    }
    tight = PROCESS_BYTES + 126 * MB
    found = fitting_sizes(run, tight)
    for name in ("accumulation", "batch_size", "gradient_checkpointing"):
        if name in found:
            fitted = replace(run, training=replace(run.training, **{name: found[name]}))
            assert memory_bytes(fitted) <= tight
    assert found["batch_size"] * found["accumulation"] == 512
    assert remedy(run, tight).startswith(f"try accumulation={found['accumulation']}, or batch_size=")
    assert (
        remedy(run, 1_000) == "no single change is enough: choose a much smaller model, and smaller batches"
    )


def test_pictures_are_counted_as_a_run_holds_them() -> None:
    held = {
        n: memory_bytes(run_config(make_task("digits-classifier"), training={"held_out": n})) for n in (1, 2)
    }
    config = run_config(make_task("digits-classifier"), training={"held_out": 1})
    activations = round(1.3 * activation_bytes(config, config.training.n_at_once))
    weights = 16 * count_parameters(config.model).total
    assert held[1] == PROCESS_BYTES + weights + activations + (1_797 + 1) * (held[2] - held[1])


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_bfloat16_needs_a_gpu_that_has_it_and_float16_scales_its_loss(precision, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Tesla T4")
    card = SimpleNamespace(name="Tesla T4", total_memory=16 * GB)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    how = config(device="cuda", precision=precision).training
    if precision == "float16":
        assert choose(how).scales_loss
        return
    with pytest.raises(ValueError, match="newer, but this one is Tesla T4; choose 'float16' or 'float32'"):
        choose(how)


@pytest.mark.parametrize(
    ("name", "precision", "peak"),
    [
        ("NVIDIA A100-SXM4-80GB", torch.bfloat16, 312e12),
        ("NVIDIA H200", torch.float32, 495e12),
        ("NVIDIA L40S", torch.float16, 362e12),
        ("NVIDIA L4", torch.float16, 121e12),
        ("Tesla T4", torch.float16, 65e12),
        ("NVIDIA GeForce RTX 4090", torch.bfloat16, 165e12),
        ("NVIDIA GeForce GTX 1080", torch.float32, None),
    ],
)
def test_the_peak_is_that_of_the_card_and_the_precision(name, precision, peak, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: name)
    assert Machine(torch.device("cuda"), precision, False, "").peak == peak
    assert Machine(torch.device("cpu"), precision, False, "").peak is None


def test_a_record_says_the_share_of_the_peak_where_it_is_known(monkeypatch):
    run = config(device="cpu", steps=1)
    assert next(Training(run)).share_of_peak is None
    monkeypatch.setattr(Machine, "peak", 1e12)
    record = next(Training(run))
    counted = FlopCounterMode(display=False)
    with counted:
        model = Transformer(run.model, seed=0)
        run.task.losses(model, run.task.batch(generator_of(0, 0), 64))["loss"].backward()
    a_token = counted.get_total_flops() / record.tokens
    assert record.share_of_peak == pytest.approx(record.tokens_per_second * a_token / 1e12, rel=0.3)
