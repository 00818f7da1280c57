"""Models of our engine as models of transformers: the same logits, after a trip through their files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM
from transformers import AutoModelForTokenClassification as AutoModelForTokens

from attention_lab.models.config import ModelConfig
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.zoo.hub.from_engine import Misfit, family_of, from_engine
from attention_lab.models.zoo.hub.into_engine import into_engine
from tests.models.zoo.moved import trained

SIZES: dict[str, Any] = {"n_layers": 2, "n_heads": 2, "d_model": 8, "vocab_size": 11, "max_len": 12}
GPT2 = ModelConfig(kind="decoder-only", positions="learned", activation="gelu", pad_id=None, **SIZES)
BERT = ModelConfig(
    kind="encoder-only", norm="post", embedding_norm=True, output_transform=True, tied_embeddings=False,
    positions="learned", activation="gelu", **SIZES,
)  # fmt: skip
PEGASUS = ModelConfig(kind="encoder-decoder", **SIZES)
MARIAN = replace(PEGASUS, norm="post")
LOADERS = {
    "GPT-2": AutoModelForCausalLM,
    "GPT-NeoX": AutoModelForCausalLM,
    "BERT": AutoModelForMaskedLM,
    "Marian": AutoModelForSeq2SeqLM,
    "Pegasus": AutoModelForSeq2SeqLM,
}


def logits(model: Transformer, net: Any, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Ours and theirs, on texts of two lengths; ours finds padding by its id, theirs is told."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(1, 11, (2, 7), generator=generator)
    if model.config.pad_id is not None:
        ids[1, 5:] = model.config.pad_id
    real = torch.ones_like(ids) if model.config.pad_id is None else (ids != model.config.pad_id).long()
    with torch.no_grad():
        if model.config.kind == "encoder-decoder":
            target = torch.randint(1, 11, (2, 6), generator=generator)
            theirs = net(input_ids=ids, attention_mask=real, decoder_input_ids=target).logits
            return model(ids, target), theirs
        ours, theirs = model(ids), net(input_ids=ids, attention_mask=real).logits
    return ours[real.bool()], theirs[real.bool()]


CASES = {
    "GPT-2": (GPT2, "GPT-2"),
    "GPT-2 with waves, tied or not, without biases": (
        replace(GPT2, positions="sinusoidal", bias=False, tied_embeddings=False, activation="gelu-tanh"),
        "GPT-2",
    ),
    "GPT-NeoX": (replace(GPT2, positions="rotary", d_model=16, d_head=8, d_ff=24), "GPT-NeoX"),
    "GPT-NeoX of other scale and activation, without biases": (
        replace(GPT2, positions="rotary", attention_scale=0.7, bias=False, activation="relu", pad_id=0),
        "GPT-NeoX",
    ),
    "BERT": (BERT, "BERT"),
    "BERT with types": (replace(BERT, token_types=2, attention_scale=0.7), "BERT"),
    "Pegasus": (PEGASUS, "Pegasus"),
    "Pegasus, untied": (replace(PEGASUS, tied_embeddings=False, bias=False, attention_scale=0.7), "Pegasus"),
    "Marian": (MARIAN, "Marian"),
    "Marian of odd width": (
        replace(MARIAN, n_heads=1, d_model=9, d_head=9, d_ff=20, activation="gelu"),
        "Marian",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_logits_are_the_same_after_a_trip_through_their_files(name: str, tmp_path: Path) -> None:
    config, family = CASES[name]
    model = trained(config)
    assert family_of(config) == family
    from_engine(model).save_pretrained(tmp_path)
    net = LOADERS[family].from_pretrained(tmp_path, attn_implementation="eager").eval()
    ours, theirs = logits(model, net)
    assert ours.shape == theirs.shape
    assert ours.std() > 0.1  # so that equal logits mean something
    torch.testing.assert_close(theirs, ours, atol=1e-5, rtol=1e-5)


def test_one_answer_for_each_token_goes_into_a_head_for_tokens(tmp_path: Path) -> None:
    config = replace(BERT, output_transform=False, n_outputs=5)
    model = trained(config)
    from_engine(model).save_pretrained(tmp_path)
    assert AutoConfig.from_pretrained(tmp_path).num_labels == 5
    ours, theirs = logits(model, AutoModelForTokens.from_pretrained(tmp_path).eval())
    torch.testing.assert_close(theirs, ours, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("config", [GPT2, BERT])
def test_what_goes_out_comes_in_again(config: ModelConfig) -> None:
    model = trained(config)
    again = into_engine(from_engine(model))
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    torch.testing.assert_close(again(ids), model(ids), atol=1e-5, rtol=1e-5)


def test_special_ids_are_told_to_their_models() -> None:
    ids = {"eos_token_id": 2, "decoder_start_token_id": 1, "bos_token_id": 1}
    net = from_engine(trained(PEGASUS), special_ids=ids)
    assert (net.config.eos_token_id, net.config.decoder_start_token_id) == (2, 1)
    written = net.generate(torch.tensor([[3, 4, 2]]), max_new_tokens=4, do_sample=False, num_beams=1)
    assert written[0, 0] == 1


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (replace(GPT2, norm="post"), "norm='post', but GPT-2 has norm='pre'"),
        (replace(GPT2, positions="alibi"), "positions='alibi', but GPT-2 has"),
        (replace(GPT2, d_head=3), "d_head=3, but the 2 heads of theirs share d_model=8 channels"),
        (replace(GPT2, normalizer="sigmoid"), "normalizer='sigmoid', but theirs have 'softmax'"),
        (replace(GPT2, mask="window", mask_argument="2"), "mask='window', but theirs have 'none'"),
        (replace(GPT2, feed_forward=False), "feed_forward=False"),
        (replace(BERT, embedding_norm=False), "BERT normalises what enters its first layer"),
        (replace(BERT, pooling="first"), "one more layer, a tanh"),
        (replace(PEGASUS, target_vocab_size=9), "Pegasus has one vocabulary"),
        (replace(MARIAN, norm_eps=1e-6), "norm_eps=1e-06, but Marian has 1e-05"),
    ],
)
def test_what_fits_none_of_theirs_is_said(config: ModelConfig, said: str) -> None:
    with pytest.raises(Misfit) as refused:
        family_of(config)
    assert said in str(refused.value)
    assert str(refused.value).endswith("; export it as ONNX")
