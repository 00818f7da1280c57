"""Heads of any model at a temperature: the translator's beside its own lesson, others' beside their own q."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from models import load_model
from models.lessons.softmax import any_head, temperature
from tests.models.zoo.hub import families
from tests.models.zoo.hub.families import TEXT

SOME = torch.tensor([0.25, 1.0, 50.0])


@pytest.mark.parametrize(("stack", "address"), [("encoder.self", "encoder.1.self"), ("decoder.cross",) * 2])
def test_the_translator_answers_as_in_its_own_lesson(stack: str, address: str) -> None:
    lm = load_model("translator")
    address = "decoder.1.cross" if address == stack else address
    reading = lm.read(TEXT)
    trace = lm.trace(reading)
    for heads in ((3,), (0, 1, 2, 3)):
        place = temperature.Place(stack, 1, heads)
        expected = temperature.output(lm, trace, place, 1, SOME)
        found = any_head.answers(lm, reading, address, heads=list(heads), at=1, temperatures=SOME)
        assert found.words == expected.words
        torch.testing.assert_close(found.probabilities.float(), expected.probabilities, atol=1e-5, rtol=1e-4)
    row = any_head.row(trace, address, head=2, query=3, temperatures=SOME)
    assert torch.equal(row.weights, temperature.row(trace, place, head=2, query=3, temperatures=SOME).weights)


@pytest.mark.parametrize("family", ["gpt2", "llama", "bert", "t5"])
def test_scores_of_a_model_of_transformers_are_divided_as_if_its_queries_were(
    family: str, tmp_path: Path
) -> None:
    model = load_model(f"hf:{families.save(family, tmp_path)}")
    reading = model.read(TEXT)
    stack = model.stacks(tuple(reading.tokens))[0]
    address = stack.replace(".", ".1.")
    found = any_head.answers(model, reading, address, heads=[1, 2], at=2, temperatures=SOME)

    def divided(name: str, value: Tensor) -> Tensor:
        if name not in (f"{address}.q", f"{address}.bias"):
            return value
        value = value.clone()
        value[1:3] /= 50
        return value

    logits = model.trace(reading, edit=divided)["logits"][2].double()
    expected = logits.softmax(-1)
    for word, probability in zip(found.words, found.probabilities[2].tolist(), strict=True):
        assert probability == pytest.approx(expected[model.outputs.index(word)].item(), abs=1e-6)
    plain = model.trace(reading)["logits"][2].double().softmax(-1)
    assert plain.max().item() == pytest.approx(found.probabilities[1].max().item(), abs=1e-6)


def test_a_model_whose_answers_have_no_names_is_refused() -> None:
    model = load_model("digits-autoencoder")
    with pytest.raises(ValueError, match="answers with numbers that have no names"):
        any_head.answers(model, model.read("1"), "encoder.0.self", heads=[0], at=0)
