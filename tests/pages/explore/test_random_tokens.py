"""What heads do with random tokens: of which texts it is computed, when, and for whom it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention_lab.models import load_model
from attention_lab.models.zoo.engine_model import EngineModel
from attention_lab.pages.explore import quantities, waiting
from attention_lab.pages.explore.figure import REQUESTS
from attention_lab.pages.explore.quantities import N_TEXTS, random_token_measures
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.waiting import Waiting
from attention_lab.pages.shared import cache, visitors, work_process
from tests.limits import SetLimits
from tests.models.zoo.hub import families


def answer(inputs: Inputs) -> dict[str, Any]:
    """What the stage gets without what it asked."""
    request = REQUESTS["repeated"]
    found = waiting.answer_request("repeated", inputs, (), Waiting(), request.maker, **request.more)
    assert found.pop("asked") == []
    return found


def looked(name: str, side: str, back: int) -> np.ndarray:
    """[layer, head]: the mean weight of a second half on what stands so much further back, in a plain loop;
    back: 0 is the first occurrence, -1 what followed it.
    """
    model = load_model(name)
    texts = []
    for seed in range(4):
        found = model.repeated(seed)
        trace, start, n = model.trace(found.reading), found.starts[side], found.n
        layers = []
        for layer in range(model.attention(f"{side}.self").n_layers):
            pattern = trace[f"{side}.{layer}.self.pattern"].numpy()
            heads = [sum(head[start + n + at, start + at - back] for at in range(n)) / n for head in pattern]
            layers.append(heads)
        texts.append(layers)
    return np.mean(texts, axis=0)


def test_the_shipped_induction_heads_are_found_on_random_letters() -> None:
    found = random_token_measures(Inputs("induction", "abcabc"))
    assert found["said"] == "Means over 4 texts of 16 random tokens, read twice in a row."
    scores = found["stats"]["decoder.self"]
    expected = looked("induction", "decoder", back=-1)
    assert scores["random_induction"] == pytest.approx(expected.ravel(), abs=1e-4)
    assert expected[1].max() > 0.9 and expected[0].max() < 0.1  # it takes two layers
    assert scores["random_duplicate"] == pytest.approx(looked("induction", "decoder", 0).ravel(), abs=1e-4)
    assert max(scores["random_previous"][:4]) > 0.5


@pytest.mark.parametrize("family", ["gpt2", "bart", "llama"])
def test_a_random_model_of_transformers_looks_nowhere_in_particular(family: str, tmp_path: Path) -> None:
    families.save(family, tmp_path / family)
    name = f"hf:{tmp_path / family}"
    found = random_token_measures(Inputs(name, "the animal"))
    n = load_model(name).repeated(0).n
    assert n > 5
    for stack, scores in found["stats"].items():
        for values in scores.values():
            # a causal query in the second half sees n to 2n tokens, any other all of them
            assert np.mean(values) == pytest.approx(1 / (1.5 * n), rel=0.6), stack


def test_it_is_computed_once_for_a_model_and_stays_with_another_text(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, runs = Inputs("untrained", "a b c", n_layers=1, n_heads=2, seed=71), []
    trace = EngineModel.trace
    monkeypatch.setattr(EngineModel, "trace", lambda *a, **k: runs.append(1) or trace(*a, **k))
    found = answer(inputs)
    assert found == random_token_measures(inputs) and len(runs) == 2 * N_TEXTS
    assert answer(Inputs("untrained", "d e", n_layers=1, n_heads=2, seed=71, mask="causal")) == found
    assert len(runs) == 2 * N_TEXTS
    assert answer(Inputs("untrained", "a b c", n_layers=1, n_heads=2, seed=72)) != found


def test_who_cannot_read_tokens_says_so() -> None:
    assert answer(Inputs("digits-classifier", "4")) == {
        "problem": "'digits-classifier' reads no texts; choose a model that does."
    }


def test_what_would_take_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantities, "most_operations", lambda: 10**5)
    with pytest.raises(ValueError, match=r"4 random texts of 32 tokens take .* take a smaller model"):
        random_token_measures(Inputs("induction", "abcabc"))


def test_in_a_class_a_process_of_its_own_reads_what_is_dear(
    monkeypatch: pytest.MonkeyPatch, set_limits: SetLimits
) -> None:
    inputs, asked = Inputs("untrained", "a b", n_layers=6, n_heads=8, d_model=256, seed=5), []

    def run(function: Any, *given: Any, **settings: Any) -> Any:
        asked.append(function)
        return {"said": "from the process", "stats": {}}

    set_limits(cheap_billions=1)
    monkeypatch.setattr(work_process.figures, "call", run)
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    cache.results.drop()
    assert answer(inputs) == answer(inputs) == {"said": "from the process", "stats": {}}
    assert asked == [random_token_measures]
