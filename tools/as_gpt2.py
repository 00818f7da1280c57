"""Writes the shipped Shakespeare model as a GPT-2 of transformers, for the README's picture, offline.

    python -m tools.as_gpt2 FOLDER

It is a GPT-2 in all but its file: learned positions, a norm before each sublayer, no biases. FOLDER then
opens as any model of transformers does, and computes what the shipped model does.
"""

import argparse
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from models import load_model

MODEL = "shakespeare"
UNKNOWN = "<unk>"
Weights = dict[str, Tensor]


def write(folder: Path) -> None:
    """Saves the model and its tokenizer, whose tokens are letters."""
    model = load_model(MODEL)
    config, weights = model.config, model.model.state_dict()
    net = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=config.vocab_size, n_positions=config.max_len, n_embd=config.d_model,
            n_layer=config.n_layers, n_head=config.n_heads, n_inner=config.d_ff,
            activation_function=config.activation, layer_norm_epsilon=config.norm_eps,
            tie_word_embeddings=False, bos_token_id=None, eos_token_id=None,
        )
    ).eval()  # fmt: skip
    for parameter in net.parameters():  # biases stay so: the shipped model has none
        torch.nn.init.zeros_(parameter)
    found = _renamed(weights, config.n_layers, config.d_model**0.5)
    unknown = net.load_state_dict(found, strict=False).unexpected_keys
    assert not unknown, unknown
    net.save_pretrained(folder)
    _tokenizer(model.outputs).save_pretrained(folder)


def _renamed(own: Weights, n_layers: int, scale: float) -> Weights:
    """Our weights by GPT-2's names; it keeps linear maps as [in, out], and does not scale embeddings."""
    found = {
        "transformer.wte.weight": own["embedding.weight"] * scale,
        "transformer.wpe.weight": own["decoder.positions.embedding.weight"] * scale,
        "transformer.ln_f.weight": own["decoder.norm.weight"],
        "lm_head.weight": own["embedding.weight"],
    }
    for at in range(n_layers):
        ours, theirs = f"decoder.layers.{at}", f"transformer.h.{at}"
        qkv = [own[f"{ours}.self_attention.{name}_proj.weight"].T for name in "qkv"]
        found |= {
            f"{theirs}.ln_1.weight": own[f"{ours}.self_norm.weight"],
            f"{theirs}.ln_2.weight": own[f"{ours}.ff_norm.weight"],
            f"{theirs}.attn.c_attn.weight": torch.cat(qkv, 1),
            f"{theirs}.attn.c_proj.weight": own[f"{ours}.self_attention.out_proj.weight"].T,
            f"{theirs}.mlp.c_fc.weight": own[f"{ours}.feed_forward.linear_in.weight"].T,
            f"{theirs}.mlp.c_proj.weight": own[f"{ours}.feed_forward.linear_out.weight"].T,
        }
    return found


def _tokenizer(letters: tuple[str, ...]) -> PreTrainedTokenizerFast:
    """Every letter is a token, and what is none of them unknown."""
    ids = {letter: at for at, letter in enumerate(letters)}
    made = Tokenizer(models.WordLevel(ids, unk_token=UNKNOWN))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    made.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token=UNKNOWN)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    write(folder)
    print(f"wrote {folder}")


if __name__ == "__main__":
    main()
