"""Figures in a notebook: the same bytes as the app's, edits in the kernel, refusals in words."""

import json

import numpy as np
import pytest
import torch

pytest.importorskip("anywidget", reason="needs anywidget: pip install 'attention-lab[notebook]'")

from attention_lab import explore, heads, load_model, show
from attention_lab.models import ModelConfig, UntrainedModel
from attention_lab.models.zoo import offers
from attention_lab.pages.explore import payload
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.lab.lesson import lab_page
from attention_lab.viz_core.viewer.message import pack

TEXT = "the animal did not cross the street because it was too tired"


@pytest.fixture(autouse=True)
def offered_here_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is explored from memory is offered as long as a test runs."""
    monkeypatch.setattr(offers, "_REGISTERED", dict(offers._REGISTERED))


def parts_of(message: bytes) -> tuple[dict, bytes]:
    length = int.from_bytes(message[:4], "little")
    return json.loads(message[4 : 4 + length]), message[-(-(4 + length) // 8) * 8 :]


def test_explore_has_the_message_of_the_app() -> None:
    figure = explore("translator", TEXT, layer=1, head=2)
    header, arrays = parts_of(figure.message)
    of_app = payload.body_of_inputs(Inputs("translator", TEXT), payload.Opened(layer=1, head=2)).packed
    assert arrays == of_app.arrays
    assert json.loads(of_app.header).items() <= header.items()
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


def test_everything_is_in_the_figure() -> None:
    code = explore("translator")._esm
    assert "export default" in code and "http" not in code.replace("http://www.w3.org/", "")


def test_loading_a_model_needs_no_notebook() -> None:
    assert load_model("induction").trace("a b a").tokens
