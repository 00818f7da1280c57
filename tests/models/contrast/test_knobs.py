"""Values of knobs that are typed, sides that cannot have a knob, and the order of words."""

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_lab.models import load_model
from attention_lab.models.contrast import Side, contrast, knobs
from attention_lab.models.contrast.knobs.formats import rounded
from attention_lab.models.contrast.knobs.order import ordered
from attention_lab.models.engine.trace import Trace
from attention_lab.models.zoo.others import untrained
from attention_lab.models.zoo.own_attention import KeptAttention
from attention_lab.models.zoo.own_model import OwnModel
from tests.models.interventions.conftest import Letters
from tests.models.zoo.hub.families import TEXT, save

Make = Callable[..., Letters]

REFUSED = [
    ("temperature", "nan", "temperature='nan' is no number from 0.01 to 100; try 2"),
    ("mask", "widow:3", "mask='widow' is unknown; choose one of none, causal"),
    ("mask", "causal:3", "mask='causal:3' has an argument that 'causal' does not take; leave it out"),
    ("positions", "waves", "positions='waves' is unknown; choose one of none, alibi"),
    ("positions", "t5", "positions='t5' has weights that 'letters' never learnt, or does not fit its heads"),
    ("heads", "3", "8 columns cannot be cut into n_heads=3 equal heads; try 2 or 4"),
    ("heads", "1.5", "heads='1.5' is no whole number; try 1"),
    ("heads", "inf", "heads='inf' is no number from 1 to 4096"),
    ("part", "bias=off", "part='bias=off' changes nothing in 'letters', or has weights"),
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
    fields = {"n_layers": 1, "n_heads": 1, "d_head": 0, "n_key_heads": 1, "scales": (), "whole": False}
    own = KeptAttention("mine", {"encoder.self": fields}, {"encoder": ["a", "b"]}, "")
    side = Side(OwnModel("mine", own, (), lambda address: None))
    said = {name: knob.why_not(side) for name, knob in knobs().items()}
    assert all(why and why[0] != " " and ";" in why for why in said.values())
    with pytest.raises(ValueError, match="the scores of 'mine' are not known"):
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
    side = Side(untrained.load(n_layers=1, n_heads=2, d_model=8), "the cat sat")
    with pytest.raises(ValueError, match="'untrained' makes vectors from the order of words"):
        knobs()["order"].applied(side, "reversed")


def test_a_text_of_one_word_has_no_order(translator: Any) -> None:
    why = knobs()["order"].why_not(Side(translator, "street"))
    assert why == "the text 'street' has no two words to change places; give a longer one"


ENGLISH = "abcabd"
BIASED = ["none", "alibi", "t5", "transformer-xl", "rotary"]


def turned(lm: Any, knob: str, value: str, text: str = ENGLISH) -> tuple[Trace, Trace]:
    """The trace without and with a knob, of the same tokens."""
    side = Side(lm, text)
    reading = side.read()
    return side.trace(reading), knobs()[knob].applied(side, value).trace(reading)


@pytest.mark.parametrize("kind", ["encoder-only", "decoder-only", "encoder-decoder"])
def test_a_knob_at_the_models_own_value_changes_no_bit(letters: Make, kind: str) -> None:
    lm = letters(kind)
    side = Side(lm, ENGLISH)
    for knob in knobs().values():
        assert knob.applied(side, knob.own(lm)) is side
    plain, remade = side.trace(), lm.remade(lambda net: None).trace(ENGLISH)
    assert list(plain) == list(remade) and all(plain[at].equal(remade[at]) for at in plain)


def test_no_knob_changes_the_model_itself(letters: Make) -> None:
    lm = letters("decoder-only")
    before = copy.deepcopy(lm.model.state_dict())
    for name, knob in knobs().items():
        if knob.why_not(Side(lm, ENGLISH)):
            assert name == "order"  # letters are no words
            continue
        for value in knob.values(lm)[-2:]:
            if value != knob.own(lm):
                contrast(Side(lm, ENGLISH), knob.applied(Side(lm, ENGLISH), value))
                assert lm.model.config.mask == "none" and lm.model.decoder.causal, name
    after = lm.model.state_dict()
    assert all(before[name].equal(after[name]) and before[name].dtype == after[name].dtype for name in before)


@pytest.mark.parametrize("positions", BIASED)
def test_temperature_divides_the_whole_scores(letters: Make, positions: str) -> None:
    before, after = turned(letters("decoder-only", positions=positions), "temperature", "0.5")
    scores = before["decoder.0.self.scores"]
    assert after["decoder.0.self.pattern"].equal((scores / 0.5).softmax(dim=-1))
    assert not after["decoder.1.self.q"].equal(before["decoder.1.self.q"])


@pytest.mark.parametrize("positions", BIASED)
def test_without_scale_the_dot_products_alone_grow(letters: Make, positions: str) -> None:
    lm = letters("encoder-only", positions=positions)
    before, after = turned(lm, "scale", "off")
    at = "encoder.0.self"
    q, k = before[f"{at}.q"], before[f"{at}.k"]
    products = q @ k.mT
    assert after[f"{at}.q"].equal(q)
    bias = before[f"{at}.bias"] if f"{at}.bias" in before else torch.zeros_like(products)
    if positions == "transformer-xl":  # its terms are dot products as well: the scale is on all four
        bias = bias * lm.config.head_size**0.5
    torch.testing.assert_close(after[f"{at}.scores"], products + bias, rtol=1e-12, atol=1e-12)


def test_none_lets_a_decoder_look_ahead_and_a_window_hides_the_rest(letters: Make) -> None:
    lm = letters("decoder-only")
    before, after = turned(lm, "mask", "none")
    at = "decoder.0.self"
    products = before[f"{at}.q"] @ before[f"{at}.k"].mT * lm.config.scale
    torch.testing.assert_close(after[f"{at}.pattern"], products.softmax(dim=-1), rtol=1e-12, atol=1e-12)
    _, windowed = turned(lm, "mask", "causal+window:2")
    for head in range(2):
        for query in range(6):
            open_ = range(max(0, query - 1), query + 1)
            exps = {key: products[head, query, key].exp().item() for key in open_}
            wanted = [exps.get(key, 0.0) / sum(exps.values()) for key in range(6)]
            assert windowed[f"{at}.pattern"][head, query].tolist() == pytest.approx(wanted, abs=1e-12)


def test_padding_and_cross_attention_stay_under_a_mask(letters: Make) -> None:
    _, after = turned(letters("encoder-decoder"), "mask", "causal", "ab_cd")
    assert after["encoder.0.self.pattern"][:, :, 2].eq(0).all()
    assert after["encoder.0.self.pattern"].triu(1).eq(0).all()
    assert after["decoder.0.cross.pattern"][:, 0, [0, 1, 3, 4]].gt(0).all()


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi", "t5", "transformer-xl"])
def test_without_positions_a_bag_of_words_is_read(letters: Make, positions: str) -> None:
    lm = letters("encoder-only", positions=positions)
    _, after = turned(lm, "positions", "none")
    at = "encoder.0.self"
    assert after["encoder.0.resid_pre"].equal(after["encoder.embed"])
    products = after[f"{at}.q"] @ after[f"{at}.k"].mT * lm.config.scale
    torch.testing.assert_close(after[f"{at}.scores"], products, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(after["logits"][0], after["logits"][3], rtol=1e-9, atol=1e-9)  # both are "a"


def test_another_scheme_takes_the_place_of_the_own(letters: Make) -> None:
    lm = letters("encoder-only", positions="learned")
    assert knobs()["positions"].values(lm) == ("learned", "none", "alibi", "rotary", "sinusoidal")
    made = letters("encoder-only", positions="rotary")
    kept = {name: value for name, value in lm.model.state_dict().items() if "positions" not in name}
    made.model.load_state_dict(kept)
    _, after = turned(lm, "positions", "rotary")
    assert after["logits"].equal(made.trace(ENGLISH)["logits"])


SWITCHED = {
    "head_gate": "channel", "value_residual": True, "exclusive": True, "differential": True,
    "depth_attention": True,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["encoder-only", "decoder-only", "encoder-decoder"])
@pytest.mark.parametrize("name", SWITCHED)
def test_without_a_part_the_model_is_the_plain_one_with_the_same_other_weights(
    letters: Make, name: str, kind: str
) -> None:
    lm = letters(kind, **{name: SWITCHED[name]})
    assert f"{name}=off" in knobs()["part"].values(lm)
    made = letters(kind)
    made.model.load_state_dict(
        {at: value for at, value in lm.model.state_dict().items() if at in made.model.state_dict()}
    )
    before, after = turned(lm, "part", f"{name}=off")
    expected = made.trace(ENGLISH)
    assert list(after) == list(expected) and all(after[at].equal(expected[at]) for at in expected)
    assert not before["logits"].equal(after["logits"])
    assert getattr(lm.config, name) == SWITCHED[name]


@pytest.mark.parametrize("kind", ["encoder-only", "encoder-decoder"])
def test_exclusive_attention_has_no_weights_and_can_be_put_in(letters: Make, kind: str) -> None:
    lm, made = letters(kind), letters(kind, exclusive=True)
    made.model.load_state_dict(lm.model.state_dict())
    assert knobs()["part"].values(lm) == ("as it is", "exclusive=on")
    _, after = turned(lm, "part", "exclusive=on")
    assert after["logits"].equal(made.trace(ENGLISH)["logits"])


def test_what_is_no_use_beside_another_part_is_not_offered(letters: Make) -> None:
    assert knobs()["part"].values(letters("decoder-only", differential=True)) == (
        "as it is",
        "differential=off",
    )
    both = letters("decoder-only", value_residual=True, exclusive=True)
    assert knobs()["part"].values(both) == ("as it is", "value_residual=off", "exclusive=off")


@pytest.mark.parametrize(
    "fields",
    [
        {"n_kv_heads": 1},
        {"qk_norm": "head"},
        {"head_gate": "head"},
        {"normalizer": "learnt-sink"},
        {"differential": True},
    ],
    ids=str,
)
def test_heads_that_have_something_each_are_not_cut(letters: Make, fields: dict[str, Any]) -> None:
    (name,) = fields
    with pytest.raises(
        ValueError, match=f"^{name}=.* goes with the number of heads, which cannot change then"
    ):
        turned(letters("encoder-only", **fields), "heads", "1")


def test_positions_are_turned_in_local_layers_too_and_stay_as_they_are_under_their_own_name(
    letters: Make,
) -> None:
    local = {"local_window": 2, "global_every": 2, "local_rotary_base": 7.0}
    lm = letters("encoder-only", positions="rotary", **local)
    before, after = turned(lm, "positions", "rotary")
    assert torch.equal(before["logits"], after["logits"])
    _, without = turned(lm, "positions", "none")
    q = lm.model.encoder.layers[0].self_attention.q_proj(
        lm.model.encoder.layers[0].self_norm(without["encoder.0.resid_pre"])
    )
    torch.testing.assert_close(without["encoder.0.self.q"].transpose(0, 1).flatten(1), q)


@pytest.mark.parametrize("n_heads", [1, 4, 8])
def test_the_same_matrices_are_cut_into_other_heads(letters: Make, n_heads: int) -> None:
    lm = letters("encoder-only", positions="transformer-xl" if n_heads == 4 else "sinusoidal")
    _, after = turned(lm, "heads", str(n_heads))
    layer = lm.model.encoder.layers[0]
    h = layer.self_norm(after["encoder.0.resid_pre"])
    parts = [
        (h @ each.weight.T + each.bias).view(6, n_heads, 8 // n_heads).transpose(0, 1)
        for each in (layer.self_attention.q_proj, layer.self_attention.k_proj, layer.self_attention.v_proj)
    ]
    q, k, v = parts
    scores = q @ k.mT / (8 // n_heads) ** 0.5
    if n_heads == 4:
        scores = scores + after["encoder.0.self.bias"]
    torch.testing.assert_close(after["encoder.0.self.scores"], scores, rtol=1e-9, atol=1e-9)
    z = (scores.softmax(dim=-1) @ v).transpose(0, 1).flatten(1)
    out = z @ layer.self_attention.out_proj.weight.T + layer.self_attention.out_proj.bias
    torch.testing.assert_close(after["encoder.0.self.out"], out, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi", "t5", "transformer-xl"])
@pytest.mark.parametrize("value", ["bfloat16", "float16"])
def test_the_whole_pass_is_in_the_format(letters: Make, positions: str, value: str) -> None:
    lm = letters("decoder-only", positions=positions)
    _, after = turned(lm, "format", value)
    trace = Trace()
    net = copy.deepcopy(lm.model).to(getattr(torch, value))
    net(lm.read(ENGLISH).inputs[0], trace=trace)
    for at in trace:
        assert after[at].dtype == torch.float32 and after[at].equal(trace[at].float()), at


def test_each_row_of_int8_is_whole_numbers_times_one_number(letters: Make) -> None:
    lm = letters("decoder-only", tied_embeddings=False)
    made = knobs()["format"].applied(Side(lm, ENGLISH), "int8").model.model
    before, after = dict(lm.model.named_parameters()), dict(made.named_parameters())
    changed = {name for name in before if not before[name].equal(after[name])}
    matrices = ("q_proj", "k_proj", "v_proj", "out_proj", "linear_in", "linear_out")
    rounds = {name for name in before if name.endswith(".weight") and name.split(".")[-2] in matrices}
    assert changed == {"output.weight", *rounds} and len(rounds) == 12
    for row, plain in zip(after["output.weight"].tolist(), before["output.weight"].tolist(), strict=True):
        step = max(map(abs, plain)) / 127
        assert row == pytest.approx([round(x / step) * step for x in plain], rel=1e-6)
    few = rounded(torch.tensor([[0.0, 0.0], [1.27, 0.016]]))
    assert few.flatten().tolist() == pytest.approx([0, 0, 1.27, 0.02])


def test_a_tied_output_layer_stays_tied_and_unrounded(letters: Make) -> None:
    lm = letters("decoder-only")
    made = knobs()["format"].applied(Side(lm, ENGLISH), "int8").model.model
    assert made.embedding.weight is lm.model.embedding.weight and made.output is None


def test_knobs_add_up_but_none_is_turned_twice(letters: Make) -> None:
    lm = letters("decoder-only")
    side = knobs()["temperature"].applied(Side(lm, ENGLISH), "2")
    both = knobs()["mask"].applied(side, "causal+window:2")
    assert dict(both.knobs) == {"temperature": "2", "mask": "causal+window:2"} and both.reader is lm
    scores = side.trace()["decoder.0.self.scores"].tril().triu(-1)
    open_ = torch.ones(6, 6).tril().triu(-1).bool()
    wanted = scores.masked_fill(~open_, -torch.inf).softmax(dim=-1)
    torch.testing.assert_close(both.trace()["decoder.0.self.pattern"], wanted, rtol=1e-12, atol=1e-12)
    lines = ("decoder.0.self.pattern at 3: only 0",)
    with pytest.raises(ValueError, match="the mask hides position 0 from 3"):
        replace(both, edits=lines).trace()
    assert replace(side, edits=lines).trace()["decoder.0.self.pattern"][:, 3, 0].eq(1).all()
    with pytest.raises(ValueError, match="temperature=2 is set already; start from the side without"):
        knobs()["temperature"].applied(both, "4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("gpt2", tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="module")
def side(folder: Path) -> Side:
    return Side(load_model(f"hf:{folder}"), TEXT)


@pytest.mark.parametrize("value", ["bfloat16", "float16"])
def test_a_format_is_that_of_the_library(folder: Path, side: Side, value: str) -> None:
    dtype = getattr(torch, value)
    own = transformers.GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager").to(dtype).eval()
    found = knobs()["format"].applied(side, value)
    reading = side.read()
    with torch.no_grad():
        made = own(reading.inputs[0], output_attentions=True, use_cache=False)
    trace = found.trace(reading)
    assert trace["logits"].dtype == torch.float32 and trace["logits"].equal(made.logits[0].float())
    assert trace["decoder.1.self.pattern"].equal(made.attentions[1][0].float())
    assert found.model.number_format == value and side.model.number_format == "float32"


def test_rows_of_transposed_matrices_are_rounded_too(side: Side) -> None:
    before, after = (
        model.net.transformer.h[0].mlp.c_fc.weight
        for model in (side.model, knobs()["format"].applied(side, "int8").model)
    )
    steps = before.abs().amax(dim=0) / 127  # [in, out]: a row of the usual layout is a column here
    torch.testing.assert_close(after, (before / steps).round() * steps)
    assert not after.equal(before)


def test_scores_are_heated_and_unscaled_beside_the_mask(side: Side) -> None:
    before = side.trace()
    scores = before["decoder.0.self.scores"]
    hot = knobs()["temperature"].applied(side, "4").trace()
    torch.testing.assert_close(hot["decoder.0.self.pattern"], (scores / 4).softmax(dim=-1))
    off = knobs()["scale"].applied(side, "off").trace()
    wanted = (scores * side.model.attention("decoder.self").d_head ** 0.5).softmax(dim=-1)
    torch.testing.assert_close(off["decoder.0.self.pattern"], wanted)
    near = knobs()["mask"].applied(side, "window:2").trace()["decoder.1.self.pattern"]
    assert near.triu(1).eq(0).all() and near.tril(-2).eq(0).all() and near.diagonal(-1, 1, 2).gt(0).all()


def test_what_a_model_of_transformers_cannot_have_is_said(side: Side) -> None:
    for name in ("positions", "heads"):
        why = knobs()[name].why_not(side)
        assert (
            why.startswith(f"{name} can only be changed in models of our engine")
            and "open one of ours" in why
        )
    with pytest.raises(ValueError, match=r"mask='none' would let .* look where it never looks"):
        knobs()["mask"].applied(side, "none")
    all_of_it = f"padding:{len(side.read().tokens['decoder'])}"
    with pytest.raises(ValueError, match=f"mask='{all_of_it}' hides all keys from a query; choose one that"):
        contrast(side, knobs()["mask"].applied(side, all_of_it))


def test_order_is_compared_word_by_word(side: Side) -> None:
    c = contrast(side, knobs()["order"].applied(side, "reversed"))
    both = [(i, j) for i, j in c.aligned["decoder"].pairs if i is not None and j is not None]
    assert len(both) > 10 and both != sorted(both, key=lambda pair: pair[1])


def refusal(tmp_path: Path, family: str, knob: str) -> Any:
    return knobs()[knob].why_not(Side(load_model(f"hf:{save(family, tmp_path)}"), TEXT))


def test_scales_that_are_not_seen_and_scores_beside_sinks_are_left_alone(tmp_path: Path) -> None:
    assert "are not visibly scaled by 1/√d_head" in refusal(tmp_path / "t5", "t5", "scale")
    assert "shift its scores," in refusal(tmp_path / "oss", "gpt-oss", "temperature")


def test_a_cap_and_a_bias_stand_where_they_stood(tmp_path: Path) -> None:
    capped = Side(load_model(f"hf:{save('gemma2', tmp_path / 'gemma2', query_pre_attn_scalar=8)}"), TEXT)
    at, cap = "decoder.0.self", capped.model.attention("decoder.self").cap
    assert cap == 0.5
    off = knobs()["scale"].applied(capped, "off").trace()
    q, k = capped.trace()[f"{at}.q"], capped.trace()[f"{at}.k"].repeat_interleave(2, dim=0)
    scores = off[f"{at}.scores"]
    wanted = (cap * torch.tanh(q @ k.mT / cap)).masked_fill(scores.isneginf(), -torch.inf)
    torch.testing.assert_close(scores, wanted)
    biased = Side(load_model(f"hf:{save('t5', tmp_path / 't5')}"), TEXT)
    assert biased.model.attention("encoder.self").has_bias
    for side, where in ((capped, at), (biased, "encoder.0.self")):
        hot = knobs()["temperature"].applied(side, "0.5").trace()[f"{where}.pattern"]
        torch.testing.assert_close(hot, (side.trace()[f"{where}.scores"] / 0.5).softmax(dim=-1))
