"""Windows of one endless text: what training reads, what held-out losses are of, what is refused."""

import pytest
import torch

from attention_lab.models.config import ModelConfig
from attention_lab.models.data.grammar.pairs import english_text
from attention_lab.models.data.tasks import generator_of, make_task
from attention_lab.models.engine.transformer import Transformer

TASK = make_task("next-word", {"length": 8, "reach": 32, "words": 10_000})


def model_of(task, positions="alibi"):
    sizes = {"n_layers": 1, "n_heads": 2, "d_model": 16, "positions": positions}
    return Transformer(ModelConfig(kind=task.kind, **sizes, **task.required_sizes()), seed=0).eval()


def test_windows_are_pieces_of_the_training_text_and_the_same_for_a_seed():
    text = torch.tensor([TASK.tokenizer.id(word) for word in english_text(0, "training", 10_000)])
    batch, again = (TASK.batch(generator_of(0, 3), 4) for _ in range(2))
    (read,) = batch.inputs
    assert torch.equal(read, again.inputs[0])
    assert read.shape == batch.targets.shape == (4, 8)
    pieces = text.unfold(0, 9, 1)
    for row, targets in zip(read, batch.targets, strict=True):
        window = torch.cat([row, targets[-1:]])
        assert torch.equal(row[1:], targets[:-1])
        assert (pieces == window).all(dim=1).any()


def test_scores_are_the_held_out_losses_by_length():
    model, batch = model_of(TASK), TASK.batch(generator_of(0, 0), 6, held_out=True)
    assert batch.inputs[0].shape == (6, 32)
    with torch.no_grad():
        log_p = model(batch.inputs[0]).log_softmax(-1)
    nats = -log_p.gather(-1, batch.targets[..., None])[..., 0].mean(0)
    assert TASK.score(model, batch) == pytest.approx(
        {
            "positions 1 to 8": nats[:8].mean().item(),
            "positions 9 to 16": nats[8:16].mean().item(),
            "positions 17 to 32": nats[16:].mean().item(),
        },
        rel=1e-4,
    )


def test_positions_that_end_with_training_have_one_score():
    task = make_task("next-word", {"length": 8, "reach": 8, "words": 10_000})
    score = task.score(model_of(task, "learned"), task.batch(generator_of(0, 0), 2, held_out=True))
    assert list(score) == ["positions 1 to 8"]


def test_what_is_written_joins_the_text():
    ids = [TASK.tokenizer.id(word) for word in ("the", "dog", ".", "<eos>", "the")]
    assert TASK.written(ids) == " the dog."
    assert TASK.written(ids[2:]) == "."
    assert TASK.written([TASK.tokenizer.id("<eos>")]) == ""


def test_positions_reach_as_far_as_training_at_least():
    with pytest.raises(ValueError, match="reach=16 is below length=32; try reach=32"):
        make_task("next-word", {"reach": 16})
