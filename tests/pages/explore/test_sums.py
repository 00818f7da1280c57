"""Sums over chosen keys and means over chosen queries and heads, against plain loops in double precision."""

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attention_lab.models.fields import read_link
from attention_lab.pages.explore import state, sums, takeaway
from attention_lab.pages.explore.state import Inputs, View
from attention_lab.pages.explore.subject import subject_of
from attention_lab.pages.explore.takeaway import StageView
from tests.pages.explore.answer_header import answered, linked

LONG = Inputs(model="untrained", text=" ".join(f"w{at}" for at in range(300)), n_heads=2, d_model=32, seed=2)


def by_loops(pattern: np.ndarray, queries: list[int], keys: list[int]) -> float:
    """Of one head [query, key]."""
    found = []
    for query in queries:
        row = [float(weight) for weight in pattern[query]]
        if sum(row) > 0:
            found.append(sum(row[key] for key in keys))
    return sum(found) / len(found) if found else 0.0


@pytest.mark.parametrize("stack", ["encoder.self", "decoder.self", "decoder.cross"])
def test_every_head_has_its_sum_and_mean(stack: str) -> None:
    subject = subject_of(Inputs())
    side, kind = stack.split(".")
    (of,) = (each for each in subject.stacks if each.id == stack)
    trace, values = subject.run(None), sums.sums_message(Inputs(), stack, "1-3.5", "0.2-4")["values"]
    for layer in range(of.n_layers):
        pattern = trace[f"{side}.{layer}.{kind}.pattern"].double().numpy()
        for head in range(of.n_heads):
            expected = by_loops(pattern[head], [1, 2, 3, 5], [0, 2, 3, 4])
            assert values[layer * of.n_heads + head] == pytest.approx(expected, abs=1e-9)


def test_a_long_text_is_summed_from_its_full_patterns() -> None:
    trace = subject_of(LONG).run(None)
    values = sums.sums_message(LONG, "encoder.self", "", "120-299")["values"]
    pattern = trace["encoder.1.self.pattern"].double().numpy()
    expected = by_loops(pattern[1], list(range(300)), list(range(120, 300)))
    assert values[3] == pytest.approx(expected, abs=1e-7)


def test_queries_that_attend_to_nothing_are_left_out() -> None:
    rows = np.array([[[0.5, 0.5], [0, 0], [0.25, 0.75]], [[0, 0]] * 3], np.float32)
    assert sums.summed(rows, [1]).tolist() == [0.625, 0]
    assert sums.summed(rows, [0, 1]).tolist() == [1, 0]


def test_positions_are_written_as_ranges_and_odd_ones_are_refused() -> None:
    assert state.positions_within("0-3.7.2", 9) == [0, 1, 2, 3, 7]
    assert state.positions_within("2-8", 5) == [2, 3, 4] and state.positions_within("", 5) == []
    laid_over = ".".join(["2-4", "3-90", "0", "50-60", "12"] * 3_000)
    assert state.positions_within(laid_over, 12) == [0, *range(2, 12)]
    assert state.positions_within("7-9", 3) == []
    assert (state.largest_position("0-3.7.2"), state.largest_position("")) == (7, 0)
    for odd in ("3-1", "a", "1..2", "-1", "1-", "99999", "1" * 9):
        values, problems = read_link(View, {"queries": odd})
        assert values == {}
        assert f"The link's queries='{odd}' is not positions from 0 to 4,096 like 0-3.7" in problems[0]
    assert read_link(View, {"keys": "0-3.7"}) == ({"keys": "0-3.7"}, [])
    with pytest.raises(ValueError, match="No key of this text is chosen; choose at least one of 0 to 13"):
        sums.sums_message(Inputs(), "encoder.self", "", "50-60")
    with pytest.raises(ValueError, match="The keys 'odd' is not positions from 0"):
        sums.sums_message(Inputs(), "encoder.self", "", "odd")


def test_an_answer_says_what_was_asked_or_what_forbids_it() -> None:
    act = {"type": "sums", "stack": "encoder.self", "queries": "1", "keys": "0-2"}
    found = answered(beside=[act])["sums"]
    assert found["asked"] == ["encoder.self", "1", "0-2"]
    assert found["values"] == sums.sums_message(Inputs(), "encoder.self", "1", "0-2")["values"]
    assert answered(beside=[act | {"keys": "77"}])["sums"]["problem"].startswith("No key of this text")


ACT = {"view": "sums", "layer": 1, "head": 2, "queries": "1-4", "keys": "2", "among": [6, 1, 1, 99]}


def test_the_figure_the_table_and_the_code_to_take_away_hold_the_same_numbers() -> None:
    shown = StageView(Inputs(), ACT)
    trace = subject_of(Inputs()).run(None)
    expected = {
        (layer, head): by_loops(
            trace[f"encoder.{layer}.self.pattern"][head].double().numpy(), [1, 2, 3, 4], [2]
        )
        for layer, head in ((0, 1), (1, 2))
    }
    assert shown.sums() == pytest.approx(expected, abs=1e-9)
    figure = shown.figure(dark=False)
    np.testing.assert_allclose(figure.data[0].y, sorted(expected.values(), reverse=True), atol=1e-6)
    mean = sum(expected.values()) / 2
    said = f"{mean:.4g} is the weight on the chosen key, on average over 4 queries and 2 heads."
    words = " ".join(note.text for note in figure.layout.annotations).replace("<br>", " ")
    assert said in words and figure.layout.title.text == shown.title
    assert sums.definition(1, 3, 1).startswith(
        "the weight on the 3 chosen keys together, on average over 1 q"
    )
    names: dict[str, Any] = {}
    exec(shown.code, names)
    assert names["sums"] == pytest.approx(expected, abs=1e-9)
    assert names["mean"] == pytest.approx(mean, abs=1e-9)
    assert len(StageView(Inputs(), {**ACT, "among": []}).sums()) == 8
    rows = pd.read_csv(io.StringIO(takeaway.table(Inputs(), ACT)))
    assert list(rows.columns) == ["layer", "head", "weight_on_chosen_keys"]
    assert list(zip(rows.layer, rows["head"], strict=True)) == list(expected)
    assert list(rows.weight_on_chosen_keys) == pytest.approx(list(expected.values()), abs=1e-9)


def test_left_open_they_are_all_queries_and_the_marked_key() -> None:
    shown = StageView(Inputs(), {"view": "sums", "key": 3})
    assert shown.chosen() == (list(range(14)), [3])


def test_a_link_to_tokens_that_a_text_does_not_have_is_said() -> None:
    opened = linked(model="untrained", text="a b c", view="sums", queries="0-7")
    assert opened["problems"] == ["The link's queries=0-7 is not below 3; its default is shown."]


def test_a_text_with_a_pronoun_asks_which_nouns_it_looks_at() -> None:
    text = "the animal did not cross the street because it was too tired"
    words = ["<2fr>", *text.split(), "<eos>"]
    asks = subject_of(Inputs(text=text)).asks
    assert asks == {
        "encoder.self": {
            "queries": [words.index("it")],
            "keys": [words.index("animal"), words.index("street")],
        }
    }
    assert subject_of(Inputs(text="the cat slept")).asks == {}
    assert subject_of(Inputs(model="masked", text=text)).asks == {}
