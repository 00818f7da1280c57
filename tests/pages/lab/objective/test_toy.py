"""The toy's positions, each computed as if it were alone."""

import pytest
import torch

from attention_lab.pages.lab.objective import toy
from attention_lab.pages.lab.objective.toy import Setup, of_the_right_word, records, train, written
from attention_lab.pages.lab.objective.warmup import trial


def test_each_position_sees_its_own_sentence_and_the_words_before_it():
    model, together = toy.toy_model(seed=3), toy.toy_logits(toy.toy_model(seed=3))
    alone = []
    for source, target in toy.PAIRS:
        ids = torch.tensor([[toy.SOURCE_WORDS.index(word) for word in source]])
        read = [toy.START, *(toy.WORDS.index(word) for word in target)]
        alone += [model(ids, torch.tensor([read[:n]]))[0, -1, :6] for n in range(1, len(read))]
    torch.testing.assert_close(together, torch.stack(alone), atol=1e-5, rtol=1e-4)


def by_pytorch(setup: Setup) -> list[float]:
    model = toy.toy_model(seed=setup.seed, n_layers=setup.n_layers, norm=setup.norm)
    optimizer = torch.optim.Adam(model.parameters(), lr=setup.learning_rate, betas=(0.9, 0.98), eps=1e-9)
    ramp = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / setup.warmup) if setup.warmup else 1
    )
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=setup.smoothing)
    losses = []
    for _ in range(setup.steps + 1):
        loss = criterion(toy.toy_logits(model), toy.TARGETS)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ramp.step()
    return losses


@pytest.mark.parametrize("setup", [Setup(steps=12), Setup(steps=12, smoothing=0.2, seed=4, warmup=5)])
def test_losses_are_those_of_pytorchs_adam(setup):
    assert train(setup).loss.tolist() == pytest.approx(by_pytorch(setup), abs=2e-4)


def test_the_run_is_the_same_each_time_and_reads_as_the_sentences():
    run, again = train(Setup()), train(Setup())
    assert torch.equal(run.probabilities, again.probabilities)
    assert run.steps == list(range(21))
    assert run.probabilities.shape == (21, 7, 6)
    assert run.loss[-1] < 0.05
    assert written(run)[-1] == [["I", "am", "a", "student", "<eos>"], ["thanks", "<eos>"]]
    assert written(run)[0] != written(run)[-1]
    right = of_the_right_word(run)
    assert run.loss.tolist() == pytest.approx((-right.log()).mean(dim=-1).tolist(), abs=1e-5)


def test_warm_up_gains_nothing_with_pre_norm():
    made = trial("pre", seed=0)
    assert max(made.with_warmup.loss[-1], made.without.loss[-1]) < 0.02


def test_long_runs_are_thinned_evenly():
    for steps in (1, 10, 49, 50, 51, 120, 200):
        found = records(steps)
        assert (found[0], found[-1]) == (0, steps)
        assert len(found) <= 52
        assert found == sorted(set(found))
