"""Path patching: what one head does through another alone (Wang et al. 2022; Goldowsky-Dill et al. 2023).

Wang et al. freeze the other heads alone: what the sender does goes to the receiver by the stream and through
every feed-forward layer between them. With these frozen, too, it goes by the stream directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from models.data.tasks import Reading
from models.engine.trace import Trace
from models.interventions.applied import Prepared, check_place
from models.interventions.direct import Summed, summed
from models.interventions.edit import Edit
from models.interventions.place import Place
from models.interventions.subject import Editing

INPUTS = ("q", "k", "v")
FeedForward = Literal["recomputed", "frozen"]
"""What feed-forward layers between the two heads do: hear of the edit, or add what they do without it."""


@torch.no_grad()
def path(
    model: Summed,
    reading: Reading,
    sender: Edit | str,
    receiver: Place | str,
    *,
    through: Sequence[str] = INPUTS,
    feed_forward: FeedForward = "recomputed",
    **settings: Any,
) -> Trace:
    """The pass in which an edit of a head acts on what receiving heads read from the stream, and on nothing
    else: compare it with the pass without any edit.

    sender: such as "encoder.0.self heads 2: zero". receiver: such as "encoder.1.self heads 3". through: which
    of q, k and v are read anew; k and v that heads share, for all that share them. First the sender is edited
    while what all other heads add is frozen, and with feed_forward="frozen" what feed-forward layers add, too
    (norms are computed anew); then the receiver's q, k and v are put into a pass without the edit: steps 2
    and 3 of Wang et al. 2022, appendix B. Raises ValueError where these do not fit the model, or its stream
    is no plain sum.
    """
    sender = Edit.read(sender) if isinstance(sender, str) else sender
    receiver = Place.read(receiver) if isinstance(receiver, str) else receiver
    own = _attention_of(sender.place)
    at = _attention_of(receiver)
    if not through or not set(through) <= set(INPUTS):
        raise ValueError(f"through={list(through)} is not of q, k and v; name at least one of them")
    if feed_forward not in get_args(FeedForward):
        raise ValueError(
            f"feed_forward={feed_forward!r} is neither 'recomputed' nor 'frozen'; give one of them"
        )
    check_place(model, reading, receiver)
    plain = {address: x for side in reading.tokens for address, x in _held(summed(model, reading, side))}
    order = list(plain)
    prepared = Prepared(model, reading, [sender], settings)
    if order.index(f"{own}.out") > order.index(f"{at}.q"):
        raise ValueError(
            f"{receiver} is computed before {sender.place}, so nothing can go from there to it; name a later "
            "receiver"
        )
    applied = prepared.applied(reading)

    kinds = (".self.out", ".cross.out", ".ff.out")[: None if feed_forward == "frozen" else 2]

    def frozen(address: str, value: Tensor) -> Tensor:
        if address.endswith(kinds) and address != f"{own}.out":
            return plain[address]
        return applied(address, value)

    heard = model.trace(reading, reduce=_only([f"{at}.{name}" for name in INPUTS]), edit=frozen)
    read = {f"{at}.{name}": heard[f"{at}.{name}"] for name in through}
    return model.trace(reading, edit=_receiving(read, receiver.heads, len(plain[f"{at}.q"])))


def _receiving(read: dict[str, Tensor], heads: tuple[int, ...] | None, n_heads: int) -> Editing:
    """Puts what these heads read in place of what they would; of k and v, for the key heads they share."""

    def received(address: str, value: Tensor) -> Tensor:
        if address not in read:
            return value
        chosen = range(n_heads) if heads is None else heads
        mine = sorted({head * len(value) // n_heads for head in chosen})
        made = value.clone()
        made[mine] = read[address][mine]
        return made

    return received


def _attention_of(place: Place) -> str:
    """The address of the attention whose heads are meant. Raises ValueError for another place."""
    if place.kind != "heads" or not place.address.endswith(".z") or place.at is not None:
        raise ValueError(f"{place}: a path goes from heads to heads; write such as encoder.0.self heads 2")
    return place.address.removesuffix(".z")


def _only(wanted: Sequence[str]) -> Any:
    return lambda address, x: x if address in wanted else None


def _held(trace: Trace) -> list[tuple[str, Tensor]]:
    return [(address, trace[address]) for address in trace]
