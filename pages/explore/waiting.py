"""Where a figure of Explore is computed: by the server, or, in a class, by the process for what is dear; and
what the page says meanwhile.
"""

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from attention_lab.models.limits import in_force
from attention_lab.models.zoo.offers import offer_of
from attention_lab.pages.explore import controls
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import operations_of
from attention_lab.pages.shared import cache, server_load, st, visitors, work_process
from attention_lab.pages.shared.page_parts import last, redraw
from attention_lab.pages.shared.st import DeltaGenerator
from attention_lab.pages.shared.state import refuse
from attention_lab.pages.shared.work import BILLION, this_asker

SOON, LONG = 0.25, 2.0
"""After so many seconds the page says what is computed, and offers to stop it."""
STOP, STOPPED = "computing.stop", "computing.stopped"
_waits: WeakKeyDictionary[DeltaGenerator, int] = WeakKeyDictionary()
"""How often a page has waited in a slot, which is a new one in every run."""
AGAIN = "Compute it after all"


class StoppedError(Exception):
    """Nobody waits for this figure any more."""


def is_dear(inputs: Inputs, price: int | None = None) -> bool:
    """Whether the figure of these inputs would make other visitors of a class wait.

    price: the operations of another figure of theirs, by default those of a trace.
    """
    operations = operations_of(inputs) if price is None else price
    return visitors.is_class() and operations > BILLION * in_force().cheap_billions


def runner(
    inputs: Inputs, price: int | None = None, *, is_wanted: Callable[[], Any] = lambda: None
) -> Callable[..., Any]:
    """Function that calls another one, with its arguments, where the figure of these inputs is computed.

    It is made on the thread of the page, which knows the visitor, and may be called on any. The functions
    that it calls are at a module's top level. is_wanted: see Job.outcome.
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


class Waiting:
    """A page that waits for a figure: it says how far that is, and offers to stop it.

    The page's thread looks, the one that computes tells. slot: an `st.empty`, or None for no words.
    """

    def __init__(self, inputs: Inputs, slot: DeltaGenerator | None, price: int | None = None) -> None:
        self._inputs, self._slot, self._is_dear = inputs, slot, is_dear(inputs, price)
        self._begun = time.monotonic()
        self._layers = (0, 0)
        self._share: float | None = None
        self._stopped = threading.Event()
        self._place: DeltaGenerator | None = None
        self._text: DeltaGenerator | None = None
        self._said = ""
        self._offers = False
        self._before = 0 if slot is None else _waits.get(slot, 0)  # no key may come twice in one run
        if slot is not None:
            _waits[slot] = self._before + 1

    def note_layers(self, n_done: int, n_layers: int) -> None:
        """Hears how many layers are computed. Raises StoppedError once nobody waits."""
        self._layers = (n_done, n_layers)
        if self._stopped.is_set():
            raise StoppedError

    def note_share(self, share: float) -> None:
        """Hears which share of many passes is done. Raises StoppedError once nobody waits."""
        self._share = share
        if self._stopped.is_set():
            raise StoppedError

    def check(self) -> None:
        """To be called again and again; raises where nobody waits any more."""
        from attention_lab.pages.shared.streamlit_internals import is_pressed

        still_wanted()
        if is_pressed(self._key(STOP)):
            st.rerun()
        seconds = time.monotonic() - self._begun
        if self._slot is None or seconds < SOON:
            return
        if not self._is_dear:
            self.say(self._progress())
        # Of what is shown already, another part is computed in as long as the first: nothing to stop for.
        if seconds > LONG and not self._offers and self._place and last("explore", None) != self._inputs:
            self._offers = True
            self._place.button("Stop", key=self._key(STOP), on_click=_stop, args=(self._inputs,))

    def _key(self, name: str) -> str:
        return f"{name}-{self._before}" if self._before else name

    def _progress(self) -> str:
        if self._share is not None:
            return f"Computing: {self._share:.0%} of the most that it takes is done."
        n_done, n_layers = self._layers
        if n_layers:
            return f"Computing the figure: {n_done} of {n_layers} layers are done."
        return "Computing the figure: its model is opened and its text read first."

    def say(self, text: str) -> None:
        """Shows a text in the slot, if it is not there already."""
        if self._slot is None or text == self._said:
            return
        if self._place is None or self._text is None:
            key = self._key("figure_waits")
            self._place = self._slot.container(key=key, horizontal=True, vertical_alignment="center")
            self._text = self._place.empty()
        self._text.html(f'<div class="computing" role="status">{text}</div>')
        self._said = text

    def end(self) -> None:
        """Takes the words away; who still computes hears that nobody waits."""
        self._stopped.set()
        if self._slot is not None and self._said:
            self._slot.empty()


@contextmanager
def waiting_for(inputs: Inputs, slot: DeltaGenerator | None, price: int | None = None) -> Iterator[Waiting]:
    """Within it, a page waits for a figure; of a dear one it says at once how it is computed."""
    waiting = Waiting(inputs, slot, price)
    if is_dear(inputs, price):
        operations = operations_of(inputs) if price is None else price
        waiting.say(
            f"This figure takes up to {operations / BILLION:,.3g} billion operations: a process of its own "
            f"computes it, in at most {in_force().dear_seconds} seconds, after what others asked for."
        )
    try:
        yield waiting
    finally:
        waiting.end()


def forget_stopped(inputs: Inputs) -> None:
    """Takes note of what is asked for now: anything new forgets what was stopped."""
    if STOPPED in st.session_state and st.session_state[STOPPED][1] != inputs:
        del st.session_state[STOPPED]


def _stop(inputs: Inputs) -> None:
    """Shows again what was shown before; what was stopped can be asked for once more."""
    previous = last("explore", Inputs())
    controls.put_back(previous)
    st.session_state[STOPPED] = (inputs, previous)
    refuse("The figure was stopped; the one before it stays, with its model and its text.")
    redraw("lab")


def offer_again() -> None:
    """Draws the button for a figure that was stopped."""
    if STOPPED in st.session_state:
        st.button(AGAIN, key="computing.again", on_click=_again)


def _again() -> None:
    if STOPPED in st.session_state:
        controls.put_back(st.session_state.pop(STOPPED)[0])
    redraw("lab")


# What the stage asks to have computed beside the trace, for what it shows at that moment and no longer.

Maker = Callable[..., dict[str, Any]]


def note_request(name: str, *what: Any) -> None:
    """Notes that the stage wants this of what it shows now."""
    st.session_state[f"request.{name}"] = (last("explore", Inputs()), what)


def answer_request(
    name: str,
    inputs: Inputs,
    slot: DeltaGenerator | None,
    maker: Maker,
    price: Callable[..., int] | None = None,
    *,
    tells: bool = False,
    of: Callable[[Inputs], Hashable] = lambda inputs: inputs,
) -> dict[str, Any]:
    """What was noted under this name as "asked", with what was computed, or the "problem" that forbids it;
    nothing where nothing was noted of these inputs.

    maker: is called with the inputs and what was noted; one at a module's top level. price: of the same, the
    operations that it takes, by default those of a trace. tells: whether it takes a function `progress` as
    well, which ends it where nobody waits. of: the part of the inputs that the answer depends on.
    """
    noted, what = st.session_state.get(f"request.{name}", (None, ()))
    if noted is None or of(noted) != of(inputs):
        return {}
    operations = price(inputs, *what) if price else operations_of(inputs)
    offer = offer_of(inputs.model)
    key = (name, of(inputs), offer.stamp if offer else None, *what)
    answer = cache.results.get(key)
    try:
        if answer is None:
            with waiting_for(inputs, slot, operations) as waiting:
                dear = is_dear(inputs, operations)
                run = runner(inputs, operations, is_wanted=waiting.check)
                # Another process cannot call this one's functions; it is ended as a whole.
                run_maker = partial(maker, progress=waiting.note_share) if tells and not dear else maker

                def make() -> tuple[dict[str, Any], int]:
                    result = run(run_maker, inputs, *what)
                    return result, cache.held_by(str(result)) + 1_000

                if dear:
                    answer, size = make()
                    cache.results.put(key, answer, size)
                else:
                    answer = cache.cached(cache.results, key, make, waiting.check)
    except ValueError as error:
        answer = {"problem": f"{str(error).removesuffix('.')}."}
    return {"asked": list(what), **answer}
