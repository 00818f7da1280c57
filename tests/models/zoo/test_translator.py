"""The shipped translators: what their cards claim, measured again on a part of the held-out sentences."""

import hashlib

import pytest
import torch

from attention_lab.models import ModelConfig, list_models, load_model
from attention_lab.models.byte_units import MB
from attention_lab.models.data.grammar.pairs import held_out
from attention_lab.models.data.word_tokenizer import BOS, EOS
from attention_lab.models.engine.decoding import beam_search
from attention_lab.models.files import FileError
from attention_lab.models.runs.export import make_card
from attention_lab.models.runs.recipes import RECIPES
from attention_lab.models.runs.train_shipped import said_by
from attention_lab.models.training.evaluation import evaluate
from attention_lab.models.zoo.folders import SHIPPED

TIRED = "the animal did not cross the street because it was too tired"
WIDE = TIRED.replace("tired", "wide")


@pytest.fixture(scope="module")
def lm():
    torch.set_num_threads(1)
    return load_model("translator")


def test_the_translator_is_listed_with_its_story_and_its_examples(lm):
    (card,) = (card for card in list_models() if card.name == "translator")
    assert card.card == lm.card
    assert set(card.showcase) == {"view", "stack", "layer", "head"}
    assert 6 <= len(card.examples) <= 10
    for example in card.examples:
        assert example["see"]
        assert not lm.task.encode_source(example["text"]).unknown, example["text"]


def test_the_card_describes_the_file(lm):
    assert lm.card["license"] == "MIT"
    assert ModelConfig.from_dict(lm.card["config"]) == lm.config
    assert lm.card["learnt"]["words"]["words"] == lm.task.words.vocabulary
    assert lm.task.name == "translation"
    assert lm.card["training"]["command"] == "python -m attention_lab.models.training zoo translator"
    words = lm.card["learnt"]["words"]
    assert set(words["english"]) | set(words["french"]) == set(lm.task.words.vocabulary[6:])
    assert len(words["english"]) >= 250
    weights = SHIPPED / "translator" / "translator.safetensors"
    assert weights.stat().st_size <= 4 * MB
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    assert digest[:16] == "df35911a1aa6421a"  # no conversion touched them
    assert all(parameter.dtype == torch.float32 for parameter in lm.model.parameters())


@pytest.fixture(scope="module")
def plain():
    torch.set_num_threads(1)
    return load_model("translator-plain")


def test_the_plain_translator_differs_in_one_number_of_its_training(lm, plain):
    said, its = lm.card["training"], plain.card["training"]
    shared = (said.keys() & its.keys()) - {"command", "seconds"}
    assert {"steps", "batch_size", "learning_rate", "warmup_steps", "weight_decay", "seed"} <= shared
    assert {name: said[name] for name in shared} == {name: its[name] for name in shared}
    assert its["step"] == its["steps"] == 5_000
    assert its["command"] == "python -m attention_lab.models.training zoo translator-plain"
    assert plain.config == lm.config
    options = {**plain.card["task"]["options"], "antecedent_weight": said["antecedent_weight"]}
    assert plain.card["task"]["options"]["antecedent_weight"] == 0
    assert options == lm.card["task"]["options"]
    assert [e["text"] for e in plain.card["examples"]] == [e["text"] for e in lm.card["examples"]]


def test_both_translate_alike_and_one_alone_looks_at_what_a_pronoun_means(lm, plain):
    ours, its = lm.card["metrics"], plain.card["metrics"]
    assert its["sentences"] == its["sentences"] == 2_000
    assert its["translation"]["all"] >= ours["translation"]["all"] - 0.01
    assert min(its["pronoun"], its["en-fr"]["pronoun"]) >= 0.995
    for metrics in (its, its["en-fr"]):
        assert metrics["head"]["weight"] < 0.3
        for read in (metrics["head"], *metrics["layers"]):
            assert 0.45 < read["right"] < 0.65 and read["flip"] < 0.05  # as often as chance would have it
    assert ours["en-fr"]["layers"][1] == ours["en-fr"]["layer"]
    assert ours["en-fr"]["layer"]["right"] >= 0.99 and ours["en-fr"]["head"]["weight"] >= 0.9


def test_a_part_of_the_held_out_sentences_confirms_the_plain_card(plain):
    metrics = evaluate(plain.model, plain.task.words, held_out(150, seed=2))
    assert metrics["translation"]["all"] >= 0.98
    assert metrics["pronoun"] >= 0.98
    assert metrics["named"] < 0.02
    assert metrics["head"]["weight"] < 0.35
    assert all(layer["right"] < 0.75 and layer["weight"] < 0.3 for layer in metrics["layers"])


def test_cards_say_what_each_was_taught_as_their_recipes_do(lm, plain):
    for loaded in (lm, plain):
        card = loaded.card
        made = make_card(loaded.task, loaded.model, card["metrics"], card["data"]["seed"])
        made |= said_by(RECIPES[card["name"]])
        assert {name: card[name] for name in made} == made
    assert lm.card["taught"] == "This model was also taught to name the noun that each pronoun means."
    assert plain.card["taught"] == (
        "Taught only to translate: 99.9% of its pronouns are right, yet its best head gives the noun meant "
        "0.23 on average."
    )
    assert (lm.card["contrast"]["model"], plain.card["contrast"]["model"]) == (
        "translator-plain",
        "translator",
    )
    assert "naming" in lm.card["objective"] and "naming" not in plain.card["objective"]


def test_a_model_that_was_never_asked_names_no_noun(lm, plain):
    assert plain.antecedents(plain.trace(TIRED)) is None
    assert "pronoun" in lm.see and "pronoun" not in plain.see
    assert plain.read(WIDE).answer == lm.read(WIDE).answer


def test_what_is_read_says_what_the_model_wrote_and_what_follows(lm):
    greedy = lm.read(TIRED)
    assert greedy.answer == "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
    assert (greedy.following, greedy.forced, greedy.unknown) == ("<eos>", False, ())
    forced = lm.read(TIRED, target="l'animal zzz")
    assert (forced.answer, forced.forced) == ("l'animal zzz", True)
    assert [(word.where, word.text) for word in forced.unknown] == [("target", "zzz")]
    assert forced.tokens["decoder"] == ["<bos>", "l'", "animal", "zzz"]
    french = lm.read("l'animal est fatigué")
    assert french.tokens["encoder"][0] == "<2en>"  # as more of its words are French
    assert lm.abilities == ("translate",)


def test_a_beam_writes_what_the_search_finds(lm):
    read = lm.read("who is too wide?", beam=3)
    found = beam_search(lm.model, torch.tensor([[BOS]]), width=3, source=read.inputs[0], eos_id=EOS).tokens()
    assert [*read.inputs[1][0].tolist(), EOS] == [BOS, *found]
    assert read.tokens["decoder"] != lm.read("who is too wide?").tokens["decoder"]


def test_a_part_of_the_held_out_sentences_confirms_the_card(lm):
    metrics = evaluate(lm.model, lm.task.words, held_out(150, seed=2))
    assert metrics["translation"]["all"] >= 0.98
    assert metrics["pronoun"] >= 0.99
    assert metrics["named"] >= 0.99
    assert metrics["layer"]["right"] >= 0.99
    assert metrics["layer"]["weight"] >= 0.4
    assert metrics["layer"]["flip"] >= 0.99
    assert metrics["head"]["right"] >= 0.97


@pytest.mark.parametrize(
    ("text", "noun", "french"),
    [
        (TIRED, "animal", "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"),
        (WIDE, "street", "l'animal n'a pas traversé la rue parce qu'elle était trop large"),
    ],
)
def test_one_head_tells_the_story(lm, text, noun, french):
    story = lm.card["showcase"]
    trace = lm.trace(text)
    tokens = trace.tokens["encoder"]
    pattern = trace[f"encoder.{story['layer']}.self.pattern"]
    assert story["stack"] == "encoder.self"
    from_it = pattern[story["head"], tokens.index("it")]
    assert tokens[int(from_it.argmax())] == noun
    assert from_it[tokens.index(noun)] >= 0.5
    assert lm.read(text).answer == french
    ((position, word, probability, antecedent),) = lm.antecedents(trace)
    assert (tokens[position], word, tokens[antecedent]) == ("it", noun, noun)
    assert probability > 0.9


@pytest.mark.parametrize(
    ("text", "direction", "expected"),
    [
        ("I am a student", "en-fr", "je suis étudiant"),
        ("I'm a student.", "en-fr", "je suis étudiant."),
        ("je suis étudiante", "fr-en", "i am a student"),
        ("L’animal n’a pas traversé la rue parce qu’elle était trop large", "fr-en", WIDE),
        ("The animal didn't cross the street because it was too tired.", "en-fr",
         "l'animal n'a pas traversé la rue parce qu'il était trop fatigué."),
        ("did the big dog see a red car?", "en-fr",
         "est-ce que le grand chien a vu une voiture rouge\N{NO-BREAK SPACE}?"),
    ],
)  # fmt: skip
def test_people_type_as_they_like(lm, text, direction, expected):
    assert lm.read(text, direction=direction).answer == expected


def test_a_trace_holds_the_target_it_was_given_or_its_own(lm):
    own = lm.trace(TIRED)
    words = lm.read(TIRED).tokens["decoder"][1:]
    assert own.tokens["decoder"] == ["<bos>", *words]
    assert own["logits"].shape == (len(words) + 1, len(lm.task.words))
    following = [lm.task.words.vocabulary[int(i)] for i in own["logits"].argmax(-1)]
    assert following == [*words, "<eos>"]
    forced = lm.trace(TIRED, target="l'animal est rouge")
    assert forced.tokens["decoder"] == ["<bos>", "l'", "animal", "est", "rouge"]
    assert forced.tokens["encoder"] == ["<2fr>", *TIRED.split(), "<eos>"]
    assert lm.trace(lm.task.read(TIRED)).tokens["decoder"] == ["<bos>"]


def test_its_own_probability_tells_sentences_that_it_knows_from_others(lm):
    """What Explore calls doubtful stands on this (viz_core/viewer/stage/caption.js)."""

    def told(text, **how):
        trace = lm.trace(text, **how)
        return trace["logits"].double().softmax(-1).amax(-1).prod().item(), trace.tokens["decoder"][1:]

    asked = [(" ".join(pair.source(way)), pair.target(way), way) for pair, way in held_out(60)]
    answers = [(*told(text, direction=way), list(target)) for text, target, way in asked]
    known = [written == target for probability, written, target in answers if probability >= 0.9]
    assert len(known) >= 59 and sum(known) >= len(known) - 1
    others = (
        "the nurse was kind",
        "I love you",
        "hello world",
        "the bird sings in the tree",
        "the car was red",
    )
    assert all(told(text)[0] < 0.9 for text in others)


def test_unknown_words_are_marked_and_do_not_derail_the_rest(lm):
    text = "the zebraa did not cross the street because it was too tired"
    (unknown,) = lm.task.encode_source(text).unknown
    assert text[unknown.start : unknown.end] == "zebraa"
    translation = lm.read(text)
    assert "<unk>" in translation.tokens["decoder"]
    assert translation.answer.endswith(("trop fatigué", "trop fatiguée"))
    trace = lm.trace(text)
    assert trace.tokens["encoder"][2] == "zebraa"
    ((_, word, _, antecedent),) = lm.antecedents(trace)
    assert (word, antecedent) == ("zebraa", 2)


def test_antecedents_need_the_encoders_output(lm):
    trace = lm.trace(TIRED, reduce=lambda address, tensor: tensor if "pattern" in address else None)
    with pytest.raises(KeyError, match=r"encoder\.norm"):
        lm.antecedents(trace)


def test_a_pronoun_without_antecedent_points_nowhere(lm):
    ((position, _, _, antecedent),) = lm.antecedents(lm.trace("she is a doctor"))
    assert (position, antecedent) == (1, None)


def test_another_direction_is_refused(lm):
    with pytest.raises(ValueError, match="direction='en-de' is unknown; choose 'en-fr'"):
        lm.task.read_by(lm.model, "the", direction="en-de")


def test_padding_of_the_source_is_seen_by_nobody_and_changes_nothing(lm):
    plain, padded = lm.trace(TIRED), lm.trace(TIRED, padding=3)
    n = len(plain.tokens["encoder"])
    assert padded.tokens["encoder"] == [*plain.tokens["encoder"], "<pad>", "<pad>", "<pad>"]
    assert padded.tokens["decoder"] == plain.tokens["decoder"]
    torch.testing.assert_close(padded["logits"], plain["logits"], rtol=0, atol=1e-4)
    for layer in range(2):
        for stack in ("encoder", "decoder"):
            address = f"{stack}.{layer}.{'self' if stack == 'encoder' else 'cross'}"
            assert padded[f"{address}.scores"][:, :, n:].isneginf().all()
            assert not padded[f"{address}.pattern"][:, :, n:].any()
            rows = plain[f"{address}.pattern"].shape[1]
            torch.testing.assert_close(
                padded[f"{address}.pattern"][:, :rows, :n], plain[f"{address}.pattern"], rtol=0, atol=1e-5
            )


@pytest.mark.parametrize("padding", [-1, 115])
def test_padding_without_room_is_refused(lm, padding):
    with pytest.raises(ValueError, match=f"padding={padding} does not fit the 14 tokens; give 0 to 114"):
        lm.trace(TIRED, padding=padding)


def test_an_unknown_name_says_what_is_shipped():
    with pytest.raises(FileError, match=r"'transaltor' is no shipped model.* shipped: .*translator"):
        load_model("transaltor")
