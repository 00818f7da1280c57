"""Lengths, rollout and flow of a head against plain loops; and what is said where they are not defined."""

from dataclasses import replace

import numpy as np
import pytest

from attention_lab.models import ModelConfig, UntrainedModel
from attention_lab.pages.explore import quantities
from attention_lab.pages.explore.quantities import head_matrix, head_quantity
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import subject_of, token_text
from attention_lab.pages.explore.takeaway import StageView
from tests.pages.explore.answer_header import answered

INPUTS = Inputs(model="untrained", text="a b c a d", n_layers=3, n_heads=2, d_model=32, seed=3)


@pytest.mark.parametrize("stack", ["encoder.self", "decoder.self", "decoder.cross"])
def test_a_length_is_that_of_the_vector_which_a_head_adds(stack: str) -> None:
    subject = subject_of(Inputs())
    (of,) = (each for each in subject.stacks if each.id == stack)
    side, kind = stack.split(".")
    trace, lm = subject.run(None), subject.model
    pattern, v = (trace[f"{side}.1.{kind}.{name}"][3].double().numpy() for name in ("pattern", "v"))
    attention = getattr(getattr(lm.model, side).layers[1], f"{kind}_attention")  # type: ignore[attr-defined]
    d_head = of.attention.d_head
    w_o = attention.out_proj.weight[:, 3 * d_head : 4 * d_head].detach().double().numpy()  # [d_model, d_head]
    found = head_matrix(subject, of, 1, 3, "length")
    for query in range(of.n_query):
        for key in range(of.n_key):
            length = np.sqrt(((pattern[query, key] * (w_o @ v[key])) ** 2).sum())
            assert found[query, key] == pytest.approx(length, abs=1e-5)


def test_rollout_mixes_all_layers_up_to_the_open_one() -> None:
    subject = subject_of(INPUTS)
    trace, (stack,) = subject.run(None), subject.stacks
    rolled = np.eye(5)
    for layer in range(2):
        mean = sum(trace[f"encoder.{layer}.self.pattern"][head].double().numpy() for head in range(2)) / 2
        rolled = (0.5 * mean + 0.5 * np.eye(5)) @ rolled
    np.testing.assert_allclose(head_matrix(subject, stack, 1, 0, "rollout"), rolled, atol=1e-6)
    first = head_matrix(subject, stack, 0, 0, "flow")
    direct = trace["encoder.0.self.pattern"].double().mean(0).numpy() / 2 + np.eye(5) / 2
    np.testing.assert_allclose(first, direct, atol=1e-6)  # through one layer, flow is the width of its pipe


def test_the_stage_gets_the_window_that_is_open() -> None:
    inputs = replace_text(INPUTS, " ".join(f"w{at}" for at in range(150)))
    whole = head_matrix(subject_of(inputs), subject_of(inputs).stacks[0], 0, 1, "rollout")
    found = head_quantity(inputs, "rollout", "encoder.self", 0, 1, 10, 22)
    assert found["shape"] == [128, 128]
    part = np.array(found["values"]).reshape(128, 128)
    np.testing.assert_allclose(part, whole[10:138, 22:150], rtol=1e-3, atol=1e-9)


def replace_text(inputs: Inputs, text: str) -> Inputs:
    return Inputs(inputs.model, text, **dict(inputs.overrides))


def test_what_is_not_defined_is_said_with_what_to_do() -> None:
    translator = subject_of(Inputs())
    cross = translator.stacks[2]
    for show, remedy in (("flow", "Attention flow follows"), ("rollout", "Attention rollout follows")):
        with pytest.raises(ValueError, match=f"{remedy} one text .*choose a stack of self-"):
            head_matrix(translator, cross, 0, 0, show)
    long = subject_of(replace_text(INPUTS, " ".join(f"w{at}" for at in range(100))))
    with pytest.raises(ValueError, match=r"between 100 tokens through 3 .* at most 42 tokens"):
        head_matrix(long, long.stacks[0], 2, 0, "flow")
    alone = replace(cross, attention=replace(cross.attention, whole=False))
    with pytest.raises(ValueError, match="output projection are not known"):
        head_matrix(translator, alone, 0, 0, "length")


def test_an_answer_says_what_was_asked_or_what_forbids_it() -> None:
    act = {"show": "flow", "stack": "encoder.self", "layer": 1, "head": 0, "q0": 0, "k0": 0}
    inputs = {"model": INPUTS.model, "text": INPUTS.text, "settings": INPUTS.settings}
    found = answered(**inputs, beside=[{"type": "further", **act}])["further"]
    assert found == {"asked": list(act.values()), **head_quantity(INPUTS, **act)}
    odd = answered(beside=[{"type": "further", **act, "show": "beauty"}])["further"]
    assert odd["asked"][0] == "length"
    refused = answered(beside=[{"type": "further", **act, "stack": "decoder.cross"}])["further"]
    assert refused["problem"].startswith("Attention flow follows")


@pytest.mark.parametrize("show", list(quantities.FIGURE_NAMES))
def test_the_figure_to_take_away_shows_it(show: str) -> None:
    shown = StageView(INPUTS, {"view": "head", "layer": 1, "head": 1, "show": show})
    expected = head_matrix(shown.subject, shown.stack, 1, 1, show)
    figure = shown.figure(dark=False)
    np.testing.assert_allclose(figure.data[0].customdata[..., 0], expected, atol=1e-6)


def test_the_plane_holds_the_window_s_queries_and_keys_of_the_head() -> None:
    subject = subject_of(Inputs())
    trace = subject.run(None)
    q, k = (trace[f"decoder.1.cross.{name}"][3].double().numpy() for name in "qk")
    found = head_quantity(Inputs(), "plane", "decoder.cross", 1, 3, 2, 1)
    both = np.concatenate([q[2:], k[1:]])
    centred = both - both.mean(0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    points = centred @ axes[:2].T
    points *= np.sign(points[np.abs(points).argmax(0), [0, 1]])  # the farthest of each axis is positive
    np.testing.assert_allclose([*found["queries"], *found["keys"]], points, atol=1e-3)
    assert len(found["queries"]) == len(q) - 2
    figure = StageView(Inputs(), {"view": "head", "stack": "decoder.cross", "show": "plane"}).figure(
        dark=False
    )
    assert [trace.name for trace in figure.data] == ["queries", "keys"]


def test_there_is_no_plane_where_patterns_alone_are_known() -> None:
    subject = subject_of(Inputs())
    alone = replace(subject.stacks[0], attention=replace(subject.stacks[0].attention, whole=False))
    with pytest.raises(ValueError, match="queries and keys are not known; look at"):
        quantities.head_plane(subject, alone, 0, 0, slice(None), slice(None))


def test_rows_that_a_sink_leaves_below_one_count_as_shares() -> None:
    class Halved:
        def __init__(self) -> None:
            self.stacks, self.whole = subject_of(INPUTS).stacks, subject_of(INPUTS)

        def run(self, reduce):  # type: ignore[no-untyped-def]
            return self.whole.run(lambda a, t: reduce(a, t * 0.5) if a.endswith("pattern") else None)

    (stack,) = subject_of(INPUTS).stacks
    of_halved = head_matrix(Halved(), stack, 1, 0, "rollout")  # type: ignore[arg-type]
    np.testing.assert_allclose(of_halved, head_matrix(subject_of(INPUTS), stack, 1, 0, "rollout"), atol=1e-6)


TIRED = "the animal did not cross the street because it was too tired"


@pytest.mark.parametrize(
    ("inputs", "stack", "layer", "head"),
    [
        (Inputs(text=TIRED), "encoder.self", 1, 3),
        (Inputs(text=TIRED), "decoder.self", 0, 2),
        (Inputs("sentiment", "not a good film"), "encoder.self", 0, 1),
        (INPUTS, "encoder.self", 2, 0),
    ],
)
def test_the_words_nearest_to_values_and_their_sums_are_those_of_a_plain_loop(
    inputs: Inputs, stack: str, layer: int, head: int
) -> None:
    subject, side = subject_of(inputs), stack.split(".")[0]
    trace, net = subject.run(None), subject.model.model  # type: ignore[attr-defined]
    weights = {name: each.double().numpy() for name, each in net.state_dict().items()}
    config, at = net.config, f"{side}.layers.{layer}"
    rows = slice(head * config.head_size, (head + 1) * config.head_size)
    alphabet = subject.model.made_of()
    assert alphabet is not None
    names = subject.names if inputs.model == "untrained" else alphabet.names
    own = []
    for embedding in weights["embedding.weight"][: len(names)] * config.d_model**0.5:
        x = embedding - embedding.mean()
        x = x / np.sqrt((x * x).mean() + config.norm_eps)
        x = x * weights[f"{at}.self_norm.weight"] + weights[f"{at}.self_norm.bias"]
        matrix, bias = (weights[f"{at}.self_attention.v_proj.{name}"] for name in ("weight", "bias"))
        own.append(matrix[rows] @ x + bias[rows])
    found = head_quantity(inputs, "nearest", stack, layer, head, 0, 0)["nearest"]
    for name, vectors in (("values", "v"), ("sums", "z")):
        traced = trace[f"{side}.{layer}.self.{vectors}"][head].double().numpy()
        assert len(found[name]) == len(traced)
        for vector, words in zip(traced, found[name], strict=True):
            cosines = [v @ vector / np.sqrt((v @ v) * (vector @ vector)) for v in own]
            alike = [word for word in range(len(own)) if cosines[word] > 0]
            order = sorted(alike, key=lambda word: -cosines[word])[:3]
            assert [word for word, _ in words] == [token_text(names[word]) for word in order]
            assert [cosine for _, cosine in words] == pytest.approx([cosines[w] for w in order], abs=6e-3)


def test_words_are_left_away_where_a_head_reads_no_embeddings() -> None:
    with pytest.raises(ValueError, match="This head's own values are not known; look at"):
        head_quantity(Inputs(), "nearest", "decoder.cross", 0, 0, 0, 0)
    with pytest.raises(ValueError, match="not known"):
        head_quantity(Inputs("digits-classifier", "3"), "nearest", "encoder.self", 0, 0, 0, 0)
    sizes = {"vocab_size": 9, "max_len": 9, "n_layers": 2, "n_heads": 2, "d_model": 8}
    post = UntrainedModel(ModelConfig(kind="encoder-only", norm="post", **sizes))
    assert post.word_values("encoder.self", 1, 0) is None
    assert post.word_values("encoder.self", 0, 0) is not None
    assert subject_of(Inputs()).model.word_values("encoder.self", 1, 0) is not None


def test_a_value_that_is_nothing_is_near_to_no_word() -> None:
    inputs = Inputs(text=TIRED, edits="encoder.0.self heads 1: zero")
    found = head_quantity(inputs, "nearest", "encoder.self", 0, 1, 0, 0)["nearest"]
    assert not any(found["sums"]) and all(found["values"])
