"""The report of a model: every part's scores, and what each kind of task has beyond them."""

import json
import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from models.data.tasks import IGNORED, Task, make_task
from models.engine.transformer import Transformer
from models.scores.examples import keys, pieces
from models.scores.report import report
from models.training.config import run_config

SIZES = {"n_layers": 1, "n_heads": 1, "d_model": 16}


def model_of(task: Task) -> Transformer:
    return Transformer(run_config(task, sizes=SIZES).model, seed=1).eval()


def report_of(task: Task, examples: int = 40) -> tuple[dict, Transformer]:
    model = model_of(task)
    found = report(task, model, examples=examples, at_once=16)
    return json.loads(json.dumps(found)), model


def scores(found: dict, part: str) -> dict[str, dict]:
    return {entry["name"]: entry for entry in found["parts"][part]["scores"]}


def test_of_a_classifier_there_are_classes_and_the_most_wrong_which_can_be_read_again() -> None:
    task = make_task("digits-classifier")
    found, model = report_of(task)
    part = found["parts"]["held out"]
    assert (found["unit"], part["n"], part["of"], found["parts"]["test"]["of"]) == ("pictures", 40, 359, 179)
    matrix = np.array(part["classes"]["confusion"])
    assert matrix.sum() == 40 and scores(found, "held out")["accuracy"]["right"] == np.trace(matrix)
    assert [row["n"] for row in part["classes"]["rows"]] == matrix.sum(axis=1).tolist()
    losses = [entry["loss"] for entry in part["wrong"]]
    assert losses == sorted(losses, reverse=True) and len(losses) == min(40, 40 - np.trace(matrix))
    for entry in part["wrong"][:5]:
        logits = model(*task.read(entry["text"]).inputs)[0, 0].double()
        assert entry["answer"] == str(int(logits.argmax())) != entry["truth"]
        assert entry["probability"] == pytest.approx(logits.softmax(-1).max().item(), rel=1e-4)
        assert entry["loss"] == pytest.approx(
            cross_entropy(logits, torch.tensor(int(entry["truth"]))).item(), rel=1e-4
        )
    assert "wrong" not in found["parts"]["test"], "what is for a test is not looked at"
    for name, (above, below) in part["outcomes"].items():
        assert len(above) == len(below) == 40
        assert sum(above) / sum(below) == pytest.approx(scores(found, "held out")[name]["value"], rel=1e-4)
    assert {"loss", "accuracy"} <= part["outcomes"].keys() and "outcomes" not in found["parts"]["test"]


def test_of_a_text_there_are_perplexity_bits_and_the_loss_by_position() -> None:
    task = make_task("language-model", {"length": 16})
    found, model = report_of(task)
    said, band = scores(found, "held out"), found["parts"]["held out"]["positions"]
    held = task.examples(1, 40)
    with torch.no_grad():
        nats = cross_entropy(
            model(*held[0].inputs).double().flatten(0, 1), held[0].targets.flatten(), reduction="none"
        ).view(40, 16)
    assert band["position"] == list(range(1, 17)) and band["n"] == [40] * 16
    assert band["loss"] == pytest.approx(nats.mean(dim=0).tolist(), rel=1e-5)
    assert all(
        low < mean < high for low, mean, high in zip(band["low"], band["loss"], band["high"], strict=True)
    )
    assert said["perplexity"]["value"] == pytest.approx(math.exp(nats.mean()), rel=1e-5)
    assert said["bits per token"]["value"] == pytest.approx(nats.mean().item() / math.log(2), rel=1e-5)
    n_bytes = sum(len(task.written(row).encode()) for row in held[0].targets.tolist())
    assert said["bits per byte"]["value"] == pytest.approx(
        nats.sum().item() / math.log(2) / n_bytes, rel=1e-5
    )
    low, high = (math.exp(said["loss"][edge]) for edge in ("low", "high"))
    assert (said["perplexity"]["low"], said["perplexity"]["high"]) == pytest.approx((low, high))


def test_of_a_translator_there_are_its_translations_the_worst_first(tmp_path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("\n".join(f"word{n} here\tmot{n} ici {'loin ' * (n % 4)}" for n in range(120)))
    task = make_task("parallel-text", {"file": str(path), "vocabulary": 300, "length": 32})
    found, model = report_of(task, examples=200)
    part = found["parts"]["held out"]
    assert part["n"] == part["of"] == task.split_sizes()["held out"] < 40
    said = scores(found, "held out")
    assert {"loss", "tokens right", "whole sentences", "perplexity", "chrF", "BLEU"} == set(said)
    assert said["chrF"]["signature"].startswith("nrefs:1|") and said["chrF"]["n"] == part["n"]
    chrf = [entry["chrf"] for entry in part["translations"]]
    assert chrf == sorted(chrf)
    for entry in part["translations"][:4]:
        assert task.answered(model, task.read(entry["text"])).answer == entry["made"]
        assert (entry["text"], entry["wanted"].strip()) in task._parts["held out"]
    assert found["parts"]["test"]["translations"] == []


def test_pictures_have_an_error_for_each_class() -> None:
    task = make_task("digits-autoencoder")
    found, _ = report_of(task, examples=359)
    part = found["parts"]["held out"]
    rows = part["errors"]["rows"]
    assert [row["class"] for row in rows] == [str(n) for n in range(10)]
    assert sum(row["n"] for row in rows) == 359
    assert all(row["low"] < row["value"] < row["high"] for row in rows)
    worst = part["errors"]["wrong"][0]
    assert worst["value"] == max(entry["value"] for entry in part["errors"]["wrong"])
    assert task.read(worst["text"]).picture is not None and found["parts"]["test"]["errors"]["wrong"] == []


def test_a_test_of_endless_examples_has_none_that_a_validation_reads() -> None:
    task = make_task("copy", {"length": 3})  # so short that many come again
    held_out, tested = (pieces(task, split, 200, 64) for split in ("held out", "test"))
    known = [key for piece in held_out for key in keys(piece.batch)]
    other = [key for piece in tested for key in keys(piece.batch)]
    assert len(known) == 200 and not set(known) & set(other) and 20 < len(other) < 200
    found, _ = report_of(task)
    assert all((batch.targets != IGNORED).any() for batch, _ in tested)
    entry = scores(found, "held out")["exact match"]
    assert (entry["right"], entry["low"]) == (0, 0.0) and entry["method"].startswith("Wilson")
    assert found["parts"]["held out"]["wrong"][0]["text"].endswith("=")
