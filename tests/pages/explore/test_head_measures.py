"""What each stack's heads are sorted by: every measure that applies, with the model's own pairs."""

import json

import numpy as np
import pytest

from attention_lab.models.data.grammar.pairs import kept_counts
from attention_lab.models.zoo.model import Attention
from attention_lab.pages.explore import head_measures
from attention_lab.pages.explore.head_measures import Measured, declared, map_message, rows_of
from attention_lab.pages.explore.payload import Opened, build
from attention_lab.pages.explore.quantities import REPEAT_MEASURES
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import Stack, Subject, subject_of
from attention_lab.pages.explore.takeaway import StageView
from attention_lab.viz_core.measures import MEASURES, head_scores, map_of_heads
from attention_lab.viz_core.viewer.message import to_json
from tests.pages.explore.answer_header import answered

TWO = "the animal did not cross the street because it was too tired and it slept"


def sent(subject: Subject) -> dict:
    message = build(subject, Opened()).packed.message(g=1)
    return json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])


def test_every_measure_of_every_stack_is_that_of_its_patterns() -> None:
    subject = subject_of(Inputs(text=TWO))
    trace, header = subject.run(None), sent(subject)
    for stack in header["stacks"]:
        side, kind = stack["id"].split(".")
        tokens = subject.reading.tokens[stack["keySide"]]
        links = subject.model.alignments(subject.reading) if kind == "cross" else []
        gold = [(query, key) for query, key, _ in links], [(query, key) for query, key, s in links if s]
        layers = [
            head_scores(
                trace[f"{side}.{at}.{kind}.pattern"].numpy(), cross=kind == "cross", tokens=tokens,
                pairs=gold[0], sure=gold[1], counts=subject.model.rarity(subject.reading).counts,
            )
            for at in stack["layers"]
        ]  # fmt: skip
        of_pairs = {"agreement", "hits"} if stack["id"] == "encoder.self" else set()
        assert stack["stats"].keys() == layers[0].keys() | of_pairs
        for name in layers[0]:
            expected = np.concatenate([layer[name] for layer in layers])
            assert stack["stats"][name] == pytest.approx(expected, abs=1e-4)
    assert {"duplicate", "induction", "rare"} <= header["stacks"][0]["stats"].keys()
    assert "previous" not in header["stacks"][2]["stats"]


def test_agreement_is_the_weight_of_each_pronoun_on_the_noun_that_the_model_takes_it_for() -> None:
    subject = subject_of(Inputs(text=TWO))
    trace, header = subject.run(None), sent(subject)
    pairs = [(named["position"], named["antecedent"]) for named in header["antecedents"]]
    assert [subject.reading.tokens["encoder"][query] for query, _ in pairs] == ["it", "it"]
    shares, hits = [], []
    for layer in range(2):
        for pattern in trace[f"encoder.{layer}.self.pattern"]:
            found = [(query, key) for query, key in pairs if key is not None]
            shares.append(sum(float(pattern[query, key]) for query, key in found) / len(found))
            hits.append(sum(int(pattern[query].argmax()) == key for query, key in found) / len(found))
    stats = header["stacks"][0]["stats"]
    assert stats["agreement"] == pytest.approx(shares, abs=1e-4)
    assert stats["hits"] == pytest.approx(hits, abs=1e-4)
    assert max(shares) > 0.9


def test_a_head_of_the_translator_looks_at_the_word_that_it_translates() -> None:
    """Counted by hand: all words of the translation and its full stop count, <eos> does not."""
    subject = subject_of(Inputs(text="the dog crossed the street ."))
    header, trace = sent(subject), subject.run(None)
    assert subject.reading.answer == "le chien a traversé la rue."
    read = {"le": {1}, "chien": {2}, "a": {3}, "traversé": {3}, "la": {4}, "rue": {5}, ".": {6}}
    sure = {at for at, word in enumerate(read) if word != "a"}
    hits, errors = [], []
    for layer in range(2):
        for pattern in trace[f"decoder.{layer}.cross.pattern"]:
            right = {at for at, keys in enumerate(read.values()) if int(pattern[at].argmax()) in keys}
            hits.append(len(right) / 7)
            errors.append(1 - (len(right & sure) + len(right)) / (7 + 6))
    cross = header["stacks"][2]
    assert cross["stats"]["hits"] == pytest.approx(hits, abs=1e-4)
    assert cross["stats"]["alignment_error"] == pytest.approx(errors, abs=1e-4)
    assert max(hits[4:]) > 0.8 and "articles count, and <eos> has none" in cross["pairs"]
    assert header["stacks"][1]["pairs"] == "" == header["stacks"][0]["pairs"]


def test_of_words_that_nobody_aligns_there_is_no_agreement() -> None:
    header = sent(subject_of(Inputs(text="zzz", target="xyz")))
    assert header["stacks"][2]["pairs"] == ""
    assert not {"agreement", "hits", "alignment_error"} & header["stacks"][2]["stats"].keys()


def test_the_rarest_word_is_the_one_that_training_had_least() -> None:
    subject = subject_of(Inputs(text="the animal did not cross the street because it was too tired"))
    header, trace = sent(subject), subject.run(None)
    tokens, (english, french) = subject.reading.tokens["encoder"], kept_counts()  # animal is French, too
    rarest = min(range(1, len(tokens) - 1), key=lambda at: english[tokens[at]] + french.get(tokens[at], 0))
    assert tokens[rarest] not in ("the", "because")
    shares = [
        float(pattern[:, rarest].mean())
        for layer in range(2)
        for pattern in trace[f"encoder.{layer}.self.pattern"]
    ]
    assert header["stacks"][0]["stats"]["rare"] == pytest.approx(shares, abs=1e-4)
    (rare,) = (measure for measure in header["measures"] if measure["name"] == "rare")
    assert rare["said"].startswith("Here, rarity is by counts in 10,000 pairs of its training sentences;")
    strange = sent(subject_of(Inputs(text="the zebra crossed the street")))  # training never had it
    zebra = subject_of(Inputs(text="the zebra crossed the street")).run(None)
    shares = [float(p[:, 2].mean()) for at in range(2) for p in zebra[f"encoder.{at}.self.pattern"]]
    assert strange["stacks"][0]["stats"]["rare"] == pytest.approx(shares, abs=1e-4)


def test_without_counts_the_text_is_counted_and_that_is_said() -> None:
    header = sent(subject_of(Inputs(model="untrained", text="a b a")))
    (rare,) = (measure for measure in header["measures"] if measure["name"] == "rare")
    assert rare["said"] == "Here, rarity is by counts in this text alone."
    assert header["measures"][0]["said"] == ""


def test_without_pronouns_or_a_model_that_names_nouns_there_are_no_pairs() -> None:
    for inputs in (Inputs(text="the cat sleeps"), Inputs(model="untrained", text=TWO)):
        for stack in sent(subject_of(inputs))["stacks"][:2]:
            assert not {"agreement", "hits"} & stack["stats"].keys()
    measured = Measured(subject_of(Inputs(text="the cat sleeps")))
    measured.agree([])  # nothing is there to be measured


def test_the_browser_gets_the_definitions_of_what_some_stack_has() -> None:
    header = sent(subject_of(Inputs(model="untrained", text="a b a")))
    had = header["stacks"][0]["stats"].keys()
    offered = [m.name for m in MEASURES if m.name in had or m.needs == "repeat"]
    assert [measure["name"] for measure in header["measures"]] == offered
    assert {measure["name"] for measure in header["measures"] if measure["random"]} == set(REPEAT_MEASURES)
    assert not set(REPEAT_MEASURES) & had
    entropy = header["measures"][0]
    assert (entropy["title"], entropy["smallestFirst"]) == ("entropy", True)
    assert entropy["definition"] == MEASURES[0].definition
    assert entropy["formula"] == "mean over q of −Σₖ a(q,k) ln a(q,k)"
    assert declared([{"id": "decoder.cross", "stats": {}}], {}) == []


def stack(n_layers: int, n_heads: int, n_query: int, n_key: int) -> Stack:
    attention = Attention(
        n_layers=n_layers, n_heads=n_heads, d_head=8, n_key_heads=n_heads, scales=(1.0,) * n_layers
    )
    return Stack("encoder.self", "", "encoder", "encoder", n_query, n_key, attention)


@pytest.mark.parametrize("name", ["encoder.self", "decoder.cross"])
def test_the_map_is_that_of_all_patterns_of_the_stack(name: str) -> None:
    inputs = Inputs()
    side, kind = name.split(".")
    trace = subject_of(inputs).run(None)
    patterns = np.stack([trace[f"{side}.{layer}.{kind}.pattern"].numpy() for layer in range(2)])
    points, shares = map_of_heads(patterns)
    found = map_message(inputs, name)
    np.testing.assert_allclose(found["points"], points, atol=1e-4)
    np.testing.assert_allclose(found["shares"], shares, atol=1e-4)
    assert found["queries"] == patterns.shape[2]


def test_of_a_long_text_some_queries_are_compared_evenly_spread() -> None:
    assert list(rows_of(stack(2, 4, 10, 10))) == list(range(10))
    rows = rows_of(stack(6, 12, 1_024, 1_024))
    assert len(rows) == 160_000_000 // (72**2 * 1_024) == 30
    assert (rows[0], rows[-1]) == (0, 1_023)
    assert {round(step / 35.3) for step in np.diff(rows)} == {1}


def test_so_many_heads_that_none_could_be_compared_are_refused() -> None:
    with pytest.raises(ValueError, match="1024 heads over 1,024 keys are too many to compare"):
        rows_of(stack(32, 32, 1_024, 1_024))


def test_the_map_is_there_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    text, act = "the cat sleeps", {"type": "map", "stack": "encoder.self"}
    assert "map" not in answered(text=text)
    expected = json.loads(to_json(map_message(Inputs(text=text), "encoder.self")))
    assert answered(text=text, beside=[act])["map"] == {"asked": ["encoder.self"], **expected}
    monkeypatch.setattr(head_measures, "MOST_WORK", 10)
    refused = answered(text=text, beside=[act | {"stack": "decoder.self"}])["map"]
    assert refused["problem"].startswith("8 heads over ")


def test_the_figure_to_take_away_is_the_map_with_the_names_of_all_heads() -> None:
    inputs = Inputs()
    figure = StageView(inputs, {"view": "map", "stack": "encoder.self"}).figure(dark=False)
    (points,) = figure.data
    assert list(points.hovertext) == [f"L{layer} H{head}" for layer in range(2) for head in range(4)]
    np.testing.assert_allclose(
        np.stack([points.x, points.y], 1), map_message(inputs, "encoder.self")["points"], atol=1e-4
    )
    assert list(points.marker.color) == [0, 0, 0, 0, 1, 1, 1, 1]
