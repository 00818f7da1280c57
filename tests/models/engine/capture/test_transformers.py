"""Models of transformers run as they are, with SDPA; their weights are those that eager attention returns."""

from typing import Any

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from models import capture

LLAMA = {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4}


@pytest.mark.parametrize(
    ("make", "config", "path", "n_key_heads"),
    [
        (
            GPT2LMHeadModel,
            GPT2Config(vocab_size=31, n_embd=16, n_layer=2, n_head=4),
            "transformer.h.{}.attn",
            4,
        ),
        (
            LlamaForCausalLM,
            LlamaConfig(vocab_size=31, num_key_value_heads=2, **LLAMA),
            "model.layers.{}.self_attn",
            2,
        ),
    ],
)
def test_patterns_are_those_of_eager_attention(make: Any, config: Any, path: str, n_key_heads: int) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = make(config).eval()
    words = torch.tensor([[3, 1, 4, 1, 5, 9, 2]])
    model.set_attn_implementation("sdpa")
    with torch.no_grad():
        output, trace = capture(model, words)
        assert torch.equal(output.logits, model(words).logits)
        model.set_attn_implementation("eager")
        expected = model(words, output_attentions=True).attentions
    for layer, weights in enumerate(expected):
        at = path.format(layer)
        torch.testing.assert_close(trace[f"{at}.pattern"], weights[0])
        assert trace[f"{at}.q"].shape == (4, 7, 4) and trace[f"{at}.k"].shape == (n_key_heads, 7, 4)
