"""The three attentions, computed again by hand."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf

from attention_lab.models import load_model
from attention_lab.pages.lab.translation import three
from attention_lab.pages.lab.translation.inputs import Inputs, Reading
from tests.pages.lab.boards import close, panel
from tests.pages.lab.translation.conftest import SENTENCE

STACKS = {
    "encoder self-attention": "encoder.{}.self.pattern",
    "decoder self-attention": "decoder.{}.self.pattern",
    "cross-attention": "decoder.{}.cross.pattern",
}


def test_patterns_are_the_models_and_masked_where_it_may_not_look(traced):
    board = three.lesson(Inputs()).board
    for title, address in STACKS.items():
        shown = panel(board, title).values
        for head in range(8):
            pattern = traced[address.format(head // 4)][head % 4]
            hidden = np.isneginf(shown[head])
            close(np.where(hidden, 0, shown[head]), pattern)
            expected = np.triu(np.ones(pattern.shape), 1) if title.startswith("decoder") else 0 * pattern
            assert (hidden == np.asarray(expected, dtype=bool)).all()


def test_where_queries_keys_and_values_come_from():
    nodes = {node.id: node for node in panel(three.lesson(Inputs()).board, "where Q").nodes}
    origins = [[nodes[f"{use}{letter} from"].label for letter in "QKV"] for use in range(3)]
    assert origins == [["source"] * 3, ["target"] * 3, ["target", "memory", "memory"]]
    assert [nodes[f"2{letter}"].note for letter in "QKV"] == ["[4, 15, 16]", "[4, 14, 16]", "[4, 14, 16]"]
    assert [nodes[f"2{letter}"].colour for letter in "QKV"] == ["query", "key", "value"]


def test_notices_say_how_much_looks_ahead(traced):
    for head, said in enumerate(three.lesson(Inputs()).board.notice):
        encoder = traced[f"encoder.{head // 4}.self.pattern"][head % 4]
        ahead, none = re.findall(r"\*\*(.*?)\*\*", said)
        assert ahead == f"{encoder.triu(1).sum(dim=1).mean():.2f}" and none == "0"


def asked(folder: Path, text: str = "the animal was tired") -> Inputs:
    return Inputs(reader="other", other=f"hf:{folder}", other_text=text)


@pytest.mark.parametrize("family", ["t5", "bart", "marian"])
def test_another_models_three_attentions_are_transformers_own(saved: Path, family: str):
    lesson = three.lesson(asked(saved / family))
    lm = load_model(f"hf:{saved / family}")
    source, target = lm.read("the animal was tired").inputs
    net = hf.AutoModelForSeq2SeqLM.from_pretrained(saved / family, attn_implementation="eager").eval()
    with torch.no_grad():
        made = net(input_ids=source, decoder_input_ids=target, output_attentions=True)
    owns = (made.encoder_attentions, made.decoder_attentions, made.cross_attentions)
    n_layers = max(map(len, owns))
    for (title, _), layers in zip(STACKS.items(), owns, strict=True):
        shown = panel(lesson.board, title).values
        assert len(shown) == 4 * n_layers == len(lesson.board.scrub.values) == len(lesson.board.notice)
        for frame, values in enumerate(shown):
            if frame // 4 >= len(layers):
                assert np.isneginf(values).all()
                continue
            close(np.where(np.isneginf(values), 0, values), layers[frame // 4][0, frame % 4])
            ahead = np.triu(np.ones(values.shape, dtype=bool), 1)
            assert (np.isneginf(values) == (ahead & title.startswith("decoder"))).all()
    encoder = owns[0][1][0, 2]
    ahead, none = re.findall(r"\*\*(.*?)\*\*", lesson.board.notice[6])
    assert ahead == f"{encoder.triu(1).sum(dim=1).mean():.2f}" and none == "0"


def test_layers_that_one_side_lacks_are_said_and_biases_stand_in_the_formula(saved: Path):
    bart, t5 = (three.lesson(asked(saved / family)) for family in ("bart", "t5"))
    said = "Layer 2 head 1: the encoder has no such head; in the decoder **0** of the weight goes to later"
    assert bart.board.notice[9].startswith(said)
    assert r"0.3536\cdot" in bart.formula and "bias" not in bart.formula
    assert r"1\cdot" in t5.formula and "+\\text{bias of positions (self-attention)}" in t5.formula


@pytest.mark.parametrize(
    ("family", "refusal"),
    [
        ("llama", "llama' has no encoder.self and no decoder.cross; choose an encoder-decoder, such as the"),
        ("bert", "bert' has no decoder.self and no decoder.cross; choose an encoder-decoder, such as the"),
        (
            "bart",
            r"12 heads with \d+ and \d+ tokens have [\d,]+ weights; the limits are 1,024 heads and 99 "
            r"weights",
        ),
    ],
)
def test_what_has_not_all_three_is_one_sentence(
    saved: Path, family: str, refusal: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(three, "MOST_NUMBERS", 99)
    with pytest.raises(ValueError, match=refusal):
        three.lesson(asked(saved / family))


def test_what_is_chosen_first_can_be_read():
    board = three.lesson(Inputs(reader="other")).board
    trace = load_model("translator-plain").trace(Inputs(other="translator-plain").reading_text)
    for title, address in STACKS.items():
        values = panel(board, title).values[5]
        close(np.where(np.isneginf(values), 0, values), trace[address.format(1)][1])


def test_rows_of_cross_attention_name_the_word_read_and_the_one_written_next(tired: Reading):
    board = three.lesson(Inputs(text=SENTENCE))
    cross = panel(board, "cross-attention")
    assert [name.rstrip("₂₃") for name in cross.rows] == [
        f"{read}→{written}" for read, written in zip(tired.read, tired.written, strict=True)
    ]
    assert list(panel(board, "decoder self-attention, masked").rows)[:2] == ["<bos>", "l'"]
