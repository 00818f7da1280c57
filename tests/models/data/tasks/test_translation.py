"""Which language a text is in, and what the translator says of one in the other language."""

import hashlib
import json
from collections import Counter
from itertools import islice
from typing import Any

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.config import ModelConfig
from attention_lab.models.data.grammar import sample_pairs, showcase
from attention_lab.models.data.grammar.pairs import kept_vocabulary
from attention_lab.models.data.tasks import IGNORED, Advice, make_task
from attention_lab.models.data.tasks.sentence_pairs import (
    NOTHING_NAMED,
    grammar_batches,
    grammar_row,
    make_batch,
)
from attention_lab.models.data.tasks.translation import advice, direction_of
from attention_lab.models.data.word_tokenizer import BOS, EOS, PAD, TO_ENGLISH, TO_FRENCH, UNK, WordTokenizer
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.models.zoo.folders import SHIPPED
from tests.grammar_words import build_vocabulary

WORDS = kept_vocabulary()
FRENCH, ENGLISH = "le chat a mangé la pomme", "the cat ate the apple"


@pytest.fixture(scope="module")
def lm() -> TrainedModel[Any]:
    return load_model("translator")


def test_words_that_one_language_has_alone_decide() -> None:
    assert direction_of(WORDS, FRENCH.split()) == "fr-en"
    assert direction_of(WORDS, ENGLISH.split()) == "en-fr"
    both = sorted(set(WORDS.english) & set(WORDS.french))
    assert {"a", "animal"} <= set(both)
    assert direction_of(WORDS, both) == "en-fr" and advice(WORDS, both, "en-fr") is None


def test_a_text_in_the_other_language_is_noticed_and_one_in_its_own_is_not(lm: TrainedModel[Any]) -> None:
    found = lm.read(FRENCH, direction="en-fr").advice
    said = "5 of these words are known in French only, 0 in English only."  # "a" is known in both
    assert found == Advice("direction", "fr-en", said)
    said = "5 of these words are known in English only, 0 in French only."
    assert lm.read(ENGLISH, direction="fr-en").advice == Advice("direction", "en-fr", said)
    for text, direction in ((FRENCH, "fr-en"), (ENGLISH, "en-fr"), ("zzz", "fr-en"), (FRENCH, "")):
        assert lm.read(text, direction=direction).advice is None


def test_unknown_words_get_words_of_the_language_that_is_read(lm: TrainedModel[Any]) -> None:
    (sat,) = lm.read("the cat sat", direction="en-fr").unknown
    assert sat.suggestions == ["cat", "eat", "hat"]
    (sat,) = lm.read("le chat sat", direction="fr-en").unknown
    assert set(sat.suggestions) <= set(WORDS.french) and "sac" in sat.suggestions
    (typed,) = lm.read("the cat", direction="en-fr", target="le chatt").unknown
    assert (typed.where, typed.suggestions[0]) == ("target", "chat")


def test_what_never_ends_is_cut_where_it_can_be_read_again(lm: TrainedModel[Any]) -> None:
    """Sixty words, which send the translator round in circles."""
    made = lm.read("the cat saw the dog " * 12, direction="en-fr")
    assert len(made.tokens["decoder"]) == 127 and made.following is None
    again = lm.read(made.answer, direction="fr-en")
    assert again.tokens["encoder"][1:-1] == made.tokens["decoder"][1:]


# The translator's batches hold the words and ask each pronoun for the right noun.

VOCABULARY = tuple(build_vocabulary(3_000).words)
TOKENIZER = WordTokenizer(VOCABULARY)
DIGEST = "826dc6d7281c45826e54c9352aa93dca9d3986925dd7be01377e5e6d2082ff06"
SMALL = ModelConfig(
    kind="encoder-decoder", n_layers=1, n_heads=2, d_model=32, vocab_size=len(VOCABULARY), max_len=64
)


def batch_of(examples):
    return make_batch([grammar_row(TOKENIZER, *example) for example in examples])


def batches(size, start=0):
    return map(make_batch, grammar_batches(TOKENIZER, size, seed=0, start=start))


@pytest.mark.parametrize(("direction", "first"), [("en-fr", "<2fr>"), ("fr-en", "<2en>")])
def test_each_word_that_is_written_belongs_to_the_words_that_it_translates(direction, first):
    task, pair = make_task("translation"), showcase()
    english, french = " ".join(pair.english), " ".join(pair.french)
    text, target = (english, french) if direction == "en-fr" else (french, english)
    model = load_model("translator").model
    reading = task.read_by(model, text, direction=direction, target=target, padding=2)
    assert reading.tokens["encoder"][0] == first
    read, written = reading.tokens["encoder"], [*reading.tokens["decoder"][1:], "<eos>"]
    found = {(written[query], read[key], sure) for query, key, sure in task.alignments(reading)}
    both = {("animal", "animal"), ("not", "pas"), ("street", "rue"), ("it", "il"), ("was", "était")}
    expected = {(*(pair if direction == "fr-en" else pair[::-1]), True) for pair in both}
    assert expected <= found
    assert (("a", "did") if direction == "en-fr" else ("did", "a")) + (False,) in found
    assert not {"<eos>", "<pad>", first} & {word for link in found for word in link[:2]}
    assert max(query for query, _, _ in task.alignments(reading)) < len(reading.tokens["decoder"])


def test_words_of_another_language_belong_nowhere():
    task, model = make_task("translation"), load_model("translator").model
    reading = task.read_by(model, "zzz", direction="en-fr", target="xyz")
    assert task.alignments(reading) is None


def test_a_batch_holds_the_words_and_asks_the_pronoun_for_its_noun():
    pair = showcase("wide")
    batch = batch_of([(pair, "en-fr"), (pair, "fr-en")])
    source = [TOKENIZER.id(word) for word in pair.english]
    target = [TOKENIZER.id(word) for word in pair.french]
    assert batch.inputs[0][0, : len(source) + 2].tolist() == [TO_FRENCH, *source, EOS]
    assert batch.inputs[0][1, 0] == TO_ENGLISH
    assert batch.inputs[1][0, : len(target) + 1].tolist() == [BOS, *target]
    assert batch.targets[0, : len(target) + 1].tolist() == [*target, EOS]
    assert (batch.targets[1] != IGNORED).sum() == len(source) + 1
    for row, (pronoun, noun) in enumerate((("it", "street"), ("elle", "rue"))):
        asked = (batch.extra["named"][row] != NOTHING_NAMED).nonzero().flatten().tolist()
        assert asked == [batch.inputs[0][row].tolist().index(TOKENIZER.id(pronoun))]
        assert batch.extra["named"][row, asked[0]] == TOKENIZER.id(noun)


def test_a_pronoun_without_antecedent_names_itself():
    pair = next(p for p in sample_pairs(0, "training") if p.pattern == "there is")
    batch = batch_of([(pair, "fr-en")])
    assert batch.inputs[0][0, 1] == batch.extra["named"][0, 1] == TOKENIZER.id("il")


def test_some_nouns_are_hidden_on_both_sides():
    unknown = [batch for batch in islice(batches(64), 8) if (batch.inputs[0] == UNK).any()]
    assert unknown
    for batch in unknown:
        rows = (batch.inputs[0] == UNK).sum(1), (batch.targets == UNK).sum(1)
        assert torch.equal(*rows)
        assert max(rows[0]) == 1
        assert set(batch.extra["named"][batch.extra["named"] == UNK].tolist()) <= {UNK}


def test_the_losses_are_the_mean_cross_entropies_of_words_and_of_names():
    pairs = [(pair, "en-fr") for pair in islice(sample_pairs(5, "training", pronouns=1.0), 4)]
    batch = batch_of([(pair, way) for pair, way in pairs if way in pair.directions])
    model = Transformer(SMALL, seed=0).eval()
    found = make_task("translation").losses(model, batch)
    with torch.no_grad():
        log_probs = model(*batch.inputs).log_softmax(-1)
        named = model.unembed(model.encode(batch.inputs[0])).log_softmax(-1)
    words = [
        -log_probs[row, at, id_].item()
        for row, ids in enumerate(batch.targets.tolist())
        for at, id_ in enumerate(ids)
        if id_ != IGNORED
    ]
    names = [
        -named[row, at, id_].item()
        for row, ids in enumerate(batch.extra["named"].tolist())
        for at, id_ in enumerate(ids)
        if id_ != NOTHING_NAMED
    ]
    assert found["translation"].item() == pytest.approx(sum(words) / len(words), rel=1e-5)
    assert found["antecedent"].item() == pytest.approx(sum(names) / len(names), rel=1e-5)
    whole = found["translation"].item() + 0.5 * found["antecedent"].item()
    assert found["loss"].item() == pytest.approx(whole, rel=1e-5)


def test_going_on_from_a_step_is_going_on():
    """The tenth of a pool and the first of the next, without making those before."""
    first = list(islice(grammar_batches(TOKENIZER, 4, 0), 19))
    assert list(islice(grammar_batches(TOKENIZER, 4, 0, start=9), 10)) == first[9:]
    task = make_task("translation")
    batch = next(task.batches(0, 4, start=17))
    assert torch.equal(batch.inputs[0], next(islice(task.batches(0, 4), 17, None)).inputs[0])


def test_the_stream_is_the_one_that_the_shipped_translator_had():
    """What the code that trained it made of seed 0, kept as a checksum."""
    digest = hashlib.sha256()
    for batch in islice(batches(8), 20):
        parts = (batch.inputs[0], batch.inputs[1], batch.targets.where(batch.targets != IGNORED, PAD))
        for part in (*parts, batch.extra["named"]):
            digest.update(str(part.tolist()).encode())
    assert digest.hexdigest() == DIGEST


def test_the_kept_vocabulary_is_that_of_the_shipped_translator():
    card = json.loads((SHIPPED / "translator" / "card.json").read_text())
    assert kept_vocabulary()._asdict() == card["learnt"]["words"]
    assert set(VOCABULARY) <= set(kept_vocabulary().words)


def test_a_text_is_read_in_its_language_and_answered():
    task = make_task("translation")
    model = Transformer(
        ModelConfig(kind=task.kind, **{**task.sizes, "d_model": 16}, **task.required_sizes()), seed=0
    )
    english, french = task.read("the animal is tired"), task.read("l'animal est fatigué zzz")
    assert english.tokens["encoder"] == ["<2fr>", "the", "animal", "is", "tired", "<eos>"]
    assert french.tokens["encoder"][0] == "<2en>" and [word.text for word in french.unknown] == ["zzz"]
    assert english.tokens["decoder"] == ["<bos>"]
    answered = task.answered(model, english)
    assert answered.tokens["decoder"][0] == "<bos>" and len(answered.tokens["decoder"]) > 1
    assert model(*answered.inputs).shape[1] == len(answered.tokens["decoder"])
    assert next(sample.given for sample in task.samples(model, 0)) == " ".join(showcase().english)
    assert answered.answer == task.words.decode(answered.inputs[1][0, 1:].tolist(), language="fr")
    assert task.probe().tokens["decoder"][1:3] == ["l'", "animal"]
    for typed, sentence in (
        (" ", "the text is empty"),
        ("the " * 200, "has 200 words, but this model reads at most 126; remove 74"),
    ):
        with pytest.raises(ValueError, match=sentence):
            task.read(typed)


def test_without_a_file_the_pairs_are_the_grammars():
    parts = [set(part) for part in make_task("everyday", {"vocabulary": 300}).pairs.values()]
    assert not parts[0] & parts[1] and not parts[0] & parts[2] and not parts[1] & parts[2]
    assert parts[1] <= {
        (" ".join(p.english), " ".join(p.french)) for p in islice(sample_pairs(1, "held out"), 500)
    }
    assert min(map(len, parts)) > 400


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n" * 30, "has 1 different pairs; give 20 or more"),
        ("a,b\nc\n", "line 2 of 'pairs.csv' has 1 columns, the first 2"),
        ("a line\nwithout columns\n", "has the columns 'a line'; call two columns source and target, or"),
    ],
)
def test_what_is_no_table_of_pairs_is_refused(tmp_path, content, sentence):
    path = tmp_path / "pairs.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=sentence):
        make_task("everyday", {"file": str(path)}).required_sizes()


def test_long_pairs_are_cut_wherever_they_are_read(tmp_path):
    path = tmp_path / "long.tsv"
    path.write_text("".join(f"{n} {'cat ' * 90}\t{n} {'chat ' * 95}\n" for n in range(40)))
    task = make_task("everyday", {"file": str(path), "vocabulary": 300, "length": 80})
    sizes = {**task.sizes, "d_model": 16, "n_layers": 1, "positions": "learned"}
    model = Transformer(ModelConfig(kind=task.kind, **{**sizes, **task.required_sizes()}), seed=0)
    probe = task.probe()
    assert {side: len(tokens) for side, tokens in probe.tokens.items()} == {"encoder": 64, "decoder": 64}
    model(*probe.inputs)
    assert [sample.given for sample in task.samples(model, 0)] == [
        text for text, _ in task.rows["held out"][:4]
    ]


def test_heads_of_cross_attention_look_at_what_the_next_word_translates(lm: TrainedModel[Any]) -> None:
    """And hardly ever at what the word that was read does: which row is whose, the task's sentence says."""
    written, read, n = Counter[int](), Counter[int](), 0
    for pair in islice(sample_pairs(1, "held out"), 12):
        reading = lm.read(" ".join(pair.source("en-fr")), direction="en-fr")
        links: dict[int, set[int]] = {}
        for row, key, _ in lm.task.alignments(reading) or ():
            links.setdefault(row, set()).add(key)
        keys = lm.trace(reading)["decoder.1.cross.pattern"].argmax(dim=-1)  # [head, query]
        n += len(links)
        for head, best in enumerate(keys.tolist()):
            written[head] += sum(best[row] in aligned for row, aligned in links.items())
            read[head] += sum(
                best[row + 1] in aligned for row, aligned in links.items() if row + 1 < len(best)
            )
    assert max(written.values()) > 0.8 * n and max(read.values()) < 0.2 * n
    assert lm.task.hint.startswith("In cross-attention, a row (read → written next)")
