"""Models of transformers that a notebook holds, and traces of token ids and of several texts."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
import transformers

from attention_lab.models import load_model
from attention_lab.models.interventions.head_sweep import sweep_heads
from tests.models.zoo.hub import families
from tests.models.zoo.hub.conftest import Opened

Held = tuple[transformers.PreTrainedModel, transformers.PreTrainedTokenizerBase]


def held(family: str, folder: Path) -> Held:
    """A model as a notebook has it: being trained, with the attention that transformers chooses."""
    families.save(family, folder)
    kinds = {"gpt2": transformers.GPT2LMHeadModel, "t5": transformers.T5ForConditionalGeneration}
    net = kinds[family].from_pretrained(folder).train()
    return net, transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.parametrize("family", ["gpt2", "t5"])
def test_a_model_in_memory_is_traced_as_from_its_folder_and_not_changed(family: str, tmp_path: Path) -> None:
    net, tokenizer = held(family, tmp_path)
    attends = net.config._attn_implementation
    lm, saved = load_model(net, tokenizer), load_model(f"hf:{tmp_path}")
    assert lm.note == saved.note and lm.abilities == saved.abilities and lm.max_len == saved.max_len
    ours, theirs = lm.trace(families.TEXT), saved.trace(families.TEXT)
    assert ours.tokens == theirs.tokens and list(ours) == list(theirs)
    for address in ours:
        torch.testing.assert_close(ours[address], theirs[address])
    assert net.training and net.config._attn_implementation == attends
    assert all(each.requires_grad for each in net.parameters())
    assert "lm = load_model(model, tokenizer)" in lm.code(families.TEXT)


def test_what_is_recorded_follows_the_weights_of_the_notebook(tmp_path: Path) -> None:
    net, tokenizer = held("gpt2", tmp_path)
    lm = load_model(net, tokenizer)
    before = lm.trace(families.TEXT)["logits"]
    with torch.no_grad():
        net.lm_head.weight.mul_(2)
    ids = tokenizer(families.TEXT, return_tensors="pt")["input_ids"]
    after = lm.trace(families.TEXT)["logits"]
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, net.eval()(ids).logits[0].detach())


def test_ids_are_read_as_they_are(opened: Opened) -> None:
    lm = opened("gpt2")
    ids = lm.tokenizer.ids(families.TEXT)
    expected = lm.trace(families.TEXT)
    for given in (ids, torch.tensor(ids), torch.tensor([ids])):
        trace = lm.trace(given)
        assert trace.tokens == expected.tokens
        torch.testing.assert_close(trace["logits"], expected["logits"])
    own = load_model("induction")
    text = own.read("abcdabcd")
    trace = own.trace(text.inputs[0])
    assert trace.tokens == text.tokens
    torch.testing.assert_close(trace["logits"], own.trace("abcdabcd")["logits"])


@pytest.mark.parametrize(
    ("ids", "said"),
    [([], "are no tokens"), ([-1], "are no tokens"), ([10**6], "is none of the"), ([1] * 65, "at most 64")],
)
def test_ids_that_are_none_are_refused(opened: Opened, ids: list[int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        opened("gpt2").trace(ids)


@pytest.mark.parametrize(
    ("name", "ids", "said"),
    [
        ("induction", [-1], "not all tokens of"), ("translator", [3, 4], "does not read tokens alone"),
        ("digits-classifier", [1], "does not read tokens alone"),
    ],
)  # fmt: skip
def test_models_of_ours_say_which_ids_they_read(name: str, ids: Sequence[int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        load_model(name).trace(list(ids))
    with pytest.raises(ValueError, match="give those of one text"):
        load_model(name).trace(torch.ones(2, 3, dtype=torch.long))


def test_several_texts_are_traced_one_by_one() -> None:
    lm = load_model("shakespeare")
    texts = ["To be", "or not to be, that is"]
    for text, trace in zip(texts, lm.trace(texts), strict=True):
        torch.testing.assert_close(trace["logits"], lm.trace(text)["logits"], rtol=0, atol=0)


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"capture\(module, inputs\)"):
        load_model(torch.nn.Linear(2, 2), None)
    net, _ = held("gpt2", tmp_path)
    with pytest.raises(ValueError, match=r"load_model\(model, tokenizer\)"):
        load_model(net, None)


def test_an_encoder_without_an_output_of_words_is_swept_by_distance_and_by_metric(tmp_path: Path) -> None:
    families.save("bert", tmp_path)
    net = transformers.BertModel.from_pretrained(tmp_path, add_pooling_layer=False)
    lm = load_model(net, transformers.AutoTokenizer.from_pretrained(tmp_path))
    plain = lm.trace(families.TEXT)["encoder.1.resid_post"]
    after = lm.trace(families.TEXT, edits=["encoder.0.self heads 2: zero"])["encoder.1.resid_post"]
    found = sweep_heads(lm, families.TEXT, "distance at -1")
    expected = float((after - plain)[-1].norm() / plain[-1].norm())
    assert float(found.effects["encoder.self"][0, 2]) == pytest.approx(expected, abs=1e-6)
    metrics = (lambda trace: trace["encoder.1.resid_post"][0, 3], lambda logits: logits[:, 0, 3])
    for metric in metrics:  # what it gives at last is its last stream
        effect = sweep_heads(lm, families.TEXT, metric).effects["encoder.self"][0, 2]
        assert float(effect) == pytest.approx(float((after - plain)[0, 3]), abs=1e-6)
    with pytest.raises(ValueError, match="has no output of words or classes; take a distance"):
        sweep_heads(lm, families.TEXT, "kl at 0")
