"""Everyday sentences both ways: which pairs are where, how they are typed, and which language a text is."""

import gzip
import random
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from attention_lab.models.data.grammar import showcase
from attention_lab.models.data.tasks import make_task
from attention_lab.models.data.tasks.everyday import WORD, Everyday, aligned_pairs, as_typed, casual
from attention_lab.models.data.word_tokenizer import BOS, EOS, SPECIALS, TO_ENGLISH, TO_FRENCH
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.scores.report import corpus_scores
from attention_lab.models.training.config import run_config
from attention_lab.models.zoo import load_model
from benchmarks.everyday import head_measures, meant, pronoun_measures, written

WORDS = ("cat chat", "dog chien", "house maison", "car voiture", "bread pain", "milk lait", "river rivière")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, lines = random.Random(0), []
    for subject in WORDS:
        for thing in WORDS:
            for verb, french in (("sees", "voit"), ("has", "a"), ("wants", "veut"), ("loves", "aime")):
                (one, un), (other, autre) = subject.split(), thing.split()
                lines.append(f"The {one} {verb} the {other}.\tLe {un} {french} l’{autre}.")
    rng.shuffle(lines)
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def task(table: Path) -> Everyday:
    made = make_task("everyday", {"file": str(table), "vocabulary": 320})
    assert isinstance(made, Everyday)
    return made


def test_each_pair_is_an_example_in_both_directions_and_no_english_is_in_two_parts(task: Everyday) -> None:
    parts = {split: task.rows[split] for split in ("training", "held out", "test")}
    for rows in parts.values():
        assert [casual(pair[0]) for pair in rows[::2]] == [casual(pair[1]) for pair in rows[1::2]]
    english = {split: {casual(row[0]) for row in rows[::2]} for split, rows in parts.items()}
    assert all(english.values())
    assert not english["training"] & english["held out"] | english["training"] & english["test"]
    assert sum(map(len, parts.values())) == 2 * len(WORDS) ** 2 * 4


def test_a_quarter_of_training_is_typed_in_a_hurry_and_nothing_else(task: Everyday) -> None:
    in_hurry = [source[0].islower() and not source.endswith(".") for source, _ in task.rows["training"]]
    assert in_hurry == [at % 8 in (0, 5) for at in range(len(in_hurry))]  # no sentence of the table is short
    assert all(
        casual(target) == target for at, (_, target) in enumerate(task.rows["training"]) if in_hurry[at]
    )
    assert not any(source[0].islower() for source, _ in task.rows["held out"])


def test_short_sentences_come_more_often_and_in_the_ways_that_they_are_typed(tmp_path: Path) -> None:
    path = tmp_path / "greetings.tsv"
    lines = ["Hello!\tBonjour !", *(f"Good morning number {at}.\tBonjour numéro {at}." for at in range(40))]
    path.write_text("\n".join([*lines, "Thank you.\tMerci."] * 2), encoding="utf-8")
    rows = Counter(make_task("everyday", {"file": str(path), "vocabulary": 300}).rows["training"])
    assert rows["hello", "bonjour"] >= 8 <= rows["bonjour", "hello"] and rows["Hello", "Bonjour"] == 8
    assert rows["Thank you", "Merci"] == rows["Merci", "Thank you"] == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello!", "hello"), ("Bonjour !", "bonjour"), ("How are you?", "how are you"),
        ("Wait...", "wait..."), ("I like the U.S.A.", "i like the U.S.A."), ("yes", "yes"), ("", ""),
    ],
)  # fmt: skip
def test_casual_drops_the_capital_and_the_last_sign(text: str, expected: str) -> None:
    assert casual(text) == expected


def test_the_first_token_says_what_to_write_and_the_first_word_is_the_piece_of_any_other(
    task: Everyday,
) -> None:
    batch = task.numbered("held out", [0, 1], torch.Generator())
    assert batch.inputs[0][:, 0].tolist() == [TO_FRENCH, TO_ENGLISH]
    assert batch.inputs[1][:, 0].tolist() == [BOS, BOS]
    for row, (source, target) in enumerate(task.rows["held out"][:2]):
        ids = batch.inputs[0][row].tolist()
        assert task.written(ids[1 : ids.index(EOS)]) == source
        written = batch.targets[row].tolist()
        assert task.written(written[: written.index(EOS)]) == target
    assert task.read("cat cat").tokens["encoder"][1:-1] == [" cat", " cat"]


def test_a_typesetter_s_signs_are_those_of_a_keyboard() -> None:
    assert as_typed("l’ami\N{NARROW NO-BREAK SPACE}!\N{NO-BREAK SPACE}") == "l'ami ! "


@pytest.mark.parametrize(
    ("text", "first"), [("the dog wants bread", TO_FRENCH), ("le chien veut du pain", TO_ENGLISH)]
)
def test_a_text_is_read_in_its_own_language_unless_another_is_chosen(
    task: Everyday, text: str, first: int
) -> None:
    reading = task.read(text)
    assert reading.inputs[0][0, 0] == first and reading.advice is None
    other = task.read(text, direction="fr-en" if first == TO_FRENCH else "en-fr")
    assert other.inputs[0][0, 0] != first and other.advice is not None
    assert other.advice.setting == "direction"


def test_bad_texts_and_directions_are_refused_in_a_sentence(task: Everyday) -> None:
    with pytest.raises(ValueError, match="the text is empty; give at least one word"):
        task.read("  ")
    with pytest.raises(ValueError, match="direction='de-en' is unknown; choose 'en-fr' or 'fr-en'"):
        task.read("dog", direction="de-en")
    with pytest.raises(ValueError, match="this model reads at most 128"):
        task.read("dog " * 200)


def test_what_is_learnt_comes_back_and_reads_alike_without_the_file(task: Everyday, table: Path) -> None:
    learnt = task.learnt()
    again = make_task("everyday", {"file": "/nowhere/pairs.tsv", "vocabulary": 320})
    assert isinstance(again, Everyday)
    again.restore(learnt)
    text = "the river loves milk"
    assert again.read(text).inputs[0].equal(task.read(text).inputs[0])
    assert again.leaning([10, 300]) == task.leaning([10, 300])
    held_out = {pair for split in ("held out", "test") for pair in task.rows[split]}
    assert again.rows["held out"] and set(again.rows["held out"]) <= held_out
    assert not again.rows["training"]
    assert set(islice(again.texts(0), 20)) <= {source for source, _ in held_out}
    for name, odd in (
        ("counts", {"en": []}),
        ("counts", {language: [10**400] * 320 for language in ("en", "fr")}),
        ("examples", []),
        ("examples", [["a", "b" * 2_000]]),
        (
            "tokenizer",
            {"kind": "bpe", "vocabulary": ["!"], "n_specials": 0, "unknown_id": None, "merges": []},
        ),
    ):
        with pytest.raises(ValueError, match="give what learnt returned"):
            again.restore({**learnt, name: odd})


def test_a_file_of_the_card_s_name_in_the_folder_of_the_server_is_not_read(
    task: Everyday, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("\n".join(f"a{at}\tb{at}" for at in range(40)))
    again = make_task("everyday", {"file": "pairs.tsv", "vocabulary": 320})
    again.restore(task.learnt())
    assert ("a1", "b1") not in again.rows["held out"] and not again.rows["training"]
    with pytest.raises(ValueError, match="is not there to train on; choose another file"):
        again.batch(torch.Generator(), 4)


def test_the_pair_that_is_watched_fits_a_short_model(table: Path) -> None:
    short = make_task("everyday", {"file": str(table), "vocabulary": 320, "length": 16})
    assert max(ids.shape[1] for ids in short.probe().inputs) <= 16


def test_a_typed_translation_is_forced_and_a_beam_and_padding_read_as_they_do_elsewhere(
    task: Everyday,
) -> None:
    config = run_config(task, sizes={"n_layers": 1, "n_heads": 2, "d_model": 16}, training={"steps": 1})
    model = Transformer(config.model, seed=0)
    forced = task.read_by(model, "the dog", target="le chien")
    assert forced.forced and forced.answer == "le chien" and forced.tokens["decoder"][0] == SPECIALS[BOS]
    padded = task.read_by(model, "the dog", target="le chien", padding=3)
    assert padded.inputs[0].shape[1] == forced.inputs[0].shape[1] + 3
    assert task.read_by(model, "the dog", beam=2).tokens["encoder"] == forced.tokens["encoder"]


def test_no_held_out_sentence_has_a_piece_that_is_unknown() -> None:
    lm = load_model("everyday")
    for split in lm.task.rows.values():
        for text, _ in split:
            tokens = lm.task.read(text).tokens["encoder"]
            assert "<unk>" not in tokens
            assert "".join(tokens[1:-1]).strip() == as_typed(text).strip() or "⟨" in "".join(tokens)
    assert len(lm.task.rows["held out"]) == 1_000


def test_its_data_are_the_table_that_its_card_names(shared_data: Path) -> None:
    pairs = gzip.decompress((shared_data / "tatoeba" / "eng-fra.tsv.gz").read_bytes()).decode()
    known = {tuple(line.split("\t")) for line in pairs.splitlines()}
    lm = load_model("everyday")
    assert set(lm.task.pairs["held out"]) <= known and pairs.count("\n") == 167_130


def test_every_pair_aligned_by_hand_has_links_between_words_that_it_has() -> None:
    assert len(aligned_pairs()) == 100
    for (english, french), links in aligned_pairs().items():
        n_english, n_french = (len(WORD.findall(text)) for text in (english, french))
        assert all(one < n_english and other < n_french for one, other in links)
        assert sum(links.values()) >= 3


def test_a_pair_aligned_by_hand_is_aligned_piece_by_piece() -> None:
    lm = load_model("everyday")
    english, french = next(iter(aligned_pairs()))
    reading = lm.read(english, target=french, direction="en-fr")
    read, written = reading.tokens["encoder"], reading.tokens["decoder"][1:]
    pairs = {(written[a.query].strip(), read[a.key].strip()) for a in lm.task.alignments(reading) if a.sure}
    assert (english, french) == ("Are you sure that's safe?", "Êtes-vous certaine que c'est sûr ?")
    assert {("vous", "you"), ("c", "that"), ("?", "?")} <= pairs and ("vous", "sure") not in pairs
    back = lm.read(french, target=english, direction="fr-en")
    assert len(lm.task.alignments(back)) == len(lm.task.alignments(reading))
    assert lm.task.alignments(lm.read("I love you.")) is None


def test_the_card_states_what_its_heads_do() -> None:
    lm = load_model("everyday")
    measured = head_measures(lm)
    for name, (value, layer, head, lowest) in {
        "decoder.cross alignment error": (0.35, 2, 2, True),
        "encoder.self on the previous": (0.42, 2, 2, False),
        "decoder.self on the first": (0.40, 2, 0, False),
    }.items():
        values = measured[name]
        best = values.argmin() if lowest else values.argmax()
        assert divmod(int(best), lm.config.n_heads) == (layer, head)
        assert values[layer, head] == pytest.approx(value, abs=0.01)
        assert f"{value:.2f}" in lm.card["note"] and f"layer {layer} head {head}" in lm.card["note"]
    assert (lm.card["showcase"]["layer"], lm.card["showcase"]["head"]) == (2, 2)
    weights, more, right = pronoun_measures(lm, 30)
    assert weights.max() == pytest.approx(0.09, abs=0.015) and "at most 0.09 is on either" in lm.card["note"]
    assert np.abs(weights[0] - weights[1]).max() < 0.02 and more.all(axis=1).mean(axis=0).max() < 0.15
    assert 0.15 < right.mean() < 0.45


def test_what_a_pronoun_looks_at_is_read_off_the_pieces_of_both_nouns() -> None:
    lm = load_model("everyday")
    looks, written = meant(lm, pair := showcase())
    trace = lm.trace("The animal did not cross the street because it was too tired", direction="en-fr")
    pieces = trace.tokens["encoder"]
    assert pair.english[1:7:5] == ("animal", "street")
    for which, noun in enumerate((["anim", "al"], ["street"])):
        at = pieces.index(f" {noun[0]}")
        assert [piece.strip() for piece in pieces[at : at + len(noun)]] == noun
        weights = trace["encoder.1.self.pattern"][:, pieces.index(" it"), at : at + len(noun)].sum(-1)
        assert looks[which, 1] == pytest.approx(weights.numpy())
    assert written == (" il" in "".join(trace.tokens["decoder"]).replace("'", " "))


def test_it_translates_what_people_type_first_and_scores_as_stated_on_what_it_brings() -> None:
    lm = load_model("everyday")
    assert lm.read("I love you.").answer == "Je t'aime."
    greetings = {"hello": "bonjour", "Hello!": "Bonjour !", "hi": "salut", "thank you": "merci"}
    assert {typed: lm.read(typed).answer for typed in greetings} == greetings
    cake = "My grandmother baked a chocolate cake."
    assert lm.read(cake).answer == "Ma grand-mère a cuit un gâteau du chocolat."
    for number, (low, high) in enumerate(((53, 64), (58, 69))):  # the intervals of the card, and five more
        places = list(range(number, 400, 2))
        wanted = [lm.task.rows["held out"][at][1] for at in places]
        chrf, _ = corpus_scores(written(lm, places), wanted)
        assert low < chrf.value < high
