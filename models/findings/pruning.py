"""Pruning heads: how few a translator needs, and which, as gates with an L0 penalty found them."""

from dataclasses import dataclass
from pathlib import Path

from models.files import read_json
from models.findings.declared import Chart, Finding, Number, Outcome, Parameter, Tell
from models.findings.gates import Kept, n_kept
from models.findings.pruned import Quality, quality
from models.zoo import load_model

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
    kept: Kept
    trained: Quality
    cut: Quality

    def share(self, family: str, n_heads: int) -> float:
        """The share of the heads of "encoder.self", say, that are left."""
        side, kind = family.split(".")
        left = [heads for at, heads in self.kept.items() if at.startswith(side) and at.endswith(kind)]
        return sum(map(len, left)) / (n_heads * len(left))


@dataclass(frozen=True, kw_only=True)
class Shipped:
    """The file that ships; most heads first."""

    model: str
    sentences: int
    whole: Quality
    penalties: list[Pruned]


def edits_of(kept: Kept, n_heads: int) -> list[str]:
    """The lines that take all other heads from the shipped model, on Explore and in `Model.trace`."""
    gone = {at: [str(head) for head in range(n_heads) if head not in left] for at, left in kept.items()}
    return [f"{at} heads {','.join(heads)}: zero" for at, heads in gone.items() if heads]


def shipped() -> Shipped:
    """Raises FileError where the file is not there."""
    read = read_json(RESULT)
    penalties = [
        Pruned(
            penalty=each["penalty"], kept=each["kept"],
            trained=Quality(**each["trained"]), cut=Quality(**each["cut"]),
        )
        for each in read["penalties"]
    ]  # fmt: skip
    penalties.sort(key=lambda each: -n_kept(each.kept))
    return Shipped(
        model=read["model"], sentences=read["sentences"], whole=Quality(**read["whole"]), penalties=penalties
    )


def measure(model: None, tell: Tell, *, sentences: int) -> Outcome:
    """What shipped, and the same heads cut from the shipped translator now."""
    known = shipped()
    lm = load_model(known.model)
    cut: list[Quality] = []
    for each in known.penalties:
        cut.append(quality(lm, sentences, each.kept))
        tell(len(cut) / len(known.penalties))
    return _outcome(known, cut, sentences, lm.config.n_heads)


def _outcome(known: Shipped, cut: list[Quality], sentences: int, n_heads: int) -> Outcome:
    enough = [each for each in known.penalties if each.trained.translation >= known.whole.translation - _LOST]
    fewest = enough[-1] if enough else known.penalties[0]
    shares = {family: fewest.share(family, n_heads) for family in FAMILIES}
    n_all = n_heads * len(fewest.kept)
    n_encoder = n_heads * sum(address.startswith("encoder") for address in fewest.kept)
    most = round(_OF_ENCODER * n_encoder)
    return Outcome(
        numbers=(
            Number(label=f"sentences right, all {n_all} heads", value=known.whole.translation, digits=3),
            Number(label="fewest heads that lose 0.01 or less", value=n_kept(fewest.kept), digits=0),
            Number(label="sentences right with them", value=fewest.trained.translation, digits=3),
            Number(label="pronouns right with them", value=fewest.trained.pronoun, digits=3),
            Number(
                label="share of the encoder's heads among them", value=shares["encoder.self"],
                published="0.21 (10 of 48)",
            ),
            Number(label="share of the decoder's own heads", value=shares["decoder.self"]),
            Number(label="share of the heads that look across", value=shares["decoder.cross"]),
        ),
        holds=(
            bool(enough)
            and round(n_encoder * shares["encoder.self"]) <= most
            and shares["encoder.self"] <= shares["decoder.self"] <= shares["decoder.cross"]
        ),
        said=_said(known, fewest, cut, sentences, n_heads),
        charts=_charts(known, cut, n_heads),
    )  # fmt: skip


def _said(known: Shipped, fewest: Pruned, cut: list[Quality], sentences: int, n_heads: int) -> str:
    now = cut[known.penalties.index(fewest)]
    blind = [each for each in known.penalties if not each.share("encoder.self", n_heads)]
    without = (
        f" Once the encoder's last heads are gone, with {n_kept(blind[0].kept)} left, "
        f"{blind[0].trained.pronoun:.1%} of the pronouns are right."
        if blind
        else ""
    )
    return (
        f"{n_kept(fewest.kept)} heads translate {fewest.trained.translation:.1%} of {known.sentences:,} "
        f"held-out sentences right once trained on, and {fewest.trained.pronoun:.1%} of the pronouns. Merely "
        f"cut, these heads alone make it {now.translation:.1%} of the {sentences:,} measured now.{without}"
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
    name="pruning",
    title="Pruning heads",
    claim=(
        "Few heads do the work. With a penalty on every head that is open, a trained translator learns to do "
        "without most: 38 of 48 encoder heads go for 0.15 BLEU. Heads of the encoder go first, those that "
        "look from the decoder to the source last."
    ),
    paper=(
        "Voita et al. 2019, Analyzing Multi-Head Self-Attention, section 6; gates as in Louizos et al. 2018, "
        "Learning Sparse Neural Networks through L0 Regularization"
    ),
    rule=(
        "where at most one sentence in a hundred fewer is right, at most 10 in 48 of the encoder's heads are "
        "left, rounded to whole heads (2 of 8); the decoder keeps as large a share of its own or a larger "
        "one, and the largest of those that look across"
    ),
    caveat=(
        "Learnt beforehand on the shipped translator, one run a penalty, and made again by `python -m "
        "models.findings.make pruning`: 600 steps with drawn gates, 200 with each at 0 or 1, on the loss of "
        "translating alone. What is measured now is the shipped model with the same heads cut, nothing "
        "trained on. The translator has 24 heads and a small grammar, so whole sentences are counted, not "
        "BLEU."
    ),
    model="",
    needs="",
    fits=lambda sizes: False,
    measure=measure,
    parameters=(Parameter(name="sentences", label="Held-out sentences", default=100, low=20, high=1000),),
    code=(quality, shipped, edits_of),
)
