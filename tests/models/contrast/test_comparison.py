"""Two sides beside each other: every number again in plain loops over float64 numbers."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from attention_lab.models import Transformer, load_model
from attention_lab.models.contrast import Contrast, Side, contrast
from tests.models.interventions.conftest import LETTERS, Letters

Make = Callable[..., Letters]


def plain(c: Contrast, address: str, layer: int, head: int) -> float:
    """The distance of two heads, as the documentation defines it."""
    side, kind = address.split(".")
    queries, keys = c.aligned[side], c.aligned["encoder" if kind == "cross" else side]
    a, b = (t[f"{side}.{layer}.{kind}.pattern"][head].tolist() for t in c.traces)
    distances = []
    for i, j in queries.pairs:
        if i is None or j is None:
            continue
        moved = 0.0
        for m, n in keys.pairs:
            p, q = 0.0 if m is None else a[i][m], 0.0 if n is None else b[j][n]
            moved += abs(p - q) / 2
        distances.append(moved)
    return sum(distances) / len(distances)


def test_two_texts_are_compared_by_plain_loops(letters: Make) -> None:
    lm = letters("encoder-decoder")
    c = contrast(Side(lm, "abcabd"), Side(lm, "abejd", {"target": "ahijc"}))
    assert len(c.aligned["encoder"]) > 6 and None in dict(c.aligned["decoder"].pairs)
    assert set(c.moved) == {"encoder.self", "decoder.self", "decoder.cross"} and not c.note
    for stack, found in c.moved.items():
        assert found.shape == (2, 2)
        for layer in range(2):
            for head in range(2):
                distance = plain(c, stack, layer, head)
                assert found[layer, head].item() == pytest.approx(distance, abs=1e-12)
                assert distance > 0


def test_a_head_is_laid_on_the_places_of_both_and_gaps_are_seen(letters: Make) -> None:
    lm = letters("encoder-only")
    c = contrast(Side(lm, "abc"), Side(lm, "abdc"))
    assert c.aligned["encoder"].pairs == ((0, 0), (1, 1), (None, 2), (2, 3))
    found = c.laid("encoder.1.self", 1)
    a, b = (t["encoder.1.self.pattern"][1] for t in c.traces)
    assert found.b.equal(b.double()) and found.a[[0, 1, 3]][:, [0, 1, 3]].equal(a.double())
    assert found.a[2].isnan().all() and found.a[:, 2].isnan().all()
    rest = [0, 1, 3]
    assert found.difference[rest][:, rest].equal(b[rest][:, rest] - a)
    other = c.laid("encoder.0.self", 0, "encoder.1.self", 1)
    assert other.b.equal(found.b) and not other.a[0].equal(found.a[0])


def test_the_same_twice_is_no_bit_apart(letters: Make) -> None:
    lm = letters("decoder-only")
    c = contrast(Side(lm, "abcd"), Side(lm, "abcd"))
    assert c.readings[0] is c.readings[1]
    assert c.moved["decoder.self"].eq(0).all()
    assert c.outputs is not None and c.outputs.kl.eq(0).all()


def test_outputs_that_are_no_choice_are_left_out() -> None:
    lm = load_model("digits-autoencoder")
    c = contrast(Side(lm, "1"), Side(lm, "2"))
    assert c.outputs is None and "have no names" in c.note and c.moved["encoder.self"].gt(0).any()


def test_edits_of_a_side_are_in_its_pass(letters: Make) -> None:
    lm = letters("decoder-only")
    c = contrast(Side(lm, "abcd"), Side(lm, "abcd", edits=("decoder.0.self heads 1: zero",)))
    assert c.moved["decoder.self"][0].eq(0).all() and c.moved["decoder.self"][1].gt(0).all()


def test_outputs_stand_beside_each_other_in_nats(letters: Make) -> None:
    lm = letters("decoder-only")
    c = contrast(Side(lm, "abc"), Side(lm, "abdc"))
    assert c.outputs is not None and c.outputs.note == ""
    rows = [
        [[math.exp(x) / sum(map(math.exp, row)) for x in row] for row in trace["logits"].tolist()]
        for trace in c.traces
    ]
    for place, (i, j) in enumerate(c.aligned["decoder"].pairs):
        if i is None:
            assert c.outputs.kl[place].isnan()
            continue
        p, q = rows[0][i], rows[1][j]
        kl = sum(x * math.log(x / y) for x, y in zip(p, q, strict=True))
        assert c.outputs.kl[place].item() == pytest.approx(kl, abs=1e-12)
        top = c.outputs.top(place, 3)
        best = sorted(range(len(p)), key=lambda at: -p[at])[:3]
        assert [each.name for each in top if each.name in {LETTERS[at] for at in best}] == [
            LETTERS[at] for at in best
        ]
        for each in top:
            at = LETTERS.index(each.name)
            assert (each.a, each.b) == pytest.approx((p[at], q[at]), abs=1e-12)


def test_models_of_other_sizes_are_compared_where_they_are_alike(letters: Make) -> None:
    a, b = letters("encoder-only"), letters("encoder-only", n_layers=3, n_heads=4)
    c = contrast(Side(a, "abc"), Side(b, "abc"))
    assert c.moved["encoder.self"].shape == (2, 2)
    assert c.moved["encoder.self"][1, 1].item() == pytest.approx(plain(c, "encoder.self", 1, 1), abs=1e-12)
    with pytest.raises(ValueError, match=r"side a has no head 3 at encoder\.0\.self: it has heads 0 to 1"):
        c.laid("encoder.0.self", 3)
    with pytest.raises(ValueError, match=r"side a has no head 0 at encoder\.2\.self: its attentions are"):
        c.laid("encoder.2.self", 0)


def test_what_cannot_be_compared_is_refused_in_a_sentence(letters: Make) -> None:
    a, b = letters("encoder-only"), letters("decoder-only")
    with pytest.raises(ValueError, match="; choose two models of one kind"):
        contrast(Side(a, "abc"), Side(b, "abc"))
    with pytest.raises(ValueError, match="only the letters a to j can be read"):
        contrast(Side(a, "abc"), Side(a, ""))


@pytest.fixture(scope="module")
def translator() -> Any:
    return load_model("translator")


def test_the_sentence_of_the_first_page_moves_it_from_the_animal_to_the_street(translator: Any) -> None:
    text = "The animal didn't cross the street because it was too {}."
    c = contrast(Side(translator, text.format("tired")), Side(translator, text.format("wide")))
    found = c.laid("encoder.1.self", 0)
    keys = found.keys.tokens_a
    it, animal, street = (keys.index(word) for word in ("it", "animal", "street"))
    assert found.keys.tokens_a[11] == "tired" and found.keys.tokens_b[11] == "wide"
    assert [at for at, same in enumerate(found.keys.same) if not same] == [11]
    assert found.a[it, animal] > 0.9 > 0.1 > found.a[it, street]
    assert found.b[it, street] > 0.9 > 0.1 > found.b[it, animal]
    assert c.aligned["decoder"].tokens_a[11] == "il" and c.aligned["decoder"].tokens_b[11] == "elle"


def test_two_vocabularies_compare_patterns_and_only_outputs_of_equal_names(translator: Any) -> None:
    masked = load_model("masked")
    text = "the animal did not cross the street"
    c = contrast(Side(translator, text), Side(masked, text))
    assert set(c.moved) == {"encoder.self"} and c.aligned["encoder"].loose
    assert c.outputs is None and "at different tokens" in c.note


def test_classes_of_one_row_are_compared_by_name() -> None:
    lm = load_model("sentiment")
    c = contrast(Side(lm, "the plot was dull"), Side(lm, "the plot was superb ."))
    assert c.outputs is not None and len(c.outputs.kl) == 1
    top = c.outputs.top(0)
    assert {each.name for each in top} == set(lm.outputs)
    assert sum(each.a for each in top) == pytest.approx(1) == sum(each.b for each in top)
    assert isinstance(lm.model, Transformer) and torch.isfinite(c.outputs.kl).all()
