"""Bars, facts and counts of sampling against the model's logits."""

import torch

from pages.lab.translation import drawn_sentences, sampling
from pages.lab.translation.inputs import INCOMPLETE, Inputs
from tests.pages.lab.translation.conftest import close, facts, panel

USUAL = sampling.TEMPERATURES.tolist().index(1.0)


def probabilities(translator, temperature: float) -> torch.Tensor:
    """Of the eighth word of the greedy translation."""
    logits = translator.trace(INCOMPLETE, direction="fr-en")["logits"][7]
    return (logits.double() / temperature).softmax(dim=-1)


def test_bars_before_and_after_the_cut(translator):
    board = sampling.lesson(Inputs(top_k=3)).board
    before, after = panel(board, "softmax"), panel(board, "what is drawn")
    assert before.labels == after.labels and before.labels[:2] == ["small", "lake"]
    ids = [translator.task.words.id(word) for word in before.labels]
    for frame in (0, USUAL, -1):
        p = probabilities(translator, sampling.TEMPERATURES[frame])
        close(before.values[frame], p[ids])
        close(after.values[frame, :3], p[ids[:3]] / p[ids[:3]].sum())
        assert (after.values[frame, 3:] == 0).all()


def test_facts_of_a_nucleus(translator):
    shown = facts(sampling.lesson(Inputs(top_p=0.75)).board)
    for frame in (0, USUAL, -1):
        p = probabilities(translator, sampling.TEMPERATURES[frame])
        ordered = p.sort(descending=True).values
        n = int((ordered.cumsum(0) < 0.75).sum()) + 1
        assert shown["words kept"][frame] == n
        close(shown["probability kept"][frame], ordered[:n].sum())
        close(shown["entropy before the cut"][frame], -(p * p.log()).sum())
        kept = ordered[:n] / ordered[:n].sum()
        close(shown["entropy after it"][frame], -(kept * kept.log()).sum())


def test_the_scale_has_the_usual_temperature_and_the_experiments():
    values = sampling.TEMPERATURES.tolist()
    asked = [experiment.set["temperature"] for experiment in sampling.TRIES]
    assert {1.0, *asked} <= set(values) and values == sorted(values)


def test_notices_say_what_is_cut(translator):
    whole = sampling.lesson(Inputs()).board.notice
    assert all(said.endswith("Nothing is cut.") for said in whole)  # even where float32 would be 0
    said = sampling.lesson(Inputs(top_k=3)).board.notice[USUAL]
    p = probabilities(translator, 1.0).sort(descending=True).values
    assert f"keeps 3 of 1,564 words with {p[:3].sum():.3f}" in said
    assert f"**{p[0]:.2f}**" in said and f"**{p[0] / p[:3].sum():.2f}**" in said


def test_ten_sentences_are_drawn_at_each_temperature():
    for fields in ({}, {"seed": 3}, {"top_k": 1}):
        rows = drawn_sentences.table(Inputs(**fields)).rows
        for column in range(1, 4):
            assert sum(int(row[column]) for row in rows if row[column] != "·") == 10
    assert len(rows) == 1 and rows[0][0].endswith("small small forest at night <eos>")  # top-k 1 is greedy
    assert drawn_sentences.table(Inputs(seed=3)).rows != drawn_sentences.table(Inputs()).rows


def test_a_word_after_the_end_shows_the_last():
    said = sampling.lesson(Inputs(word=20)).board.notice[USUAL]
    assert said.startswith("After “… forest at night”, at T = 1, the likeliest word, “<eos>”")


def test_questions():
    heat, nucleus, three = sampling.questions()
    assert heat.options[heat.right] == "the order stays, its share falls"
    assert nucleus.options[nucleus.right] == "more"
    assert three.options[three.right] == "as many"
