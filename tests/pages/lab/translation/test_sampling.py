"""Distributions against numpy; sentences drawn against the model's own probabilities."""

from collections import Counter

import torch

from attention_lab.pages.lab.translation import sampling
from attention_lab.pages.lab.translation.inputs import INCOMPLETE, Inputs, Reading
from tests.pages.lab.boards import close, facts, panel
from tests.pages.lab.translation.conftest import ids_of


def drawn(read: Reading, temperatures: list[float], seed: int = 0, **cut) -> list[tuple[int, ...]]:
    generator = torch.Generator().manual_seed(seed)
    cut = {"top_k": None, "top_p": None} | cut
    return sampling.sentences(read.model, read.source_ids, temperatures, generator, most=20, **cut)


def test_the_coldest_and_the_narrowest_draw_is_greedy(incomplete: Reading, tired: Reading):
    for read in (incomplete, tired):
        assert set(drawn(read, [0.0001] * 3)) == {tuple(ids_of(read))}
        assert set(drawn(read, [3.0] * 3, top_k=1)) == {tuple(ids_of(read))}


def test_a_seed_draws_the_same_again(incomplete: Reading):
    assert drawn(incomplete, [2.0] * 5) == drawn(incomplete, [2.0] * 5)
    assert drawn(incomplete, [2.0] * 5) != drawn(incomplete, [2.0] * 5, seed=1)


@torch.no_grad()
def test_sentences_come_as_often_as_they_are_likely(incomplete: Reading):
    """600 draws at temperature 1: the two likeliest sentences, within four deviations of their share."""
    n = 600
    counts = Counter(drawn(incomplete, [1.0] * n))
    for sentence, count in counts.most_common(2):
        ids = torch.tensor([sentence])
        logits = incomplete.model(incomplete.source_ids, torch.tensor([[1, *sentence[:-1]]]))
        p = logits.log_softmax(dim=-1).gather(2, ids[:, :, None]).sum().exp().item()
        assert abs(count / n - p) < 4 * (p * (1 - p) / n) ** 0.5


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


def test_notices_say_what_is_cut(translator):
    whole = sampling.lesson(Inputs()).board.notice
    assert not any("kept" in said for said in whole)  # even where float32 would be 0
    said = sampling.lesson(Inputs(top_k=3)).board.notice[USUAL]
    p = probabilities(translator, 1.0).sort(descending=True).values
    assert "among the 3 words kept" in said
    assert f"**{p[0]:.2f}**" in said and f"**{p[0] / p[:3].sum():.2f}**" in said


def test_ten_sentences_are_drawn_at_each_temperature():
    for fields in ({}, {"seed": 3}, {"top_k": 1}):
        rows = sampling.table(Inputs(**fields)).rows
        for column in range(1, 4):
            assert sum(int(row[column]) for row in rows if row[column] != "·") == 10
    assert len(rows) == 1 and rows[0][0].endswith("small small forest at night <eos>")  # top-k 1 is greedy
    assert sampling.table(Inputs(seed=3)).rows != sampling.table(Inputs()).rows


def test_a_word_after_the_end_shows_the_last():
    said = sampling.lesson(Inputs(word=20)).board.notice[USUAL]
    assert said.startswith("After “… forest at night”, at T = 1, “<eos>”")
