"""Tasks on pictures: what is read and asked, losses and scores by plain formulas, and that models learn."""

import pytest
import torch
from sklearn.decomposition import PCA

from attention_lab.models.data.pictures import digits
from attention_lab.models.data.tasks import generator_of, make_task
from attention_lab.models.data.tasks.finite import draw
from attention_lab.models.data.tasks.pictures import DigitsAutoencoder, DigitsClassifier
from tests.small_models import model_of

SPLITS = ("training", "held out", "test")
NAMES = ["digits-autoencoder", "digits-classifier"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", [{}, {"parts": "2x2"}, {"parts": "4x4"}])
def test_a_model_of_what_the_task_requires_reads_its_batches_and_probe(name: str, options: dict):
    task = make_task(name, options)
    model, batch, probe = model_of(task), task.batch(generator_of(0, 0), 3), task.probe()
    assert batch.n_tokens == 3 * model.config.max_len
    assert task.losses(model, batch)["loss"].ndim == 0
    assert probe.inputs[0].shape == (1, model.config.max_len, model.config.input_channels)
    assert len(probe.tokens["encoder"]) == model.config.max_len == len(set(probe.tokens["encoder"]))
    model(*probe.inputs)


def test_what_is_asked_of_an_autoencoder_is_what_was_read():
    batch = DigitsAutoencoder(parts="2x2").batch(generator_of(0, 0), 5)
    assert torch.equal(batch.inputs[0], batch.targets)
    assert batch.targets.shape == (5, 16, 4)
    assert batch.targets.min() >= 0
    assert batch.targets.max() <= 1


def test_hidden_parts_are_asked_for_but_not_read():
    task = DigitsAutoencoder(hidden=0.25)
    batch = task.batch(generator_of(0, 0), 5)
    blank = (batch.inputs[0] == -1).all(dim=2)
    assert blank.sum(dim=1).tolist() == [2] * 5
    assert torch.equal(batch.inputs[0][~blank], batch.targets[~blank])
    assert batch.targets.min() >= 0
    labels = task.probe().tokens["encoder"]
    assert sum(label.endswith(", hidden") for label in labels) == 2
    assert torch.equal(task.read("5").inputs[0], task.read("5").inputs[0])


def test_loss_and_scores_of_an_autoencoder_by_hand():
    task = DigitsAutoencoder(parts="4x4")
    model, batch = model_of(task), task.batch(generator_of(1, 0), 6, held_out=True)
    made, wanted = model(*batch.inputs).double().tolist(), batch.targets.double().tolist()
    squares = [(made[i][p][c] - wanted[i][p][c]) ** 2 for i in range(6) for p in range(4) for c in range(16)]
    loss = sum(squares) / len(squares)
    assert task.losses(model, batch)["loss"].item() == pytest.approx(loss, rel=1e-5)

    training = digits(with_test=True).training.double().flatten(1).numpy()
    pictures = task.cut.join(batch.targets).double().flatten(1).numpy()
    variance = ((pictures - training.mean(axis=0)) ** 2).mean()
    reference = PCA(16, svd_solver="full").fit(training)
    left = ((pictures - reference.inverse_transform(reference.transform(pictures))) ** 2).mean()
    assert task.score(model, batch) == {
        "error (share of variance)": pytest.approx(loss / variance, rel=1e-5),
        "error of PCA": pytest.approx(left / variance, rel=1e-4),
    }


def test_a_classifier_reads_a_blank_part_first_where_its_answer_is_read_there():
    first, mean = (DigitsClassifier(pool=pool) for pool in ("cls", "mean"))
    one, other = (task.batch(generator_of(0, 0), 4) for task in (first, mean))
    assert torch.equal(one.inputs[0][:, 1:], other.inputs[0])
    assert (one.inputs[0][:, 0] == -1).all()
    assert torch.equal(one.targets, other.targets)
    assert (first.required_sizes()["pooling"], mean.required_sizes()["pooling"]) == ("first", "mean")
    assert first.probe().tokens["encoder"][:2] == ["[CLS]", "row 1"]
    assert mean.probe().tokens["encoder"][0] == "row 1"


def test_the_score_of_a_classifier_is_the_share_of_right_answers(monkeypatch: pytest.MonkeyPatch):
    task = DigitsClassifier()
    model, batch = model_of(task), task.batch(generator_of(0, 0), 8, held_out=True)
    answers = batch.targets.clone()
    answers[:2] = (answers[:2] + 1) % 10
    logits = torch.nn.functional.one_hot(answers, 10).float()
    monkeypatch.setattr(model, "forward", lambda parts, positions: logits[positions])
    assert task.score(model, batch) == {"accuracy": 0.75}


@pytest.mark.parametrize("name", NAMES)
def test_held_out_pictures_come_once_each_and_never_in_training(name: str):
    task = make_task(name)
    numbers = draw(359, 800, generator_of(0, 0), once=True)
    held_out, labels = task.pictures_of("held out", numbers.tolist())
    assert len(set(map(tuple, held_out.flatten(1).tolist()))) == 359
    assert labels.bincount().tolist() == digits().parts["held out"][1].bincount().tolist()
    drawn, _ = task.pictures_of("training", draw(1259, 3000, generator_of(0, 0), once=False).tolist())
    assert not set(map(tuple, drawn.flatten(1).tolist())) & set(map(tuple, held_out.flatten(1).tolist()))
    assert task.split_sizes() == {"training": 1259, "held out": 359, "test": 179}
    parts = [
        set(map(tuple, task.pictures.parts[split][0].flatten(1).tolist())) for split in task.split_sizes()
    ]
    assert not parts[0] & parts[1] and not parts[0] & parts[2] and not parts[1] & parts[2]
    older = make_task(name, {}, from_disk=True)
    assert older.pictures is digits(with_test=False) and older.split_sizes()["training"] == 1438


@pytest.mark.parametrize("name", NAMES)
def test_a_number_reads_the_held_out_picture_of_that_number(name: str):
    task = make_task(name)
    reading = task.read(" 17 ")
    assert reading.text == "17"
    assert torch.equal(reading.picture, digits().held_out[16])
    assert torch.equal(task.cut.join(reading.inputs[0][:, -8:])[0], digits().held_out[16])


def test_samples_are_ten_pictures_with_what_became_of_them():
    task = DigitsAutoencoder()
    [sample] = task.samples(model_of(task), seed=3)
    assert sample.originals.shape == sample.pictures.shape == (10, 8, 8)
    assert sample.pictures.min() >= 0
    assert sample.pictures.max() <= 1
    task = DigitsClassifier()
    [sample] = task.samples(model_of(task), seed=3)
    assert len(sample.made.split()) == 10
    found = [digits().held_out.flatten(1).tolist().index(p.flatten().tolist()) for p in sample.originals]
    assert sample.wanted == " ".join(str(digits().parts["held out"][1][at].item()) for at in found)


def test_logits_become_pictures_only_where_they_are_pictures():
    task = DigitsAutoencoder(parts="2x2")
    picture = digits().held_out[:2]
    assert torch.equal(task.pictures_from(task.cut.split(picture)), picture)
    assert torch.equal(task.pictures_from(task.cut.split(picture) + 2), torch.ones_like(picture))
    assert DigitsClassifier().pictures_from(torch.zeros(1, 1, 10)) is None
    assert task.outputs() == ()
