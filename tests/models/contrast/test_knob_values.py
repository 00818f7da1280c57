"""Values of knobs that are typed, sides that cannot have a knob, and the order of words."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models import UntrainedModel, load_model
from models.contrast import Side, contrast, knobs
from models.contrast.knobs.order import ordered
from models.zoo.own.arrays import OwnAttention
from models.zoo.own.model import OwnModel
from tests.models.interventions.conftest import Letters, letters

Make = Callable[..., Letters]
__all__ = ["letters"]
REFUSED = [
    ("temperature", "nan", "temperature='nan' is no number from 0.01 to 100; try 2"),
    ("temperature", "warm", "temperature='warm' is no number from 0.01 to 100"),
    ("temperature", "0", "temperature='0' is no number from 0.01 to 100"),
    ("scale", "half", "scale='half' is unknown; choose one of on, off"),
    ("mask", "widow:3", "mask='widow' is unknown; choose one of none, causal"),
    ("mask", "causal:3", "mask='causal:3' has an argument that 'causal' does not take; leave it out"),
    ("positions", "waves", "positions='waves' is unknown; choose one of none, alibi"),
    ("positions", "t5", "positions='t5' has weights that 'letters' never learnt, or does not fit its heads"),
    ("heads", "3", "8 columns cannot be cut into n_heads=3 equal heads; try 2 or 4"),
    ("heads", "1.5", "heads='1.5' is no whole number; try 1"),
    ("heads", "inf", "heads='inf' is no number from 1 to 4096"),
    ("format", "int4", "format='int4' is unknown; choose one of float32, bfloat16, float16, int8"),
    (
        "order",
        "random",
        "order='random' is unknown; choose as typed, reversed, sorted, or shuffled with a seed",
    ),
]


@pytest.mark.parametrize(("name", "value", "said"), REFUSED)
def test_a_value_that_does_not_fit_is_refused_in_a_sentence(
    letters: Make, name: str, value: str, said: str
) -> None:
    with pytest.raises(ValueError, match="^" + said.replace(".", r"\.")):
        knobs()[name].applied(Side(letters("decoder-only"), "abc"), value)


def test_heads_with_learnt_numbers_cannot_be_cut_anew(letters: Make) -> None:
    side = Side(letters("decoder-only", positions="t5"), "abc")
    with pytest.raises(ValueError, match="learnt something for each of 2 heads, which cannot be cut anew"):
        knobs()["heads"].applied(side, "4")


def test_handed_in_patterns_have_no_knobs() -> None:
    own = OwnAttention("mine", np.ones((1, 1, 2, 2), np.float32) / 2, ["a", "b"], None, "")
    side = Side(OwnModel("mine", own, 1, 1, lambda at: None))
    said = {name: knob.why_not(side) for name, knob in knobs().items()}
    assert all(why and why[0] != " " and ";" in why for why in said.values())
    with pytest.raises(ValueError, match="the scores of 'mine' are not known, only its patterns"):
        knobs()["temperature"].applied(side, "2")


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["It", "was", "a", "B", "é"]), min_size=2, max_size=8), st.integers(0, 99))
def test_words_change_places_and_none_is_lost(words: list[str], seed: int) -> None:
    for value in ("reversed", "sorted", f"shuffled {seed}"):
        order = ordered(words, value)
        assert sorted(order) == list(range(len(words)))
        assert order == ordered(words, value)
    assert [words[at].casefold() for at in ordered(words, "sorted")] == sorted(w.casefold() for w in words)
    assert ordered(words, "reversed") == [*range(len(words))][::-1]


@pytest.fixture(scope="module")
def translator() -> Any:
    return load_model("translator")


@pytest.mark.parametrize("value", ["reversed", "sorted", "shuffled 3"])
def test_each_word_is_compared_with_itself_wherever_it_stands(translator: Any, value: str) -> None:
    text = "The animal didn't cross the street because it was too tired."
    side = Side(translator, text)
    other = knobs()["order"].applied(side, value)
    assert Counter(other.text.split()) == Counter(text.split()) and other.text != text
    c = contrast(side, other)
    found, words = c.aligned["encoder"], other.text.split()
    assert all(found.same) and len(found) == 14
    first, second = (found.a.index("the"), found.a.index("the", 2))
    place = dict(found.pairs)
    # "The" and "the" are one token: each stands with its own, by the words of the text
    assert (place[first] < place[second]) == (words.index("The") < words.index("the"))
    assert place[found.a.index("tired")] + 1 == place[found.a.index(".")]


def test_words_without_vectors_of_their_own_keep_their_order() -> None:
    side = Side(UntrainedModel.of(n_layers=1, n_heads=2, d_model=8), "the cat sat")
    with pytest.raises(ValueError, match="'untrained' gives words vectors by their order in the text"):
        knobs()["order"].applied(side, "reversed")


def test_a_text_of_one_word_has_no_order(translator: Any) -> None:
    why = knobs()["order"].why_not(Side(translator, "street"))
    assert why == "the text 'street' has no two words to change places; give a longer one"
