"""Findings on models of transformers, small and with random weights: what is said of ours holds for them."""

from pathlib import Path

import pytest
import torch
import transformers

from models import load_model
from models.findings import findings
from models.findings.blanking import effects, probabilities
from tests.models.zoo.hub.families import save, tokenizer_of

TEXT = "the plot was dull"


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, tokenizer = tmp_path_factory.mktemp("classifier"), tokenizer_of("word-piece")
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=64, num_labels=2,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.BertForSequenceClassification(config)
        for parameter in model.parameters():
            parameter.data += 0.2 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_the_effect_of_a_blank_is_that_of_transformers_own_model(classifier: Path) -> None:
    model = load_model(f"hf:{classifier}")
    reading = model.read(TEXT)
    untouched = transformers.BertForSequenceClassification.from_pretrained(classifier).eval()
    embedded = untouched.get_input_embeddings()(reading.inputs[0])
    blanked = embedded.clone()
    blanked[0, 2] = 0
    with torch.no_grad():
        whole, without = (
            untouched(inputs_embeds=each).logits[0].double().softmax(dim=-1) for each in (embedded, blanked)
        )
    assert probabilities(model, reading).tolist() == pytest.approx(whole.tolist(), abs=1e-5)
    answer = int(whole.argmax())
    found = effects(model, reading, [2], "zero")
    assert found.tolist() == pytest.approx([abs(float(whole[answer] - without[answer]))], abs=1e-5)


@pytest.mark.parametrize(("name", "given"), [("rollout", {}), ("explanation", {"permutations": 2})])
def test_a_classifier_of_transformers_is_measured(classifier: Path, name: str, given: dict[str, int]) -> None:
    found = findings()[name].measured(load_model(f"hf:{classifier}"), texts=5, **given)
    assert -1 <= found.numbers[0].value <= 1
    assert "5 texts" in found.said


def test_a_decoder_of_transformers_is_measured(tmp_path: Path) -> None:
    model = load_model(f"hf:{save('gpt2', tmp_path)}")
    found = findings()["sinks"].measured(model, texts=1, tokens=24, width=8, first=2)
    assert [number.value > 1 for number in found.numbers[4:]] == [True] * 3
    assert "largest share" in findings()["positional"].measured(model, texts=3).numbers[0].label
