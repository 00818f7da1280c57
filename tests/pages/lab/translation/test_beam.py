"""The beam's board against the engine's tree."""

import math
import re

import numpy as np
import pytest

from pages.lab.translation import beam
from pages.lab.translation.inputs import INCOMPLETE, SENTENCE, Inputs
from tests.pages.lab.translation.conftest import facts, panel


def tree_of(translator, width: int):
    return translator.task.translate(translator.model, INCOMPLETE, direction="fr-en", beam_width=width).tree


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
            if node.step > step or (not node.kept and node.step < step):
                assert level == 0
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
        (
            {},
            r"log-probability −2.22, the beam with \*\*−0.94\*\*: a sentence \*\*3.6 times\*\*",
        ),
        ({"width": 1}, r"A beam of one \*\*is\*\* greedy: it ends with log p = \*\*−2.22\*\*"),
        ({"phrase": SENTENCE, "phrase_direction": "en-fr"}, r"\*\*0.999\*\*. That is more than ½"),
        (
            {**beam.SOUP, "penalty": "length", "length_penalty": 1.0},
            r"\*\*length penalty\*\*, −3.13 for 9 tokens ranks above −3.12 for 8",
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
    lesson = beam.lesson(Inputs(**beam.SOUP, penalty=penalty, length_penalty=0.6))
    assert latex in lesson.formula
    shown = panel(lesson.board, "the best sentences")
    assert shown.columns[-1] == f"log p / {name}^0.6"
    for _, log_p, _, length, ranked in shown.rows:
        score = float(log_p.replace("−", "-")) / divisor(int(length)) ** 0.6
        assert float(ranked.replace("−", "-")) == pytest.approx(score, abs=0.011)


def test_the_papers_penalty_is_the_first():
    assert Inputs().penalty == "gnmt"
    (papers,) = (each for each in beam.TRIES if each.label == "the paper's penalty")
    assert (papers.set["penalty"], papers.set["length_penalty"]) == ("gnmt", 0.6)


def test_questions():
    wider, doubt, rows = beam.questions()
    assert wider.options[wider.right] == "no, the same"
    assert doubt.options[doubt.right] == "no"
    assert rows.options[rows.right] == "about twice as much"
    assert rows.because.startswith("22 runs instead of 12")
