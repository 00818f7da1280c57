"""The models that this visitor may open: those that the limits allow, and the runs that they may see."""

from models.limits import in_force
from models.names import nearest
from models.zoo.offers import RUN, offers
from pages.shared.training import runs

RUNS = "runs"
"""Stands for all runs in the limits' list of models."""


def may_open(name: str) -> bool:
    """Whether there is a model of this name for this visitor."""
    allowed, run = in_force().models, RUN.fullmatch(name)
    if run:
        return (not allowed or RUNS in allowed) and runs.find(run[1]) is not None
    return name in offers() and (not allowed or name in allowed)


def check() -> None:
    """Raises ValueError where the limits name a model that is not there."""
    known = [*offers(), RUNS]
    for name in in_force().models:
        if name not in known:
            raise ValueError(
                f"models={list(in_force().models)}: there is no {name!r}; {nearest(name, known)}"
            )


def models() -> list[str]:
    """The names of all models to choose from, without runs."""
    return [name for name in offers() if may_open(name)]


def refusal(name: str) -> str:
    """Why a link's model is not shown; another visitor's run and a missing one read the same."""
    if RUN.fullmatch(name):
        return f"{name!r} is no run with a checkpoint on this machine; the default is shown."
    return f"{name!r} is not among the models shown here, {', '.join(models())}; the default is shown."
