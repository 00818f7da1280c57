"""Figures in a notebook: the same bytes as the app's, edits in the kernel, refusals in words."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import traitlets

pytest.importorskip("anywidget", reason="needs anywidget: pip install 'attention-lab[notebook]'")

from attention_lab import beside, explore, heads, load_model, show
from attention_lab.models import ModelConfig, UntrainedModel
from attention_lab.models.contrast import Side, contrast, knobs
from attention_lab.models.zoo import catalogue
from attention_lab.pages.beside.board import PLACE, Selection, board_of
from attention_lab.pages.beside.two_sides import Comparison, frame_of
from attention_lab.pages.explore import payload
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.lab.lesson import lab_page
from attention_lab.viz_core.viewer.message import pack

TEXT = "the animal did not cross the street because it was too tired"
VERBS = "the cat near the dogs sleeps"
WIDE = TEXT.replace("tired", "wide")


@pytest.fixture(autouse=True)
def offered_here_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is explored from memory is offered as long as a test runs."""
    monkeypatch.setattr(catalogue, "_REGISTERED", dict(catalogue._REGISTERED))


def parts_of(message: bytes) -> tuple[dict, bytes]:
    length = int.from_bytes(message[:4], "little")
    return json.loads(message[4 : 4 + length]), message[-(-(4 + length) // 8) * 8 :]


def test_explore_has_the_message_of_the_app() -> None:
    figure = explore("translator", TEXT, layer=1, head=2)
    header, arrays = parts_of(figure.message)
    of_app = payload.body_of_inputs(Inputs("translator", TEXT), payload.Opened(layer=1, head=2)).packed
    assert arrays == of_app.arrays
    assert {**json.loads(of_app.header), "see": header["see"]}.items() <= header.items()
    assert header["linked"] == {"level": "lab", "layer": 1, "head": 2}


def test_an_edit_is_computed_in_the_kernel_and_a_wrong_one_refused() -> None:
    figure = explore("translator", TEXT)
    figure._hear({"type": "edit", "line": "encoder.1.self heads 2: zero", "how": "toggle", "count": 4})
    assert figure.edits == ["encoder.1.self heads 2: zero"] and figure.problem == ""
    assert parts_of(figure.message)[0]["change"]
    shown = figure.message
    figure._hear({"type": "edits", "text": "encoder.9.self heads 2: zero"})
    assert "encoder.9.self" in figure.problem and figure.message == shown
    with pytest.raises(ValueError, match="the text is empty; give at least one word"):
        figure.text = ""
    assert (figure.text, figure.edits) == (TEXT, ["encoder.1.self heads 2: zero"])
    begun = explore("translator", TEXT, edits=figure.edits)
    assert parts_of(begun.message)[1] == parts_of(shown)[1]
    figure._hear({"type": "go", "by": 1})  # the app alone has other pages
    assert figure.message == shown


def test_what_the_stage_asks_for_beside_the_trace_comes_with_the_next_message() -> None:
    figure = explore("translator", TEXT)
    figure._hear({"type": "sums", "stack": "encoder.self", "queries": "9", "keys": "2"})
    sums = parts_of(figure.message)[0]["sums"]
    assert sums["asked"] == ["encoder.self", "9", "2"] and "problem" not in sums


def test_a_model_in_memory_is_explored_under_one_name() -> None:
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=2, d_model=8, d_ff=8, vocab_size=16, max_len=16, pad_id=0
    )
    lm = UntrainedModel(config, seed=0)
    assert explore(lm, "one two three")._name == explore(lm, "one two")._name
    with pytest.raises(ValueError, match="no-such-model"):
        explore("no-such-model", "a")


def test_patterns_from_anywhere_are_shown_as_they_are() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(4), (2, 3, 4)).astype(np.float32)
    as_layers = [torch.from_numpy(layer)[None].requires_grad_() for layer in weights]  # as transformers gives
    figures = [heads(given, list("abcd")) for given in (weights, torch.from_numpy(weights), as_layers)]
    arrays = {parts_of(figure.message)[1] for figure in figures}
    assert len(arrays) == 1
    header, bytes_of_arrays = parts_of(figures[0].message)
    offset, kind, shape = next(each for each in header["exact"] if each["layer"] == 1)["arrays"]["pattern"][
        "$"
    ]
    sent = np.frombuffer(bytes_of_arrays, kind, int(np.prod(shape)), offset).reshape(shape)
    np.testing.assert_array_equal(sent, weights[1])
    with pytest.raises(ValueError, match="tokens"):
        heads(weights, list("abc"))
    for layer in (weights[1], torch.from_numpy(weights[1])):  # as a trace has one
        alone = heads(layer, list("abcd"))
        assert parts_of(alone.message)[1] == parts_of(heads(weights[1:], list("abcd")).message)[1]


def test_parts_of_the_lab_are_shown_by_name() -> None:
    page = lab_page("softmax")
    figure = show("softmax/spread", n_logits=8)
    board = page.find_part("spread").lesson(page.inputs(n_logits=8)).board
    assert parts_of(figure.message)[1] == pack(board=board).arrays
    assert 400_000 < len(figure.plotly) < 600_000 and show("masks/mask").plotly == b""
    with pytest.raises(ValueError, match=r"softmax/nothing.*softmax/spread"):
        show("softmax/nothing")
    with pytest.raises(ValueError, match="its pages are attention"):
        show("nothing")


def test_two_texts_stand_beside_each_other_as_on_the_page() -> None:
    figure = beside(TEXT, WIDE, model="translator")
    lm = load_model("translator")
    comparison = Comparison((frame_of(contrast(Side(lm, TEXT), Side(lm, WIDE))),))
    moved = comparison.frames[0].moved["encoder.self"]
    most = np.unravel_index(moved.argmax(), moved.shape)
    assert figure.state == {"stack": "encoder.self", "layer": most[0], "head": most[1], "at": -1}
    head = ("encoder.self", int(most[0]), int(most[1]))
    board = board_of(comparison, Selection((head, head), ("first text", "second text")))
    header, arrays = parts_of(figure.message)
    assert arrays == pack(board=board).arrays and header["chosen"] == figure.state
    assert (
        header["board"]["notice"].startswith(board.notice) and "≠ another token" in header["board"]["notice"]
    )
    figure._hear({"type": "edit", "field": PLACE, "value": "0.1"})
    assert figure.state["layer"] == 0 and figure.state["head"] == 1
    figure.state = {"head": 2, "frame": 0}
    assert parts_of(figure.message)[0]["board"]["rows"][0][0]["title"] == "A: first text, layer 0 head 2"
    with pytest.raises(
        ValueError, match=r"layer=7, head=2: encoder.self has the layers 0, 1, each with .* 0 to 3"
    ):
        figure.state = {"layer": 7}
    with pytest.raises(
        ValueError, match=r"stack='decoder' is not on both sides; choose one of encoder.self, "
    ):
        figure.state = {"stack": "decoder"}
    assert figure.state["layer"] == 0


def test_models_traces_and_sides_stand_beside_each_other() -> None:
    models = beside("translator", "translator-plain", TEXT, stack="decoder.cross", layer=0, head=1)
    header, _ = parts_of(models.message)
    assert [panel["title"] for panel in header["board"]["rows"][0]] == [
        "A: translator, layer 0 head 1", "B: translator-plain, layer 0 head 1", "B − A",
    ]  # fmt: skip
    alike = beside("translator", "translator-plain", TEXT, matched=True)
    assert "matched one to one by likeness" in parts_of(alike.message)[0]["board"]["notice"]
    lm = load_model("translator")
    side = Side(lm, TEXT)
    traces = beside(lm.trace(TEXT), lm.trace(WIDE), layer=1, head=3)
    assert "only patterns are compared" in parts_of(traces.message)[0]["board"]["notice"]
    figures = (traces, beside(TEXT, WIDE, model=lm, layer=1, head=3))
    laid = [figure._comparison.frames[0].laid(1, ("encoder.self", 1, 3)) for figure in figures]
    np.testing.assert_allclose(laid[0], laid[1], atol=1e-7)
    hot = beside(side, knobs()["temperature"].applied(side, "2"))
    assert hot._called == ("as it is", "changed")
    with pytest.raises(ValueError, match=r"'a cat' is no shipped model.*two texts are compared with model="):
        beside("a cat", "a dog")
    with pytest.raises(ValueError, match="The second text is empty"):
        beside(TEXT, " ", model=lm)


def test_everything_is_in_the_figure() -> None:
    code = explore("translator")._esm
    assert "export default" in code and "://" not in code.replace("http://www.w3.org/", "")


def test_loading_a_model_needs_no_notebook() -> None:
    assert load_model("induction").trace("a b a").tokens


WITHOUT_APP = """
import sys
sys.modules["streamlit"] = sys.modules["starlette"] = None
import numpy as np
from attention_lab import beside, explore, heads, load_model, show, watch
from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.shared.lab_stops import NAMES
figures = [explore(load_model("translator"), "the cat sleeps"), beside("translator", "translator-plain")]
figures += [heads(np.full((1, 1, 2, 2), 0.5), ["a", "b"])]
figures += [show(f"{name}/{lab_page(name).parts[0].name}") for name in NAMES]
for figure in figures[:4]:
    assert "image/png" in figure._still()
print(all(len(figure.message) > 500 for figure in figures), callable(watch))
"""


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({"heda": 3}, "'heda' is no part of a view; did you mean head"),
        ({"layer": 99}, "layer=99 is not below 6"),
        ({"heads": [0, 7]}, r"heads=\(0, 7\) is not below 4"),
        ({"step": 9}, "step=9 is not below 1"),
        ({"view": "nope"}, "view='nope' is unknown; choose one of story, grid"),
        ({"stack": "decoder.cross"}, "stack='decoder.cross' is not one of encoder.self"),
    ],
)
def test_what_a_figure_does_not_have_is_not_selected(state: dict[str, Any], sentence: str) -> None:
    figure = explore("verbs", VERBS)
    figure.state = {"layer": 0, "heads": [0, 1], "step": None}
    with pytest.raises(ValueError, match=sentence):
        figure.state = state
    assert figure.state == {"layer": 0, "heads": [0, 1], "step": None}


@pytest.mark.parametrize("frame", [99, -1, "x", 1.5])
def test_a_frame_that_a_board_does_not_have_is_not_selected(frame: Any) -> None:
    figure = show("softmax/head")
    last = len(figure._board.scrub.values) - 1
    figure.state = {"frame": last}
    with pytest.raises(ValueError, match=f"frame={frame!r} is not a whole number from 0 to {last}"):
        figure.state = {"frame": frame}
    assert figure.state == {"frame": last} and len(list(figure._pictures())) == 1


def test_a_state_is_a_dict() -> None:
    for state in ("nope", ["layer", 1]):
        with pytest.raises(traitlets.TraitError, match="expected a dict or None, not the "):
            explore("translator", TEXT).state = state


def test_the_picture_is_of_what_the_figure_opens_with() -> None:
    def captions(**view: Any) -> list[str]:
        return [words for _, words in explore("translator", TEXT, **view)._pictures()]

    head = "Encoder self, layer 1 head 3"
    assert captions() == ["Encoder self, layer 1, query “it” only", head]
    assert captions(view="grid") == ["Encoder self", head]
    assert captions(view="sweep") == [f"Instead of the sweep, which takes long: {head}"]
    assert captions(view="head", layer=0, head=2)[0] == "Encoder self, layer 0 head 2"


def test_a_picture_with_too_many_cells_says_so_above_the_open_head() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(64), (3, 4, 64)).astype(np.float32)
    figure = heads(weights, list(map(str, range(64))), layer=2, head=1)
    still = figure._still()
    refusal = " cells; at most 40,000 are drawn as a still picture."
    assert still.index(refusal) < still.index("layer 2 head 1") < still.index("image/png")
    (_, _), (opened, _) = figure._pictures()
    np.testing.assert_allclose(np.asarray(opened.data[0].z, dtype=float), weights[2, 1], atol=1e-6)


def test_a_figure_says_in_words_what_it_is() -> None:
    figure = explore(load_model("translator"), TEXT, layer=1, head=2)
    words = "Explore: translator, layer 1 head 2, 'the animal did not cross the street beca… (60 characters)'"
    assert repr(figure) == figure._repr_mimebundle_()[0]["text/plain"] == words
    assert repr(explore("translator", "the cat")).endswith("layer 1 head 3, 'the cat'")
    assert repr(show("masks/mask")).startswith("Board: ")
    two = beside(TEXT, WIDE, model="translator", layer=1, head=3)
    assert repr(two).startswith("Board: A: first text, layer 1 head 3, B: second text, layer 1 head 3, B − A")


def test_figures_need_no_app() -> None:
    ran = subprocess.run([sys.executable, "-c", WITHOUT_APP], capture_output=True, text=True)
    assert ran.stdout == "True True\n", ran.stderr


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda: show("softmax/spread", n_logit=8), "'n_logit' is no input of softmax/spread; it has "),
        (lambda: show("softmax/spread", n_logits="x"), "n_logits='x' is unknown; choose one of 4, 8"),
        (lambda: show(5), "5 is no part of the lab; its pages are "),
        (lambda: heads([], ["a"]), "the layers have shapes of none; give as many of one shape"),
        (lambda: heads([np.ones((1, 1, 1)), np.ones((1, 2, 2))], ["a"]), r"\(1, 1, 1\), \(1, 2, 2\); give"),
        (lambda: heads([np.ones((2, 1, 1, 1))], ["a"]), r"\(2, 1, 1, 1\); give as many of one shape"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(made: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        made()
