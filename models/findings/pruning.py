"""The finding on pruned heads: gates learn which heads a translator can do without.

The gates are hard concrete ones, whose number of open ones can be learnt (Louizos et al. 2018, section 2.2).

A gate draws u from 0 to 1, takes s = sigmoid((log u - log(1 - u) + log alpha) / TEMPERATURE), stretches it to
LOW..HIGH and cuts what lies outside of 0..1. So it is 0, and 1, with probabilities of their own, and between
them its gradient flows. The expected number of gates that are not 0, the L0 norm, is a sum of sigmoids.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from pydantic import TypeAdapter
from torch import Tensor, nn

from ..data.grammar.pairs import held_out
from ..data.tasks import generator_of
from ..data.tasks.translation import Translation
from ..engine.address import Address
from ..fields import Field, whole
from ..files import read_json
from ..training.evaluation import Example, translation_scores
from ..zoo import load_model
from ..zoo.engine_model import TrainedModel
from .finding import Chart, Finding, Number, Outcome, Tell, words_of

TEMPERATURE = 0.33
LOW, HIGH = -0.1, 1.1
OPEN = 2.0
"""log alpha before anything is learnt: a gate is then open 95 times in 100 or more."""
HeadLists = dict[str, list[int]]
"""The heads that are left of each attention, by address such as "encoder.0.self"."""
Values = Float[Tensor, "#row attention head"]


class Gates(nn.Module):
    """A gate for each head of some attentions, in the order of `addresses`."""

    def __init__(self, addresses: list[str], n_heads: int) -> None:
        super().__init__()
        self.addresses = addresses
        self.log_alpha = nn.Parameter(torch.full((len(addresses), n_heads), OPEN))

    def forward(self, n_rows: int, generator: torch.Generator) -> Values:
        """Drawn gates, anew for each row of a batch."""
        u = torch.rand((n_rows, *self.log_alpha.shape), generator=generator)
        return stretched((u.logit(eps=1e-6) + self.log_alpha) / TEMPERATURE)

    def open(self) -> Float[Tensor, "attention head"]:
        """The probability that a gate is not 0."""
        return (self.log_alpha - TEMPERATURE * math.log(-LOW / HIGH)).sigmoid()

    def heads_kept(self) -> HeadLists:
        """The heads whose gates are rather not 0."""
        likely = self.open() > 0.5
        return {address: likely[at].nonzero().flatten().tolist() for at, address in enumerate(self.addresses)}


def stretched(x: Tensor) -> Tensor:
    """sigmoid(x), stretched and cut."""
    return (x.sigmoid() * (HIGH - LOW) + LOW).clamp(0, 1)


def values_of(heads_kept: HeadLists, n_heads: int) -> Values:
    """Gates that are 1 for the heads kept and 0 for all others."""
    heads = torch.arange(n_heads)
    is_kept = [torch.isin(heads, torch.tensor(heads_left)) for heads_left in heads_kept.values()]
    return torch.stack(is_kept)[None].float()


def n_kept(heads_kept: HeadLists) -> int:
    """How many heads are left in all."""
    return sum(map(len, heads_kept.values()))


@contextmanager
def gated(projections: Mapping[str, nn.Module], values: Values) -> Iterator[None]:
    """Inside, what each head hands to its attention's projection is multiplied by its gate.

    projections: `Model.projections`, as many and in the order of the attentions of `values`.
    """
    hooks = [
        module.register_forward_pre_hook(partial(_multiply, values[:, at]))
        for at, module in enumerate(projections.values())
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _multiply(gates: Float[Tensor, "#row head"], module: nn.Module, args: tuple[Any, ...]) -> tuple[Tensor]:
    z = args[0].unflatten(-1, (gates.shape[-1], -1))  # [row, query, head, d_head]
    return ((z * gates[:, None, :, None]).flatten(-2),)


# Training with gates

STEPS, SETTLING = 600, 200
"""Steps with drawn gates, and those after them in which each gate is 0 or 1."""
BATCH, RATE, GATE_RATE, SEED = 64, 1e-3, 0.05, 0
SENTENCES = 1_000
MODEL = "translator"
PENALTIES = (0.001, 0.003, 0.006, 0.01, 0.018, 0.03, 0.06)
"""Nats that an open gate costs."""


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Shares of held-out sentences that are right as a whole, and of those with pronouns where these are."""

    translation: float
    pronoun: float


def quality(
    lm: TrainedModel[Translation], sentences: Sequence[Example], heads_kept: HeadLists | None = None
) -> Quality:
    """How well it translates these sentences, with these heads alone where they are given."""
    heads = heads_kept or {address: list(range(lm.config.n_heads)) for address in lm.projections()}
    with gated(lm.projections(), values_of(heads, lm.config.n_heads)):
        scores, pronoun = translation_scores(lm.model, lm.task.words, sentences)
    return Quality(translation=scores["all"], pronoun=pronoun)


def prune(
    lm: TrainedModel[Translation],
    penalty: float,
    *,
    steps: int = STEPS,
    settling: int = SETTLING,
    batch_size: int = BATCH,
    gate_rate: float = GATE_RATE,
) -> tuple[TrainedModel[Translation], HeadLists]:
    """The model after training on with gates, each of which costs `penalty` nats while it is open.

    The loss is that of translating alone, and the expected number of open gates times the penalty.
    """
    pruned = deepcopy(lm)
    projections, n_heads = pruned.projections(), lm.config.n_heads
    gates, generator = Gates(list(projections), n_heads), generator_of(SEED, 0)
    weights = list(pruned.model.parameters())
    groups: list[dict[str, Any]] = [{"params": weights}, {"params": [gates.log_alpha], "lr": gate_rate}]
    optimizer = torch.optim.Adam(groups, lr=RATE)
    batches = lm.task.batches(SEED + 1, batch_size)
    pruned.model.train()
    for step in range(steps + settling):
        batch = next(batches)
        is_random = step < steps
        values = gates(len(batch), generator) if is_random else values_of(gates.heads_kept(), n_heads)
        with gated(projections, values):
            loss = lm.task.losses(pruned.model, batch)["translation"]
        if is_random:
            loss = loss + penalty * gates.open().sum()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.param_groups[0]["lr"] = RATE * (1 - step / (steps + settling))
        optimizer.step()
    pruned.model.eval()
    return pruned, gates.heads_kept()


def learn_anew() -> dict[str, Any]:
    """What ships: the quality of the whole translator, and of what each penalty leaves of it."""
    torch.set_num_threads(1)  # the same numbers on any machine of this kind
    lm = load_model(MODEL)
    sentences = held_out(SENTENCES)
    whole, penalties = vars(quality(lm, sentences)), []
    for penalty in PENALTIES:
        pruned, heads_kept = prune(lm, penalty)
        trained, cut = quality(pruned, sentences, heads_kept), quality(lm, sentences, heads_kept)
        left = {"penalty": penalty, "kept": heads_kept, "trained": vars(trained), "cut": vars(cut)}
        penalties.append(left)
    return {"model": MODEL, "sentences": SENTENCES, "whole": whole, "penalties": penalties}


# The finding

RESULT = Path(__file__).with_suffix(".json")
FAMILIES = ("encoder.self", "decoder.self", "decoder.cross")
_LOST = 0.01
"""The share of sentences that pruning may cost: 0.15 BLEU in the paper."""
_OF_ENCODER = 10 / 48
"""The share of the encoder's heads that does for that, in the paper."""


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """What one penalty left: the heads, and the quality after training on with them and if merely cut."""

    penalty: float
    kept: HeadLists
    trained: Quality
    cut: Quality

    def share(self, family: str, n_heads: int) -> float:
        """The share of the heads of "encoder.self", say, that are left."""
        heads_left = [heads for at, heads in self.kept.items() if Address.parse(at).family == family]
        return sum(map(len, heads_left)) / (n_heads * len(heads_left))


@dataclass(frozen=True, kw_only=True)
class Shipped:
    """The file that ships; most heads first."""

    model: str
    sentences: int
    whole: Quality
    penalties: list[Pruned]


def edits_of(heads_kept: HeadLists, n_heads: int) -> list[str]:
    """The lines that take all other heads from the shipped model, on Explore and in `Model.trace`."""
    gone = {
        at: [str(head) for head in range(n_heads) if head not in heads_left]
        for at, heads_left in heads_kept.items()
    }
    return [f"{at} heads {','.join(heads)}: zero" for at, heads in gone.items() if heads]


def shipped() -> Shipped:
    """Raises FileError where the file is not there."""
    known = TypeAdapter(Shipped).validate_python(read_json(RESULT))
    return replace(known, penalties=sorted(known.penalties, key=lambda each: -n_kept(each.kept)))


def measure(model: None, tell: Tell, *, sentences: int) -> Outcome:
    """What shipped, and the same heads cut from the shipped translator now."""
    known = shipped()
    lm = load_model(known.model)
    cut, chosen = list[Quality](), held_out(sentences)
    for each in known.penalties:
        cut.append(quality(lm, chosen, each.kept))
        tell(len(cut) / len(known.penalties))
    return _outcome(known, cut, sentences, lm.config.n_heads)


def _outcome(known: Shipped, cut: list[Quality], sentences: int, n_heads: int) -> Outcome:
    enough = [each for each in known.penalties if each.trained.translation >= known.whole.translation - _LOST]
    fewest = enough[-1] if enough else known.penalties[0]
    shares = {family: fewest.share(family, n_heads) for family in FAMILIES}
    n_all = n_heads * len(fewest.kept)
    n_encoder = n_heads * sum(address.startswith("encoder") for address in fewest.kept)
    most = round(_OF_ENCODER * n_encoder)
    now = cut[known.penalties.index(fewest)]
    blind = [each for each in known.penalties if not each.share("encoder.self", n_heads)]
    without = (
        f" Once the encoder's last heads are gone, with {n_kept(blind[0].kept)} left, "
        f"{blind[0].trained.pronoun:.1%} of the pronouns are right."
        if blind
        else ""
    )
    return Outcome(
        numbers=(
            Number(f"sentences right, all {n_all} heads", known.whole.translation, digits=3),
            Number("fewest heads that lose 0.01 or less", n_kept(fewest.kept), digits=0),
            Number("sentences right with them", fewest.trained.translation, digits=3),
            Number("pronouns right with them", fewest.trained.pronoun, digits=3),
            Number("share of the encoder's heads among them", shares["encoder.self"], "0.21 (10 of 48)"),
            Number("share of the decoder's own heads", shares["decoder.self"]),
            Number("share of the heads that look across", shares["decoder.cross"]),
        ),
        holds=(
            bool(enough)
            and round(n_encoder * shares["encoder.self"]) <= most
            and shares["encoder.self"] <= shares["decoder.self"] <= shares["decoder.cross"]
        ),
        said=(
            f"{n_kept(fewest.kept)} heads translate {fewest.trained.translation:.1%} of {known.sentences:,} "
            f"held-out sentences right once trained on, and {fewest.trained.pronoun:.1%} of the pronouns; "
            f"merely cut, {now.translation:.1%} of the {sentences:,} measured now.{without}"
        ),
        charts=_charts(known, cut, n_heads),
    )


def _charts(known: Shipped, cut: list[Quality], n_heads: int) -> tuple[Chart, ...]:
    x = [n_kept(each.kept) for each in known.penalties]
    trained = [each.trained for each in known.penalties]
    return (
        Chart(
            title="right", x_label="heads kept", y_label="share", x=x,
            series={
                "sentences, trained on": [each.translation for each in trained],
                "pronouns, trained on": [each.pronoun for each in trained],
                "sentences, merely cut, now": [each.translation for each in cut],
                "pronouns, merely cut, now": [each.pronoun for each in cut],
            },
            line=(known.whole.translation, "sentences, all heads"),
        ),
        Chart(
            title="which heads are kept", x_label="heads kept", y_label="share of each kind", x=x,
            series={
                name: [each.share(family, n_heads) for each in known.penalties]
                for family, name in zip(FAMILIES, ("encoder", "decoder", "across"), strict=True)
            },
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("pruning"),
    measure=measure,
    parameters={"sentences": Field(100, whole(20, 1000), "Held-out sentences")},
    code=(quality, shipped, edits_of),
)
