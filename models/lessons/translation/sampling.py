"""Drawing words by chance: temperature, top-k (Fan et al. 2018), top-p (Holtzman et al. 2020, 3.1)."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.data.word_tokenizer import BOS, EOS
from models.engine.decoding import NextToken, distribution
from models.engine.transformer import Transformer


class Spread(NamedTuple):
    """One step's distribution at every temperature: uncut, and what is drawn from."""

    whole: Float[Tensor, "temperature vocab"]
    cut: Float[Tensor, "temperature vocab"]

    @property
    def n_kept(self) -> Int[Tensor, " temperature"]:
        """How many words can be drawn."""
        return (self.cut > 0).sum(dim=-1)

    @property
    def kept_mass(self) -> Float[Tensor, " temperature"]:
        """What the kept words had together before the rest was cut."""
        return (self.whole * (self.cut > 0)).sum(dim=-1)


def spread(
    logits: Float[Tensor, " vocab"], temperatures: list[float], top_k: int | None, top_p: float | None
) -> Spread:
    """softmax(logits / T), and the same cut to the likeliest words, at each temperature.

    In float64: in float32 the unlikely words of a cold distribution become 0, as if they were cut.
    """
    z = logits.double()
    whole = [distribution(z, temperature=t) for t in temperatures]
    cut = [distribution(z, temperature=t, top_k=top_k, top_p=top_p) for t in temperatures]
    return Spread(torch.stack(whole), torch.stack(cut))


def entropy(p: Float[Tensor, "temperature vocab"]) -> Float[Tensor, " temperature"]:
    """-sum p ln p in nats; e to this power is how many equally likely words would be as uncertain."""
    return torch.special.entr(p).sum(dim=-1)


@torch.no_grad()
def sentences(
    model: Transformer,
    source: Int[Tensor, "1 source"],
    temperatures: list[float],
    generator: torch.Generator,
    *,
    top_k: int | None,
    top_p: float | None,
    most: int,
) -> list[tuple[int, ...]]:
    """One sentence of at most `most` words for each of the temperatures, drawn word by word.

    What may follow a beginning is the same for all who have it: each different one is computed once.
    """
    next_word = NextToken(model, source, use_cache=True)
    begun: list[tuple[int, ...]] = [(BOS,)]  # the different beginnings, a row each
    written = begun * len(temperatures)
    for _ in range(most):
        still = [at for at, words in enumerate(written) if words[-1] != EOS]
        logits = next_word(torch.tensor(begun))  # [beginning, vocab]
        asked = [(begun.index(written[at]), temperatures[at]) for at in still]
        once = sorted(set(asked))
        heated = logits[[row for row, _ in once]] / torch.tensor([[t] for _, t in once])  # [asked, vocab]
        p = distribution(heated, top_k=top_k, top_p=top_p)[[once.index(each) for each in asked]]
        drawn = torch.multinomial(p, 1, generator=generator)[:, 0].tolist()
        for at, word in zip(still, drawn, strict=True):
            written[at] = (*written[at], word)
        longer = sorted({words for words in written if words[-1] != EOS})
        if not longer:
            break
        next_word.select(torch.tensor([begun.index(words[:-1]) for words in longer]))
        begun = longer
    return [words[1:] for words in written]
