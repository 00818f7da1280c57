"""Teacher forcing (Williams and Zipser 1989) against free running, with one word of what is read replaced."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from models.data.word_tokenizer import BOS, EOS
from models.engine.decoding import NextToken
from models.engine.transformer import Transformer


class Forced(NamedTuple):
    """The likeliest word at every position, and -ln p of the reference's word there, in nats."""

    predicted: Int[Tensor, "row position"]
    loss: Float[Tensor, "row position"]


def edits(reference: Int[Tensor, " position"], word: int) -> Int[Tensor, "edit position"]:
    """What the decoder reads, <bos> and the reference without its last word; in row i, word i is replaced."""
    read = torch.cat([torch.tensor([BOS]), reference[:-1]])
    rows = read.repeat(len(reference) - 1, 1)  # [edit, position]
    rows[:, 1:].fill_diagonal_(word)
    return rows


@torch.no_grad()
def teacher_forcing(
    model: Transformer,
    source: Int[Tensor, "1 source"],
    read: Int[Tensor, "row position"],
    reference: Int[Tensor, " position"],
) -> Forced:
    """Every position predicts at once, whatever was predicted before it: one pass, as in training."""
    rows = len(read)
    memory = model.encode(source).expand(rows, -1, -1)
    return judged(model.decode(read, memory, source.expand(rows, -1)), reference)


def judged(logits: Float[Tensor, "row position vocab"], reference: Int[Tensor, " position"]) -> Forced:
    """What the logits predict, and the cross-entropy with the reference at every position."""
    labels = reference.expand(logits.shape[:2])  # [row, position]
    return Forced(logits.argmax(dim=-1), F.cross_entropy(logits.mT, labels, reduction="none"))


@torch.no_grad()
def free_running(
    model: Transformer, source: Int[Tensor, "1 source"], read: Int[Tensor, "edit position"], most: int
) -> Int[Tensor, "edit written"]:
    """Row i begins with its first i + 1 words, the replaced one last; then each reads what it wrote itself.

    One pass for every word. A row that has ended is filled with <eos>.
    """
    rows = len(read)
    next_word = NextToken(model, source, use_cache=True)
    next_word.select(torch.zeros(rows, dtype=torch.long))  # one memory for all rows
    tokens = read[:, :1]
    for at in range(1, most + 1):
        word = next_word(tokens).argmax(dim=-1)  # [edit]
        if at < read.shape[1]:
            is_given = torch.arange(rows) >= at - 1
            word = torch.where(is_given, read[:, at], word)
        word[tokens[:, -1] == EOS] = EOS
        tokens = torch.cat([tokens, word[:, None]], dim=1)
        if bool((word == EOS).all()):
            break
    return tokens[:, 1:]
