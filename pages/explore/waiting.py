"""Where a figure of Explore is computed: by the server, or, in a class, by the process for expensive work;
how much of it is done, and whether somebody still waits for it.
"""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from attention_lab.models.limits import in_force
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import operations_of
from attention_lab.pages.shared import cache, server_load, st, visitors, work_process
from attention_lab.pages.shared.work import BILLION, Job, this_asker


def is_dear(inputs: Inputs, price: int | None = None) -> bool:
    """Whether the figure of these inputs would make other visitors of a class wait.

    price: the operations of another figure of theirs, by default those of a trace.
    """
    if not visitors.is_class():
        return False
    return (operations_of(inputs) if price is None else price) > BILLION * in_force().cheap_billions


def runner(
    inputs: Inputs, price: int | None = None, *, is_wanted: Callable[[], Any] = lambda: None
) -> Callable[..., Any]:
    """Function that calls another one, with its arguments, where the figure of these inputs is computed.

    It is made on a thread that knows the visitor, and may be called on any. The functions that it calls are
    at a module's top level. is_wanted: see Job.outcome.
    """
    if not is_dear(inputs, price):
        return _call_here
    place = f"figure of {visitors.visitor().id}"
    return partial(work_process.figures.call, place=place, asker=this_asker(), is_wanted=is_wanted)


def _call_here(function: Callable[..., Any], *arguments: Any) -> Any:
    server_load.check_memory()
    return function(*arguments)


def still_wanted() -> None:
    """Reads the session: Streamlit then raises if the visitor has left or asked for something else."""
    st.session_state.get("page")


class Waiting(Job):
    """Somebody who waits for a figure. The thread that computes says how much is done; another reads it."""

    def __init__(self) -> None:
        super().__init__(request=None)
        self.progress = "Computing: the model is opened first."

    def note_layers(self, n_done: int, n_layers: int) -> None:
        """Hears how many layers are computed. Raises StoppedError once nobody waits."""
        self.progress = f"Computing the figure: {n_done} of {n_layers} layers are done."
        self.check()

    def note_share(self, share: float) -> None:
        """Hears which share of many passes is done. Raises StoppedError once nobody waits."""
        self.progress = f"Computing: {share:.0%} is done."
        self.check()

    def note_dear(self, inputs: Inputs, price: int | None) -> None:
        """Says how an expensive figure is computed."""
        operations = operations_of(inputs) if price is None else price
        self.progress = (
            f"This takes up to {operations / BILLION:,.3g} billion operations, in at most "
            f"{in_force().dear_seconds} seconds."
        )


def computed(
    where: cache.ByteCache, key: Hashable, size: Callable[[Any], int], inputs: Inputs, price: int | None,
    waiting: Waiting, function: Callable[..., Any], *arguments: Any, **told: Any,
) -> Any:  # fmt: skip
    """A figure of these inputs, from a cache or from where it is computed: `function` of its arguments.

    size: the bytes of a figure. price: as `is_dear` takes it. told: keywords that hear how much is done, and
    end the work; another process, which is ended as a whole, gets none.
    """
    known = where.get(key)
    if known is not None:
        return known
    dear, run = is_dear(inputs, price), runner(inputs, price, is_wanted=waiting.check)

    def make() -> tuple[Any, int]:
        result = run(function if dear else partial(function, **told), *arguments)
        return result, size(result)

    if not dear:
        return cache.cached(where, key, make, waiting.check)
    waiting.note_dear(inputs, price)
    result, n_bytes = make()
    where.put(key, result, n_bytes)
    return result


Maker = Callable[..., dict[str, Any]]


def answer_request(
    name: str,
    inputs: Inputs,
    what: tuple[Any, ...],
    waiting: Waiting,
    maker: Maker,
    price: Callable[..., int] | None = None,
    *,
    tells: bool = False,
    of: Callable[[Inputs], Hashable] = lambda inputs: inputs,
) -> dict[str, Any]:
    """A figure beside the trace: `what` was "asked", with the answer, or the "problem" that forbids it.

    maker: is called with the inputs and `what`; one at a module's top level. price: of the same, the
    operations that it takes, by default those of a trace. tells: whether it takes a function `progress` as
    well, which ends it where nobody waits. of: the part of the inputs that the answer depends on.
    """
    operations = price(inputs, *what) if price else operations_of(inputs)
    offer = offer_of(inputs.model)
    key = (name, of(inputs), offer.stamp if offer else None, *what)
    told = {"progress": waiting.note_share} if tells else {}
    try:
        answer = computed(
            cache.results, key, lambda result: cache.held_by(str(result)) + 1_000,
            inputs, operations, waiting, maker, inputs, *what, **told,
        )  # fmt: skip
    except ValueError as error:
        answer = {"problem": f"{str(error).removesuffix('.')}."}
    return {"asked": list(what), **answer}
