"""Long texts through every model that reads them: the patterns are those of the traced pass."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.zoo.hub import model as hub_model
from attention_lab.models.zoo.model import Model
from attention_lab.models.zoo.others import untrained
from tests.models.zoo.hub import families

WORDS = "the animal did not cross the street because it was too tired "
SIZES = {"n_layers": 2, "n_heads": 2, "d_model": 16, "norm": "pre"}


def assert_same(model: Model, text: str) -> None:
    reading = model.read(text)
    trace, long = model.trace(reading), model.long(reading)
    assert {f"{address}.pattern" for address in long} == {a for a in trace if a.endswith(".pattern")}
    for address, heads in long.items():
        for head in range(len(heads.q)):
            expected = trace[f"{address}.pattern"][head]
            # PyTorch's kernel rounds in another order, so the streams of deeper layers differ a little.
            most = 1e-6 if ".0." in address else 1e-5
            torch.testing.assert_close(heads.whole(head, size=2_000).cells, expected, atol=most, rtol=0)


def test_an_untrained_model_reads_more_words_than_a_figure_shows() -> None:
    model = untrained.load(**SIZES, positions="sinusoidal")
    text = WORDS * 120
    with pytest.raises(ValueError, match="at most 1,024"):
        model.read(text)
    assert model.stretched(100) is model
    assert_same(model.stretched(2_048), text)


@pytest.mark.parametrize("name", ["long-memory", "sparse"])
def test_a_trained_model_reads_beyond_its_training_where_its_positions_go_on(name: str) -> None:
    model = load_model(name)
    assert_same(model.stretched(1_000), WORDS * 12)
    assert_same(model, WORDS * 3)


def test_learnt_positions_end_where_training_ended() -> None:
    with pytest.raises(ValueError, match="vectors for 64 positions"):
        load_model("shakespeare").stretched(100)


def test_a_translator_has_its_three_attentions() -> None:
    model = load_model("translator")
    assert_same(model, "the animal did not cross the street because it was too tired")
    reading = model.read("the animal did not cross the street")
    long = model.long(reading)
    n_source, n_target = (len(tokens) for tokens in reading.tokens.values())
    assert long["decoder.1.cross"].whole(0).cells.shape == (n_target, n_source)
    assert long["encoder.0.self"].whole(0).cells.shape == (n_source, n_source)


@pytest.mark.parametrize("family", ["bert", "gpt2", "mistral", "gemma2", "gpt-oss", "t5", "bart"])
def test_models_of_transformers(family: str, tmp_path: Path) -> None:
    folder = families.save(family, tmp_path)
    model = load_model(f"hf:{folder}")
    before = model.trace(WORDS)["logits"]
    assert_same(model, WORDS)
    assert torch.equal(model.trace(WORDS)["logits"], before)


def test_sinks_leave_rows_that_sum_to_less_than_1(tmp_path: Path) -> None:
    model = load_model(f"hf:{families.save('gpt-oss', tmp_path)}")
    for heads in model.long(model.read(WORDS)).values():
        for head in range(4):
            sums = heads.whole(head).cells.sum(dim=1)
            assert sums.max() < 1
            sink = heads.sinks[head] - heads.scores(head, slice(0, 1), slice(0, 1))[0, 0]
            torch.testing.assert_close(sums[0], 1 / (1 + sink.exp()), atol=1e-6, rtol=0)


def test_a_long_source_is_answered_as_a_short_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model(f"hf:{families.save('bart', tmp_path)}")
    short = model.read(WORDS)
    monkeypatch.setattr(hub_model, "LONG_SOURCE", 3)
    assert model.read(WORDS).tokens == short.tokens


def test_masks_of_a_long_text_are_rules_and_biases_one_number_a_distance(tmp_path: Path) -> None:
    model = load_model(f"hf:{families.save('mistral', tmp_path / 'mistral')}")
    (heads, _) = model.long(model.read(WORDS)).values()
    assert heads.allowed(slice(30_000, 30_001), slice(29_996, 30_002)).tolist() == [
        [[False, False, True, True, True, False]]
    ]
    model = load_model(f"hf:{families.save('t5', tmp_path / 't5')}")
    reading = model.read(WORDS)
    n_source, n_target = (len(tokens) for tokens in reading.tokens.values())
    long = model.long(reading)
    assert long["encoder.1.self"].added.values.shape == (4, 2 * n_source - 1)
    assert long["decoder.1.self"].added.values.shape == (4, 2 * n_target - 1)
    assert long["decoder.1.cross"].added is None


def test_a_model_whose_patterns_alone_are_known_reads_no_long_texts(tmp_path: Path) -> None:
    model = load_model(f"hf:{families.save('gpt-neo', tmp_path)}")
    with pytest.raises(ValueError, match="So it reads no long texts; open another model"):
        model.long(model.read(WORDS))


def test_a_long_pass_beside_a_traced_one_disturbs_neither(tmp_path: Path) -> None:
    model = load_model(f"hf:{families.save('llama', tmp_path)}")
    reading = model.read(WORDS)
    alone, long = model.trace(reading), model.long(reading)
    with ThreadPoolExecutor(1) as other:

        def beside(address: str, value: torch.Tensor) -> torch.Tensor:
            if address == "decoder.0.self.z":  # in the midst of the traced pass, with all its hooks in place
                found = other.submit(model.long, reading).result()
                assert torch.equal(found["decoder.1.self"].q, long["decoder.1.self"].q)
            return value

        traced = model.trace(reading, edit=beside)
    assert list(traced) == list(alone)
    assert all(torch.equal(traced[address], alone[address]) for address in alone)
