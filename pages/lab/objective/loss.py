"""Entropy, cross-entropy and KL divergence of two distributions over words, term by term, in nats."""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.pages.lab.objective.inputs import MODEL, OTHER, TARGET, WORDS, Inputs
from attention_lab.viz_core.boards import Curves, Fact, Facts, Line, Matrix, Panel, Scrub


@dataclass(frozen=True)
class Terms:
    """What each word adds, y being the target and p the model's answer.

    H(y, p) = H(y) + KL(y || p) holds for every word, and so for the sums.
    """

    entropy: Float[Tensor, "*row word"]
    """-y ln y."""
    divergence: Float[Tensor, "*row word"]
    """y ln(y / p); below 0 where the model gives a word more than its target."""
    cross: Float[Tensor, "*row word"]
    """-y ln p; inf where p is 0 and y is not."""


def targets(
    words: Int[Tensor, "*position"], n_words: int, smoothing: int | float | Float[Tensor, "*position"] = 0.0
) -> Float[Tensor, "*position word"]:
    """(1 - eps) one-hot + eps / n: label smoothing with a uniform prior (Szegedy et al. 2016, section 7).

    eps = 0 is one-hot; Vaswani et al. 2017, 5.4 train with 0.1.
    """
    eps = torch.as_tensor(smoothing, dtype=torch.float64)[..., None]
    one_hot = torch.nn.functional.one_hot(words, n_words).double()
    return (1 - eps) * one_hot + eps / n_words


def normalised(parts: Float[Tensor, " word"]) -> Float[Tensor, " word"]:
    """Parts divided by their sum. Raises ValueError if one is below 0, or all are 0."""
    if (parts < 0).any():
        raise ValueError(f"p has {parts.min().item():g}, but no probability is below 0; write 0 or more")
    if parts.sum() == 0:
        raise ValueError("p is 0 for every word; give one word more than 0")
    return parts / parts.sum()


def terms(y: Float[Tensor, "*_ word"], p: Float[Tensor, "*_ word"]) -> Terms:
    """The terms of each word; y and p are broadcast against each other, and 0 ln 0 counts as 0.

    Cover and Thomas 2006, 2.1 and 2.3.
    """
    y, p = torch.broadcast_tensors(y, p)
    entropy, cross = torch.special.entr(y), -torch.xlogy(y, p)
    return Terms(entropy, cross - entropy, cross)


def with_sum(values: Float[Tensor, "*row word"]) -> Float[Tensor, "*row column"]:
    """The values, followed by their sum."""
    return torch.cat([values, values.sum(dim=-1, keepdim=True)], dim=-1)


def bits(nats: Float[Tensor, "*row"]) -> Float[Tensor, "*row"]:
    """A bit is the surprise of one of two equal chances, ln 2 nats."""
    return nats / math.log(2)


EPS = np.arange(51) / 100


def lesson(inputs: Inputs) -> Lesson:
    p = normalised(torch.tensor(inputs.q[0], dtype=torch.float64))
    right = torch.full((len(EPS),), inputs.word)
    y = targets(right, len(WORDS), torch.from_numpy(EPS))  # [eps, word]
    parts = terms(y, p)
    sums = replace(parts, **{name: getattr(parts, name).sum(dim=-1) for name in vars(parts)})
    rows = with_sum(torch.stack([parts.entropy, parts.divergence, parts.cross], dim=1))  # [eps, 3, column]
    in_sum = np.zeros((3, len(WORDS) + 1), dtype=bool)
    in_sum[:, -1] = True
    return Lesson(
        rows=[
            [
                Matrix(
                    values=np.array(inputs.q), title="the model's p, to type into", rows=("p",),
                    columns=WORDS, column_axis="word", scale="plain", edit="q",
                )
            ],
            [
                Matrix(
                    values=torch.stack(torch.broadcast_tensors(y, p), dim=1).numpy(), digits=3,
                    title="target and model", rows=("target y", "p, sum 1"), columns=WORDS,
                    column_axis="word", scale="weights", quantity="probability",
                )
            ],
            [
                Matrix(
                    values=rows.numpy(), title="term by term, in nats", columns=(*WORDS, "sum"),
                    column_axis="word", rows=("−y ln y: H(y)", "+ y ln(y/p): KL", "= −y ln p: H(y, p)"),
                    digits=3, reach=1.5, marked=in_sum,
                )
            ],
            _sums(sums),
        ],
        notice=_notices(sums),
        scrub=Scrub(
            "eps", "label smoothing ε", EPS,
            [f"{eps:.2f}{' (the paper)' if eps == 0.1 else ''}" for eps in EPS.tolist()],
        ),
        sizes=rf"n = {len(WORDS)},\; \ln n = {math.log(len(WORDS)):.3f}",
        axes={"ε": y.shape[0], "word": y.shape[1]},
        code=(targets, normalised, terms, with_sum, bits),
    )  # fmt: skip


def _sums(sums: Terms) -> list[Panel]:
    cross, divergence = sums.cross.numpy(), sums.divergence.numpy()
    return [
        Curves(
            x=EPS, at=EPS, title="what smoothing does to them", x_label="label smoothing ε", y_label="nats",
            y_range=(0, max(2.0, 1.05 * sums.cross.nan_to_num(posinf=0).max().item())),
            lines=[
                Line(cross, "H(y, p)", OTHER),
                Line(sums.entropy.numpy(), "H(y)", TARGET, dashed=True),
                Line(divergence, "KL(y ‖ p)", MODEL),
            ],
        ),
        Facts.of(
            Fact("cross-entropy H(y, p)", cross, 3, "nats"),
            Fact("of it KL(y ‖ p)", divergence, 3, "nats", MODEL),
            Fact("in bits, H / ln 2", bits(sums.cross).numpy(), 3, "bits"),
            Fact("perplexity, e^H", sums.cross.exp().numpy(), 2, "words"),
            title="the loss of this position",
        ),
    ]  # fmt: skip


def _notices(sums: Terms) -> list[str]:
    notices = []
    for eps, h, kl, cross in zip(EPS, sums.entropy, sums.divergence, sums.cross, strict=True):
        if cross.isinf():
            notices.append(f"At ε = {eps:.2f} the loss is **∞**.")
        else:
            notices.append(
                f"At ε = **{eps:.2f}** the loss is **{h:.3f}** (the target's) + **{kl:.3f}** (how far p "
                f"is off) = **{cross:.3f}** nats."
            )
    return notices


def questions() -> tuple[Answer, ...]:
    n = len(WORDS)
    hot, smooth = (targets(torch.tensor(2), n, eps) for eps in (0.0, 0.1))
    die = torch.full((n,), 1 / n, dtype=torch.float64)
    usual = normalised(torch.tensor(Inputs().q[0], dtype=torch.float64))
    by_die = [terms(p, die).cross.sum().item() for p in (hot, smooth)]
    loss = terms(hot, usual).cross.sum().item()
    zeroed = torch.tensor([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    one_hot, smoothed = (terms(p, zeroed).cross.sum().item() for p in (hot, smooth))
    return (
        Answer.of(1 if math.isclose(loss, -math.log(usual[2].item())) else 0, usual=usual, loss=loss),
        Answer.of(2 if math.isclose(*by_die) else 0 if by_die[1] > by_die[0] else 1, by_die=by_die),
        Answer.of(0 if one_hot == 0 and math.isinf(smoothed) else 2),
    )


DASHED = Note("Type into p, the dashed cells; they are divided by their sum.")
PART = part(__name__, ("word", DASHED), lesson, questions, scrub="eps", also=("q",))
