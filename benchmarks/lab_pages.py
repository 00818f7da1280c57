"""The pages of the lab: sliders that the browser moves alone, controls that ask the server, first visits."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page

from benchmarks import servers
from benchmarks.paint import FRAME_BUDGET_MS, PAUSE_MS, Slider, alone, drag, take_turns, visit
from benchmarks.probe import Times, open_page, press_to_paint
from benchmarks.setting import Setting, print_table, verdict

AT_MOST_FLOOR = 2
AT_MOST_EMPTY = 2
# Parts whose board has a slider, by page.
SCRUBS = {
    "attention": ("worked",),
    "softmax": ("spread", "dots", "head", "formats"),
    "heads": ("cut", "contributions", "cost", "recut"),
    "masks": ("reach", "cost", "late"),
    "positions": ("waves", "shift", "learned", "rotary", "biases", "schemes"),
    "block": ("flow", "depth", "norms", "lens"),
    "translation": ("flow", "three", "beam", "sampling", "forcing"),
    "objective": ("targets", "loss", "gradient", "warmup"),
    "design": ("paths", "layers", "calculator", "memory"),
}


@dataclass(frozen=True, eq=False)
class Control:
    """What a person changes on a part of a page: its role and its accessible name; `texts`: what is typed
    into a textbox that takes no numbers, one after another.
    """

    page: str
    part: str
    role: str
    name: str
    link: dict[str, str | int] = field(default_factory=dict)
    texts: tuple[str, ...] = ()

    def url(self, setting: Setting) -> str:
        return address(setting, self.page, self.part, **self.link)


NOUNS = ("dog", "cat", "fox", "goat", "rabbit", "horse", "donkey", "duck", "mouse", "bird", "wolf", "otter")
SENTENCES = tuple(
    f"the {noun} did not {verb} because it was too {how}"
    for how in ("tired", "ill", "young")
    for verb in ("cross the street", "cross the river")
    for noun in NOUNS
)
CONTROLS = (
    Control("attention", "steps", "radiogroup", "Step"),
    Control("attention", "steps", "textbox", "animal, living"),
    Control("attention", "worked", "textbox", "q1, k1"),
    Control("attention", "order", "spinbutton", "Seed of the weights"),
    Control("attention", "films", "textbox", "Ana, action"),
    Control("softmax", "spread", "spinbutton", "Seed of the random numbers"),
    Control("softmax", "dots", "spinbutton", "Seed of the random numbers"),
    Control("softmax", "head", "radiogroup", "Layer"),
    Control("heads", "cut", "slider", "Seed", {"model": "random"}),
    Control("heads", "contributions", "slider", "Seed", {"model": "random"}),
    Control("heads", "cost", "slider", "Tokens"),
    Control("heads", "recut", "slider", "Seed", {"model": "random"}),
    Control("masks", "mask", "slider", "Words"),
    Control("masks", "mask", "button", "I, <start>"),
    Control("masks", "reach", "slider", "Words"),
    Control("masks", "cost", "radiogroup", "Words"),
    Control("masks", "padding", "slider", "Seed"),
    Control("masks", "graph", "slider", "Seed"),
    Control("positions", "waves", "radiogroup", "d_model"),
    Control("positions", "shift", "slider", "position p"),
    Control("positions", "rotary", "slider", "seed of q and k"),
    Control("positions", "biases", "radiogroup", "heads"),
    Control("positions", "schemes", "radiogroup", "layer"),
    Control("positions", "order", "slider", "seed of the weights"),
    Control("positions", "length", "slider", "held-out text"),
    Control("block", "flow", "spinbutton", "Seed"),
    Control("block", "flow", "radiogroup", "Activation"),
    Control("block", "depth", "spinbutton", "Seed"),
    Control("block", "depth", "radiogroup", "Activation"),
    Control("block", "norms", "spinbutton", "Seed"),
    Control("block", "norms", "slider", "Tokens"),
    Control("block", "lens", "textbox", "Text"),
    Control("translation", "flow", "textbox", "Sentence", texts=SENTENCES),
    Control("translation", "three", "textbox", "Sentence", texts=SENTENCES[::-1]),
    Control("translation", "beam", "slider", "Beam width"),
    Control("translation", "beam", "slider", "Exponent α"),
    Control("translation", "sampling", "slider", "Seed"),
    Control("translation", "forcing", "textbox", "Word put there", texts=NOUNS),
    Control("objective", "targets", "spinbutton", "Seed of the weights"),
    Control("objective", "loss", "textbox", "q, thanks"),
    Control("objective", "letters", "textbox", "Text"),
    Control("objective", "gradient", "radiogroup", "Step size η"),
    Control("objective", "gradient", "textbox", "z, thanks"),
    Control("objective", "warmup", "slider", "d_model"),
    Control("design", "paths", "slider", "Words n"),
    Control("design", "layers", "slider", "Channels d"),
    Control("design", "layers", "radiogroup", "Kernel k"),
    Control("design", "calculator", "spinbutton", "n_layers"),
    Control("design", "memory", "switch", "Checkpointing"),
)


def address(setting: Setting, page: str, part: str, **more: str | int) -> str:
    return f"{setting.app.url}/{page}?{urlencode({'part': part, **more})}"


def scrubs(setting: Setting) -> None:
    """The sliders of the boards, moved by an arrow key: from the press to the painted board."""
    rows = []
    for page, parts in SCRUBS.items():
        for part in parts:
            url = address(setting, page, part)
            times, sent = alone(setting, url, lambda page: drag(page, ".scrub input"))
            within = "yes" if times.p95 <= FRAME_BUDGET_MS else "NO"
            rows.append([f"{page}: {part}", f"{times.median:.0f}", f"{times.p95:.0f}", within, sent])
    columns = ["slider of", "median ms", "p95 ms", f"p95 ≤ {FRAME_BUDGET_MS} ms", "messages to the server"]
    print_table(f"Lab pages: what the browser does alone ({setting.rounds} each)", columns, rows)


def controls(setting: Setting) -> None:
    """Other controls, and cells that are written into: from the press to the board drawn from new numbers.

    One page after the other, each in turns with the floor: a browser with fifty tabs is slow at everything.
    """
    rows = [row for name in SCRUBS for row in controls_of(setting, name)]
    columns = ["control", "median ms", "p95 ms", "× floor"]
    print_table(f"Lab pages: a control changed → board painted ({setting.rounds} each)", columns, rows)


def controls_of(setting: Setting, name: str) -> list[tuple[str, ...]]:
    """The rows of one page, the floor's first."""
    floor = Slider.open(setting, setting.echo.url, "value", servers.ECHOED)
    pages = {c: open_part(setting, c.url(setting)) for c in CONTROLS if c.page == name}
    presses = {c: changes(page, c) for c, page in pages.items()}
    measures: dict[str, Callable[[], float]] = {"floor": floor.move}
    measures |= {told(c): lambda c=c: press(pages[c], presses[c]) for c in pages}
    times = take_turns(setting.rounds, measures)
    for page in (floor.page, *pages.values()):
        page.context.close()
    least = times.pop("floor")
    rows: list[tuple[str, ...]] = [
        (f"beside {name}: a plain page echoes a slider", *milliseconds(least), "1")
    ]
    for what, mine in times.items():
        rows.append((what, *milliseconds(mine), verdict(mine.median / least.median, AT_MOST_FLOOR)))
    return rows


def milliseconds(times: Times) -> tuple[str, str]:
    return f"{times.median:.0f}", f"{times.p95:.0f}"


def told(control: Control) -> str:
    return f"{control.page}, {control.part}: {control.role} {control.name!r}"


def open_part(setting: Setting, url: str) -> Page:
    page = open_page(setting.browser)
    page.goto(url)
    page.locator(".board[data-generation]").wait_for()
    page.wait_for_timeout(10 * PAUSE_MS)
    return page


def changes(page: Page, control: Control) -> Iterator[str]:
    """Without end: makes one change ready, with the focus on its target, and tells the key that makes it."""
    target = page.get_by_role(control.role, name=control.name).first  # type: ignore[arg-type]
    for turn in itertools.count():
        match control.role:
            case "slider":
                yield from along(target)
            case "spinbutton":
                target.focus()
                yield "ArrowUp"
            case "textbox":
                texts = control.texts or [f"{at / 10:g}" for at in range(90)]
                target.fill(texts[turn % len(texts)])
                yield "Enter"
            case "radiogroup":
                target.get_by_role("radio", checked=False).first.focus()
                yield "Space"
            case _:
                target.focus()
                yield "Space"


def along(slider: Locator) -> Iterator[str]:
    """Keys that move a slider to its end and back."""
    for key, end in {"ArrowRight": "max", "ArrowLeft": "min"}.items():
        while slider.input_value() != slider.get_attribute(end):
            slider.focus()
            yield key


def press(page: Page, presses: Iterator[str]) -> float:
    page.bring_to_front()
    key = next(presses)
    page.wait_for_timeout(PAUSE_MS)
    return press_to_paint(page, lambda: page.keyboard.press(key), servers.DRAWN_FROM_NEW_DATA)


def first_visit(setting: Setting) -> None:
    measures: dict[str, Callable[[], float]]
    measures = {"empty": lambda: visit(setting, setting.empty.url, servers.FIRST_WORDS)}
    for page in SCRUBS:
        url = f"{setting.app.url}/{page}"
        measures[page] = lambda url=url: visit(setting, url, servers.DRAWN)
    times = take_turns(setting.rounds, measures)
    empty = times.pop("empty")
    rows = [["empty Streamlit page: its one word", f"{empty.median:.0f}", f"{empty.p95:.0f}", "1"]]
    for name, mine in times.items():
        ratio = verdict(mine.median / empty.median, AT_MOST_EMPTY)
        rows.append([f"{name}: its board", f"{mine.median:.0f}", f"{mine.p95:.0f}", ratio])
    columns = ["page", "median ms", "p95 ms", "× empty page"]
    print_table("Lab pages: first visit, nothing cached in the browser", columns, rows)
