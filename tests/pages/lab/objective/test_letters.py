"""Bits of any model against transformers' loss, and what has none."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf

from attention_lab.models import load_model
from attention_lab.pages.lab.objective import letters
from attention_lab.pages.lab.objective.inputs import Inputs
from attention_lab.pages.lab.objective.letters import surprise
from tests.pages.lab.boards import facts, numbers, panel


@pytest.fixture(scope="module")
def lm():
    return load_model("shakespeare")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ü" * 3, "the model has never seen 'ü'; leave it out"),
        ("a", "the text has no letter after its first token; write more"),
        ("   ", "the text has no letter after its first token; write more"),
        ("a" * 65, "the text has 65 tokens, but this model reads at most 64; remove 1"),
    ],
)
def test_texts_that_have_no_answer_are_refused(lm, text, told):
    with pytest.raises(ValueError, match=told):
        surprise(lm, lm.read(text))


NO_BITS = "does not say which token follows; choose a"
TEXT_WITH_ACCENT = "the animal did not cross the café"


def asked(name: str, text: str = TEXT_WITH_ACCENT) -> Inputs:
    return Inputs(reader="other", other=name, other_text=text)


@pytest.mark.parametrize("family", ["llama", "gpt-neo"])
def test_bits_of_another_model_are_transformers_loss(saved: Path, family: str):
    folder = saved / family
    lesson = letters.lesson(asked(f"hf:{folder}"))
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(TEXT_WITH_ACCENT, return_tensors="pt").input_ids
    net = hf.AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        nats = net(ids, labels=ids).loss.item()
    n, first = ids.shape[1] - 1, tokenizer.decode(ids[0, :1])
    left = TEXT_WITH_ACCENT.removeprefix(first)
    assert first == "the" and left.startswith(" animal")
    shown, total = facts(lesson.board), n * nats / math.log(2)
    assert shown["cross-entropy"] == pytest.approx(nats, rel=1e-4)
    assert shown["divided by ln 2"] == pytest.approx(nats / math.log(2), rel=1e-4)
    assert shown["perplexity, e^nats = 2^bits"] == pytest.approx(math.exp(nats), rel=1e-3)
    assert shown["the whole text"] == pytest.approx(total, rel=1e-4)
    assert shown["over 7 words"] == pytest.approx(total / 7, rel=1e-4)
    assert shown["over 30 characters"] == pytest.approx(total / len(left), rel=1e-4)
    assert shown["over 31 bytes"] == pytest.approx(total / len(left.encode()), rel=1e-4)
    bars = panel(lesson.board, "surprise at each token")
    assert len(bars.values) == n and bars.values.mean() == pytest.approx(nats / math.log(2), rel=1e-4)
    said = numbers(lesson.board.notice)
    assert said[:2] == pytest.approx([nats / math.log(2), total / len(left)], abs=0.006)
    assert "compare bits per character or byte" in lesson.see
    assert panel(lesson.board, "bits per token so far").lines[-1].y[0] == pytest.approx(
        math.log2(net.config.vocab_size)
    )


def test_a_model_of_letters_needs_no_other_count():
    text = "To be, or not to be"
    lesson = letters.lesson(asked("sparse", text))
    lm = load_model("sparse")
    likely = lm.trace(text)["logits"].log_softmax(-1)
    nats = [-likely[at, lm.outputs.index(letter)] for at, letter in enumerate(text[1:])]
    assert facts(lesson.board)["cross-entropy"] == pytest.approx(float(np.mean(nats)), rel=1e-4)
    assert not any("characters" in label or "bytes" in label for label in facts(lesson.board))
    assert "compare" not in lesson.see


def test_what_is_chosen_first_can_be_read():
    assert "bits per letter" in letters.lesson(Inputs(reader="other")).board.notice


@pytest.mark.parametrize(
    ("family", "text", "refusal"),
    [
        ("bert", TEXT_WITH_ACCENT, NO_BITS),
        ("bart", TEXT_WITH_ACCENT, NO_BITS),
        ("llama", "the", "the text has no letter after its first token; write more"),
        ("llama", TEXT_WITH_ACCENT, r"llama reads this as \d+ tokens; 5 have room here; shorten the text."),
    ],
)
def test_what_has_no_bits_is_one_sentence(
    saved: Path, family: str, text: str, refusal: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(letters, "MOST_TOKENS", 5)
    with pytest.raises(ValueError, match=refusal):
        letters.lesson(asked(f"hf:{saved / family}", text))
