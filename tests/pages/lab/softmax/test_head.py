"""A head's temperature: exactly its scores divided, and what the model then answers."""

import threading
from pathlib import Path

import pytest
import torch
from torch import Tensor

from attention_lab.models import load_model
from attention_lab.models.engine.trace import Trace
from attention_lab.pages.lab.softmax import head
from attention_lab.pages.lab.softmax.head import (
    MODULES,
    TEMPERATURES,
    HeadGroup,
    heated,
    output,
    pronoun,
    row_of,
)
from tests.models.zoo.hub.families import TEXT

WIDE = "the animal did not cross the street because it was too wide"
LAYER = HeadGroup("encoder.self", 1, (0, 1, 2, 3))
HEAD = HeadGroup("encoder.self", 1, (3,))
TRAINED = 20
STEP = 10  # after: l' animal n' a pas traversé la rue parce qu'


@pytest.fixture(scope="module")
def lm():
    return load_model("translator")


@pytest.fixture(scope="module")
def trace(lm):
    return lm.trace(WIDE)


def ids(lm, tokens):
    return torch.tensor([[lm.task.words.id(token) for token in tokens]])


@pytest.mark.parametrize("stack", MODULES)
def test_a_heated_models_own_trace_has_the_rows_that_are_shown(lm, trace, stack):
    place, query = HeadGroup(stack, 1, (2,)), 5
    shown = row_of(trace, place.address, head=2, query=query)
    name, kind = stack.split(".")
    for frame in (0, 13, TRAINED, 40):
        hot = Trace()
        model = heated(lm.model, place, TEMPERATURES[frame : frame + 1])
        with torch.no_grad():
            model(ids(lm, trace.tokens["encoder"]), ids(lm, trace.tokens["decoder"]), trace=hot)
        pattern = hot[f"{name}.1.{kind}.pattern"]
        torch.testing.assert_close(shown.weights[frame].float(), pattern[2, query], rtol=1e-4, atol=1e-6)
        for other in (0, 1, 3):
            expected = trace[f"{name}.1.{kind}.pattern"][other]
            torch.testing.assert_close(pattern[other], expected, rtol=1e-4, atol=1e-6)


def test_a_heated_model_is_one_whose_query_projection_is_divided(lm, trace):
    """The same written another way: rows of W_Q and b_Q of the head, over T."""
    temperature, d_head = 7.0, lm.config.d_head
    divided = load_model("translator").model
    projection = divided.encoder.layers[1].self_attention.q_proj
    source, target = ids(lm, trace.tokens["encoder"]), ids(lm, trace.tokens["decoder"])
    with torch.no_grad():
        projection.weight[3 * d_head :] /= temperature
        projection.bias[3 * d_head :] /= temperature
        expected = divided(source, target)
        logits = heated(lm.model, HEAD, torch.tensor([temperature]))(source, target)
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-4)


def test_at_temperature_1_it_is_the_trained_translator(lm, trace):
    result = output(lm, trace, LAYER, STEP)
    assert result.before == trace.tokens["decoder"][1 : STEP + 1]
    expected = trace["logits"][STEP].softmax(-1)
    for word, probability in zip(result.words, result.probabilities[TRAINED].tolist(), strict=True):
        assert probability == pytest.approx(expected[lm.task.words.id(word)].item(), abs=1e-5)
    assert result.translations[TRAINED] == lm.read(WIDE).answer


@pytest.mark.parametrize("place", [LAYER, HeadGroup("decoder.cross", 1, (0, 1, 2, 3))])
def test_translations_are_those_of_a_greedy_loop(lm, trace, place):
    translations = output(lm, trace, place, STEP).translations
    source = ids(lm, trace.tokens["encoder"])
    for frame in (0, TRAINED, 30, 36, 40):
        model, written = heated(lm.model, place, TEMPERATURES[frame : frame + 1]), [1]
        while written[-1] != 2 and len(written) <= 28:
            with torch.no_grad():
                written.append(int(model(source, torch.tensor([written]))[0, -1].argmax()))
        assert translations[frame] == lm.task.words.decode(written, language="fr")


def test_the_pronoun_of_a_sentence_is_its_first(lm, trace):
    assert trace.tokens["encoder"][pronoun(trace.tokens["encoder"])] == "it"
    assert pronoun(trace.tokens["decoder"]) == STEP + 1
    assert pronoun(["<2fr>", "a", "dog", "<eos>"]) == 1


def test_the_copy_leaves_the_model_as_it_was(lm):
    before = lm.read(WIDE).answer
    heated(lm.model, LAYER, torch.tensor([50.0]))
    assert lm.read(WIDE).answer == before


def test_masked_keys_get_nothing_at_any_temperature(trace):
    shown = row_of(trace, "decoder.0.self", head=0, query=3)
    assert (shown.weights[:, 4:] == 0).all()
    assert shown.entropy.isfinite().all()


def test_threads_do_not_feel_each_others_temperature(lm, trace):
    expected = lm.read(WIDE).answer
    seen = []
    other = threading.Thread(target=lambda: seen.extend(output(lm, trace, LAYER, STEP).translations))
    other.start()
    while other.is_alive():
        assert lm.read(WIDE).answer == expected
    other.join()
    assert len(seen) == len(TEMPERATURES)


SOME = torch.tensor([0.25, 1.0, 50.0])


@pytest.mark.parametrize(("stack", "address"), [("encoder.self", "encoder.1.self"), ("decoder.cross",) * 2])
def test_the_translator_answers_as_in_its_own_lesson(stack: str, address: str) -> None:
    lm = load_model("translator")
    address = "decoder.1.cross" if address == stack else address
    reading = lm.read(TEXT)
    trace = lm.trace(reading)
    for heads in ((3,), (0, 1, 2, 3)):
        place = head.HeadGroup(stack, 1, heads)
        expected = head.output(lm, trace, place, 1, SOME)
        found = head.answers(lm, reading, address, heads=list(heads), at=1, temperatures=SOME)
        assert found.words == expected.words
        torch.testing.assert_close(found.probabilities.float(), expected.probabilities, atol=1e-5, rtol=1e-4)
    assert place.address == address


@pytest.mark.parametrize("family", ["gpt-neo", "llama", "bert", "t5"])
def test_scores_of_a_model_of_transformers_are_divided_as_if_its_queries_were(
    saved: Path, family: str
) -> None:
    model = load_model(f"hf:{saved / family}")
    reading = model.read(TEXT)
    stack = model.stacks(tuple(reading.tokens))[0]
    address = stack.replace(".", ".1.")
    found = head.answers(model, reading, address, heads=[1, 2], at=2, temperatures=SOME)

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
    with pytest.raises(ValueError, match="have no names; choose a model"):
        head.answers(model, model.read("1"), "encoder.0.self", heads=[0], at=0)
