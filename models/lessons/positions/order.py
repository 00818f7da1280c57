"""Does a model notice that its words changed places?"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.data.tasks.next_word import NextWord
from models.engine.trace import Trace
from models.engine.transformer import Transformer
from models.zoo.engine_model import TrainedModel


def shuffled(n_words: int, seed: int) -> Int[Tensor, " word"]:
    """The old place of each word after a shuffle; the same for a seed."""
    return torch.randperm(n_words, generator=torch.Generator().manual_seed(seed))


def reversed_order(n_words: int) -> Int[Tensor, " word"]:
    """The old place of each word when the sentence is read backwards."""
    return torch.arange(n_words - 1, -1, -1)


@torch.no_grad()
def outputs(model: Transformer, ids: Int[Tensor, " word"]) -> Float[Tensor, "word d_model"]:
    """The vector that the last layer makes of each word."""
    trace = Trace(lambda address, tensor: tensor if address.endswith(".norm") else None)
    model(ids[None], trace=trace)
    return trace[f"{model.config.stacks[0]}.norm"]


def movement(
    model: Transformer, ids: Int[Tensor, " word"], order: Int[Tensor, " word"]
) -> Float[Tensor, " word"]:
    """How far each word's output moves when the words change places: |after - before| / |before|.

    Each word is compared with itself at its new place: 0 means that the model did not notice.
    """
    before, after = outputs(model, ids)[order], outputs(model, ids[order])
    return (after - before).norm(dim=-1) / before.norm(dim=-1)


def movements(
    models: Mapping[str, Transformer], ids: Int[Tensor, " word"], order: Int[Tensor, " word"]
) -> dict[str, float]:
    """The mean `movement` over the words, scheme by scheme."""
    return {scheme: movement(model, ids, order).mean().item() for scheme, model in models.items()}


def losses_in_order(
    models: Mapping[str, TrainedModel[NextWord]], ids: Int[Tensor, " word"], order: Int[Tensor, " word-1"]
) -> Float[Tensor, "scheme two"]:
    """Nats per word of the trained models, for the sentence as it is and for its words in the given order.

    `ids` begins with <eos>, which keeps its place; `order` is that of the words after it.
    """
    texts = torch.stack([ids, torch.cat([ids[:1], ids[1:][order]])])  # [in order or shuffled, word]
    return torch.stack([lm.task.nats(lm.model, texts).mean(dim=-1) for lm in models.values()])
