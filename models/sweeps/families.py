"""Families of shipped models as sweeps that have finished: each member is a trial, and opens in Explore."""

from functools import cache
from statistics import fmean

from ..config import ModelConfig
from ..runs.folder import Status
from ..runs.recipes import RECIPES
from ..zoo.families import FAMILIES, Family
from ..zoo.folders import CARD, SHIPPED, read_card
from .spec import Choices, Spec
from .sweep import Phase, Sweep, Trial

SENTENCE = (
    "The models of this sweep come with the app, so nobody can stop or delete it; press a trial to open its "
    "model in Explore"
)


class FamilySweep(Sweep):
    """A family, with what its members scored when `benchmarks.families` asked, else what their cards hold."""

    def __init__(self, family: Family) -> None:
        super().__init__(SHIPPED / family.name)
        self.family, self.shipped, self.repeats = family, True, not family.alone

    @property
    def spec(self) -> Spec:
        """Its dials vary; the rest is its recipe's."""
        recipe, trials = RECIPES[self.family.member(self.family.first)], self.trials()
        fixed = recipe.options | recipe.sizes | recipe.training
        return Spec(
            name=self.name,
            task=recipe.task,
            space={name: Choices(tuple(values)) for name, values in self.family.dials.items()},
            fixed={name: value for name, value in fixed.items() if name not in self.family.dials},
            seeds=trials[0].n,
            trials=len(trials),
            score=self.family.scores[0],
        )

    def status(self) -> Status:
        """It has finished; its seconds are those of the members that ship."""
        n, seconds = len(self.trials()), sum(trial.seconds or 0.0 for trial in self.trials())
        return Status(state="finished", step=n, steps=n, seconds=seconds, sentence=SENTENCE)

    def trials(self) -> list[Trial]:
        """Its members, in the family's order."""
        return [_trial(self.name, at, member) for at, member in enumerate(self.family.members())]

    def importance(self) -> dict[str, float]:
        """Nothing: no member was drawn by chance."""
        return {}


@cache
def _trial(name: str, number: int, member: str) -> Trial:
    family, card = FAMILIES[name], read_card(SHIPPED / member / CARD)
    values, config = family.members()[member], ModelConfig.from_dict(card["config"])
    changed, seeds = family.changed(values), family.scored().get(member) or [card["metrics"]]
    read = {**config.to_dict(), "n_kv_heads": config.key_heads}  # a dial may follow another
    main, *others = family.scores
    return Trial(
        number=number,
        settings={dial: read.get(dial, value) for dial, value in values.items()},
        state=Phase.COMPLETE,
        value=fmean(each[main] for each in seeds),
        values={seed: each[main] for seed, each in enumerate(seeds)},
        seconds=card["training"].get("seconds"),
        link={"model": name, **{dial: str(value) for dial, value in changed.items()}},
        turned=changed if family.alone else {},
        others={score: fmean(each[score] for each in seeds) for score in others},
    )
