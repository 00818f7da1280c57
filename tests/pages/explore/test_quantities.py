"""Lengths, rollout and flow of a head against plain loops; and what is said where they are not defined."""

from dataclasses import replace

import numpy as np
import pytest

from attention_lab.pages.explore import quantities, waiting
from attention_lab.pages.explore.figure import quantity_from
from attention_lab.pages.explore.quantities import head_matrix, head_quantity
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import subject_of
from attention_lab.pages.explore.takeaway import StageView

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


def test_the_heads_projected_values_add_up_to_what_attention_writes() -> None:
    subject = subject_of(INPUTS)
    trace = subject.run(None)
    w_o = subject.model.projection("encoder.self", 2)
    assert w_o is not None and w_o.shape == (2, 16, 32)
    bias = subject.model.model.encoder.layers[2].self_attention.out_proj.bias  # type: ignore[attr-defined]
    written = (trace["encoder.2.self.z"] @ w_o).sum(0) + bias.detach()
    np.testing.assert_allclose(written, trace["encoder.2.self.out"], atol=1e-5)


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
        with pytest.raises(ValueError, match=f"{remedy} positions of one text .*choose a stack of self-"):
            head_matrix(translator, cross, 0, 0, show)
    long = subject_of(replace_text(INPUTS, " ".join(f"w{at}" for at in range(100))))
    with pytest.raises(ValueError, match=r"between 100 tokens through 3 .* at most 42 tokens"):
        head_matrix(long, long.stacks[0], 2, 0, "flow")
    alone = replace(cross, attention=replace(cross.attention, whole=False))
    with pytest.raises(ValueError, match="output projection are not known"):
        head_matrix(translator, alone, 0, 0, "length")


def test_an_answer_holds_for_what_was_asked_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    session: dict[str, object] = {"explore.last": INPUTS}
    monkeypatch.setattr(waiting.st, "session_state", session)
    act = {"show": "flow", "stack": "encoder.self", "layer": 1, "head": 0, "q0": 0, "k0": 0}
    assert waiting.answer_request("further", INPUTS, None, head_quantity) == {}
    waiting.note_request("further", *quantity_from(act))
    found = waiting.answer_request("further", INPUTS, None, head_quantity)
    assert found == {"asked": list(act.values()), **head_quantity(INPUTS, **act)}
    assert waiting.answer_request("further", Inputs(), None, head_quantity) == {}
    session["explore.last"] = Inputs()
    waiting.note_request("further", *quantity_from({**act, "show": "beauty", "stack": "decoder.cross"}))
    waiting.note_request("further", *quantity_from({**act, "show": "flow", "stack": "decoder.cross"}))
    assert waiting.answer_request("further", Inputs(), None, head_quantity)["problem"].startswith(
        "Attention flow follows"
    )


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
    with pytest.raises(ValueError, match="queries and keys are not known, only patterns; look at"):
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
