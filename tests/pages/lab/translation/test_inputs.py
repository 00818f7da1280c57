"""What is shown of a translation is what the model computes, step by step."""

import pytest
import torch

from attention_lab.models.data.grammar import showcase
from attention_lab.models.data.word_tokenizer import BOS, EOS
from attention_lab.models.engine.decoding import greedy
from attention_lab.pages.lab.any_model import Translator
from attention_lab.pages.lab.translation import inputs
from attention_lab.pages.lab.translation.inputs import Reading
from tests.pages.lab.translation.conftest import ids_of


def test_words_are_the_engines_and_the_references(translator: Translator, tired: Reading):
    own = greedy(tired.model, torch.tensor([[BOS]]), source=tired.source_ids, eos_id=EOS, max_new_tokens=20)
    assert ids_of(tired) == own[0, 1:].tolist()
    assert tired.text == "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
    assert tuple(tired.written[:-1]) == showcase("tired").french
    assert tired.written[-1] == "<eos>"
    assert tired.read == ["<bos>", *tired.written[:-1]]
    assert tired.source == ["<2fr>", *showcase("tired").english, "<eos>"]


@torch.no_grad()
def test_one_pass_holds_the_numbers_of_every_step(tired: Reading, incomplete: Reading):
    """Row t of the logits is what a forward pass over the first t + 1 words alone ends with."""
    for read in (tired, incomplete):
        for step in range(len(read.written)):
            alone = read.model(read.source_ids, read.target_ids[:, : step + 1])[0, -1]
            torch.testing.assert_close(read.logits[step], alone, rtol=1e-4, atol=1e-4)
            assert read.vocabulary[int(alone.argmax())] == read.written[step]


def test_a_sentence_that_does_not_end_is_cut(translator: Translator):
    """This half sentence repeats itself for longer than the page draws."""
    text = "the beautiful table could"
    whole = translator.task.translate(translator.model, text).tokens
    read = inputs.translation_of(translator, text, "en-fr", 14)
    assert len(read.written) == min(len(whole) + 1, inputs.MOST_STEPS)
    assert read.written[:5] == whole[:5]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("  ", "The sentence is empty; type at least one word."),
        ("the dog " * 8, "The sentence has 16 words; at most 14 are drawn; remove 2."),
        (
            "le chien la voyait",
            "The translator's 1,564 words do not include “voyait”; try voit or avait or croyait.",
        ),
    ],
)
def test_what_it_cannot_read_is_refused(translator: Translator, text: str, sentence: str):
    with pytest.raises(ValueError) as refused:
        inputs.translation_of(translator, text, "fr-en", 14)
    assert str(refused.value).split(";")[0] == sentence.split(";")[0]


def test_one_word_is_one_known_word(translator: Translator):
    assert translator.task.words.vocabulary[inputs.one_word(translator, "Elle ")] == "elle"
    with pytest.raises(ValueError, match="“le chat” is 2 words; write exactly one, such as elle"):
        inputs.one_word(translator, "le chat")
    with pytest.raises(ValueError, match="do not include “qwertz”"):
        inputs.one_word(translator, "qwertz")
