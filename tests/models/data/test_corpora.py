"""What is generated stays the same to the byte: the vocabularies of shipped models depend on it."""

import hashlib
import random
from itertools import islice

import pytest

from attention_lab.models.data.grammar.annotations import dependencies, word_links
from attention_lab.models.data.grammar.pairs import counterpart, sample_pairs
from attention_lab.models.data.reviews import sample_review
from attention_lab.models.data.tasks import TASKS, generator_of
from attention_lab.models.data.tasks.verb_number import sample_beginning

CORPORA = {"pairs": "11cb376fa1f20884", "reviews": "b244dcbb533ec2a1", "beginnings": "aae451e9dadffcc4"}
BATCHES = {
    "induction": "a4bee3d01fc039c4",
    "language-model": "42c5289df54a35fb",
    "long-context": "8753ac7bab279b99",
    "masked": "13338519b24b7448",
    "modular-addition": "94e59905b1157615",
    "needle": "50c738aec7bfd8d0",
    "next-word": "231ab4f170f2aa70",
    "reverse": "a5e59a1f91cd7785",
    "sentiment": "cb190bb93480ef1a",
    "translation": "7367c5491a579ddd",
    "verb-number": "97be15dbc6bc3ca9",
}


def digest(lines: list) -> str:
    return hashlib.sha256("\n".join(map(str, lines)).encode()).hexdigest()[:16]


def corpus(name: str, held_out: bool) -> list:
    rng = random.Random(1)
    if name == "reviews":
        drawn = (sample_review(rng, held_out=held_out) for _ in range(500))
        return [(each.text, each.positive, each.negated, each.contrast) for each in drawn]
    if name == "beginnings":
        return [sample_beginning(rng, held_out=held_out) for _ in range(500)]
    lines = []
    for pair in islice(sample_pairs(1, "held out" if held_out else "training"), 500):
        lines.append((pair.english, pair.french, pair.key, pair.directions, pair.english_mention))
        lines.append((word_links(pair.english, pair.french), dependencies(pair)))
        lines.append((other := counterpart(pair)) and other.english)
    return lines


@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus_is_the_one_that_shipped_models_learnt_from(name: str):
    assert digest(corpus(name, False) + corpus(name, True)) == CORPORA[name]


@pytest.mark.parametrize("name", BATCHES)
def test_a_task_draws_the_same_examples(name: str):
    task = TASKS[name]()
    drawn = [task.batch(generator_of(seed, 0), 8, held_out=held) for seed in (0, 1) for held in (False, True)]
    ids = [tensor.tolist() for batch in drawn for tensor in (*batch.inputs, batch.targets)]
    assert digest([*ids, task.outputs(), task.probe().text]) == BATCHES[name]
