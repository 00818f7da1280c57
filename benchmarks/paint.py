"""From a person's input to the painted figure: controls, what the browser does alone, first visits."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from playwright.sync_api import Locator, Page

from benchmarks import servers
from benchmarks.probe import Times, first_paint, open_page, press_to_paint
from benchmarks.setting import Setting, print_table, verdict
from tools.background_servers import serving_the_app

WARM_UPS = 3
PAUSE_MS = 300  # lets the last interaction's aftermath end before the next page's turn
SECONDS_BETWEEN_ROUNDS = 2
TOKENS = (32, 128, 512)
AT_MOST_FLOOR = {1: {32: 1.2, 128: 1.4, 512: 2.5}, 4: {32: 1.6, 128: 1.8, 512: 4.0}}
"""By layers and tokens, beside a page that echoes a slider under the app's own settings."""
AT_MOST_SUBPLOTS = {32: 0.25, 512: 0.1}
FRAME_BUDGET_MS = 50
COLD_STARTS = 3


@dataclass
class Slider:
    """A page with a slider that is moved by its arrow key."""

    page: Page
    name: str
    effect: str

    @classmethod
    def open(cls, setting: Setting, url: str, name: str, effect: str) -> "Slider":
        page = open_page(setting.browser)
        page.goto(url)
        page.get_by_role("slider", name=name).wait_for()
        page.wait_for_timeout(10 * PAUSE_MS)
        return cls(page, name, effect)

    def move(self) -> float:
        self.page.bring_to_front()
        self.page.get_by_role("slider", name=self.name).focus()
        self.page.wait_for_timeout(PAUSE_MS)
        return press_to_paint(self.page, lambda: self.page.keyboard.press("ArrowRight"), self.effect)


def take_turns(rounds: int, measures: dict[str, Callable[[], float]]) -> dict[str, Times]:
    """Measure each in turn, `rounds` times after a few warm-ups, so that all share the machine's moods."""
    times = {name: Times() for name in measures}
    for turn in range(-WARM_UPS, rounds):
        time.sleep(SECONDS_BETWEEN_ROUNDS)
        for name, measure in measures.items():
            ms = measure()
            if turn >= 0:
                times[name].ms.append(ms)
    return times


def controls(setting: Setting) -> None:
    sliders = {"floor": Slider.open(setting, setting.echo.url, "value", servers.ECHOED)}
    for n_layers, n in itertools.product(AT_MOST_FLOOR, TOKENS):
        url = f"{setting.app.url}/?{servers.untrained(n, n_layers=n_layers, view='grid')}"
        sliders[f"Explore {n_layers} {n}"] = Slider.open(setting, url, "Seed", servers.DRAWN_FROM_NEW_DATA)
    for n in TOKENS:  # last, so that nobody's turn comes right after the slowest
        url = f"{setting.subplots.url}/?tokens={n}"
        sliders[f"subplots {n}"] = Slider.open(setting, url, "seed", servers.SUBPLOTS_DRAWN)
    times = take_turns(setting.rounds, {name: slider.move for name, slider in sliders.items()})
    floor = times["floor"]
    rows = [["plain page that echoes a slider (floor)", f"{floor.median:.0f}", f"{floor.p95:.0f}", "1", ""]]
    for n in TOKENS:
        plots = times[f"subplots {n}"]
        for n_layers, at_most in AT_MOST_FLOOR.items():
            mine = times[f"Explore {n_layers} {n}"]
            to_plots = mine.median / plots.median
            beside = verdict(to_plots, AT_MOST_SUBPLOTS[n]) if n in AT_MOST_SUBPLOTS else f"{to_plots:.2f}"
            name = f"Explore, {n_layers} layer{'s' * (n_layers > 1)} of 8 heads, {n} tokens"
            to_floor = verdict(mine.median / floor.median, at_most[n])
            rows.append([name, f"{mine.median:.0f}", f"{mine.p95:.0f}", to_floor, beside])
        to_floor = f"{plots.median / floor.median:.2f}"
        name = f"eight Plotly subplots, {n} tokens"
        rows.append([name, f"{plots.median:.0f}", f"{plots.p95:.0f}", to_floor, "1"])
    print_table(
        f"A control changed → figure painted ({setting.rounds} changes each)",
        ["page", "median ms", "p95 ms", "× floor", "× subplots"],
        rows,
    )
    for slider in sliders.values():
        slider.page.context.close()


@dataclass
class Dial:
    """A page with a family of trained models, whose dial is turned from one value to the next."""

    page: Page
    presses: Iterator[Locator]

    @classmethod
    def open(cls, setting: Setting, family: str, name: str) -> "Dial":
        page = open_page(setting.browser)
        page.goto(f"{setting.app.url}/?model={family}")
        group = page.locator(".dials").get_by_role("group", name=name, exact=True)
        group.wait_for()
        page.wait_for_timeout(10 * PAUSE_MS)
        buttons = group.get_by_role("button").all()
        for button in buttons:  # each member is read from disk once
            button.click()
            page.wait_for_timeout(10 * PAUSE_MS)
        return cls(page, itertools.cycle(buttons))

    def turn(self) -> float:
        self.page.bring_to_front()
        self.page.wait_for_timeout(PAUSE_MS)
        return press_to_paint(self.page, next(self.presses).click, servers.DRAWN_FROM_NEW_DATA)


def dials(setting: Setting) -> None:
    """A turned dial opens another trained model: as quick as any other change, once it was read."""
    sides: dict[str, Callable[[], float]] = {
        "plain page that echoes a slider (floor)": Slider.open(
            setting, setting.echo.url, "value", servers.ECHOED
        ).move,
        "repeated letters, Heads": Dial.open(setting, "induction-sizes", "Heads").turn,
        "translator, Heads": Dial.open(setting, "translator-sizes", "Heads").turn,
        "translator, Layers": Dial.open(setting, "translator-sizes", "Layers").turn,
    }
    times = take_turns(setting.rounds, sides)
    floor = next(iter(times.values())).median
    print_table(
        f"A dial turned → figure of another trained model painted ({setting.rounds} turns each)",
        ["page", "median ms", "p95 ms", "× floor"],
        [
            [name, f"{each.median:.0f}", f"{each.p95:.0f}", f"{each.median / floor:.2f}"]
            for name, each in times.items()
        ],
    )


def in_browser(setting: Setting) -> None:
    """Interactions that must not ask the server: their times, and the messages sent meanwhile."""
    lines = f"{setting.app.url}/?{servers.untrained(32, n_layers=2, view='lines')}"
    grid = f"{setting.app.url}/?{servers.untrained(32, n_layers=2, view='grid')}"
    steps = f"{setting.app.url}/?view=head&stack=decoder.cross"
    kinds: list[tuple[str, str, Callable[[Page], Iterator[float]]]] = [
        ("lines: hover a token", lines, hover_tokens),
        ("lines: add or remove a head", lines, toggle_heads),
        ("lines: choose a layer", lines, choose_layers),
        ("grid: open a head", grid, open_heads),
        ("decoder: drag the step slider", steps, partial(drag, selector=".step input[type=range]")),
    ]
    rows = []
    for name, url, interactions in kinds:
        times, sent = alone(setting, url, interactions)
        within = f"{'yes' if times.p95 <= FRAME_BUDGET_MS else 'NO'}"
        rows.append([name, f"{times.median:.0f}", f"{times.p95:.0f}", within, sent])
    columns = ["interaction", "median ms", "p95 ms", f"p95 ≤ {FRAME_BUDGET_MS} ms", "messages to the server"]
    print_table(f"What the browser does alone ({setting.rounds} each)", columns, rows)


def alone(setting: Setting, url: str, interactions: Callable[[Page], Iterator[float]]) -> tuple[Times, int]:
    """Times of `rounds` interactions on the page at `url`, and the websocket messages sent during them."""
    page = open_page(setting.browser, first=servers.DRAWN)
    sent: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda message: sent.append(message)))
    first_paint(page, url)
    page.wait_for_timeout(10 * PAUSE_MS)
    timed = interactions(page)
    list(itertools.islice(timed, WARM_UPS))
    sent.clear()
    times = Times(list(itertools.islice(timed, setting.rounds)))
    page.wait_for_timeout(PAUSE_MS)
    page.context.close()
    return times, len(sent)


def hover_tokens(page: Page) -> Iterator[float]:
    tokens = (
        page.locator(".tokens.queries button").all()[:12] + page.locator(".tokens.keys button").all()[:12]
    )
    for token in itertools.cycle(tokens):
        box = token.bounding_box()
        assert box is not None
        move = partial(page.mouse.move, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        yield press_to_paint(page, move, servers.DRAWN, ["pointermove"])
        page.wait_for_timeout(PAUSE_MS)


def click(page: Page, target: Locator, effect: str = servers.DRAWN) -> float:
    """Milliseconds from the press of the mouse on `target`, where it already rests, to the painted effect."""
    target.hover()
    page.wait_for_timeout(PAUSE_MS)

    def press() -> None:
        page.mouse.down()
        page.mouse.up()

    return press_to_paint(page, press, effect, ["pointerdown"])


def click_each(buttons: Locator) -> Iterator[float]:
    for button in itertools.cycle(buttons.all()[::-1]):
        yield click(buttons.page, button)


def choose_layers(page: Page) -> Iterator[float]:
    return click_each(page.locator(".overview [role=row] > :first-child"))


def toggle_heads(page: Page) -> Iterator[float]:
    page.keyboard.down("Shift")  # adds a head, or takes it away
    return click_each(page.locator(".overview [role=row]").first.locator("> *"))


def open_heads(page: Page) -> Iterator[float]:
    to_grid = page.locator(".choice.views button[data-value=grid]")
    for button in itertools.cycle(page.locator(".grid-buttons button").all()):
        yield click(page, button)
        if not button.is_visible():
            to_grid.click()


def drag(page: Page, selector: str) -> Iterator[float]:
    """Moves a slider that the browser draws by its arrow keys, to and fro."""
    slider = page.locator(selector)
    slider.focus()
    slider.press("Home")
    last = int(slider.get_attribute("max") or 0)
    for key in itertools.cycle(["ArrowRight"] * last + ["ArrowLeft"] * last):
        yield press_to_paint(page, lambda: page.keyboard.press(key), servers.DRAWN)  # noqa: B023
        page.wait_for_timeout(PAUSE_MS)


def visit(setting: Setting, url: str, effect: str) -> float:
    """Milliseconds from a new visitor's navigation to the painted effect."""
    page = open_page(setting.browser, first=effect)
    ms = first_paint(page, url)
    page.context.close()
    return ms


def first_visit(setting: Setting) -> None:
    times = take_turns(
        setting.rounds,
        {
            "empty": lambda: visit(setting, setting.empty.url, servers.FIRST_WORDS),
            "Explore": lambda: visit(setting, setting.app.url, servers.DRAWN),
        },
    )
    empty, mine = times["empty"], times["Explore"]
    ratio = verdict(mine.median / empty.median, 2)
    rows = [
        ["empty Streamlit page: its one word", f"{empty.median:.0f}", f"{empty.p95:.0f}", "1"],
        ["Explore: its figure", f"{mine.median:.0f}", f"{mine.p95:.0f}", ratio],
    ]
    cold = Times([cold_start(setting) for _ in range(COLD_STARTS)])
    rows.append(
        [
            f"Explore in a new server process ({COLD_STARTS} starts)",
            f"{cold.median:.0f}",
            f"{cold.p95:.0f}",
            "",
        ]
    )
    print_table("First visit, nothing cached", ["page", "median ms", "p95 ms", "× empty page"], rows)


def cold_start(setting: Setting) -> float:
    """Milliseconds from the start of a server process to the first figure in a browser that waits for it."""
    page = open_page(setting.browser, first=servers.DRAWN)
    start = time.time()
    with serving_the_app(setting.folder / "cold.txt") as server:
        first_paint(page, server.url)
        painted = float(page.evaluate("probe.first.then(now => performance.timeOrigin + now)"))
    page.context.close()
    return painted - 1000 * start
