"""The search's steps against a search written out plainly, and what the page says of it."""

import math
import re

import numpy as np
import pytest
import torch
from torch import Tensor

from attention_lab.models.data.word_tokenizer import BOS, EOS
from attention_lab.pages.lab.translation import beam
from attention_lab.pages.lab.translation.inputs import INCOMPLETE, SENTENCE, Inputs, Reading
from tests.pages.lab.boards import facts, panel

SOUP = {"phrase": "the soup is too", "phrase_direction": "en-fr", "width": 3, "step": 20}


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


def test_survivors_are_the_ancestors_of_what_is_still_there(incomplete: Reading):
    tree = beam.search(incomplete.model, incomplete.source_ids, 2, 0.0, 20)
    steps = beam.steps(tree)
    assert beam.survivors(tree, 1) == {node.id for node in steps[0].kept}
    last = beam.survivors(tree, len(steps))
    assert last == {node.id for end in tree.hypotheses() for node in tree.path(end.id)}
    early = {node.id for node in steps[0].kept}
    assert len(early & last) == 1  # the other first word led nowhere


def test_no_sentence_is_likelier_than_one_with_more_than_half(tired: Reading):
    greedy = beam.search(tired.model, tired.source_ids, 1, 0.0, 20).best.score
    eight = beam.search(tired.model, tired.source_ids, 8, 0.0, 20).hypotheses()
    assert beam.is_beyond_doubt(greedy) and not beam.is_beyond_doubt(-0.70)
    assert max(end.score for end in eight) <= greedy + 1e-5
    assert sum(math.exp(end.score) for end in eight) <= 1.0001


def tree_of(translator, width: int):
    task = translator.task
    source = torch.tensor([task.encode_source(INCOMPLETE, direction="fr-en").ids])
    return beam.search(translator.model, source, width, 0.0, task._room(source.shape[1]))


@pytest.mark.parametrize("width", [2, 8])
def test_boxes_are_the_nodes_of_the_search(translator, width: int):
    tree, shown = tree_of(translator, width), panel(beam.lesson(Inputs(width=width)).board, "the tree")
    for node in shown.nodes[1:]:
        own = tree.nodes[int(node.id)]
        assert node.label == translator.task.words.vocabulary[own.token] and node.column == own.step
        assert float(node.note.replace("−", "-").replace("≈", "")) == pytest.approx(own.score, abs=0.006)
    kept = {str(node.id) for node in tree.nodes if node.kept}
    assert kept <= {node.id for node in shown.nodes}
    places = [(node.column, node.row) for node in shown.nodes]
    assert len(places) == len(set(places))
    assert len(shown.nodes) <= 150


def test_levels_tell_kept_pruned_and_best(translator):
    tree, shown = tree_of(translator, 2), panel(beam.lesson(Inputs()).board, "the tree")
    ids = [node.id for node in shown.nodes]
    assert (shown.levels[0] > 0).sum() == 1  # <bos> alone
    best = {"0", *(str(node.id) for node in tree.path())}
    assert {ids[at] for at in np.flatnonzero(shown.levels[-1] == 3)} == best
    for step, levels in enumerate(shown.levels):
        for name, level in zip(ids[1:], levels[1:], strict=True):
            node = tree.nodes[int(name)]
            if node.step > step or (not node.kept and node.step < step < len(shown.levels) - 1):
                assert level == 0  # at the end the whole tree is there
            elif not node.kept:
                assert level == 1


def test_runs_and_proposals_are_counted():
    shown = facts(beam.lesson(Inputs()).board)
    assert shown["decoder runs at this step"].tolist() == [0, 1, *[2] * 10, 1]
    assert shown["runs so far"][-1] == 22
    assert shown["words proposed"].tolist() == [0, 2, *[4] * 10, 2]


def test_sentences_come_with_their_probabilities(translator):
    table = panel(beam.lesson(Inputs()).board, "the best sentences")
    for row, text in zip(table.rows, ["small lake at night", "small small forest at night"], strict=True):
        sentence, log_p, p, length, _ = row
        assert sentence == f"the old otter always sees the {text} <eos>"
        assert float(log_p.replace("−", "-")) == pytest.approx(math.log(float(p)), abs=0.02)
        assert int(length) == len(sentence.split())
    assert table.marked.tolist() == [True, False]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, r"log-probability −2.22, the beam with \*\*−0.94\*\*: a sentence \*\*3.6 times\*\*"),
        ({"width": 1}, r"A beam of one \*\*is\*\* greedy: it ends with log p = \*\*−2.22\*\*"),
        ({"phrase": SENTENCE, "phrase_direction": "en-fr"}, r"\*\*0.999\*\*, over ½"),
        (
            {**SOUP, "penalty": "length", "length_penalty": 1.0},
            r"\*\*length penalty\*\* ranks −3.13 for 9 tokens above −3.12 for 8",
        ),
    ],
)
def test_the_last_notice_says_what_came_of_it(fields: dict, said: str):
    assert re.search(said, beam.lesson(Inputs(**fields)).board.notice[-1])


@pytest.mark.parametrize(
    ("penalty", "name", "latex", "divisor"),
    [
        ("gnmt", "((5 + length) / 6)", r"((5+|y|)/6)^{\alpha}", lambda n: (5 + n) / 6),
        ("length", "length", r"|y|^{\alpha}", lambda n: n),
    ],
)
def test_both_length_penalties_are_named_and_computed(penalty, name, latex, divisor):
    lesson = beam.lesson(Inputs(**SOUP, penalty=penalty, length_penalty=0.6))
    assert latex in lesson.formula
    shown = panel(lesson.board, "the best sentences")
    assert shown.columns[-1] == f"log p / {name}^0.6"
    for _, log_p, _, length, ranked in shown.rows:
        score = float(log_p.replace("−", "-")) / divisor(int(length)) ** 0.6
        assert float(ranked.replace("−", "-")) == pytest.approx(score, abs=0.011)
