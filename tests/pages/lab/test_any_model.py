"""Parts of the lab on any model: their numbers are the model's own, and what it lacks is one sentence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_lab.models import load_model
from attention_lab.models.zoo.offers import offers
from attention_lab.pages.lab import any_model
from attention_lab.pages.lab.block import inputs as block_inputs
from attention_lab.pages.lab.block import lens
from attention_lab.pages.lab.heads import contributions, cut, recut
from attention_lab.pages.lab.heads.inputs import Inputs as Heads
from attention_lab.pages.lab.softmax import head as head_module
from attention_lab.pages.lab.softmax.inputs import Inputs as Softmax
from attention_lab.pages.shared import model_field, visitors
from tests.limits import SetLimits
from tests.pages.lab.boards import panel
from tests.pages.shared.runs import write_run
from tests.pages.texts_of_apptest import texts

SHORT = "the animal was tired"


def test_what_each_head_of_a_llama_adds_is_its_output(saved: Path) -> None:
    name = f"hf:{saved / 'llama'}"
    read = Heads(model="other", other=name, other_text=SHORT, other_layer=1)
    lesson, trace = contributions.lesson(read), load_model(name).trace(SHORT)
    z, out = trace["decoder.1.self.z"], trace["decoder.1.self.out"]
    weight = load_model(name).net.model.layers[1].self_attn.o_proj.weight
    rows = torch.as_tensor(panel(lesson.board, "c at this token").values)  # [query, head + 3, d_model]
    for head in range(4):
        part = z[head] @ weight[:, 8 * head : 8 * head + 8].T
        torch.testing.assert_close(rows[:, head], part, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(rows[:, 4], out, atol=1e-5, rtol=1e-4)  # this projection has no bias
    assert not rows[:, 5].any() and torch.equal(rows[:, 6], out)
    assert len(lesson.board.notice) == len(trace.tokens["decoder"])


def test_the_biases_of_a_bert_and_of_the_engine_are_their_own(saved: Path) -> None:
    bert, own = load_model(f"hf:{saved / 'bert'}"), load_model("masked")
    expected = bert.net.bert.encoder.layer[1].attention.output.dense.bias
    assert torch.equal(bert.projection_bias("encoder.self", 1), expected)
    expected = own.model.encoder.layers[0].self_attention.out_proj.bias
    assert torch.equal(own.projection_bias("encoder.self", 0), expected)
    assert load_model(f"hf:{saved / 'llama'}").projection_bias("decoder.self", 0) is None


def test_a_head_of_a_berts_shows_its_weights_and_what_the_model_fills_in(saved: Path) -> None:
    name, text = f"hf:{saved / 'bert'}", "the animal did [MASK] cross"
    asked = Softmax(reader="other", other=name, other_text=text, other_layer=1, other_head=2)
    lesson, trace = head_module.lesson(asked), load_model(name).trace(text)
    query, trained = trace.tokens["encoder"].index("[MASK]"), 20
    weights = panel(lesson.board, "weights of “[MASK]” in head 2").values
    np.testing.assert_allclose(weights[trained], trace["encoder.1.self.pattern"][2, query], atol=1e-6)
    likely = trace["logits"][query].double().softmax(-1)
    best = load_model(name).outputs[int(likely.argmax())]
    assert f"the likeliest answer is “{best}” (**{likely.max():.2f}**)" in lesson.board.notice[trained]
    assert float(lesson.board.scrub.values[trained]) == 1


def test_the_lens_reads_another_model_to_its_own_end(saved: Path) -> None:
    name = f"hf:{saved / 'llama'}"
    lesson = lens.lesson(block_inputs.Inputs(reader="other", other=name, other_text=SHORT))
    cells = panel(lesson.board, "the likeliest answer after each layer")
    likely = load_model(name).trace(SHORT)["logits"].softmax(-1)
    np.testing.assert_allclose(cells.values[-1], likely.max(-1).values, atol=1e-6)
    assert cells.values.shape == (3, len(likely))


def test_a_picture_model_shows_a_head_of_its_drawn_picture(saved: Path) -> None:
    lesson = head_module.lesson(Softmax(reader="other", other=f"hf:{saved / 'vit'}"))
    likely = load_model(f"hf:{saved / 'vit'}").trace("1")["logits"][0].double().softmax(-1)
    assert f"(**{likely.max():.2f}**)" in lesson.board.notice[20]


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"other": "nystromformer"}, "nystromformer shows only its attention weights"),
        ({"other": "llama", "other_layer": 2}, "layer=2 is not there: llama has layers 0 to 1; take one"),
        ({"other": "llama", "other_head": 4}, "head=4 is not there: llama has heads 0 to 3; take one"),
        ({"other": "llama", "other_stack": "decoder.cross"}, "llama has no decoder.cross; choose one of dec"),
        ({"other": "llama", "other_at": 99}, "token=99 is not there; choose 0 to"),
        ({"other": "bert", "other_text": "the " * 62}, "bert reads this as 64 tokens; 63 have room here"),
        ({"other": "bert", "other_text": "the " * 80}, "the text has 82 tokens, but this model reads at"),
    ],
)
def test_what_a_model_lacks_is_one_sentence(
    saved: Path, changes: dict[str, Any], refusal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attention_lab.pages.lab.softmax.head.MOST_TOKENS", 63)
    asked = Softmax(reader="other", **changes | {"other": f"hf:{saved / changes['other']}"})
    with pytest.raises(ValueError, match=refusal):
        head_module.lesson(asked)


def test_a_temperature_is_of_a_softmax_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    run = write_run(tmp_path, "back-copy", sizes={"normalizer": "sigmoid"})
    with pytest.raises(ValueError, match="by 'sigmoid'; choose a"):
        head_module.lesson(Softmax(reader="other", other=run, other_text="tatk"))


def test_parts_that_take_a_small_layer_apart_say_that_no_other_model_fits() -> None:
    for part, field in ((cut, "model"), (recut, "uncut")):
        with pytest.raises(ValueError, match="choose random weights or a layer of the translator"):
            part.lesson(Heads(**{field: "other"}))


def test_in_a_class_the_price_of_all_passes_is_bounded(
    saved: Path, set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    set_limits(cheap_billions=1)
    name = f"hf:{saved / 'bert'}"
    monkeypatch.setattr(type(load_model(name)), "operations", lambda model, lengths: 10**8 * max(lengths))
    with pytest.raises(ValueError, match=r"This takes 16 billion operations, .* take a smaller model\."):
        head_module.lesson(Softmax(reader="other", other=name, other_text="the a"))


def test_the_masked_word_is_asked_about_and_else_the_last() -> None:
    for text, at in (("the animal did [MASK] cross", 4), ("the animal", 3)):
        asked = Softmax(other_text=text)
        assert any_model.position(asked, any_model.read(asked, most=20)) == at
    assert Softmax().reading_text == offers()["masked"].text


def test_a_folder_that_is_named_in_the_field_is_taken_and_a_wrong_one_leaves_the_model(saved: Path) -> None:
    test = AppTest.from_file(str(Path(any_model.__file__).parent / "softmax" / "page.py"), default_timeout=60)
    test.query_params.update(part="head", reader="other")
    test.run()
    assert not test.exception
    assert test.selectbox(key="softmax.other").value == "masked"
    test.text_input(key=model_field.KEY).set_value("nobody/nothing").run()
    (sentence,) = texts(test)
    assert "is not on this machine" in sentence and "the previous model stays loaded" in sentence
    assert test.selectbox(key="softmax.other").value == "masked"
    test.text_input(key=model_field.KEY).set_value(str(saved / "llama")).run()
    assert not test.exception
    assert test.selectbox(key="softmax.other").value == f"hf:{saved / 'llama'}"
