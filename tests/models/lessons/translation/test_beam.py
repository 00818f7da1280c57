"""The search's steps against a search written out plainly, and what the page says of it."""

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from models.data.word_tokenizer import BOS, EOS
from models.lessons.translation import beam, reading
from models.lessons.translation.reading import Reading
from models.zoo.engine_model import Translator
from tests.models.lessons.translation.conftest import ids_of


@torch.no_grad()
def plain_search(read: Reading, width: int) -> list[list[tuple[float, list[int]]]]:
    """After each step the sentences kept, best first: every prefix computed anew, 20 words considered."""
    live, history, places = [(0.0, [BOS])], [], width
    while live and places:
        longer = []
        for score, words in live:
            log_p = read.model(read.source_ids, torch.tensor([words]))[0, -1].log_softmax(dim=-1)
            longer += [
                (score + p, [*words, id_]) for p, id_ in zip(*map(Tensor.tolist, log_p.topk(20)), strict=True)
            ]
        kept = sorted(longer, reverse=True)[:places]
        history.append(kept)
        places -= sum(words[-1] == EOS for _, words in kept)
        live = [(score, words) for score, words in kept if words[-1] != EOS]
    return history


@pytest.mark.parametrize("width", [1, 3])
def test_every_step_keeps_what_a_plain_search_keeps(incomplete: Reading, width: int):
    tree = beam.search(incomplete.model, incomplete.source_ids, width, 0.0, 20)
    steps = beam.steps(tree)
    expected = plain_search(incomplete, width)
    assert len(steps) == len(expected)
    for step, kept in zip(steps, expected, strict=True):
        assert [[BOS, *tree.tokens(node.id)] for node in step.kept] == [words for _, words in kept]
        assert [node.score for node in step.kept] == pytest.approx([score for score, _ in kept], abs=1e-3)
        assert all(node.score <= step.kept[-1].score for node in step.pruned)


def test_a_step_runs_the_open_sentences(incomplete: Reading):
    tree = beam.search(incomplete.model, incomplete.source_ids, 2, 0.0, 20)
    steps = beam.steps(tree)
    for before, step in pairwise(steps):
        assert step.runs == sum(not node.finished for node in before.kept)
        assert len(step.kept) + len(step.pruned) == 2 * step.runs
    assert [step.runs for step in steps] == [1, *[2] * 10, 1]


def test_width_one_is_greedy(tired: Reading, incomplete: Reading):
    for read in (tired, incomplete):
        tree = beam.search(read.model, read.source_ids, 1, 0.0, reading.MOST_STEPS)
        assert tree.tokens() == ids_of(read)


def test_survivors_are_the_ancestors_of_what_is_still_there(incomplete: Reading):
    tree = beam.search(incomplete.model, incomplete.source_ids, 2, 0.0, 20)
    steps = beam.steps(tree)
    assert beam.survivors(tree, 1) == {node.id for node in steps[0].kept}
    last = beam.survivors(tree, len(steps))
    assert last == {node.id for end in tree.hypotheses() for node in tree.path(end.id)}
    early = {node.id for node in steps[0].kept}
    assert len(early & last) == 1  # the other first word led nowhere


def test_a_beam_of_two_beats_greedy_where_a_noun_is_missing(incomplete: Reading):
    """`small` has 0.40 and `lake` 0.39; behind `lake` the sentence is 3.6 times as likely."""
    greedy, two = (beam.search(incomplete.model, incomplete.source_ids, w, 0.0, 20).best for w in (1, 2))
    assert (round(greedy.score, 2), round(two.score, 2)) == (-2.22, -0.94)
    assert math.exp(two.score - greedy.score) == pytest.approx(3.6, abs=0.05)
    p = incomplete.logits[7].softmax(dim=-1).topk(2)
    assert [incomplete.vocabulary[id_] for id_ in p.indices.tolist()] == ["small", "lake"]
    assert p.values.tolist() == pytest.approx([0.40, 0.39], abs=0.005)


def test_a_length_penalty_chooses_a_longer_sentence(translator: Translator):
    read = reading.of(translator, "the soup is too", "en-fr", 14)
    plain, longer = (
        beam.search(read.model, read.source_ids, 3, alpha, 20, "length").best for alpha in (0.0, 1.0)
    )
    assert longer.score < plain.score and longer.step > plain.step
    assert longer.score / longer.step > plain.score / plain.step


def test_no_sentence_is_likelier_than_one_with_more_than_half(tired: Reading):
    greedy = beam.search(tired.model, tired.source_ids, 1, 0.0, 20).best.score
    eight = beam.search(tired.model, tired.source_ids, 8, 0.0, 20).hypotheses()
    assert beam.is_beyond_doubt(greedy) and not beam.is_beyond_doubt(-0.70)
    assert max(end.score for end in eight) <= greedy + 1e-5
    assert sum(math.exp(end.score) for end in eight) <= 1.0001
