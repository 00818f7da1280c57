"""On a GPU of NVIDIA's, steps and passes meet no tensor of the CPU, and nothing waits for the device."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from attention_lab.models.config import NORMALIZERS, POSITION_SCHEMES, ModelConfig
from attention_lab.models.data.tasks import TASKS
from attention_lab.models.engine import transformer
from attention_lab.models.engine.decoding import greedy, sample
from attention_lab.models.engine.masks import MASKS
from attention_lab.models.engine.positions import alibi
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training import loop
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from attention_lab.models.training.memory import choose
from tests.apple_gpu import DEVICE, nvidia_gpu, unwaited
from tests.models.training.small import QUICK, SMALL, small_task

KINDS = {"encoder-only": "sentiment", "decoder-only": "language-model", "encoder-decoder": "translation"}
IN_TURN = [(each, list(KINDS)[at % 3]) for at, each in enumerate(POSITION_SCHEMES)]


@pytest.fixture(autouse=True)
def on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(loop, "choose", lambda how: replace(choose(how), device=DEVICE))
    with nvidia_gpu():
        yield
    for kept in (transformer._named, alibi._slopes_at):  # nobody else shall find what is of this device
        kept.cache_clear()


def train(task: str, sizes: dict[str, Any] | None = None, **training: Any) -> None:
    """Takes two steps of one batch: what is the same for all steps may cross to the device in the first."""
    how = {**QUICK, "n_snapshots": 2, "steps": 9, **training}
    steps = Training(run_config(small_task(task), sizes={**SMALL, **(sizes or {})}, training=how))
    batch = steps._next_batch()
    steps._update(batch, 1e-3)
    with unwaited():
        losses, norm, _ = steps._update(batch, 1e-3)
    assert all(torch.isfinite(each.cpu()).all() for each in (*losses.values(), norm))


@pytest.mark.parametrize("name", TASKS)
def test_no_task_waits(name: str) -> None:
    train(name)


@pytest.mark.parametrize("positions", POSITION_SCHEMES)
def test_no_scheme_waits(positions: str) -> None:
    """In both stacks; tasks of each kind train above."""
    train("translation", {"positions": positions, "n_layers": 2})


@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_no_normalizer_waits(normalizer: str) -> None:
    train("translation", {"normalizer": normalizer}, accumulation=2)


def test_experts_are_taken_without_waiting() -> None:
    train("translation", {"n_experts": 3, "n_active": 2})


@pytest.mark.parametrize("mask", MASKS)
def test_no_mask_waits(mask: str) -> None:
    train("reverse", {"mask": mask, "local_window": 3, "n_layers": 2, "global_every": 2})
    train("reverse", {"mask": mask, "score_cap": 5.0}, gradient_checkpointing=True)


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_no_optimizer_waits(optimizer: str) -> None:
    train("reverse", {"dropout": 0.1}, optimizer=optimizer)


@pytest.mark.parametrize(("positions", "kind"), IN_TURN)
def test_a_second_pass_waits_for_nothing(kind: Any, positions: str) -> None:
    sizes: dict[str, Any] = {"n_layers": 2, "n_heads": 2, "d_model": 16, "vocab_size": 9, "max_len": 8}
    types = torch.ones(2, 7, dtype=torch.long).to(DEVICE) if kind == "encoder-only" else None
    config = ModelConfig(
        kind=kind, positions=positions, token_types=2 if types is not None else None, **sizes
    )
    model = Transformer(config, seed=0).to(DEVICE).eval()
    tokens = torch.arange(14).view(2, 7).remainder(9).to(DEVICE)
    inputs = (tokens, tokens) if kind == "encoder-decoder" else (tokens,)
    model(*inputs)
    with unwaited():
        model(*inputs, **({} if types is None else {"types": types}))


@pytest.mark.parametrize(
    ("positions", "mask"),
    [*((each, "none") for each in POSITION_SCHEMES), ("t5", "causal+window"), ("rotary", "strided")],
)
def test_a_text_is_written_without_waiting_for_each_token(positions: str, mask: str) -> None:
    """From 17 tokens on to 32, waves and masks are those of 32 tokens; rows are looked at every 16 tokens."""
    config = ModelConfig(
        kind="decoder-only", n_layers=1, n_heads=2, d_model=16, vocab_size=9, max_len=32, mask=mask,
        positions=positions, pad_id=None,
    )  # fmt: skip
    here = Transformer(config, seed=0).eval()
    tokens = torch.arange(34).view(2, 17).remainder(9)
    wanted = [greedy(here, tokens, eos_id=eos, max_new_tokens=15) for eos in (None, 3)]
    there, prompt = Transformer(config, seed=0).to(DEVICE).eval(), tokens.to(DEVICE)
    greedy(there, prompt, max_new_tokens=2)
    with unwaited():
        written = greedy(there, prompt, max_new_tokens=15)
        drawn = sample(there, prompt, generator=torch.Generator().manual_seed(1), max_new_tokens=15, top_k=3)
    ended = greedy(there, prompt, eos_id=3, max_new_tokens=15)
    assert [written.cpu().tolist(), ended.cpu().tolist()] == [each.tolist() for each in wanted]
    same = sample(here, tokens, generator=torch.Generator().manual_seed(1), max_new_tokens=15, top_k=3)
    assert drawn.cpu().tolist() == same.tolist()


def test_what_waits_or_mixes_devices_is_refused() -> None:
    there = torch.ones(2, 2).to(DEVICE)
    with unwaited():
        for waits in (
            lambda: bool(there.all()),
            lambda: there.sum().item(),
            lambda: there[there > 0],
            lambda: torch.zeros(2).to(DEVICE),
            lambda: there[torch.tensor([0])],
        ):
            with pytest.raises(RuntimeError, match="waits for the device"):
                waits()
        with pytest.raises(RuntimeError, match="two devices"):
            there + torch.zeros(2)
        torch.zeros(2).to(DEVICE, non_blocking=True) + there.masked_fill(there > 0, 2.0)
