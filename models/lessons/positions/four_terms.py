"""Transformer-XL: a score is the sum of four terms, each asking about content or about distance."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.data.tasks.next_word import NextWord
from models.engine.positions import TransformerXL, waves
from models.engine.trace import Trace
from models.zoo.engine_model import TrainedModel

TERMS = ("content, content", "content, distance", "key alone", "distance alone")


@torch.no_grad()
def four_terms(
    lm: TrainedModel[NextWord], ids: Int[Tensor, " word"], layer: int
) -> Float[Tensor, "term head query key"]:
    """scale * (q.k, q.W_R r, u.k, v.W_R r), in the order of `TERMS` (Dai et al. 2019, 3.3).

    r is the wave at the distance from key to query; u and v are trained. Summed, the terms are the scores
    before the mask.
    """
    assert lm.model.decoder is not None
    scheme = lm.model.decoder.positions
    assert isinstance(scheme, TransformerXL)
    trace = Trace()
    lm.model(ids[None], trace=trace)
    q, k = trace[f"decoder.{layer}.self.q"], trace[f"decoder.{layer}.self.k"]  # [head, position, d_head]
    position = torch.arange(len(ids))
    distance = position[:, None] - position  # [query, key]
    r = scheme.r_proj[layer](waves(distance.flatten(), lm.model.config.d_model).to(q))
    r = r.view(len(ids), len(ids), *scheme.u.shape[::2])  # [query, key, head, d_head]
    terms = (
        q @ k.mT,
        torch.einsum("hqd,qkhd->hqk", q, r),
        (scheme.u @ k.mT).expand(-1, len(ids), -1),
        torch.einsum("hd,qkhd->hqk", scheme.v[:, 0], r),
    )
    return lm.model.config.scale * torch.stack(terms)


def spread(terms: Float[Tensor, "term head query key"]) -> Float[Tensor, "term head"]:
    """How much each term tells keys apart: its mean standard deviation over the keys that a query sees.

    What is the same for all keys of a query changes nothing after softmax, and counts as 0 here.
    """
    n_words = terms.shape[-1]
    rows = [terms[..., query, : query + 1].std(dim=-1, correction=0) for query in range(n_words)]
    return torch.stack(rows, dim=-1).mean(dim=-1)  # [term, head, query] -> [term, head]
