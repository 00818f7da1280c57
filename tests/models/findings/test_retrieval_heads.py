"""Retrieval heads: counted again from whole traces, and with heads cut out of the weights."""

import random
from itertools import islice

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.data.tasks.needle import Needle
from attention_lab.models.findings import findings
from attention_lab.models.findings.retrieval_heads import _outcome, fetch_of, scores_of, texts

FINDING = findings()["retrieval-heads"]
COUNT = 8


def haystacks() -> list:
    rng = random.Random(1)
    return [Needle().haystack(rng) for _ in range(COUNT)]


@pytest.mark.parametrize(("n_retrieve", "holds"), [(0, False), (4, True), (5, False)])
def test_it_holds_for_under_5_of_100_heads(n_retrieve: int, holds: bool) -> None:
    scores = torch.zeros(10, 10)
    scores.view(-1)[:n_retrieve] = 0.5
    heads = [(at // 10, at % 10) for at in range(100)]
    found = _outcome(scores, heads, 1.0, 0.4, [0.5, 0.6], 30, 3)
    assert found.holds is holds and "even one" not in found.said
    assert not _outcome(scores, heads, 1.0, 0.5, [0.5], 30, 3).holds
    assert not _outcome(scores, heads, 1.0, 0.4, [0.4], 30, 3).holds


def test_scores_are_those_of_a_count_by_hand() -> None:
    found, lm = FINDING.measured(load_model("needle"), count=COUNT), load_model("needle")
    fetched, copied = dict.fromkeys(found.charts[0].x, 0), 0
    for made in haystacks():
        trace = lm.trace(lm.read(f"{made.text} {' '.join(made.answer)}"))
        for at, number in enumerate(made.answer):
            row = len(made.words) - 1 + at
            if lm.outputs[int(trace["logits"][row].argmax())] != number:
                continue
            copied += 1
            for name in fetched:
                layer, head = name[1:].split(" H")
                weights = trace[f"decoder.{layer}.self.pattern"][int(head), row].tolist()
                fetched[name] += weights.index(max(weights)) == made.words.index(number)
    shares = {name: count / copied for name, count in fetched.items()}
    assert dict(zip(found.charts[0].x, found.charts[0].series["score"], strict=True)) == pytest.approx(shares)


def test_without_heads_the_answers_are_those_of_weights_without_them() -> None:
    lm = load_model("needle")
    found = FINDING.measured(lm, count=COUNT, k=2)
    off = [tuple(map(int, name[1:].split(" H"))) for name in found.charts[0].x[:2]]
    with torch.no_grad():
        kept = {name: values.clone() for name, values in lm.model.state_dict().items()}
        for layer, head in off:
            w_o = lm.model.get_submodule(f"decoder.layers.{layer}.self_attention.out_proj").weight
            w_o[:, head * 16 : (head + 1) * 16] = 0
        answered = [lm.read(made.text).answer == " ".join(made.answer) for made in haystacks()]
        lm.model.load_state_dict(kept)
    assert found.numbers[4].value == sum(answered) / COUNT


@pytest.mark.parametrize(("depth", "low", "high"), [("0", 4, 31), ("1", 20, 64)])
def test_texts_have_their_fact_where_it_is_asked_for(depth: str, low: int, high: int) -> None:
    lm = load_model("needle")
    for text in islice(texts(64, depth), 5):
        fetch = fetch_of(lm.read(text))
        assert fetch is not None and low <= fetch.places[0] <= high
        answer = text.split()[-3:]
        assert [lm.outputs[id_] for id_ in fetch.ids] == answer
        assert [text.split()[at] for at in fetch.places] == answer


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("translator", {}, "'translator' .*choose"),
        (
            "needle",
            {"k": 7},
            "'needle' has 12 heads, too few to leave 7 and as many others out; give at most 6",
        ),
        ("needle", {"words": 100}, "reads at most 64; remove 36"),
    ],
)
def test_what_cannot_be_measured_is_refused(name: str, given: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        FINDING.measured(load_model(name), count=2, **given)


def test_scores_count_what_was_copied_alone() -> None:
    right, looked = (
        torch.tensor([True, False, True]),
        torch.tensor([[[True, True, True], [True, True, False]]]),
    )
    assert scores_of([(right, looked)]).tolist() == [[1.0, 0.5]]
    with pytest.raises(ValueError, match="no head fetches a number, since no answer is right"):
        scores_of([(torch.zeros(3, dtype=torch.bool), looked)])
