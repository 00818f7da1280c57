import re

import numpy as np
import pytest

from viz_core import computation_figure, theme

KEYS = ["the", "cat", "<b>", "the"]


@pytest.fixture
def head(rng):
    """The numbers of one query over four keys, the last of them masked."""
    q, keys, values = rng.normal(size=6), rng.normal(size=(4, 6)), rng.normal(size=(4, 5))
    scores = np.where([True, True, True, False], keys @ q * 0.4, -np.inf)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    return {"q": q, "k": keys, "scores": scores, "weights": weights, "values": values, "z": weights @ values}


def figure(head, key_index=1, **options):
    return computation_figure(
        head["q"],
        head["k"][key_index],
        head["scores"],
        head["weights"],
        head["values"],
        head["z"],
        scale=options.pop("scale", 0.4),
        key_index=key_index,
        query_token="it",
        key_tokens=KEYS,
        **options,
    )


def test_every_number_is_there(head):
    strips, scores, weights, values, z = figure(head).data
    assert np.array_equal(strips.customdata, [head["q"], head["k"][1], head["q"] * head["k"][1]])
    assert list(scores.customdata) == [*(f"{x:.4g}" for x in head["scores"][:3]), "masked"]
    assert np.array_equal(scores.x, [*head["scores"][:3], 0])
    assert np.array_equal(weights.x, head["weights"])
    assert np.array_equal(values.customdata, head["weights"][:, None] * head["values"])
    assert np.array_equal(z.customdata[0], head["z"])


def test_the_rows_add_up_to_z_on_one_scale(head):
    *_, values, z = figure(head).data
    assert np.allclose(values.customdata.sum(0), z.customdata[0])
    assert np.allclose(values.z, values.customdata) and np.allclose(z.z, z.customdata)
    assert (values.zmin, values.zmax) == (z.zmin, z.zmax) == (-values.zmax, values.zmax)
    assert values.showscale and values.colorbar.title.text == "weight × value"


def test_each_strip_is_coloured_by_its_largest_number_which_is_written_beside_it(head):
    fig = figure(head)
    strips = fig.data[0]
    largest = np.abs(strips.customdata).max(-1)
    assert np.allclose(strips.z, strips.customdata / largest[:, None])
    assert (strips.zmin, strips.zmax) == (-1, 1)
    assert [f"± {x:.3g}" for x in largest] == [n.text for n in fig.layout.annotations if "±" in n.text]


def test_the_sentence_computes_the_weight(head):
    text = sentence(figure(head))
    dot = head["q"] @ head["k"][1]
    assert f"sum of the products {dot:.4g} × scale 0.4 = {dot * 0.4:.4g} = score" in text
    assert text.endswith(f"weight {head['weights'][1]:.4g}")


def test_a_masked_key_and_a_bias_are_told(head):
    assert "→ masked: score −∞" in sentence(figure(head, key_index=3))
    assert "bias" not in sentence(figure(head)) + sentence(figure(head, key_index=3))
    masked = head["q"] @ head["k"][3] * 0.4 - 0.5
    assert f"+ bias -0.5 = {masked:.4g} → masked: score −∞" in sentence(figure(head, key_index=3, bias=-0.5))
    head["scores"] = head["scores"] + 0.75
    told = f"+ bias 0.75 = {head['scores'][1]:.4g} = score →"
    assert told in sentence(figure(head, bias=0.75))
    assert told in sentence(figure(head))  # where nobody says it, the difference


def test_a_small_bias_is_not_rounded_away(head):
    head["scores"] = head["scores"] + 1e-5
    assert f"+ bias 1e-05 = {head['scores'][1]:.4g} = score" in sentence(figure(head, bias=1e-5))
    assert "+ bias 0 =" in sentence(figure(head, bias=0.0))


def sentence(fig):
    (text,) = [note.text for note in fig.layout.annotations if "softmax over" in note.text]
    return re.sub(r"\s+", " ", re.sub("</?b>", "", text))


@pytest.mark.parametrize("dark", [False, True])
def test_queries_keys_and_values_wear_their_colours(head, dark):
    p, fig = theme.palette(dark), figure(head, dark=dark)
    query, key, _ = fig.layout.yaxis.ticktext
    assert query == f'<span style="color:{p["query"]}">query <b>it</b></span>'
    assert key == f'<span style="color:{p["key"]}">key <b>cat</b></span>'
    assert [colour == p["key"] for colour in fig.data[1].marker.color] == [False, True, False, False]
    assert fig.layout.yaxis2.ticktext[1] == f'<b style="color:{p["key"]}">cat</b>'
    assert any(note.font.color == p["value"] for note in fig.layout.annotations)


def test_tokens_are_shown_as_typed(head):
    fig = figure(head, key_index=2)
    assert list(fig.data[2].y) == ["the", "cat", "&lt;b&gt;", "the₂"]
    assert "&lt;b&gt;" in fig.layout.yaxis.ticktext[1]


def test_numbers_are_written_into_cells_while_they_fit(head, rng):
    assert figure(head).data[0].text[0][0] == f"{head['q'][0]:.2f}"
    wide = {**head, "q": rng.normal(size=64), "k": rng.normal(size=(4, 64))}
    assert figure(wide).data[0].text is None


def test_the_chosen_key_is_labelled_among_many(rng):
    n = 300
    fig = computation_figure(
        np.ones(2),
        np.ones(2),
        np.zeros(n),
        np.full(n, 1 / n),
        np.ones((n, 2)),
        np.ones(2),
        scale=1.0,
        key_index=151,
        query_token="it",
        key_tokens=[f"w{i}" for i in range(n)],
    )
    assert "w151" in fig.layout.yaxis2.tickvals
    assert 20 < len(fig.layout.yaxis2.tickvals) < 60
    assert fig.layout.height < 1100


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"q": np.ones((6, 6))}, r"q has shape \(6, 6\), but must be \[channel\]"),
        ({"q": np.ones(5)}, "k has length 6, q 5; take both from the same head"),
        ({"weights": np.ones(3)}, "pattern_row has length 3, scores_row 4"),
        ({"values": np.ones((2, 5))}, "values has length 2, scores_row 4"),
        ({"z": np.ones(2)}, "z has length 2, values' channels 5"),
        ({"z": np.full(5, np.nan)}, "z holds 5 values that are NaN or infinite"),
        ({"scores": np.full(4, np.nan)}, "scores_row .* holds 4 values that are NaN"),
        (
            {"weights": np.full(4, 2.0)},
            "pattern_row has values from 2 to 2, but must lie in 0..1",
        ),
    ],
)
def test_bad_input_is_named(head, changed, message):
    with pytest.raises(ValueError, match=message):
        figure({**head, **changed})


def test_a_key_out_of_range_is_named(head):
    with pytest.raises(ValueError, match="key_index=4 is out of range; choose 0 to 3"):
        computation_figure(
            head["q"],
            head["k"][0],
            head["scores"],
            head["weights"],
            head["values"],
            head["z"],
            scale=1.0,
            key_index=4,
            query_token="it",
            key_tokens=KEYS,
        )
