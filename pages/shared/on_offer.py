"""The models that this visitor may open: those that the limits allow, and the runs that they may see."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from attention_lab.models.fields import Rule, checked, nearest, shortened, text
from attention_lab.models.limits import in_force
from attention_lab.models.runs.owners import visible_run
from attention_lab.models.zoo import MEMBERS
from attention_lab.models.zoo.catalogue import HUB, OWN, RUN, offer_of, offers
from attention_lab.models.zoo.families import FAMILIES
from attention_lab.models.zoo.hub.model_folder import is_path, open_folder, openable_names
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.training import uploads

RUNS = "runs"
"""Stands for all runs in the limits' list of models."""
OF_VISITORS = "own"
"""Stands for all attention that visitors hand in."""


def may_open(name: str) -> bool:
    """Whether there is a model of this name for this visitor."""
    allowed, run = in_force().models, RUN.fullmatch(name)
    if run:
        return (not allowed or RUNS in allowed) and visible_run(run[1], visitors.visitor()) is not None
    if HUB.fullmatch(name):
        return may_name(name) and offer_of(name) is not None
    if OWN.fullmatch(name):
        return takes_own() and uploads.FILE.fits(file_of(name)) and offer_of(name) is not None
    family = name.partition("/")[0] if name in MEMBERS else name
    return family in offers() and (not allowed or family in allowed)


def may_name(name: str) -> bool:
    """Whether this visitor may name a model of transformers: in a class, no folder of the server."""
    allowed = in_force().models
    return (not allowed or name in allowed) and not (is_path(name) and visitors.is_class())


def check() -> None:
    """Raises ValueError where the limits name a model that is not there."""
    known = [*offers(), RUNS, OF_VISITORS]
    for name in in_force().models:
        if name not in known and not HUB.fullmatch(name):
            raise ValueError(
                f"models={shortened(str(list(in_force().models)))}: there is no {shortened(repr(name))}; "
                f"{nearest(name, known)}"
            )


def models() -> list[str]:
    """The names of all models to choose from, without runs and without those of transformers."""
    return [name for name in offers() if may_open(name)]


def members(name: str) -> list[str]:
    """The names of all models of the family that a name is of, or is a member of; none for other models."""
    family = FAMILIES.get(name.partition("/")[0])
    return list(family.members()) if family else []


def of_transformers() -> list[str]:
    """The names of the models of transformers on this machine that this visitor may open."""
    return [name for name in openable_names() if may_open(name)]


def takes_own() -> bool:
    """Whether the limits' list of models lets visitors see attention of their own."""
    allowed = in_force().models
    return not allowed or OF_VISITORS in allowed


def listed() -> list[str]:
    """The names of all models to choose from, with those of transformers, and without runs."""
    return [*models(), *of_transformers()]


def menu(names: Sequence[str], chosen: str) -> dict[str, Any]:
    """What a menu of models is drawn with; one that is chosen may be none of them."""
    return {"options": list(dict.fromkeys([*names, chosen])), "format_func": named}


def model_rule(words: str, fits: Callable[[str], bool], always: Collection[str] = ()) -> Rule:
    """The name of a model that this visitor may open and that fits; those of `always` may be kept."""
    rule = text(words, lambda raw: str(checked(raw, lambda name: may_open(name) and fits(name))))
    return replace(rule, fits=lambda name: name in always or rule.fits(name))


def own() -> list[str]:
    """The names of the attention that this visitor handed in, the last used first."""
    names = (own_name(upload.name) for upload in uploads.mine("attention")) if takes_own() else ()
    return [name for name in names if may_open(name)]


def own_name(file: str) -> str:
    """The name, in links and lists, of a file of attention."""
    return f"own:{file.partition('.')[0]}"


def file_of(name: str) -> str:
    """The file of attention of a name."""
    return f"{name.partition(':')[2]}.{uploads.ATTENTION}"


def title(name: str) -> str:
    """What a model is called; its name where it is gone."""
    offer = offer_of(name)
    return name if offer is None else offer.title


def named(name: str) -> str:
    """A model in a list: what it does, and what it is called."""
    offer = offers().get(name)
    return f"{offer.summary} ({offer.title})" if offer and offer.summary else title(name)


def refusal(name: str) -> str:
    """Why a link's model is not shown."""
    return f"{why_not(name)}; the default is shown."


def why_not(name: str) -> str:
    """Why a model cannot be opened, without a full stop; another visitor's run and a missing one read the
    same.
    """
    if RUN.fullmatch(name):
        return f"{name!r} is no run with a checkpoint on this machine"
    if OWN.fullmatch(name):
        if not takes_own():
            return f"visitors' own tensors are not among the models shown here, {', '.join(models())}"
        return (
            "these tensors are not here: a link opens them only in the browser that handed them in, within "
            f"{in_force().upload_days} days of their last use; hand them in again"
        )
    if not HUB.fullmatch(name):
        return f"{shortened(repr(name))} is not among the models shown here, {', '.join(models())}"
    if not may_name(name):
        allowed = [each for each in in_force().models if HUB.fullmatch(each)]
        if is_path(name):
            return "visitors cannot name folders of the server; give a model's name"
        return (
            f"{name!r} is not among the models allowed here, {', '.join(allowed) or 'none of transformers'}"
        )
    try:
        open_folder(name)
    except ValueError as error:
        return str(error)
    return f"{name!r} cannot be opened; choose another model"
